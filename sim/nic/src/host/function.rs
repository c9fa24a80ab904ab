//! A simulated host's card as the driver sees it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rust_hdl::prelude::*;
use stellar_driver::{Access, DeviceError, DmaMemory, Interrupt, PciFunction, Width};
use stellar_transport::rx::Owner;
use stellar_wire::host::config_space::{Bar, PAGE_BYTES};
use stellar_wire::host::registers::{status, TableCommand, TABLE_COMMAND, TABLE_DATA};
use stellar_wire::hw::config::ConfigSelect;
use stellar_wire::hw::host_queues::InterruptEntry;
use stellar_wire::hw::pack::to_words;

use super::card::{Operation, MESSAGES};
use super::config_space::ConfigEffect;
use super::hosts::{lock, Hosts};

/// Clocks between two looks of a driver that waits: 32 ns, about what a processor's loop over a cached word takes.
const PAUSE: u64 = 8;
/// Longest the card may take for a row of its table of vectors.
const VECTOR_PATIENCE: Duration = Duration::from_millis(1);
/// What a read of something that does not answer shows.
const ALL_ONES: u64 = u64::MAX;

/// The card of one host.
pub struct SimFunction {
    hosts: Arc<Mutex<Hosts>>,
    host: usize,
}

impl SimFunction {
    /// The card of host `host`.
    pub fn new(hosts: Arc<Mutex<Hosts>>, host: usize) -> Self {
        Self { hosts, host }
    }

    fn access(&self, operation: Operation) -> Result<u64, DeviceError> {
        let mut hosts = lock(&self.hosts);
        let began = time(&hosts);
        let answer = hosts.access(self.host, operation);
        answer.ok_or_else(|| DeviceError::NoAnswer {
            what: "take a register access",
            waited: time(&hosts) - began,
        })
    }

    fn has_memory(&self) -> bool {
        lock(&self.hosts).card(self.host).config.has_memory()
    }

    /// What the operating system does with a vector: its message goes into the table of vectors, here the card's own.
    fn write_vector(&self, vector: u16) -> Result<(), DeviceError> {
        let entry = to_words(InterruptEntry {
            masked: false,
            data: u64::from(vector).to_bits(),
            address: MESSAGES.to_bits(),
        });
        for (offset, pair) in (TABLE_DATA.offset..).step_by(8).zip(entry.chunks(2)) {
            let high = pair.get(1).copied().unwrap_or(0);
            let word = u64::from(high) << 32 | u64::from(pair[0]);
            self.access(Operation::Write(offset, word, 0xff))?;
        }
        let command = TableCommand {
            select: ConfigSelect::Interrupt as u8,
            index: vector.into(),
        };
        let offset = TABLE_COMMAND.offset;
        self.access(Operation::Write(offset, command.to_word(), 0xff))?;
        let began = self.now();
        while self.access(Operation::Read(offset))? >> status::BUSY_BIT & 1 == 1 {
            let waited = self.now() - began;
            if waited > VECTOR_PATIENCE {
                let what = "write an interrupt vector";
                return Err(DeviceError::NoAnswer { what, waited });
            }
        }
        Ok(())
    }
}

fn time(hosts: &Hosts) -> Duration {
    Duration::from_nanos(hosts.now() / 1_000)
}

/// The 64-bit word an access lies in, its data in place, and the bytes it enables.
fn lanes(access: Access, value: u64) -> (u64, u64, u8) {
    let word = access.offset() & !7;
    match access.width() {
        Width::Eight => (word, value, 0xff),
        Width::Four => {
            let shift = access.offset() - word;
            let data = (value & u64::from(u32::MAX)) << (8 * shift);
            (word, data, 0x0f << shift)
        }
    }
}

impl PciFunction for SimFunction {
    fn config_load(&self, offset: u16) -> Result<u32, DeviceError> {
        Ok(lock(&self.hosts).card(self.host).config.load(offset))
    }

    fn config_store(&self, offset: u16, value: u16) -> Result<(), DeviceError> {
        let effect = lock(&self.hosts)
            .card(self.host)
            .config
            .store(offset, value);
        match effect {
            ConfigEffect::Nothing => Ok(()),
            ConfigEffect::Reset => self.reset(),
        }
    }

