//! The double words of both functions.

use super::{
    aer, ats, command, header, msi_x, pci_express, serial_number, Bar, Function, AER_ID, ATS_ID,
    EXTENDED, MSI_X_ID, PCI_EXPRESS_ID, SERIAL_NUMBER_ID, VENDOR,
};
use crate::host::vector_table;

/// Offset of the PCI Express capability.
const PCI_EXPRESS_AT: u16 = 0x40;
const MSI_X_AT: u16 = 0x80;
const AER_AT: u16 = EXTENDED;
const SERIAL_NUMBER_AT: u16 = 0x150;
const ATS_AT: u16 = 0x160;
/// Largest payload the card writes: code 3, 1,024 bytes.
const PAYLOAD_SUPPORTED: u32 = 3;
/// PCI Express capabilities: version 2, endpoint.
const PCI_EXPRESS_VERSION: u32 = 2;
/// Code of 32 GT/s (Gen5).
const GEN5: u32 = 5;
/// Lanes of a link, as bits 9:4 of its register.
const X8: u32 = 8 << 4;
/// Bit s is set for every speed up to that of code s.
const SPEEDS: u32 = 0b11_1110;
/// Advisory non-fatal error, which is masked after reset.
const ADVISORY: u32 = 1 << 13;
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
    /// Bits that a write of 1 clears.
    pub cleared: u32,
    /// What it is, for the reference manual.
    pub description: &'static str,
}

const fn word(offset: u16, reset: u32, writable: u32, description: &'static str) -> ConfigWord {
    ConfigWord {
        offset,
        reset,
        writable,
        cleared: 0,
        description,
    }
}

const fn status(offset: u16, cleared: u32, description: &'static str) -> ConfigWord {
    ConfigWord {
        cleared,
        ..word(offset, 0, 0, description)
    }
}

