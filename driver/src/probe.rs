//! Examines a function before bring-up, and changes nothing except that it enables memory space.

use std::sync::Arc;

use stellar_wire::host::config_space::{
    command, header, msi_x, pci_express, Bar, DEVICE, MOST_CAPABILITIES, MSI_X_ID, PCI_EXPRESS_ID,
    VENDOR,
};
use stellar_wire::host::registers::{Features, FEATURES, IDENTITY, PORT_STATE, VERSION};
use stellar_wire::rows::EMTT_INDEX_BITS;
use thiserror::Error;

use crate::device::{DeviceError, PciFunction};

/// Version of the register map this driver is written for: the major one must be the card's, the minor one at most the card's.
const MAJOR: u16 = (VERSION.reset >> 16) as u16;
const MINOR: u16 = VERSION.reset as u16;

/// Why a function cannot be driven.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// It does not answer as it must.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The PCI function is another device.
    #[error("PCI identity {vendor:04x}:{device:04x}; the card is {VENDOR:04x}:{DEVICE:04x}: check which function was opened")]
    Identity {
        /// Vendor found.
        vendor: u16,
        /// Device found.
        device: u16,
    },
    /// A capability the driver needs is not in the list.
    #[error("the function has no {0} capability; load the card's own image")]
    Capability(&'static str),
    /// The list of capabilities runs in a circle.
    #[error("the list of PCI capabilities never ends; load the card's own image")]
    Capabilities,
    /// It has no function-level reset.
    #[error(
        "the function cannot be reset alone; without that a driver cannot know what state it is in"
    )]
    NoFunctionReset,
    /// Something else is behind BAR0.
    #[error("IDENTITY reads {0:#018x} instead of STELLAR1; all ones mean that the BAR does not answer, anything else is another design")]
    Design(u64),
    /// The card has another version of the register map.
    #[error("the card's registers have version {}.{}; this driver needs {MAJOR}.{MINOR} or a later minor version", .0 >> 16, .0 & 0xffff)]
    Version(u32),
    /// Counts that cannot be.
    #[error("FEATURES says 2^{} queue pairs and {} ports; this driver needs 2^1 to 2^10 and 2", .0.log2_queue_pairs, .0.ports)]
    Features(Features),
    /// Sizes of tables that cannot be.
    #[error("FEATURES says 2^{} memory regions and 2^{} translations; a row of a table has {EMTT_INDEX_BITS} bits, so 2^1 to 2^{EMTT_INDEX_BITS} can be: load an image whose register map has version {MAJOR}.{MINOR}", .0.log2_regions, .0.log2_translations)]
    Tables(Features),
}

/// A card that was found, not yet reset: its identity and its limits.
#[derive(Clone)]
pub struct Probe {
    function: Arc<dyn PciFunction>,
    /// PCI vendor.
    pub vendor: u16,
    /// PCI device.
    pub device: u16,
    /// Version of the register map: major, minor.
    pub version: (u16, u16),
    /// Queue pairs, ports, vectors and sizes of tables of the card.
    pub features: Features,
    /// Vectors of the MSI-X capability.
    pub msi_x_vectors: u16,
    /// Largest payload of a PCIe write, bytes, as the host set it.
    pub max_payload: u32,
    /// Largest PCIe read, bytes, as the host set it.
    pub max_read: u32,
    /// Bit p: the link of port p is up.
    pub ports_up: u8,
}

