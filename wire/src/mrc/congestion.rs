//! The byte that SETH and NETH share: which congestion control state travels along.

use crate::header::fit;

/// Congestion control type and flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CongestionTag {
    /// Kind of congestion control state, 4 bits; 0 = [`super::CcState`].
    pub cc_type: u8,
    /// Flags of that kind, 4 bits.
    pub cc_flags: u8,
}

impl CongestionTag {
    pub(super) const fn from_byte(byte: u8) -> Self {
        Self {
            cc_type: byte >> 4,
            cc_flags: byte & 0x0f,
        }
    }

    pub(super) fn to_byte(self) -> u8 {
        fit("MRC cc_type", self.cc_type, 4) << 4 | fit("MRC cc_flags", self.cc_flags, 4)
    }
}
