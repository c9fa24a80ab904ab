//! Examines a function before bring-up, and changes nothing except that it enables memory space.

use std::sync::Arc;

use stellar_wire::host::config_space::{command, header, msi_x, Bar, Function, MSI_X_ID, VENDOR};
use stellar_wire::host::registers::{
    DataPath, Features, Immediates, DATA_PATH, FEATURES, IDENTITY, IMMEDIATES, PORT_STATE, VERSION,
};
use stellar_wire::rows::{EMTT_INDEX_BITS, QPN_BITS};
use thiserror::Error;

use crate::device::{DeviceError, PciFunction};
use crate::functions::{capability, take_errors, PcieErrors, Settings};

/// Version of the register map this driver is written for: the major one must be the card's, the minor one at most the card's.
const MAJOR: u16 = (VERSION.reset >> 16) as u16;
const MINOR: u16 = VERSION.reset as u16;

/// Vendor of a function that is not there.
const NOBODY: u16 = u16::MAX;

/// Why a function cannot be driven.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// It does not answer as it must.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The PCI function is another device.
    #[error("PCI identity {vendor:04x}:{device:04x}; the card's {} function is {VENDOR:04x}:{:04x}: check which function was opened", function.name(), function.device())]
    Identity {
        /// The function that was expected.
        function: Function,
        /// Vendor found.
        vendor: u16,
        /// Device found.
        device: u16,
    },
    /// The functions are those of two cards.
    #[error("the control function has the serial number {control:016x}, and the data function {data:016x}; open both of one card")]
    Serial {
        /// Of the control function.
        control: u64,
        /// Of the data function.
        data: u64,
    },
    /// A capability the driver needs is not in the list.
    #[error("the {} function has no {name} capability; load the card's own image", function.name())]
    Capability {
        /// The function.
        function: Function,
        /// The capability.
        name: &'static str,
    },
    /// Tags of 8 bits cannot be used.
    #[error("extended tags of the {} function stay off; the card has more than 32 reads outstanding, so let the host enable them (Linux: without pci=...no_ext_tag)", .0.name())]
    ExtendedTags(Function),
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
    #[error("FEATURES says 2^{} queue pairs and {} ports; this driver needs 2^2 to 2^{QPN_BITS} and 1 or 2", .0.log2_queue_pairs, .0.ports)]
    Features(Features),
    /// Endpoints that cannot be.
    #[error("DATA_PATH says {} PCIe endpoints; this driver needs 1 or 2, the control function's and the data function's", .0.endpoints)]
    DataPath(DataPath),
    /// The card has a data function that was not found.
    #[error("the card with the serial number {serial:016x} has two PCIe endpoints, and its data function, {VENDOR:04x}:{:04x}, is not there; with VFIO, bind both functions of the card to vfio-pci: `lspci -Dd {VENDOR:04x}:` lists them", Function::Data.device())]
    NoDataFunction {
        /// The serial number.
        serial: u64,
    },
    /// Sizes of tables that cannot be.
    #[error("FEATURES says 2^{} memory regions and 2^{} translations; a row of a table has {EMTT_INDEX_BITS} bits, so 2^1 to 2^{EMTT_INDEX_BITS} can be: load an image whose register map has version {MAJOR}.{MINOR}", .0.log2_regions, .0.log2_translations)]
    Tables(Features),
    /// Limits of WRITEs with immediate that cannot be.
    #[error("IMMEDIATES says 2^{} WRITEs with immediate in flight, and a stash of 2^{}; this driver needs at most 2^{}, and a stash of as many up to 2^{}", .0.log2_most, .0.log2_stash, MOST_LOG2.0, MOST_LOG2.1)]
    Immediates(Immediates),
}

/// Greatest log2 of the WRITEs with immediate in flight, and of the entries of a stash that a row can name.
const MOST_LOG2: (u8, u8) = (10, 16);

