//! Configuration space of a simulated card, from the table in `stellar-wire`.

use stellar_wire::host::config_space::{
    command, header, msi_x, pci_express, ConfigWord, ALL, LENGTH, MSI_X_ID, PCI_EXPRESS_ID,
};

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

/// PCI configuration space of a simulated card.
pub struct ConfigSpace {
    words: [u32; WORDS],
}

impl ConfigSpace {
    /// The state after power-up or a function-level reset.
    pub fn new() -> Self {
        let mut words = [0; WORDS];
        for word in ALL {
            words[usize::from(word.offset / 4)] = word.reset;
        }
        Self { words }
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
        let control = self.capability(PCI_EXPRESS_ID) + pci_express::DEVICE_CONTROL;
        let reset = pci_express::INITIATE_RESET.to_le_bytes()[1];
        let mut effect = ConfigEffect::Nothing;
        for (at, byte) in (offset..LENGTH).zip(bytes) {
            let shift = 8 * u32::from(at & 3);
            let here = |word: &&ConfigWord| word.offset == at & !3;
            let writable = ALL.iter().find(here).map_or(0, |word| word.writable);
            let mask = writable & 0xff << shift;
            let word = &mut self.words[usize::from(at / 4)];
            *word = *word & !mask | u32::from(*byte) << shift & mask;
            if at == control + 1 && byte & reset != 0 {
                effect = ConfigEffect::Reset;
            }
        }
        match effect {
            ConfigEffect::Nothing if !had_msi_x && self.has_msi_x() => ConfigEffect::MsiX,
            effect => effect,
        }
    }

    /// Offset of a capability in the table.
    fn capability(&self, id: u8) -> u16 {
        let mut at = self.load(header::CAPABILITIES) as u16;
        while at != 0 && self.load(at) as u8 != id {
            at = (self.load(at) >> 8 & 0xff) as u16;
        }
        at
    }

    fn command(&self) -> u16 {
        self.load(header::COMMAND) as u16
    }

    /// Whether the BARs respond.
    pub fn has_memory(&self) -> bool {
        self.command() & command::MEMORY != 0
    }

    /// Whether the card may access memory.
    pub fn is_master(&self) -> bool {
        self.command() & command::BUS_MASTER != 0
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

    /// Whether the mask of the whole function is set.
    pub fn masks_all_vectors(&self) -> bool {
        self.msi_x_control() & msi_x::FUNCTION_MASK != 0
    }

    fn msi_x_control(&self) -> u16 {
        (self.load(self.capability(MSI_X_ID)) >> 16) as u16
    }

    /// Sets the sizes of PCIe requests, as codes. On a real host the firmware does this.
    pub fn set_sizes(&mut self, payload_code: u16, read_code: u16) {
        let control = self.capability(PCI_EXPRESS_ID) + pci_express::DEVICE_CONTROL;
        let value =
            payload_code << pci_express::MAX_PAYLOAD_BIT | read_code << pci_express::MAX_READ_BIT;
        self.store(control, &value.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stellar_wire::host::config_space::{Bar, DEVICE, VENDOR};

    #[test]
    fn a_reader_finds_the_card_its_bars_and_its_capabilities() {
        let mut space = ConfigSpace::new();
        assert_eq!(space.load(0), u32::from(DEVICE) << 16 | u32::from(VENDOR));
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
        let mut space = ConfigSpace::new();
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
        space.set_sizes(1, 2);
        let control = space.capability(PCI_EXPRESS_ID) + pci_express::DEVICE_CONTROL;
        assert_eq!(space.load(control) as u16, 1 << 5 | 2 << 12);
        let reset = space.store(control, &pci_express::INITIATE_RESET.to_le_bytes());
        assert_eq!(reset, ConfigEffect::Reset);
        assert_eq!(space.load(control) as u16 & pci_express::INITIATE_RESET, 0);
    }

    #[test]
    fn bytes_are_written_one_by_one_and_none_outside() {
        let mut space = ConfigSpace::new();
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
}