/// First double word of an extended capability of version `version`.
const fn extended(
    at: u16,
    id: u16,
    version: u32,
    next: u16,
    description: &'static str,
) -> ConfigWord {
    word(
        at,
        (next as u32) << 20 | version << 16 | id as u32,
        0,
        description,
    )
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

const fn identity(function: Function, description: &'static str) -> ConfigWord {
    word(
        header::VENDOR_ID,
        (function.device() as u32) << 16 | VENDOR as u32,
        0,
        description,
    )
}

const COMMAND: ConfigWord = word(
    header::COMMAND,
    1 << 20,
    (command::MEMORY | command::BUS_MASTER) as u32,
    "command: bit 1 memory space, bit 2 bus master; status: bit 20 capability list",
);
const SUBSYSTEM: ConfigWord = word(0x2c, 0x0001_10ee, 0, "subsystem 10ee:0001");
const FIRST: ConfigWord = word(
    header::CAPABILITIES,
    PCI_EXPRESS_AT as u32,
    0,
    "first capability",
);

/// First double word of the PCI Express capability.
const fn pci_express(next: u16) -> ConfigWord {
    word(
        PCI_EXPRESS_AT,
        PCI_EXPRESS_VERSION << 16 | (next as u32) << 8 | PCI_EXPRESS_ID as u32,
        0,
        "PCI Express capability, endpoint",
    )
}

const DEVICE_CAPABILITIES: ConfigWord = word(
    PCI_EXPRESS_AT + pci_express::DEVICE_CAPABILITIES,
    pci_express::FUNCTION_RESET | pci_express::ROLE_BASED_ERRORS | pci_express::EXTENDED_TAGS_SUPPORTED | PAYLOAD_SUPPORTED,
    0,
    "device capabilities: bits 2:0 largest payload, bit 5 extended tags, bit 15 role-based errors, bit 28 function-level reset",
);
const DEVICE_CONTROL: ConfigWord = ConfigWord {
    cleared: pci_express::ERRORS_DETECTED,
    ..word(
        PCI_EXPRESS_AT + pci_express::DEVICE_CONTROL,
        2 << pci_express::MAX_READ_BIT,
        pci_express::REPORT_ERRORS | 7 << pci_express::MAX_PAYLOAD_BIT | pci_express::EXTENDED_TAGS as u32 | 7 << pci_express::MAX_READ_BIT,
        "device control: bits 3:0 report errors, bits 7:5 largest payload, bit 8 extended tags, bits 14:12 largest read, bit 15 resets; device status: bits 19:16 errors, bit 21 transactions pending",
    )
};
const LINK_CAPABILITIES: ConfigWord = word(
    PCI_EXPRESS_AT + pci_express::LINK_CAPABILITIES,
    X8 | GEN5,
    0,
    "link capabilities: 8 lanes of 32 GT/s",
);
const LINK_CONTROL: ConfigWord = word(
    PCI_EXPRESS_AT + pci_express::LINK_CONTROL,
    (X8 | GEN5) << 16,
    pci_express::READ_COMPLETION_BOUNDARY,
    "link control: bit 3 read completion boundary of 128 bytes; link status: 8 lanes of 32 GT/s",
);
const DEVICE_CAPABILITIES_2: ConfigWord = word(
    PCI_EXPRESS_AT + pci_express::DEVICE_CAPABILITIES_2,
    pci_express::COMPLETES_10_BIT_TAGS,
    0,
    "device capabilities 2: bit 16 completes requests with tags of 10 bits",
);
const LINK_CAPABILITIES_2: ConfigWord = word(
    PCI_EXPRESS_AT + pci_express::LINK_CAPABILITIES_2,
    SPEEDS,
    0,
    "link capabilities 2: 2.5 to 32 GT/s",
);
const LINK_CONTROL_2: ConfigWord = word(
    PCI_EXPRESS_AT + pci_express::LINK_CONTROL_2,
    GEN5,
    0xf,
    "link control 2: bits 3:0 target speed",
);

const AER: ConfigWord = extended(AER_AT, AER_ID, 2, SERIAL_NUMBER_AT, "AER capability");
const AER_STATUS: ConfigWord = status(
    AER_AT + aer::UNCORRECTABLE_STATUS,
    aer::Uncorrectable::MASK,
    "uncorrectable errors: bit 12 poisoned TLP, bit 14 completion timeout, bit 16 unexpected completion, bit 20 unsupported request",
);
const AER_MASK: ConfigWord = word(
    AER_AT + aer::UNCORRECTABLE_MASK,
    0,
    aer::Uncorrectable::MASK,
    "mask of uncorrectable errors",
);
const AER_SEVERITY: ConfigWord = word(
    AER_AT + aer::UNCORRECTABLE_SEVERITY,
    0,
    aer::Uncorrectable::MASK,
    "uncorrectable errors that are fatal",
);
const AER_CORRECTABLE: ConfigWord = status(
    AER_AT + aer::CORRECTABLE_STATUS,
    ADVISORY,
    "correctable errors: bit 13 advisory non-fatal",
);
const AER_CORRECTABLE_MASK: ConfigWord = word(
    AER_AT + aer::CORRECTABLE_MASK,
    ADVISORY,
    ADVISORY,
    "mask of correctable errors",
);
const AER_CONTROL: ConfigWord = word(
    AER_AT + aer::CONTROL,
    0,
    0,
    "advanced error capabilities and control: bits 4:0 bit of the first error",
);
/// A double word of the header log.
const fn header_log(number: u16) -> ConfigWord {
    word(
        AER_AT + aer::HEADER_LOG + 4 * number,
        0,
        0,
        "header log: a double word of the TLP header of the first error",
    )
}
const SERIAL_NUMBER: ConfigWord = extended(
    SERIAL_NUMBER_AT,
    SERIAL_NUMBER_ID,
    1,
    ATS_AT,
    "serial number capability: the same of both functions",
);
const SERIAL_LOW: ConfigWord = word(
    SERIAL_NUMBER_AT + serial_number::LOW,
    0,
    0,
    "serial number, lower half; zero stands for the card's own",
);
const SERIAL_HIGH: ConfigWord = word(
    SERIAL_NUMBER_AT + serial_number::HIGH,
    0,
    0,
    "serial number, upper half",
);
const ATS: ConfigWord = extended(ATS_AT, ATS_ID, 1, 0, "ATS capability");
const ATS_CONTROL: ConfigWord = word(
    ATS_AT + 4,
    0,
    (ats::ENABLE as u32) << 16,
    "ATS capability and control: bit 31 lets requests have translated addresses",
);

/// Double words of [`Function::Control`] alone.
pub const CONTROL: &[ConfigWord] = &[
    identity(Function::Control, "vendor 10ee, device 5354"),
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
    pci_express(MSI_X_AT),
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

/// Double words of [`Function::Data`] alone.
pub const DATA: &[ConfigWord] = &[
    identity(Function::Data, "vendor 10ee, device 5344"),
    word(
        0x08,
        0x0880_0001,
        0,
        "class 08 80 00, other system peripheral; revision 1",
    ),
    pci_express(0),
];

/// Double words that both functions have.
pub const BOTH: &[ConfigWord] = &[
    COMMAND,
    SUBSYSTEM,
    FIRST,
    DEVICE_CAPABILITIES,
    DEVICE_CONTROL,
    LINK_CAPABILITIES,
    LINK_CONTROL,
    DEVICE_CAPABILITIES_2,
    LINK_CAPABILITIES_2,
    LINK_CONTROL_2,
    AER,
    AER_STATUS,
    AER_MASK,
    AER_SEVERITY,
    AER_CORRECTABLE,
    AER_CORRECTABLE_MASK,
    AER_CONTROL,
    header_log(0),
    header_log(1),
    header_log(2),
    header_log(3),
    SERIAL_NUMBER,
    SERIAL_LOW,
    SERIAL_HIGH,
    ATS,
    ATS_CONTROL,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::LENGTH;
    use super::*;

    #[test]
    fn words_are_aligned_inside_and_each_is_there_once() {
        for function in Function::ALL {
            let mut offsets = BTreeSet::new();
            for word in function.words() {
                assert!(offsets.insert(word.offset), "{word:?}");
                assert_eq!(word.offset % 4, 0, "{word:?}");
                assert!(word.offset < LENGTH, "{word:?}");
                assert!(!word.description.is_empty(), "{word:?}");
                assert_eq!(word.writable & word.cleared, 0, "{word:?}");
            }
        }
    }

    #[test]
    fn what_cannot_be_written_of_a_bar_is_its_size() {
        for bar in Bar::ALL {
            let at = header::BARS + 4 * u16::from(bar.index());
            let mask = |offset| {
                let word = CONTROL.iter().find(|word| word.offset == offset);
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
