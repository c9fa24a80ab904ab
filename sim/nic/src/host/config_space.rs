//! Configuration space of a function of a simulated card, from the tables in `stellar-wire`.

use stellar_wire::host::config_space::aer::{self, HeaderLog, Uncorrectable};
use stellar_wire::host::config_space::{
    ats, command, header, msi_x, pci_express, serial_number, ConfigWord, Function, AER_ID, ATS_ID,
    EXTENDED, LENGTH, MSI_X_ID, PCI_EXPRESS_ID, SERIAL_NUMBER_ID,
};

use crate::pcie::RequestSizes;

const WORDS: usize = LENGTH as usize / 4;

/// Side effect of a write to the configuration space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigEffect {
    Nothing,
    /// The function must be reset.
    Reset,
    /// MSI-X was switched on.
    MsiX,
}

/// PCI configuration space of a function.
pub struct ConfigSpace {
    function: Function,
    words: [u32; WORDS],
}

impl ConfigSpace {
    /// The state after power-up or a function-level reset, of a card with this serial number (EUI-64).
    pub fn new(function: Function, serial: u64) -> Self {
        let mut words = [0; WORDS];
        for word in function.words() {
            words[usize::from(word.offset / 4)] = word.reset;
        }
        let mut space = Self { function, words };
        let number = space.extended_capability(SERIAL_NUMBER_ID);
        *space.word(number + serial_number::LOW) = serial as u32;
        *space.word(number + serial_number::HIGH) = (serial >> 32) as u32;
        space
    }

    fn word(&mut self, offset: u16) -> &mut u32 {
        &mut self.words[usize::from(offset / 4)]
    }

    /// Reads a double word.
    pub fn load(&self, offset: u16) -> u32 {
        self.words
            .get(usize::from(offset / 4))
            .copied()
            .unwrap_or(u32::MAX)
    }

    /// Writes bytes. Read-only bits and bytes outside of the space do not change.
    pub fn store(&mut self, offset: u16, bytes: &[u8]) -> ConfigEffect {
        let had_msi_x = self.has_msi_x();
        let control = self.device_control();
        let reset = pci_express::INITIATE_RESET.to_le_bytes()[1];
        let mut effect = ConfigEffect::Nothing;
        for (at, byte) in (offset..LENGTH).zip(bytes) {
            let shift = 8 * u32::from(at & 3);
            let here = |word: &&ConfigWord| word.offset == at & !3;
            let Some(definition) = self.function.words().find(here) else {
                continue;
            };
            let mask = definition.writable & 0xff << shift;
            let written = u32::from(*byte) << shift;
            let word = self.word(at);
            *word = (*word & !mask | written & mask) & !(written & definition.cleared);
            if at == control + 1 && byte & reset != 0 {
                effect = ConfigEffect::Reset;
            }
        }
        match effect {
            ConfigEffect::Nothing if !had_msi_x && self.has_msi_x() => ConfigEffect::MsiX,
            effect => effect,
        }
    }

    /// Offset of a capability of the first 256 bytes; 0 if there is none.
    fn capability(&self, id: u8) -> u16 {
        let mut at = self.load(header::CAPABILITIES) as u16;
        while at != 0 && self.load(at) as u8 != id {
            at = (self.load(at) >> 8 & 0xff) as u16;
        }
        at
    }

    /// Offset of an extended capability.
    fn extended_capability(&self, id: u16) -> u16 {
        let mut at = EXTENDED;
        while at != 0 && self.load(at) as u16 != id {
            at = (self.load(at) >> 20) as u16;
        }
        at
    }

    fn command(&self) -> u16 {
        self.load(header::COMMAND) as u16
    }

    fn device_control(&self) -> u16 {
        self.capability(PCI_EXPRESS_ID) + pci_express::DEVICE_CONTROL
    }

    /// Whether the BARs respond.
    pub fn has_memory(&self) -> bool {
        self.command() & command::MEMORY != 0
    }

    /// Whether the function may access memory.
    pub fn is_master(&self) -> bool {
        self.command() & command::BUS_MASTER != 0
    }

    /// Whether the function's requests may have translated addresses.
    pub fn has_ats(&self) -> bool {
        let control = self.extended_capability(ATS_ID) + ats::CONTROL;
        (self.load(control) >> 16) as u16 & ats::ENABLE != 0
    }

    /// Number of tags that the function may use.
    pub fn tags(&self) -> u16 {
        match self.load(self.device_control()) as u16 & pci_express::EXTENDED_TAGS {
            0 => pci_express::SHORT_TAGS,
            _ => 256,
        }
    }

    /// Number of interrupt vectors.
    pub fn vectors(&self) -> u16 {
        (self.msi_x_control() & msi_x::SIZE_MASK) + 1
    }

    /// Switches MSI-X on, as the operating system would.
    pub fn enable_msi_x(&mut self) {
        let control = self.capability(MSI_X_ID) + msi_x::CONTROL;
        self.store(control, &msi_x::ENABLE.to_le_bytes());
    }

