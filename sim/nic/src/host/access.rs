//! What is done to a card over PCI, in terms of its pins: register accesses, reset, interrupt vectors.

use std::time::Duration;

use stellar_driver::DeviceError;
use stellar_wire::host::config_space::{Bar, PAGE_BYTES};
use stellar_wire::host::registers::{status, TableCommand, TABLE_COMMAND, TABLE_DATA};
use stellar_wire::rows::{ConfigSelect, InterruptRow, Row};

use super::card::Operation;
use super::config_space::ConfigEffect;
use super::hosts::Hosts;
use crate::pcie::{HostSide, MESSAGES};

/// Longest the card may take for a row of its table of vectors.
const VECTOR_PATIENCE: Duration = Duration::from_millis(1);
/// Bytes of a register.
const WORD: u64 = 8;

impl<M: HostSide> Hosts<M> {
    /// Time since power-up.
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.now() / 1_000)
    }

    fn access(&mut self, host: usize, operation: Operation) -> Result<u64, DeviceError> {
        let began = self.time();
        let answer = self.carry(host, operation);
        answer.ok_or_else(|| DeviceError::NoAnswer {
            what: "take a register access",
            waited: self.time() - began,
        })
    }

    /// Reads a double word of the configuration space. It is all ones beyond the end.
    pub fn config_load(&mut self, host: usize, offset: u16) -> u32 {
        self.card(host).config.load(offset)
    }

    /// Writes bytes of the configuration space. If they request a reset, the reset begins at once ([`Self::is_resetting`]).
    pub fn config_store(&mut self, host: usize, offset: u16, bytes: &[u8]) -> ConfigEffect {
        let effect = self.card(host).config.store(offset, bytes);
        if effect == ConfigEffect::Reset {
            self.begin_reset(host);
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
        // Doorbell pages are write-only, and the table of vectors is the operating system's.
        if bar != Bar::Registers || !self.answers(host) {
            return Ok(None);
        }
        let word = self.access(host, Operation::Read((offset & !(WORD - 1)) as u16))?;
        let unused = 64 - 8 * u32::from(bytes);
        let value = word >> (8 * (offset % WORD));
        Ok(Some(value << unused >> unused))
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
        let (word, lead) = (offset & !(WORD - 1), offset % WORD);
        let data = value << (8 * lead);
        let enable = (0xff_u8 >> (8 - bytes)) << lead;
        let operation = match bar {
            Bar::Registers => Operation::Write(word as u16, data, enable),
            Bar::Doorbells => {
                let (page, offset) = (word / PAGE_BYTES, word % PAGE_BYTES);
                Operation::Ring(page as u16, offset as u16, data, enable)
            }
            Bar::Vectors => return Ok(false),
        };
        if !self.answers(host) {
            return Ok(false);
        }
        self.access(host, operation)?;
        Ok(true)
    }

    /// Whether the BARs of a card respond: memory space is enabled, and the card is not in reset.
    fn answers(&mut self, host: usize) -> bool {
        self.card(host).config.has_memory() && !self.is_resetting(host)
    }

    /// Interrupt vectors of a card.
    pub fn vectors(&mut self, host: usize) -> u16 {
        self.card(host).config.vectors()
    }

    /// What the operating system does with a vector: switches MSI-X on and writes the vector's message into the table of vectors, here the
    /// card's own.
    ///
    /// # Errors
    /// [`DeviceError::NoVector`], [`DeviceError::NoAnswer`].
    pub fn enable_vector(&mut self, host: usize, vector: u16) -> Result<(), DeviceError> {
        let vectors = self.vectors(host);
        if vector >= vectors {
            return Err(DeviceError::NoVector { vector, vectors });
        }
        self.card(host).config.enable_msi_x();
        let row = InterruptRow {
            masked: false,
            data: vector.into(),
            address: MESSAGES,
        };
        for (offset, pair) in (TABLE_DATA.offset..).step_by(8).zip(row.pack().chunks(2)) {
            let high = pair.get(1).copied().unwrap_or(0);
            let word = u64::from(high) << 32 | u64::from(pair[0]);
            self.access(host, Operation::Write(offset, word, 0xff))?;
        }
        let command = TableCommand {
            select: ConfigSelect::Interrupt.index(),
            index: vector.into(),
        };
        let offset = TABLE_COMMAND.offset;
        self.access(host, Operation::Write(offset, command.to_word(), 0xff))?;
        let began = self.time();
        while self.access(host, Operation::Read(offset))? >> status::BUSY_BIT & 1 == 1 {
            let waited = self.time() - began;
            if waited > VECTOR_PATIENCE {
                let what = "write an interrupt vector";
                return Err(DeviceError::NoAnswer { what, waited });
            }
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