/// A card that was found, not yet reset: its identity and its limits.
#[derive(Clone)]
pub struct Probe {
    function: Arc<dyn PciFunction>,
    /// Serial number of the card: EUI-64.
    pub serial: u64,
    /// Version of the register map: major, minor.
    pub version: (u16, u16),
    /// Queue pairs, ports, vectors and sizes of tables of the card.
    pub features: Features,
    /// How many WRITEs with immediate may be in flight.
    pub immediates: Immediates,
    /// PCIe endpoints and width of the card.
    pub data_path: DataPath,
    /// Vectors of the MSI-X capability.
    pub msi_x_vectors: u16,
    /// Largest payload of a PCIe write, bytes, as the host set it for all functions.
    pub max_payload: u32,
    /// Largest PCIe read, bytes, as the host set it for all functions.
    pub max_read: u32,
    /// Requests may have translated addresses: the host has enabled ATS for all functions.
    pub ats: bool,
    /// Bit p: the link of port p is up.
    pub ports_up: u8,
}

/// What the configuration space of the data function says, which has to be one of the card with this serial number.
fn data_settings(card: &dyn PciFunction, serial: u64) -> Result<Settings, ProbeError> {
    if card.config_read16(Function::Data, header::VENDOR_ID)? == NOBODY {
        return Err(ProbeError::NoDataFunction { serial });
    }
    let data = Settings::of(card, Function::Data)?;
    if data.serial == serial {
        Ok(data)
    } else {
        Err(ProbeError::Serial {
            control: serial,
            data: data.serial,
        })
    }
}

impl Probe {
    /// Looks at a function. Switches its memory space on, and changes nothing else.
    ///
    /// # Errors
    /// [`ProbeError`], the first thing that does not fit.
    pub fn new(function: Arc<dyn PciFunction>) -> Result<Self, ProbeError> {
        let control = Settings::of(&*function, Function::Control)?;
        let vectors = capability(&*function, Function::Control, MSI_X_ID, "MSI-X")?;
        let vectors =
            function.config_read16(Function::Control, vectors + msi_x::CONTROL)? & msi_x::SIZE_MASK;
        let old = function.config_read16(Function::Control, header::COMMAND)?;
        let on = old | command::MEMORY;
        function.config_write16(Function::Control, header::COMMAND, on)?;
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
        if !(2..=QPN_BITS).contains(&usize::from(features.log2_queue_pairs))
            || !(1..=2).contains(&features.ports)
        {
            return Err(ProbeError::Features(features));
        }
        let tables = [features.log2_regions, features.log2_translations];
        if tables
            .iter()
            .any(|log2| !(1..=EMTT_INDEX_BITS).contains(&usize::from(*log2)))
        {
            return Err(ProbeError::Tables(features));
        }
        let immediates = Immediates::from_word(read(IMMEDIATES.offset)?);
        let Immediates {
            log2_most,
            log2_stash,
        } = immediates;
        if log2_most > MOST_LOG2.0 || !(log2_most..=MOST_LOG2.1).contains(&log2_stash) {
            return Err(ProbeError::Immediates(immediates));
        }
        let data_path = DataPath::from_word(read(DATA_PATH.offset)?);
        let data = match data_path.endpoints {
            1 => control,
            2 => data_settings(&*function, control.serial)?,
            _ => return Err(ProbeError::DataPath(data_path)),
        };
        let ports_up = read(PORT_STATE.offset)? as u8;
        Ok(Self {
            data_path,
            serial: control.serial,
            version: (major, minor),
            features,
            immediates,
            msi_x_vectors: vectors + 1,
            max_payload: control.max_payload.min(data.max_payload),
            max_read: control.max_read.min(data.max_read),
            ats: control.ats && data.ats,
            ports_up,
            function,
        })
    }

    /// Takes the uncorrectable errors that the functions have logged in their AER capabilities since the last call, by any driver.
    ///
    /// # Errors
    /// [`ProbeError`].
    pub fn take_pcie_errors(&self) -> Result<Vec<PcieErrors>, ProbeError> {
        let take = |function| take_errors(&*self.function, function);
        self.functions().iter().copied().map(take).collect()
    }

    /// The functions of the card, by endpoint.
    pub fn functions(&self) -> &'static [Function] {
        &Function::ALL[..self.data_path.endpoints.into()]
    }

    /// Returns the function that was probed.
    pub fn function(&self) -> &Arc<dyn PciFunction> {
        &self.function
    }
}

