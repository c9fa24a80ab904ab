//! What is done to a card over PCI, in terms of its pins: register accesses, reset, interrupt vectors.

use std::time::Duration;

use stellar_driver::DeviceError;
use stellar_wire::host::config_space::{Bar, Function};
use stellar_wire::host::VectorEntry;

use super::config_space::ConfigEffect;
use super::hosts::Hosts;
use crate::mmio::{MmioAccess, Progress};
use crate::pcie::{HostSide, MESSAGES};

/// Bytes of a register.
const WORD: u64 = 8;

/// An access to `bytes` bytes of the aligned 64-bit word that holds them.
fn part_of_word(bar: Bar, offset: u64, bytes: u8, value: Option<u64>) -> MmioAccess {
    let lead = offset % WORD;
    MmioAccess {
        bar,
        offset: offset - lead,
        enable: (0xff_u8 >> (8 - bytes)) << lead,
        data: value.map(|value| value << (8 * lead)),
    }
}

impl<M: HostSide> Hosts<M> {
    /// Time since power-up.
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.now() / 1_000)
    }

    /// Executes an access. Returns the word that it read; `None` for a write, and if there is nothing that can be read.
    fn access(&mut self, host: usize, access: &MmioAccess) -> Result<Option<u64>, DeviceError> {
        let began = self.time();
        match self.carry(host, access) {
            Progress::Answer(word) => Ok(Some(word)),
            Progress::Taken | Progress::Unsupported(_) => Ok(None),
            Progress::Waits => Err(DeviceError::NoAnswer {
                what: "take an access to a BAR",
                waited: self.time() - began,
            }),
        }
    }

    /// Reads a double word of the configuration space. It is all ones beyond the end, and of a function that the card does not have.
    pub fn config_load(&mut self, host: usize, function: Function, offset: u16) -> u32 {
        let card = self.card(host);
        if card.has(function) {
            card.config(function).load(offset)
        } else {
            u32::MAX
        }
    }

    /// Writes bytes of the configuration space. If they request a reset, the reset begins at once ([`Self::is_resetting`]). That of either function resets
    /// the card behind both.
    pub fn config_store(
        &mut self,
        host: usize,
        function: Function,
        offset: u16,
        bytes: &[u8],
    ) -> ConfigEffect {
        if !self.card(host).has(function) {
            return ConfigEffect::Nothing;
        }
        let effect = self.card(host).store_config(function, offset, bytes);
        if effect == ConfigEffect::Reset {
            self.reset_card(host);
        }
        effect
    }

    /// Reads `bytes` bytes of the aligned 64-bit word that holds them, in one transaction; `None` if nothing answers.
    ///
    /// # Errors
    /// [`DeviceError::NoAnswer`].
    pub fn load(
        &mut self,
        host: usize,
        bar: Bar,
        offset: u64,
        bytes: u8,
    ) -> Result<Option<u64>, DeviceError> {
        let access = part_of_word(bar, offset, bytes, None);
        if !self.answers(host, &access) {
            return Ok(None);
        }
        let word = self.access(host, &access)?;
        let unused = 64 - 8 * u32::from(bytes);
        Ok(word.map(|word| word >> (8 * (offset % WORD)) << unused >> unused))
    }

    /// Writes the low `bytes` bytes of `value` into the aligned 64-bit word that holds them, in one transaction; `false` if nothing takes them.
    ///
    /// # Errors
    /// [`DeviceError::NoAnswer`].
    pub fn store(
        &mut self,
        host: usize,
        bar: Bar,
        offset: u64,
        bytes: u8,
        value: u64,
    ) -> Result<bool, DeviceError> {
        let access = part_of_word(bar, offset, bytes, Some(value));
        if !self.answers(host, &access) {
            return Ok(false);
        }
        self.access(host, &access)?;
        Ok(true)
    }

    /// Whether the BARs of a card respond to an access: memory space is enabled, and the card is not in reset.
    fn answers(&mut self, host: usize, access: &MmioAccess) -> bool {
        if self.is_resetting(host) {
            return false;
        }
        let card = self.card(host);
        let has_memory = card.config(Function::Control).has_memory();
        if !has_memory {
            card.log_unsupported(access.header_log(0));
        }
        has_memory
    }

    /// Interrupt vectors of a card.
    pub fn vectors(&mut self, host: usize) -> u16 {
        self.card(host).config(Function::Control).vectors()
    }

    /// What the operating system does with a vector: switches MSI-X on and writes the vector's entry of the table in BAR4.
    ///
    /// # Errors
    /// [`DeviceError::NoVector`], [`DeviceError::NoAnswer`].
    pub fn enable_vector(&mut self, host: usize, vector: u16) -> Result<(), DeviceError> {
        let vectors = self.vectors(host);
        if vector >= vectors {
            return Err(DeviceError::NoVector { vector, vectors });
        }
        self.card(host).enable_msi_x();
        let entry = VectorEntry {
            address: MESSAGES,
            data: vector.into(),
            masked: false,
        };
        let offsets = (VectorEntry::offset(vector)..).step_by(WORD as usize);
        for (offset, word) in offsets.zip(entry.to_words()) {
            self.access(host, &MmioAccess::write(Bar::Vectors, offset, word))?;
        }
        Ok(())
    }

    /// Whether a vector was raised since the last time this said so.
    pub fn take_interrupt(&mut self, host: usize, vector: u16) -> bool {
        let card = self.card(host);
        let raised = card.raised >> vector & 1 == 1;
        card.raised &= !(1 << vector);
        raised
    }

    /// Returns the vectors raised since the last call: bit v is vector v.
    pub fn take_interrupts(&mut self, host: usize) -> u64 {
        std::mem::take(&mut self.card(host).raised)
    }
}
