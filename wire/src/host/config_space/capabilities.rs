//! Offsets and bits of the header and of capabilities.

/// Capability identifier of PCI Express.
pub const PCI_EXPRESS_ID: u8 = 0x10;
/// Capability identifier of MSI-X.
pub const MSI_X_ID: u8 = 0x11;
/// Identifier of the extended capability Advanced Error Reporting.
pub const AER_ID: u16 = 0x0001;
/// Identifier of the extended capability Device Serial Number.
pub const SERIAL_NUMBER_ID: u16 = 0x0003;
/// Identifier of the extended capability Address Translation Services.
pub const ATS_ID: u16 = 0x000f;

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
    /// Link capabilities, 32 bits.
    pub const LINK_CAPABILITIES: u16 = 0x0c;
    /// Link control, 16 bits; link status in the upper half of the double word.
    pub const LINK_CONTROL: u16 = 0x10;
    /// Device capabilities 2, 32 bits.
    pub const DEVICE_CAPABILITIES_2: u16 = 0x24;
    /// Link capabilities 2, 32 bits.
    pub const LINK_CAPABILITIES_2: u16 = 0x2c;
    /// Link control 2, 16 bits.
    pub const LINK_CONTROL_2: u16 = 0x30;
    /// Device capabilities: tags of 8 bits.
    pub const EXTENDED_TAGS_SUPPORTED: u32 = 1 << 5;
    /// Device capabilities: errors are reported by their role (every function since PCIe 1.1).
    pub const ROLE_BASED_ERRORS: u32 = 1 << 15;
    /// Device capabilities 2: the function completes requests with tags of 10 bits, as every function of 16 GT/s and more.
    pub const COMPLETES_10_BIT_TAGS: u32 = 1 << 16;
    /// Device control: lowest bit of four that switch the reporting of errors on.
    pub const REPORT_ERRORS: u32 = 0xf;
    /// Device control: the function may use tags of 8 bits. Otherwise its tags have 5 bits.
    pub const EXTENDED_TAGS: u16 = 1 << 8;
    /// Tags of a function whose tags have 5 bits.
    pub const SHORT_TAGS: u16 = 32;
    /// Link control: read completion boundary of the root complex; 0 means 64 bytes, 1 means 128.
    pub const READ_COMPLETION_BOUNDARY: u32 = 1 << 3;
    /// Device status, as bits of the double word of device control: correctable, non-fatal and fatal error, and unsupported request. A write of 1 clears
    /// each.
    pub const ERRORS_DETECTED: u32 = 0xf << 16;
    /// Device status, as a bit of the double word of device control: a non-fatal error.
    pub const NON_FATAL_DETECTED: u32 = 1 << 17;
    /// Device status, as a bit of the double word of device control: an unsupported request.
    pub const UNSUPPORTED_DETECTED: u32 = 1 << 19;
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

/// Offsets from the start of the AER capability, and its errors (PCIe base specification 5.0, section 7.8.4).
pub mod aer {
    pub use super::super::header_log::HeaderLog;

    /// Uncorrectable errors that have happened; a write of 1 clears a bit.
    pub const UNCORRECTABLE_STATUS: u16 = 0x04;
    /// Uncorrectable errors that are not reported.
    pub const UNCORRECTABLE_MASK: u16 = 0x08;
    /// Uncorrectable errors that are fatal.
    pub const UNCORRECTABLE_SEVERITY: u16 = 0x0c;
    /// Correctable errors that have happened; a write of 1 clears a bit.
    pub const CORRECTABLE_STATUS: u16 = 0x10;
    /// Correctable errors that are not reported.
    pub const CORRECTABLE_MASK: u16 = 0x14;
    /// Advanced error capabilities and control.
    pub const CONTROL: u16 = 0x18;
    /// Header of the TLP of the first error, [`HEADER_WORDS`] double words: byte 0 of the header is the highest byte of the first one.
    pub const HEADER_LOG: u16 = 0x1c;
    /// Double words of the header log. Those that a header does not have are zero.
    pub const HEADER_WORDS: u16 = 4;
    /// Advanced error capabilities and control: the first error pointer, which is the number of a bit of the uncorrectable errors. It and the header
    /// log mean something while that bit is set.
    pub const FIRST_ERROR: u32 = 0x1f;

    /// An uncorrectable error of transactions.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Uncorrectable {
        /// A completion of the function's read came poisoned.
        PoisonedTlp,
        /// A read of the function was not completed in time.
        CompletionTimeout,
        /// A completion came for which the function has no request.
        UnexpectedCompletion,
        /// A request came that the function does not support.
        UnsupportedRequest,
    }

    impl Uncorrectable {
        /// Every error.
        pub const ALL: [Self; 4] = [
            Self::PoisonedTlp,
            Self::CompletionTimeout,
            Self::UnexpectedCompletion,
            Self::UnsupportedRequest,
        ];

        /// Its name, as in `lspci` (pciutils), but whole.
        pub const fn name(self) -> &'static str {
            match self {
                Self::PoisonedTlp => "poisoned TLP",
                Self::CompletionTimeout => "completion timeout",
                Self::UnexpectedCompletion => "unexpected completion",
                Self::UnsupportedRequest => "unsupported request",
            }
        }

        /// Its bit in status, mask and severity.
        pub const fn bit(self) -> u32 {
            match self {
                Self::PoisonedTlp => 1 << 12,
                Self::CompletionTimeout => 1 << 14,
                Self::UnexpectedCompletion => 1 << 16,
                Self::UnsupportedRequest => 1 << 20,
            }
        }

        /// The error that a first error pointer names; `None` if the function never logs it.
        pub fn first(pointer: u32) -> Option<Self> {
            let bit = 1 << (pointer & FIRST_ERROR);
            Self::ALL.into_iter().find(|error| error.bit() == bit)
        }

        /// The bits of all.
        pub const MASK: u32 = Self::PoisonedTlp.bit()
            | Self::CompletionTimeout.bit()
            | Self::UnexpectedCompletion.bit()
            | Self::UnsupportedRequest.bit();
    }
}

/// Offsets from the start of the serial number capability (PCIe base specification 5.0, section 7.9.3).
pub mod serial_number {
    /// Low half of the EUI-64.
    pub const LOW: u16 = 0x04;
    /// High half of the EUI-64.
    pub const HIGH: u16 = 0x08;
}

/// Offsets from the start of the ATS capability, and bits of its registers (PCIe base specification 5.0, section 10.5.1).
pub mod ats {
    /// ATS control, 16 bits.
    pub const CONTROL: u16 = 0x06;
    /// ATS control: the function may send requests with translated addresses.
    pub const ENABLE: u16 = 1 << 15;
}
