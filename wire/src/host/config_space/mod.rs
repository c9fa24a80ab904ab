//! PCI configuration space of the card's functions: identity, BARs and capabilities, the one definition for driver, simulation and board.
//!
//! The card has two PCIe endpoints ([`Function`]), because one Gen5 x8 link does not carry 400 Gb/s (`docs/decisions/0006-two-functions.md`); a card of 100 Gb/s has
//! the first one only. Offsets are those
//! of the PCI Local Bus specification 3.0 (header, MSI-X) and of the PCIe base specification (other capabilities). The vendor is that of the FPGA, whose
//! PCIe block responds to configuration accesses, because the project has no vendor number. The register [`super::registers::IDENTITY`] identifies the
//! project's card.

mod capabilities;
mod header_log;
mod table;

pub use capabilities::*;
pub use table::ConfigWord;

/// `VENDOR_ID` of the card.
pub const VENDOR: u16 = 0x10ee;
/// Bytes of the configuration space.
pub const LENGTH: u16 = 0x1000;
/// Bytes of it that the list of [`header::CAPABILITIES`] reaches.
pub const CONVENTIONAL_LENGTH: u16 = 0x100;
/// Offset of the first extended capability.
pub const EXTENDED: u16 = CONVENTIONAL_LENGTH;

/// Capabilities there can be, by which a reader notices a list that never ends: one per double word.
pub const MOST_CAPABILITIES: u16 = LENGTH / 4;

/// A PCI function of the card. Each is alone at its PCIe endpoint, with a requester ID and an IOMMU mapping of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// Endpoint 0: registers, doorbells, interrupts, rings, and the payload of lane 0. In a card without a data function, lists of the admin queue too.
    Control,
    /// Endpoint 1: the payload of lane 1, and lists of the admin queue. It has no BAR and no interrupt.
    Data,
}

impl Function {
    /// Every function, by endpoint.
    pub const ALL: [Self; 2] = [Self::Control, Self::Data];

    /// The PCIe endpoint.
    pub const fn endpoint(self) -> usize {
        match self {
            Self::Control => 0,
            Self::Data => 1,
        }
    }

    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::Data => "data",
        }
    }

    /// `DEVICE_ID`: `ST` and `SD` in ASCII.
    pub const fn device(self) -> u16 {
        match self {
            Self::Control => 0x5354,
            Self::Data => 0x5344,
        }
    }

    /// The double words that are not constantly zero, for a card with 64 vectors.
    pub fn words(self) -> impl Iterator<Item = &'static ConfigWord> {
        let its_own = match self {
            Self::Control => table::CONTROL,
            Self::Data => table::DATA,
        };
        its_own.iter().chain(table::BOTH)
    }
}

/// BARs of the card. Each takes two registers: addresses of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bar {
    /// BAR0: registers of the physical function ([`super::registers`]).
    Registers,
    /// BAR2: doorbell pages.
    Doorbells,
    /// BAR4: MSI-X table and pending bits ([`vector_table`](super::vector_table)), the operating system's business.
    Vectors,
}

impl Bar {
    /// Every BAR.
    pub const ALL: [Self; 3] = [Self::Registers, Self::Doorbells, Self::Vectors];

    /// The BAR's number.
    pub const fn index(self) -> u8 {
        match self {
            Self::Registers => 0,
            Self::Doorbells => 2,
            Self::Vectors => 4,
        }
    }

    /// Bytes.
    pub const fn length(self) -> u64 {
        match self {
            Self::Registers => 1 << 16,
            Self::Doorbells => DOORBELL_PAGES as u64 * PAGE_BYTES,
            Self::Vectors => 1 << 12,
        }
    }

    /// Bits of its register that describe it: memory, 64 bits, not prefetchable.
    pub const KIND: u32 = 0b0100;
}

/// Doorbell pages of the card.
pub const DOORBELL_PAGES: u32 = 65_536;
/// Bytes of a doorbell page.
pub const PAGE_BYTES: u64 = 4_096;