    /// Whether MSI-X is on.
    pub fn has_msi_x(&self) -> bool {
        self.msi_x_control() & msi_x::ENABLE != 0
    }

    /// Whether the function may send interrupt messages: MSI-X is on, and so is Bus Master Enable.
    pub fn may_interrupt(&self) -> bool {
        self.has_msi_x() && self.is_master()
    }

    /// Whether the mask of the whole function is set.
    pub fn masks_all_vectors(&self) -> bool {
        self.msi_x_control() & msi_x::FUNCTION_MASK != 0
    }

    /// Message control of MSI-X. It is zero for a function without MSI-X.
    fn msi_x_control(&self) -> u16 {
        match self.capability(MSI_X_ID) {
            0 => 0,
            at => (self.load(at) >> 16) as u16,
        }
    }

    /// Does what the operating system does before a driver comes: sizes of requests by what the host can, and ATS, with which the IOMMU trusts the function's
    /// translated addresses.
    pub fn enumerate(&mut self, sizes: RequestSizes) {
        let value = u16::from(sizes.payload) << pci_express::MAX_PAYLOAD_BIT
            | u16::from(sizes.read) << pci_express::MAX_READ_BIT;
        self.store(self.device_control(), &value.to_le_bytes());
        let control = self.extended_capability(ATS_ID) + ats::CONTROL;
        self.store(control, &ats::ENABLE.to_le_bytes());
    }

