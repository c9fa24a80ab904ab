//! The memories behind a fabric.

use crate::config::{FabricConfig, Window};
use crate::counters::Target;
use crate::memory::Memory;
use crate::tlp::MemWrite;

/// Host memory and the memories of the GPUs, as devices reach them. Addresses are bus addresses: physical ones of the host, or in a GPU's BAR.
///
/// A fabric has memories of its own ([`OwnMemories`]), or a caller's.
pub trait Memories {
    /// Whether all `len` bytes at `address` are memory.
    fn contains(&self, target: Target, address: u64, len: usize) -> bool;

    /// Fills `into` with the bytes at `address`; false if they are not all memory.
    fn read(&mut self, target: Target, address: u64, into: &mut [u8]) -> bool;

    /// Writes the enabled bytes; false if the double words are not all memory. Afterwards the request is what it was: that it may be changed meanwhile spares a
    /// memory that wants the payload as its own a copy.
    fn write(&mut self, target: Target, write: &mut MemWrite) -> bool;
}

/// The memories of a fabric that has its own.
pub struct OwnMemories {
    pub(crate) host: Memory,
    gpus: Vec<(Window, Memory)>,
}

impl OwnMemories {
    /// Memories of the sizes in `config`, never written.
    pub(crate) fn new(config: &FabricConfig) -> Self {
        let gpu = |bar: Window| {
            let whole = Window {
                base: 0,
                size: bar.size,
            };
            (bar, Memory::new(vec![whole]))
        };
        Self {
            host: Memory::new(config.host_memory.clone()),
            gpus: config.gpus.iter().map(|config| gpu(config.bar)).collect(),
        }
    }

    pub(crate) fn gpu(&self, index: usize) -> &Memory {
        &self.gpus[index].1
    }

    pub(crate) fn gpu_mut(&mut self, index: usize) -> &mut Memory {
        &mut self.gpus[index].1
    }

    /// Memory of a target, and its first bus address.
    fn of(&self, target: Target) -> (&Memory, u64) {
        match target {
            Target::Host => (&self.host, 0),
            Target::Gpu(index) => (&self.gpus[index].1, self.gpus[index].0.base),
        }
    }
}

impl Memories for OwnMemories {
    fn contains(&self, target: Target, address: u64, len: usize) -> bool {
        let (memory, base) = self.of(target);
        memory.contains(address - base, len)
    }

    fn read(&mut self, target: Target, address: u64, into: &mut [u8]) -> bool {
        let (memory, base) = self.of(target);
        memory.read_into(address - base, into).is_ok()
    }

    fn write(&mut self, target: Target, write: &mut MemWrite) -> bool {
        let (memory, base) = match target {
            Target::Host => (&mut self.host, 0),
            Target::Gpu(index) => {
                let (bar, memory) = &mut self.gpus[index];
                (memory, bar.base)
            }
        };
        let address = write.address - base;
        let done = memory.write_be(address, &write.data, write.first_be, write.last_be);
        done.is_ok()
    }
}
