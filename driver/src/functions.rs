//! Configuration spaces of the card's two functions.

use stellar_wire::host::config_space::aer::{self, HeaderLog, Uncorrectable};
use stellar_wire::host::config_space::{
    ats, command, header, pci_express, serial_number, Function, AER_ID, ATS_ID, EXTENDED,
    MOST_CAPABILITIES, PCI_EXPRESS_ID, SERIAL_NUMBER_ID, VENDOR,
};

use crate::device::PciFunction;
use crate::probe::ProbeError;

/// What the configuration space of a function says.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Largest payload of a PCIe write, bytes.
    pub max_payload: u32,
    /// Largest PCIe read, bytes.
    pub max_read: u32,
    /// Requests may have translated addresses.
    pub ats: bool,
    /// EUI-64.
    pub serial: u64,
}

/// Uncorrectable PCIe errors that a function has logged in its AER capability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PcieErrors {
    /// The function.
    pub function: Function,
    /// The errors. Several of a kind count once.
    pub errors: Vec<Uncorrectable>,
    /// The first of them, and the header of its TLP; `None` if there is no error, or the first one was masked.
    pub first: Option<(Uncorrectable, HeaderLog)>,
}

impl Settings {
    /// Reads those of a function that has to be one of the card.
    pub fn of(card: &dyn PciFunction, function: Function) -> Result<Self, ProbeError> {
        let vendor = card.config_read16(function, header::VENDOR_ID)?;
        let device = card.config_read16(function, header::DEVICE_ID)?;
        if (vendor, device) != (VENDOR, function.device()) {
            return Err(ProbeError::Identity {
                function,
                vendor,
                device,
            });
        }
        let express = capability(card, function, PCI_EXPRESS_ID, "PCI Express")?;
        let can = card.config_read32(function, express + pci_express::DEVICE_CAPABILITIES)?;
        if can & pci_express::FUNCTION_RESET == 0 {
            return Err(ProbeError::NoFunctionReset);
        }
        let control = card.config_read16(function, express + pci_express::DEVICE_CONTROL)?;
        let size = |bit: u32| 128 << (control >> bit & 7);
        let load = |at| card.config_read32(function, at);
        let name = "serial number";
        let serial = read_serial(load)?.ok_or(ProbeError::Capability { function, name })?;
        // A virtual machine may hide the capability.
        let ats_control = match find_extended(load, ATS_ID)? {
            Some(at) => card.config_read16(function, at + ats::CONTROL)?,
            None => 0,
        };
        Ok(Self {
            max_payload: size(pci_express::MAX_PAYLOAD_BIT),
            max_read: size(pci_express::MAX_READ_BIT),
            ats: ats_control & ats::ENABLE != 0,
            serial,
        })
    }
}

/// Lets a function access memory, with tags of 8 bits: the card has more than 32 reads outstanding.
pub fn enable_requests(card: &dyn PciFunction, function: Function) -> Result<(), ProbeError> {
    let express = capability(card, function, PCI_EXPRESS_ID, "PCI Express")?;
    let control = express + pci_express::DEVICE_CONTROL;
    let old = card.config_read16(function, control)?;
    if old & pci_express::EXTENDED_TAGS == 0 {
        card.config_write16(function, control, old | pci_express::EXTENDED_TAGS)?;
        let new = card.config_read16(function, control)?;
        if new & pci_express::EXTENDED_TAGS == 0 {
            return Err(ProbeError::ExtendedTags(function));
        }
    }
    let old = card.config_read16(function, header::COMMAND)?;
    let on = match function {
        Function::Control => command::MEMORY | command::BUS_MASTER,
        Function::Data => command::BUS_MASTER,
    };
    card.config_write16(function, header::COMMAND, old | on)?;
    Ok(())
}

/// Reads the errors that a function has logged, and clears them. First error pointer and header log mean something only before that.
pub fn take_errors(card: &dyn PciFunction, function: Function) -> Result<PcieErrors, ProbeError> {
    let at = extended_capability(card, function, AER_ID, "AER")?;
    let status = at + aer::UNCORRECTABLE_STATUS;
    let logged = card.config_read32(function, status)?;
    let is_logged = |error: &Uncorrectable| logged & error.bit() != 0;
    let pointer = card.config_read32(function, at + aer::CONTROL)?;
    let first = match Uncorrectable::first(pointer).filter(is_logged) {
        Some(error) => Some((error, header_log(card, function, at)?)),
        None => None,
    };
    for (offset, half) in [(0, logged), (2, logged >> 16)] {
        if half as u16 != 0 {
            card.config_write16(function, status + offset, half as u16)?;
        }
    }
    Ok(PcieErrors {
        function,
        errors: Uncorrectable::ALL.into_iter().filter(is_logged).collect(),
        first,
    })
}

