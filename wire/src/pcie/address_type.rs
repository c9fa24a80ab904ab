//! AT field of memory requests (PCI Express base specification, section 10.2.1).

use crate::code_enum::code_enum;

code_enum! {
    /// What the address of a request is.
    pub enum AddressType {
        /// Untranslated: the IOMMU translates it, if there is one.
        Untranslated = 0b00,
        /// The request asks for a translation (ATS).
        TranslationRequest = 0b01,
        /// Translated already: a switch with ACS Direct Translated P2P routes it straight to the peer.
        Translated = 0b10,
        Reserved = 0b11,
    }
}

impl AddressType {
    /// From the low two bits; every value is defined.
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::Untranslated,
            1 => Self::TranslationRequest,
            2 => Self::Translated,
            _ => Self::Reserved,
        }
    }
}
