//! The connection, shared by everything made from a function.

use std::sync::atomic::{fence, AtomicU64, Ordering};
use std::sync::Mutex;
use std::time::Duration;

use rustix::mm::{MapFlags, ProtFlags};
use stellar_wire::host::config_space::{Bar, Function, LENGTH};
use stellar_wire::host::simulation;
use vfio_bindings::bindings::vfio::{VFIO_PCI_CONFIG_REGION_INDEX, VFIO_PCI_MSIX_IRQ_INDEX};
use vfio_user::Client;
use vm_memory::{Bytes, MmapRegion, VolatileMemory};

use crate::addresses::BusAddresses;
use crate::card::lock;
use crate::device::DeviceError;

/// End of the bus addresses in use: what an IOMMU with three levels of tables translates.
const END_OF_ADDRESSES: u64 = 1 << 39;
/// How far ahead of its clock a simulation is requested to run while the driver waits.
const AHEAD: Duration = Duration::from_micros(20);

/// The connection to a function.
pub struct Connection(Mutex<Client>);

/// The connections to the card's functions, and the clock of the simulation behind them.
pub struct Link {
    pub control: Connection,
    /// If the card has a data function.
    pub data: Option<Connection>,
    pub addresses: Mutex<BusAddresses>,
    /// The page with the clock.
    clock: MmapRegion,
    /// Nanoseconds until which the simulation was requested to run.
    told: AtomicU64,
    pub vectors: u16,
}

/// An error of the connection.
pub fn failed(what: &'static str, error: &impl ToString) -> DeviceError {
    let reason = error.to_string();
    DeviceError::Backend { what, reason }
}

/// Checks that a function has regions of these lengths, and a configuration space.
fn check_regions(client: &Client, regions: &[(u32, u64)]) -> Result<(), String> {
    let config = (VFIO_PCI_CONFIG_REGION_INDEX, LENGTH.into());
    for &(index, least) in regions.iter().chain([&config]) {
        let size = client.region(index).map_or(0, |region| region.size);
        if size < least {
            return Err(format!("region {index} has {size:#x} bytes of {least:#x}"));
        }
    }
    Ok(())
}

impl Connection {
    /// Runs an operation on the connection.
    pub fn ask<T>(
        &self,
        what: &'static str,
        question: impl FnOnce(&mut Client) -> Result<T, vfio_user::Error>,
    ) -> Result<T, DeviceError> {
        question(&mut lock(&self.0)).map_err(|error| failed(what, &error))
    }

    /// Reads bytes of a region in one transaction.
    pub fn read<const N: usize>(&self, region: u32, offset: u64) -> Result<[u8; N], DeviceError> {
        let mut bytes = [0; N];
        let what = "a read over vfio-user";
        self.ask(what, |client| {
            client.region_read(region, offset, &mut bytes)
        })?;
        Ok(bytes)
    }

    /// Writes bytes of a region in one transaction.
    pub fn write(&self, region: u32, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let what = "a write over vfio-user";
        self.ask(what, |client| client.region_write(region, offset, bytes))
    }
}

impl Drop for Connection {
    /// Ends the connection; the server resets the function.
    fn drop(&mut self) {
        // If the connection is closed already, nothing is left to do.
        let _ = lock(&self.0).shutdown();
    }
}

impl Link {
    /// Checks that the functions of a card are at the other ends.
    ///
    /// # Errors
    /// What does not fit.
    pub fn new(mut client: Client, data: Option<Client>) -> Result<Self, String> {
        let bars = Bar::ALL.map(|bar| (u32::from(bar.index()), bar.length()));
        check_regions(&client, &bars)?;
        if let Some(data) = &data {
            check_regions(data, &[])?;
        }
        let irqs = client.get_irq_info(VFIO_PCI_MSIX_IRQ_INDEX);
        let vectors = irqs.map_err(|error| error.to_string())?.count;
        let file = client
            .region(simulation::REGION)
            .and_then(|region| region.file_offset.clone())
            .ok_or("it has no simulated clock")?;
        let (prot, flags) = (ProtFlags::READ, MapFlags::SHARED);
        let clock = MmapRegion::build(
            Some(file),
            simulation::LENGTH as usize,
            prot.bits() as i32,
            flags.bits() as i32,
        );
        Ok(Self {
            control: Connection(Mutex::new(client)),
            data: data.map(|data| Connection(Mutex::new(data))),
            addresses: Mutex::new(BusAddresses::below(END_OF_ADDRESSES)),
            clock: clock.map_err(|error| format!("its clock cannot be mapped: {error}"))?,
            told: AtomicU64::new(0),
            vectors: u16::try_from(vectors).unwrap_or(u16::MAX),
        })
    }

    /// The connection to a function, if the card has it.
    pub const fn connection(&self, function: Function) -> Option<&Connection> {
        match function {
            Function::Control => Some(&self.control),
            Function::Data => self.data.as_ref(),
        }
    }

    /// The connections to all functions.
    pub fn connections(&self) -> impl Iterator<Item = &Connection> {
        [&self.control].into_iter().chain(&self.data)
    }

    /// The clock of the simulation.
    pub fn now(&self) -> Duration {
        let word = self
            .clock
            .as_volatile_slice()
            .load::<u64>(simulation::NOW as usize, Ordering::Acquire)
            .expect("the clock is an aligned word of a page that is mapped");
        Duration::from_nanos(u64::from_le(word))
    }

    /// Whether the clock of the simulation stands still, so that only a message starts it. If it runs, the server sees every store before this call.
    pub fn stands_still(&self) -> bool {
        fence(Ordering::SeqCst);
        let word = self
            .clock
            .as_volatile_slice()
            .load::<u64>(simulation::STILL as usize, Ordering::Relaxed)
            .expect("it is an aligned word of a page that is mapped");
        word != 0
    }

    /// Requests that the simulation runs until `end`, but not far beyond the present time.
    pub fn run_on(&self, end: Duration) -> Result<(), DeviceError> {
        let now = self.now();
        let told = Duration::from_nanos(self.told.load(Ordering::Relaxed));
        let until = end.min(now + AHEAD);
        if until <= told || told > now + AHEAD / 2 {
            return Ok(());
        }
        let word = until.as_nanos() as u64;
        self.told.fetch_max(word, Ordering::Relaxed);
        let offset = simulation::RUN_UNTIL;
        self.control
            .write(simulation::REGION, offset, &word.to_le_bytes())
    }
}