impl Probe {
    /// Looks at a function. Switches its memory space on, and changes nothing else.
    ///
    /// # Errors
    /// [`ProbeError`], the first thing that does not fit.
    pub fn new(function: Arc<dyn PciFunction>) -> Result<Self, ProbeError> {
        let vendor = function.config_read16(header::VENDOR_ID)?;
        let device = function.config_read16(header::DEVICE_ID)?;
        if (vendor, device) != (VENDOR, DEVICE) {
            return Err(ProbeError::Identity { vendor, device });
        }
        let express = capability(&*function, PCI_EXPRESS_ID, "PCI Express")?;
        let can = function.config_read32(express + pci_express::DEVICE_CAPABILITIES)?;
        if can & pci_express::FUNCTION_RESET == 0 {
            return Err(ProbeError::NoFunctionReset);
        }
        let vectors = capability(&*function, MSI_X_ID, "MSI-X")?;
        let vectors = function.config_read16(vectors + msi_x::CONTROL)? & msi_x::SIZE_MASK;
        let control = function.config_read16(express + pci_express::DEVICE_CONTROL)?;
        let size = |bit: u32| 128 << (control >> bit & 7);
        let old = function.config_read16(header::COMMAND)?;
        function.config_write16(header::COMMAND, old | command::MEMORY)?;
        let read = |offset: u16| function.read64(Bar::Registers, offset.into());
        let identity = read(IDENTITY.offset)?;
        if identity != IDENTITY.reset {
            return Err(ProbeError::Design(identity));
        }
        let version = read(VERSION.offset)? as u32;
        let (major, minor) = ((version >> 16) as u16, version as u16);
        if major != MAJOR || minor.checked_sub(MINOR).is_none() {
            return Err(ProbeError::Version(version));
        }
        let features = Features::from_word(read(FEATURES.offset)?);
        if !(1..=10).contains(&features.log2_queue_pairs) || features.ports != 2 {
            return Err(ProbeError::Features(features));
        }
        let tables = [features.log2_regions, features.log2_translations];
        if tables
            .iter()
            .any(|log2| !(1..=EMTT_INDEX_BITS).contains(&usize::from(*log2)))
        {
            return Err(ProbeError::Tables(features));
        }
        let ports_up = read(PORT_STATE.offset)? as u8;
        Ok(Self {
            vendor,
            device,
            version: (major, minor),
            features,
            msi_x_vectors: vectors + 1,
            max_payload: size(pci_express::MAX_PAYLOAD_BIT),
            max_read: size(pci_express::MAX_READ_BIT),
            ports_up,
            function,
        })
    }

    /// Returns the function that was probed.
    pub fn function(&self) -> &Arc<dyn PciFunction> {
        &self.function
    }
}

/// Returns the offset of a capability in configuration space.
fn capability(function: &dyn PciFunction, id: u8, name: &'static str) -> Result<u16, ProbeError> {
    let mut at = function.config_read16(header::CAPABILITIES)? & 0xfc;
    for _ in 0..MOST_CAPABILITIES {
        if at == 0 {
            return Err(ProbeError::Capability(name));
        }
        let [found, next] = function.config_read16(at)?.to_le_bytes();
        if found == id {
            return Ok(at);
        }
        at = u16::from(next & 0xfc);
    }
    Err(ProbeError::Capabilities)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeCard;

    fn message(change: impl FnOnce(&FakeCard)) -> String {
        let function = FakeCard::new();
        change(&function);
        Probe::new(function).err().unwrap().to_string()
    }

    #[test]
    fn a_card_is_recognised() {
        let probe = Probe::new(FakeCard::new()).unwrap();
        assert_eq!((probe.vendor, probe.device), (VENDOR, DEVICE));
        assert_eq!(probe.version, (MAJOR, MINOR));
        assert_eq!(probe.msi_x_vectors, 64);
        assert_eq!((probe.max_payload, probe.max_read), (128, 512));
    }

    #[test]
    fn what_is_not_the_card_is_named() {
        let other = message(|card| card.set_config(0, 0x1017_15b3));
        assert!(other.starts_with("PCI identity 15b3:1017;"), "{other}");
        let gone = message(|card| card.set_register(IDENTITY, u64::MAX));
        assert!(gone.contains("0xffffffffffffffff"), "{gone}");
        let next = u64::from(MAJOR) + 1;
        let newer = message(|card| card.set_register(VERSION, next << 16 | 7));
        assert!(newer.contains(&format!("version {next}.7")), "{newer}");
        let says =
            |features: Features| message(|card| card.set_register(FEATURES, features.to_word()));
        let large = says(Features {
            log2_queue_pairs: 12,
            ..FakeCard::FEATURES
        });
        assert!(large.contains("2^12 queue pairs"), "{large}");
        let no_regions = says(Features {
            log2_regions: 0,
            ..FakeCard::FEATURES
        });
        assert!(no_regions.contains("2^0 memory regions"), "{no_regions}");
        let many_pages = says(Features {
            log2_translations: 21,
            ..FakeCard::FEATURES
        });
        assert!(many_pages.contains("2^21 translations"), "{many_pages}");
        assert!(many_pages.contains("2^1 to 2^20 can be"), "{many_pages}");
        let no_reset = message(|card| card.set_config(0x44, 3));
        assert!(no_reset.contains("cannot be reset alone"), "{no_reset}");
        let circle = message(|card| card.set_config(0x40, 0x4005));
        assert!(circle.contains("never ends"), "{circle}");
        let empty = message(|card| card.set_config(0x34, 0));
        assert!(empty.contains("no PCI Express capability"), "{empty}");
    }
}