/// Reads the header log of the AER capability at `at`.
fn header_log(
    card: &dyn PciFunction,
    function: Function,
    at: u16,
) -> Result<HeaderLog, ProbeError> {
    let mut log = HeaderLog::default();
    let places = (at + aer::HEADER_LOG..).step_by(4);
    for (word, place) in log.words.iter_mut().zip(places) {
        *word = card.config_read32(function, place)?;
    }
    Ok(log)
}

/// Returns the offset of a capability in the first 256 bytes.
pub fn capability(
    card: &dyn PciFunction,
    function: Function,
    id: u8,
    name: &'static str,
) -> Result<u16, ProbeError> {
    let mut at = card.config_read16(function, header::CAPABILITIES)? & 0xfc;
    for _ in 0..MOST_CAPABILITIES {
        if at == 0 {
            return Err(ProbeError::Capability { function, name });
        }
        let [found, next] = card.config_read16(function, at)?.to_le_bytes();
        if found == id {
            return Ok(at);
        }
        at = u16::from(next & 0xfc);
    }
    Err(ProbeError::Capabilities)
}

/// Returns the offset of an extended capability.
fn extended_capability(
    card: &dyn PciFunction,
    function: Function,
    id: u16,
    name: &'static str,
) -> Result<u16, ProbeError> {
    let found = find_extended(|at| card.config_read32(function, at), id)?;
    found.ok_or(ProbeError::Capability { function, name })
}

/// Looks for an extended capability; `None` if there is none, also in a list that never ends.
pub fn find_extended<E>(load: impl Fn(u16) -> Result<u32, E>, id: u16) -> Result<Option<u16>, E> {
    let mut at = EXTENDED;
    for _ in 0..MOST_CAPABILITIES {
        let found = load(at)?;
        if found as u16 == id {
            return Ok(Some(at));
        }
        at = (found >> 20) as u16 & 0xffc;
        if at < EXTENDED {
            break;
        }
    }
    Ok(None)
}

/// Reads the serial number of a function; `None` if it has none.
pub fn read_serial<E>(load: impl Fn(u16) -> Result<u32, E>) -> Result<Option<u64>, E> {
    let Some(at) = find_extended(&load, SERIAL_NUMBER_ID)? else {
        return Ok(None);
    };
    let high = u64::from(load(at + serial_number::HIGH)?);
    Ok(Some(high << 32 | u64::from(load(at + serial_number::LOW)?)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::fake::FakeCard;

    fn card() -> Arc<FakeCard> {
        FakeCard::new()
    }

    #[test]
    fn requests_are_enabled_with_extended_tags() {
        let card: Arc<dyn PciFunction> = card();
        for function in Function::ALL {
            enable_requests(&*card, function).unwrap();
            let express = capability(&*card, function, PCI_EXPRESS_ID, "").unwrap();
            let control = express + pci_express::DEVICE_CONTROL;
            let value = card.config_read16(function, control).unwrap();
            assert_eq!(value, 2 << 12 | pci_express::EXTENDED_TAGS);
            let command = card.config_read16(function, header::COMMAND).unwrap();
            assert_ne!(command & command::BUS_MASTER, 0);
            assert_eq!(
                command & command::MEMORY != 0,
                function == Function::Control
            );
        }
    }

    #[test]
    fn a_function_without_a_capability_is_named() {
        let fake = card();
        fake.set_config(Function::Data, EXTENDED, 0);
        let card: Arc<dyn PciFunction> = fake;
        let error = take_errors(&*card, Function::Data).unwrap_err().to_string();
        assert!(
            error.starts_with("the data function has no AER capability"),
            "{error}"
        );
        assert!(take_errors(&*card, Function::Control)
            .unwrap()
            .errors
            .is_empty());
    }

    #[test]
    fn a_list_of_extended_capabilities_that_never_ends_is_noticed() {
        let fake = card();
        fake.set_config(
            Function::Control,
            EXTENDED,
            u32::from(EXTENDED) << 20 | 0x1_0002,
        );
        let card: Arc<dyn PciFunction> = fake;
        let error = take_errors(&*card, Function::Control).unwrap_err();
        assert!(matches!(error, ProbeError::Capability { .. }), "{error}");
    }
}
