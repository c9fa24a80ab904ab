//! PCI configuration space of the physical function: identity, BARs and capabilities, the one definition for driver, simulation and board.
//!
//! Offsets are those of the PCI Local Bus specification 3.0 (header, MSI-X) and of the PCIe base specification (PCI Express capability). The vendor
//! is that of the FPGA, whose PCIe block responds to configuration accesses, because the project has no vendor number. The register
//! [`super::registers::IDENTITY`] identifies the project's card.

use super::vector_table;

/// `VENDOR_ID` of the card.
pub const VENDOR: u16 = 0x10ee;
/// `DEVICE_ID` of the card: `ST` in ASCII.
pub const DEVICE: u16 = 0x5354;
/// Bytes of the configuration space that are defined.
pub const LENGTH: u16 = 0x100;

/// Capability identifier of PCI Express.
pub const PCI_EXPRESS_ID: u8 = 0x10;
/// Capability identifier of MSI-X.
pub const MSI_X_ID: u8 = 0x11;
/// Capabilities there can be, by which a reader notices a list that never ends: one per double word.
pub const MOST_CAPABILITIES: u16 = LENGTH / 4;

/// Offsets in the header that every function has.
pub mod header {
    pub const VENDOR_ID: u16 = 0x00;
    pub const DEVICE_ID: u16 = 0x02;
    pub const COMMAND: u16 = 0x04;
    pub const STATUS: u16 = 0x06;
    pub const BARS: u16 = 0x10;
    pub const CAPABILITIES: u16 = 0x34;
}

/// Bits of `COMMAND`.
pub mod command {
    /// The function answers accesses to its BARs.
    pub const MEMORY: u16 = 1 << 1;
    /// The function may read and write memory, and so interrupt.
    pub const BUS_MASTER: u16 = 1 << 2;
}

/// Offsets from the start of the PCI Express capability, and bits of its registers.
pub mod pci_express {
    /// Device capabilities, 32 bits.
    pub const DEVICE_CAPABILITIES: u16 = 0x04;
    /// Device control, 16 bits.
    pub const DEVICE_CONTROL: u16 = 0x08;
    /// Device status, 16 bits.
    pub const DEVICE_STATUS: u16 = 0x0a;
    /// Device capabilities: the function can be reset alone.
    pub const FUNCTION_RESET: u32 = 1 << 28;
    /// Device control: resets the function; reads as zero.
    pub const INITIATE_RESET: u16 = 1 << 15;
    /// Device control: lowest bit of the field for the maximum payload size. A value v of its 3 bits means 128 << v bytes.
    pub const MAX_PAYLOAD_BIT: u32 = 5;
    /// Device control: lowest bit of the field for the maximum read request size. A value v of its 3 bits means 128 << v bytes.
    pub const MAX_READ_BIT: u32 = 12;
    /// Device status: requests of the function wait for completions.
    pub const TRANSACTIONS_PENDING: u16 = 1 << 5;
    /// Time after a reset in which the function need not answer, in milliseconds (section 6.6.2).
    pub const RESET_MS: u64 = 100;
}

/// Offsets from the start of the MSI-X capability, and bits of its registers.
pub mod msi_x {
    /// Message control, 16 bits: vectors less one in bits 10:0.
    pub const CONTROL: u16 = 0x02;
    /// Message control: vectors less one.
    pub const SIZE_MASK: u16 = 0x7ff;
    /// Message control: the function uses MSI-X.
    pub const ENABLE: u16 = 1 << 15;
    /// Message control: every vector is masked.
    pub const FUNCTION_MASK: u16 = 1 << 14;
}

/// BARs of the card. Each takes two registers: addresses of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bar {
    /// BAR0: registers of the physical function ([`super::registers`]).
    Registers,
    /// BAR2: doorbell pages.
    Doorbells,
    /// BAR4: MSI-X table and pending bits ([`vector_table`]), the operating system's business.
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

/// Offset of the PCI Express capability.
const PCI_EXPRESS_AT: u16 = 0x40;
const MSI_X_AT: u16 = 0x80;
/// Largest payload the card writes: code 3, 1,024 bytes.
const PAYLOAD_SUPPORTED: u32 = 3;
/// PCI Express capabilities: version 2, endpoint.
const PCI_EXPRESS_VERSION: u32 = 2;
/// MSI-X: BAR number in bits 2:0, offset above.
const MSI_X_TABLE: u32 = Bar::Vectors.index() as u32;
const MSI_X_PENDING: u32 = vector_table::PENDING_OFFSET as u32 | MSI_X_TABLE;