    fn load(&self, access: Access) -> Result<u64, DeviceError> {
        if !self.has_memory() {
            return Ok(ALL_ONES);
        }
        // Doorbell pages are write-only, and the table of vectors is the operating system's.
        let word = match access.bar() {
            Bar::Registers => self.access(Operation::Read((access.offset() & !7) as u16))?,
            Bar::Doorbells | Bar::Vectors => ALL_ONES,
        };
        Ok(match access.width() {
            Width::Eight => word,
            Width::Four => word >> (8 * (access.offset() & 7)) & u64::from(u32::MAX),
        })
    }

    fn store(&self, access: Access, value: u64) -> Result<(), DeviceError> {
        let (word, data, enable) = lanes(access, value);
        let operation = match access.bar() {
            Bar::Registers => Operation::Write(word as u16, data, enable),
            Bar::Doorbells => {
                let (page, offset) = (word / PAGE_BYTES, word % PAGE_BYTES);
                Operation::Ring(page as u16, offset as u16, data, enable)
            }
            Bar::Vectors => return Ok(()),
        };
        if self.has_memory() {
            self.access(operation)?;
        }
        Ok(())
    }

    fn allocate_memory(&self, bytes: usize) -> Result<Arc<dyn DmaMemory>, DeviceError> {
        let mapped = lock(&self.hosts).card(self.host).map(bytes);
        let address = mapped.ok_or_else(|| DeviceError::NoMemory {
            bytes,
            reason: "the simulated host has no bus addresses left; use new hosts".to_owned(),
        })?;
        Ok(Arc::new(SimMemory {
            hosts: Arc::clone(&self.hosts),
            host: self.host,
            address,
            length: bytes,
        }))
    }

    fn interrupt(&self, vector: u16) -> Result<Arc<dyn Interrupt>, DeviceError> {
        let vectors = lock(&self.hosts).card(self.host).config.vectors();
        if vector >= vectors {
            return Err(DeviceError::NoVector { vector, vectors });
        }
        lock(&self.hosts).card(self.host).config.enable_msi_x();
        self.write_vector(vector)?;
        // What an earlier user of the vector did not look at is not this one's.
        lock(&self.hosts).card(self.host).take_interrupt(vector);
        Ok(Arc::new(SimInterrupt {
            hosts: Arc::clone(&self.hosts),
            host: self.host,
            vector,
        }))
    }

    fn reset(&self) -> Result<(), DeviceError> {
        let reset = lock(&self.hosts).reset(self.host);
        reset.map_err(|error| DeviceError::Backend {
            what: "the reset pin of the model",
            reason: error.to_string(),
        })
    }

    fn now(&self) -> Duration {
        time(&lock(&self.hosts))
    }

    fn relax(&self) {
        let mut hosts = lock(&self.hosts);
        for _ in 0..PAUSE {
            hosts.idle();
        }
    }
}

/// Memory of a simulated host, mapped for its card.
struct SimMemory {
    hosts: Arc<Mutex<Hosts>>,
    host: usize,
    address: u64,
    length: usize,
}

impl DmaMemory for SimMemory {
    fn address(&self) -> u64 {
        self.address
    }

    fn length(&self) -> usize {
        self.length
    }

    fn load(&self, offset: usize, into: &mut [u8]) {
        let at = self.address + offset as u64;
        let mut hosts = lock(&self.hosts);
        hosts.card(self.host).memory.load(Owner::Host, at, into);
    }

    fn store(&self, offset: usize, bytes: &[u8]) {
        let at = self.address + offset as u64;
        let mut hosts = lock(&self.hosts);
        hosts.card(self.host).memory.store(Owner::Host, at, bytes);
    }

    fn load_word(&self, offset: usize) -> u64 {
        let mut bytes = [0; 8];
        self.load(offset, &mut bytes);
        u64::from_le_bytes(bytes)
    }
}

impl Drop for SimMemory {
    /// The card's next access is a stray.
    fn drop(&mut self) {
        let mut hosts = lock(&self.hosts);
        hosts
            .card(self.host)
            .memory
            .unmap(Owner::Host, self.address);
    }
}

/// A vector of a simulated card.
struct SimInterrupt {
    hosts: Arc<Mutex<Hosts>>,
    host: usize,
    vector: u16,
}

impl Interrupt for SimInterrupt {
    fn wait(&self, timeout: Duration) -> Result<bool, DeviceError> {
        let mut hosts = lock(&self.hosts);
        let end = time(&hosts) + timeout;
        loop {
            if hosts.card(self.host).take_interrupt(self.vector) {
                return Ok(true);
            }
            if time(&hosts) >= end {
                return Ok(false);
            }
            hosts.idle();
        }
    }
}