#[cfg(test)]
mod tests {
    use stellar_wire::host::config_space::EXTENDED;

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
        assert_eq!((probe.serial, probe.ats), (0, true));
        assert_eq!(probe.version, (MAJOR, MINOR));
        assert_eq!(probe.msi_x_vectors, 64);
        assert_eq!((probe.max_payload, probe.max_read), (128, 512));
    }

    #[test]
    fn both_functions_have_to_be_of_one_card() {
        let serial = EXTENDED + 0x54;
        let two = message(|card| card.set_config(Function::Data, serial, 7));
        assert!(
            two.contains("and the data function 0000000000000007"),
            "{two}"
        );
        let other = message(|card| card.set_config(Function::Data, 0, 0x1017_15b3));
        assert!(
            other.contains("the card's data function is 10ee:5344"),
            "{other}"
        );
        let alone = message(|card| card.set_config(Function::Data, 0, u32::MAX));
        assert!(
            alone.contains("its data function, 10ee:5344, is not there"),
            "{alone}"
        );
    }

    #[test]
    fn a_card_with_one_endpoint_has_one_function() {
        let card = FakeCard::one_port();
        card.set_config(Function::Data, 0, u32::MAX);
        card.set_config(Function::Data, 0x48, 0);
        let probe = Probe::new(card).unwrap();
        assert_eq!(probe.functions(), [Function::Control]);
        assert_eq!((probe.features.ports, probe.data_path.width), (1, 512));
        assert_eq!(probe.take_pcie_errors().unwrap().len(), 1);
    }

    #[test]
    fn shapes_that_cannot_be_are_refused() {
        let three = message(|card| {
            let endpoints = 3;
            let shape = DataPath {
                endpoints,
                ..FakeCard::DATA_PATH
            };
            card.set_register(DATA_PATH, shape.to_word());
        });
        assert!(three.contains("DATA_PATH says 3 PCIe endpoints"), "{three}");
        for ports in [0, 3] {
            let features = Features {
                ports,
                ..FakeCard::FEATURES
            };
            let refused = message(|card| card.set_register(FEATURES, features.to_word()));
            assert!(refused.contains(&format!("{ports} ports")), "{refused}");
        }
        // Too many of one queue pair, too large a stash for a row, and more of one queue pair than the stash has.
        for (log2_most, log2_stash) in [(11, 14), (8, 17), (8, 7)] {
            let limits = Immediates {
                log2_most,
                log2_stash,
            };
            let refused = message(|card| card.set_register(IMMEDIATES, limits.to_word()));
            assert!(
                refused.contains(&format!("2^{log2_most} WRITEs")),
                "{refused}"
            );
        }
    }

    #[test]
    fn the_smaller_sizes_of_both_functions_count() {
        let card = FakeCard::new();
        // Payload 512 bytes and reads of 4,096; payload 256 and reads of 1,024.
        card.set_config(Function::Control, 0x48, 5 << 12 | 2 << 5);
        card.set_config(Function::Data, 0x48, 3 << 12 | 1 << 5);
        let probe = Probe::new(card).unwrap();
        assert_eq!((probe.max_payload, probe.max_read), (256, 1024));
    }

    #[test]
    fn what_is_not_the_card_is_named() {
        let other = message(|card| card.set_config(Function::Control, 0, 0x1017_15b3));
        assert!(other.starts_with("PCI identity 15b3:1017;"), "{other}");
        let gone = message(|card| card.set_register(IDENTITY, u64::MAX));
        assert!(gone.contains("0xffffffffffffffff"), "{gone}");
        let next = u64::from(MAJOR) + 1;
        let newer = message(|card| card.set_register(VERSION, next << 16 | 7));
        assert!(newer.contains(&format!("version {next}.7")), "{newer}");
        let says =
            |features: Features| message(|card| card.set_register(FEATURES, features.to_word()));
        let large = says(Features {
            log2_queue_pairs: 17,
            ..FakeCard::FEATURES
        });
        assert!(large.contains("2^17 queue pairs"), "{large}");
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
        let no_reset = message(|card| card.set_config(Function::Control, 0x44, 3));
        assert!(no_reset.contains("cannot be reset alone"), "{no_reset}");
        let circle = message(|card| card.set_config(Function::Control, 0x40, 0x4005));
        assert!(circle.contains("never ends"), "{circle}");
        let empty = message(|card| card.set_config(Function::Control, 0x34, 0));
        assert!(empty.contains("no PCI Express capability"), "{empty}");
    }
}