/// A double word of the configuration space that is not constantly zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigWord {
    pub offset: u16,
    /// Value after reset.
    pub reset: u32,
    /// Bits that software can write.
    pub writable: u32,
    /// What it is, for the reference manual.
    pub description: &'static str,
}

const fn word(offset: u16, reset: u32, writable: u32, description: &'static str) -> ConfigWord {
    ConfigWord {
        offset,
        reset,
        writable,
        description,
    }
}

/// Low or high word of a BAR. The bits that cannot be written give the size of the BAR.
const fn bar(bar: Bar, high: bool, description: &'static str) -> ConfigWord {
    let offset = header::BARS + 4 * (bar.index() as u16 + high as u16);
    let mask = !(bar.length() - 1);
    if high {
        word(offset, 0, (mask >> 32) as u32, description)
    } else {
        word(offset, Bar::KIND, mask as u32, description)
    }
}

/// The configuration space of a card with 64 vectors, by offset; double words that are not here are zero.
pub const ALL: &[ConfigWord] = &[
    word(
        header::VENDOR_ID,
        (DEVICE as u32) << 16 | VENDOR as u32,
        0,
        "vendor 10ee, device 5354",
    ),
    word(
        header::COMMAND,
        1 << 20,
        (command::MEMORY | command::BUS_MASTER) as u32,
        "command: bit 1 memory space, bit 2 bus master; status: bit 20 capability list",
    ),
    word(
        0x08,
        0x0280_0001,
        0,
        "class 02 80 00, other network controller; revision 1",
    ),
    bar(Bar::Registers, false, "BAR0: registers, 64 KiB"),
    bar(Bar::Registers, true, "BAR0, upper half"),
    bar(Bar::Doorbells, false, "BAR2: doorbell pages, 256 MiB"),
    bar(Bar::Doorbells, true, "BAR2, upper half"),
    bar(Bar::Vectors, false, "BAR4: MSI-X, 4 KiB"),
    bar(Bar::Vectors, true, "BAR4, upper half"),
    word(0x2c, 0x0001_10ee, 0, "subsystem 10ee:0001"),
    word(header::CAPABILITIES, PCI_EXPRESS_AT as u32, 0, "first capability"),
    word(
        PCI_EXPRESS_AT,
        PCI_EXPRESS_VERSION << 16 | (MSI_X_AT as u32) << 8 | PCI_EXPRESS_ID as u32,
        0,
        "PCI Express capability, endpoint",
    ),
    word(
        PCI_EXPRESS_AT + pci_express::DEVICE_CAPABILITIES,
        pci_express::FUNCTION_RESET | PAYLOAD_SUPPORTED,
        0,
        "device capabilities: bits 2:0 largest payload, bit 28 function-level reset",
    ),
    word(
        PCI_EXPRESS_AT + pci_express::DEVICE_CONTROL,
        2 << pci_express::MAX_READ_BIT,
        7 << pci_express::MAX_PAYLOAD_BIT | 7 << pci_express::MAX_READ_BIT,
        "device control: bits 7:5 largest payload, bits 14:12 largest read, bit 15 resets; device status: bit 21 transactions pending",
    ),
    word(
        MSI_X_AT,
        (vector_table::VECTORS as u32 - 1) << 16 | MSI_X_ID as u32,
        ((msi_x::ENABLE | msi_x::FUNCTION_MASK) as u32) << 16,
        "MSI-X capability: 64 vectors; bit 31 enables, bit 30 masks all",
    ),
    word(MSI_X_AT + 4, MSI_X_TABLE, 0, "MSI-X table: BAR4, offset 0"),
    word(
        MSI_X_AT + 8,
        MSI_X_PENDING,
        0,
        "MSI-X pending bits: BAR4, offset 0x800",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_aligned_in_order_and_inside() {
        for pair in ALL.windows(2) {
            assert!(pair[0].offset < pair[1].offset);
        }
        for word in ALL {
            assert_eq!(word.offset % 4, 0, "{word:?}");
            assert!(word.offset < LENGTH, "{word:?}");
            assert!(!word.description.is_empty(), "{word:?}");
        }
    }

    #[test]
    fn what_cannot_be_written_of_a_bar_is_its_size() {
        for bar in Bar::ALL {
            let at = header::BARS + 4 * u16::from(bar.index());
            let mask = |offset| {
                let word = ALL.iter().find(|word| word.offset == offset);
                u64::from(word.expect("a BAR has two words").writable)
            };
            let writable = mask(at + 4) << 32 | mask(at);
            assert_eq!(writable.wrapping_neg(), bar.length(), "{bar:?}");
        }
    }

    #[test]
    fn vectors_fit_their_bar() {
        assert!(vector_table::PENDING_OFFSET + 8 <= Bar::Vectors.length());
    }
}