    /// Logs an error and the header of its TLP, as the PCIe block does. All are non-fatal after reset.
    ///
    /// The first error keeps first error pointer and header log until software clears its bit (PCIe base specification 5.0, section 6.2.4.2). A masked error
    /// does not have them.
    pub fn log(&mut self, error: Uncorrectable, header: HeaderLog) {
        let at = self.extended_capability(AER_ID);
        let status = self.load(at + aer::UNCORRECTABLE_STATUS);
        let first = self.load(at + aer::CONTROL) & aer::FIRST_ERROR;
        let is_masked = self.load(at + aer::UNCORRECTABLE_MASK) & error.bit() != 0;
        if status >> first & 1 == 0 && !is_masked {
            let control = self.word(at + aer::CONTROL);
            *control = *control & !aer::FIRST_ERROR | error.bit().trailing_zeros();
            for (word, place) in header
                .words
                .into_iter()
                .zip((at + aer::HEADER_LOG..).step_by(4))
            {
                *self.word(place) = word;
            }
        }
        *self.word(at + aer::UNCORRECTABLE_STATUS) |= error.bit();
        let detected = match error {
            Uncorrectable::UnsupportedRequest => {
                pci_express::NON_FATAL_DETECTED | pci_express::UNSUPPORTED_DETECTED
            }
            _ => pci_express::NON_FATAL_DETECTED,
        };
        *self.word(self.device_control()) |= detected;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stellar_wire::host::config_space::{Bar, VENDOR};

    const SERIAL: u64 = 0x000a_35ff_fe12_3456;

    fn control() -> ConfigSpace {
        ConfigSpace::new(Function::Control, SERIAL)
    }

    #[test]
    fn a_reader_finds_the_card_its_bars_and_its_capabilities() {
        let mut space = control();
        assert_eq!(
            space.load(0),
            u32::from(Function::Control.device()) << 16 | u32::from(VENDOR)
        );
        assert_eq!(space.vectors(), 64);
        for bar in Bar::ALL {
            let at = header::BARS + 4 * u16::from(bar.index());
            for half in [0, 2, 4, 6] {
                space.store(at + half, &[0xff; 2]);
            }
            let size = u64::from(space.load(at + 4)) << 32 | u64::from(space.load(at) & !0xf);
            assert_eq!(size.wrapping_neg(), bar.length());
        }
    }

    #[test]
    fn only_what_is_writable_is_written_and_the_reset_bit_resets() {
        let mut space = control();
        assert!(!space.is_master() && !space.has_memory());
        let nothing = space.store(header::COMMAND, &[0xff; 2]);
        assert_eq!(nothing, ConfigEffect::Nothing);
        assert!(space.is_master() && space.has_memory());
        assert_eq!(
            space.load(header::COMMAND) as u16,
            command::MEMORY | command::BUS_MASTER
        );
        space.store(header::VENDOR_ID, &[0; 2]);
        assert_eq!(space.load(0) as u16, VENDOR);
        space.enumerate(RequestSizes {
            payload: 1,
            read: 2,
        });
        let control = space.device_control();
        assert_eq!(space.load(control) as u16, 1 << 5 | 2 << 12);
        let reset = space.store(control, &pci_express::INITIATE_RESET.to_le_bytes());
        assert_eq!(reset, ConfigEffect::Reset);
        assert_eq!(space.load(control) as u16 & pci_express::INITIATE_RESET, 0);
    }

    #[test]
    fn bytes_are_written_one_by_one_and_none_outside() {
        let mut space = control();
        space.store(header::BARS + 5, &[0x12]);
        assert_eq!(space.load(header::BARS + 4), 0x1200);
        space.store(header::BARS + 7, &[0x34, 0xff]);
        assert_eq!(space.load(header::BARS + 4), 0x3400_1200);
        space.store(LENGTH - 1, &[0xff; 4]);
        assert_eq!(space.load(LENGTH), u32::MAX);
        let enable = space.capability(MSI_X_ID) + msi_x::CONTROL + 1;
        assert_eq!(space.store(enable, &[0x80]), ConfigEffect::MsiX);
        assert_eq!(space.store(enable, &[0x80]), ConfigEffect::Nothing);
        assert!(space.has_msi_x());
        let reset = space.capability(PCI_EXPRESS_ID) + pci_express::DEVICE_CONTROL + 1;
        assert_eq!(space.store(reset, &[0x80]), ConfigEffect::Reset);
    }

    #[test]
    fn both_functions_have_the_serial_number_and_lists_of_capabilities_that_end() {
        for function in Function::ALL {
            let space = ConfigSpace::new(function, SERIAL);
            assert_eq!(space.load(0) >> 16, u32::from(function.device()));
            let number = space.extended_capability(SERIAL_NUMBER_ID);
            let half = |offset| u64::from(space.load(number + offset));
            let read = half(serial_number::HIGH) << 32 | half(serial_number::LOW);
            assert_eq!(read, SERIAL);
            assert_eq!(space.extended_capability(0x7fff), 0);
            assert_eq!(space.capability(0x7f), 0);
        }
        let data = ConfigSpace::new(Function::Data, SERIAL);
        assert!(!data.has_msi_x());
        let bars = header::BARS..header::BARS + 24;
        assert!(bars.step_by(4).all(|at| data.load(at) == 0));
    }

    #[test]
    fn ats_and_extended_tags_are_off_after_reset_and_switched_on() {
        let mut space = ConfigSpace::new(Function::Data, SERIAL);
        assert_eq!((space.has_ats(), space.tags()), (false, 32));
        space.enumerate(RequestSizes::default());
        assert_eq!((space.has_ats(), space.tags()), (true, 32));
        let control = space.device_control();
        let value = space.load(control) as u16 | pci_express::EXTENDED_TAGS;
        space.store(control, &value.to_le_bytes());
        assert_eq!(space.tags(), 256);
    }

    #[test]
    fn logged_errors_stay_until_a_one_is_written() {
        let mut space = control();
        space.log(Uncorrectable::PoisonedTlp, HeaderLog::default());
        space.log(Uncorrectable::UnsupportedRequest, HeaderLog::default());
        let status = space.extended_capability(AER_ID) + aer::UNCORRECTABLE_STATUS;
        let both = Uncorrectable::PoisonedTlp.bit() | Uncorrectable::UnsupportedRequest.bit();
        assert_eq!(space.load(status), both);
        space.store(status, &[0; 4]);
        assert_eq!(space.load(status), both);
        space.store(status, &Uncorrectable::PoisonedTlp.bit().to_le_bytes());
        assert_eq!(space.load(status), Uncorrectable::UnsupportedRequest.bit());
        let device_status = space.device_control() + 2;
        assert_eq!(space.load(device_status) >> 16, 0b1010);
        space.store(device_status, &[0xff; 2]);
        assert_eq!(space.load(device_status) >> 16, 0);
    }
    #[test]
    fn the_first_error_keeps_its_header_until_its_bit_is_cleared() {
        let mut space = control();
        let at = space.extended_capability(AER_ID);
        let log = |number: u32| HeaderLog {
            words: [0, 1, 2, 3].map(|word| 16 * number + word),
        };
        let first = |space: &ConfigSpace| {
            let words = [0, 4, 8, 12].map(|word| space.load(at + aer::HEADER_LOG + word));
            let pointer = space.load(at + aer::CONTROL);
            (Uncorrectable::first(pointer), HeaderLog { words })
        };
        let (poisoned, unsupported) = (
            Uncorrectable::PoisonedTlp,
            Uncorrectable::UnsupportedRequest,
        );
        assert_eq!(first(&space), (None, HeaderLog::default()));
        // A masked error is in the status alone.
        let mask = at + aer::UNCORRECTABLE_MASK;
        space.store(mask, &unsupported.bit().to_le_bytes());
        space.log(unsupported, log(1));
        assert_eq!(first(&space), (None, HeaderLog::default()));
        space.store(mask, &[0; 4]);
        space.log(poisoned, log(2));
        for number in [3, 4] {
            space.log(poisoned, log(number));
            space.log(unsupported, log(number));
            assert_eq!(first(&space), (Some(poisoned), log(2)));
        }
        // The other bit says nothing about the header.
        let status = at + aer::UNCORRECTABLE_STATUS;
        space.store(status, &unsupported.bit().to_le_bytes());
        space.log(unsupported, log(5));
        assert_eq!(first(&space), (Some(poisoned), log(2)));
        space.store(status, &poisoned.bit().to_le_bytes());
        space.log(unsupported, log(6));
        assert_eq!(first(&space), (Some(unsupported), log(6)));
        // Software cannot write them.
        space.store(at + aer::CONTROL, &[0; 20]);
        assert_eq!(first(&space), (Some(unsupported), log(6)));
    }
}
