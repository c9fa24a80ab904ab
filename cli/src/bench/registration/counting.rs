//! A PCI function that counts accesses to its registers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use stellar_driver::{Access, DeviceError, DmaMemory, Interrupt, PciFunction};
use stellar_wire::host::config_space::{Bar, Function};
use stellar_wire::host::registers::ADMIN_PRODUCER;

/// Offset of the admin queue's doorbell.
const ADMIN_DOORBELL: u64 = ADMIN_PRODUCER.offset as u64;

/// Accesses so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// Writes to BAR0 other than doorbells.
    pub writes: u64,
    /// Reads of BAR0. Each waits for its completion.
    pub reads: u64,
    /// Doorbells: writes to the admin queue's producer index, and to doorbell pages.
    pub doorbells: u64,
}

impl Accesses {
    /// The accesses since `before`.
    pub fn since(self, before: Self) -> Self {
        Self {
            writes: self.writes - before.writes,
            reads: self.reads - before.reads,
            doorbells: self.doorbells - before.doorbells,
        }
    }
}

/// The underlying function, with its accesses counted.
pub struct Counting {
    function: Arc<dyn PciFunction>,
    writes: AtomicU64,
    reads: AtomicU64,
    doorbells: AtomicU64,
}

impl Counting {
    /// All counters zero.
    pub fn new(function: Arc<dyn PciFunction>) -> Self {
        Self {
            function,
            writes: AtomicU64::new(0),
            reads: AtomicU64::new(0),
            doorbells: AtomicU64::new(0),
        }
    }

    /// Accesses counted so far.
    pub fn accesses(&self) -> Accesses {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Accesses {
            writes: count(&self.writes),
            reads: count(&self.reads),
            doorbells: count(&self.doorbells),
        }
    }
}

impl PciFunction for Counting {
    fn config_load(&self, function: Function, offset: u16) -> Result<u32, DeviceError> {
        self.function.config_load(function, offset)
    }

    fn config_store(&self, function: Function, offset: u16, value: u16) -> Result<(), DeviceError> {
        self.function.config_store(function, offset, value)
    }

    fn load(&self, access: Access) -> Result<u64, DeviceError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.function.load(access)
    }

    fn store(&self, access: Access, value: u64) -> Result<(), DeviceError> {
        let counter = match (access.bar(), access.offset()) {
            (Bar::Doorbells, _) | (Bar::Registers, ADMIN_DOORBELL) => &self.doorbells,
            (Bar::Registers | Bar::Vectors, _) => &self.writes,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        self.function.store(access, value)
    }

    fn allocate_memory(&self, bytes: usize) -> Result<Arc<dyn DmaMemory>, DeviceError> {
        self.function.allocate_memory(bytes)
    }

    fn interrupt(&self, vector: u16) -> Result<Arc<dyn Interrupt>, DeviceError> {
        self.function.interrupt(vector)
    }

    fn reset(&self) -> Result<(), DeviceError> {
        self.function.reset()
    }

    fn now(&self) -> Duration {
        self.function.now()
    }

    fn relax(&self) {
        self.function.relax();
    }
}
