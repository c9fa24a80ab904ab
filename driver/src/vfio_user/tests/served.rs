//! A recording mock PCI function behind a socket: it reaches only the memory that the driver maps for it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use stellar_wire::host::config_space::{Bar, Function, LENGTH};
use stellar_wire::host::simulation;
use vfio_bindings::bindings::vfio::{
    vfio_region_info, vfio_region_sparse_mmap_area, VFIO_PCI_CONFIG_REGION_INDEX,
    VFIO_PCI_MSIX_IRQ_INDEX, VFIO_REGION_INFO_FLAG_MMAP,
};
use vfio_user::{
    DmaMapFlags, DmaUnmapFlags, IrqInfo, Server, ServerBackend, ServerRegion, SparseArea,
};
use vm_memory::{Bytes, FileOffset, MmapRegion, VolatileMemory};

use crate::card::lock;
use crate::device::PciFunction;
use crate::fake::FakeCard;

/// Vectors it has.
pub const VECTORS: u32 = 64;

/// The memory that the card can access.
#[derive(Default)]
pub struct Reached {
    windows: Mutex<BTreeMap<u64, MmapRegion>>,
    events: Mutex<BTreeMap<u32, File>>,
    dies: Mutex<bool>,
    /// Messages about slots: the register, and the slot.
    told: Mutex<Vec<(u64, u64)>>,
}

impl Reached {
    /// Windows that are mapped at the moment.
    pub fn windows(&self) -> usize {
        lock(&self.windows).len()
    }

    /// A word of the driver's memory, by its bus address.
    pub fn read(&self, address: u64) -> u64 {
        self.at(address, |window, at| {
            window.load(at, Ordering::Acquire).unwrap()
        })
    }

    /// Writes one.
    pub fn write(&self, address: u64, word: u64) {
        self.at(address, |window, at| {
            window.store(word, at, Ordering::Release).unwrap();
        });
    }

    fn at<T>(&self, address: u64, f: impl FnOnce(vm_memory::VolatileSlice<'_>, usize) -> T) -> T {
        let windows = lock(&self.windows);
        let (start, window) = windows.range(..=address).next_back().expect("a window");
        f(window.as_volatile_slice(), (address - start) as usize)
    }

    /// Raises a vector.
    pub fn raise(&self, vector: u32) {
        let mut event = &lock(&self.events)[&vector];
        event.write_all(&1u64.to_ne_bytes()).unwrap();
    }

    /// Returns the messages about slots of doorbell pages since the last call.
    pub fn take_told(&self) -> Vec<(u64, u64)> {
        std::mem::take(&mut lock(&self.told))
    }

    /// Ends the connection in the middle of the next access.
    pub fn die(&self) {
        *lock(&self.dies) = true;
    }
}

struct Backend {
    function: Function,
    card: Arc<FakeCard>,
    reached: Arc<Reached>,
    clock: MmapRegion,
}

fn bar(region: u32) -> Option<Bar> {
    let is_it = |bar: &Bar| u32::from(bar.index()) == region;
    Bar::ALL.into_iter().find(is_it)
}

impl ServerBackend for Backend {
    fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]) -> io::Result<()> {
        if *lock(&self.reached.dies) {
            std::panic::resume_unwind(Box::new("as if the server had been killed"));
        }
        let function: &dyn PciFunction = &*self.card;
        let word = match bar(region) {
            Some(bar) => function.read64(bar, offset).unwrap(),
            None => function
                .config_load(self.function, offset as u16)
                .unwrap()
                .into(),
        };
        data.copy_from_slice(&word.to_le_bytes()[..data.len()]);
        Ok(())
    }

    fn region_write(&mut self, region: u32, offset: u64, data: &[u8]) -> io::Result<()> {
        let function: &dyn PciFunction = &*self.card;
        let word = |data: &[u8]| u64::from_le_bytes(data.try_into().unwrap());
        match bar(region) {
            Some(bar) => function.write64(bar, offset, word(data)).unwrap(),
            None if region == simulation::REGION && offset != simulation::RUN_UNTIL => {
                lock(&self.reached.told).push((offset, word(data)));
            }
            None if region == simulation::REGION => {
                // Simulated time passes at once when the driver requests it.
                let clock = self.clock.as_volatile_slice();
                let at = simulation::NOW as usize;
                clock.store(word(data), at, Ordering::Release).unwrap();
            }
            None => {
                let value = u16::from_le_bytes(data.try_into().unwrap());
                function
                    .config_store(self.function, offset as u16, value)
                    .unwrap();
            }
        }
        Ok(())
    }

    fn dma_map(
        &mut self,
        _flags: DmaMapFlags,
        offset: u64,
        address: u64,
        size: u64,
        fd: Option<File>,
    ) -> io::Result<()> {
        let file = FileOffset::new(fd.expect("memory of a driver is a file"), offset);
        let window = MmapRegion::from_file(file, size as usize).unwrap();
        let old = lock(&self.reached.windows).insert(address, window);
        assert!(old.is_none(), "{address:#x} was mapped already");
        Ok(())
    }

    fn dma_unmap(&mut self, _flags: DmaUnmapFlags, address: u64, size: u64) -> io::Result<()> {
        let window = lock(&self.reached.windows).remove(&address);
        assert_eq!(window.map(|window| window.size() as u64), Some(size));
        Ok(())
    }

    fn reset(&mut self) -> io::Result<()> {
        self.card.reset().map_err(io::Error::other)
    }

    fn set_irqs(
        &mut self,
        index: u32,
        _flags: u32,
        start: u32,
        _count: u32,
        fds: Vec<File>,
    ) -> io::Result<()> {
        assert_eq!(index, VFIO_PCI_MSIX_IRQ_INDEX);
        lock(&self.reached.events).extend((start..).zip(fds));
        Ok(())
    }
}

fn regions(clock: &File, pages: &File) -> Vec<ServerRegion> {
    let region = |index| {
        let size = match index {
            VFIO_PCI_CONFIG_REGION_INDEX => LENGTH.into(),
            simulation::REGION => simulation::LENGTH,
            simulation::PAGES_REGION => Bar::Doorbells.length(),
            _ => bar(index).map_or(0, Bar::length),
        };
        let file = match index {
            simulation::REGION => Some(clock),
            simulation::PAGES_REGION => Some(pages),
            _ => None,
        };
        let area = vfio_region_sparse_mmap_area { offset: 0, size };
        ServerRegion {
            region_info: vfio_region_info {
                argsz: size_of::<vfio_region_info>() as u32,
                flags: file.map_or(0, |_| VFIO_REGION_INFO_FLAG_MMAP),
                index,
                size,
                ..Default::default()
            },
            sparse_areas: file.map(|_| SparseArea { area }).into_iter().collect(),
            mmap_fd: file.map(AsRawFd::as_raw_fd),
        }
    };
    (0..=simulation::PAGES_REGION).map(region).collect()
}

/// The socket of a served function, and the messages that the function received. Serves one driver.
pub struct Served {
    pub reached: Arc<Reached>,
    /// Records what messages wrote to BAR2.
    pub card: Arc<FakeCard>,
    clock: MmapRegion,
    pages: MmapRegion,
    path: PathBuf,
    /// Windows that the driver has mapped for the data function.
    pub data_reached: Arc<Reached>,
    thread: Option<JoinHandle<()>>,
    _directory: tempfile::TempDir,
}

impl Served {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("nic.sock");
        let clock = tempfile::tempfile().unwrap();
        clock.set_len(simulation::LENGTH).unwrap();
        let vectors = |index| IrqInfo {
            index,
            flags: 0,
            count: u32::from(index == VFIO_PCI_MSIX_IRQ_INDEX) * VECTORS,
        };
        let irqs = || (0..=VFIO_PCI_MSIX_IRQ_INDEX).map(vectors).collect();
        let pages = tempfile::tempfile().unwrap();
        pages.set_len(Bar::Doorbells.length()).unwrap();
        let server =
            |path: &Path| Server::new(path, true, irqs(), regions(&clock, &pages)).unwrap();
        let (control, data) = (server(&path), server(&simulation::data_socket(&path)));
        let reached = Arc::new(Reached::default());
        let card = FakeCard::new();
        // The mappings keep the files alive, and the server keeps the descriptors.
        let map = |file: File| {
            let length = file.metadata().unwrap().len() as usize;
            MmapRegion::from_file(FileOffset::new(file, 0), length).unwrap()
        };
        let data_reached = Arc::new(Reached::default());
        let serve = |server: Server, function, reached: &Arc<Reached>| {
            let mut backend = Backend {
                function,
                card: Arc::clone(&card),
                reached: Arc::clone(reached),
                clock: map(clock.try_clone().unwrap()),
            };
            std::thread::spawn(move || server.run(&mut backend).unwrap())
        };
        let thread = serve(control, Function::Control, &reached);
        // Ends with the driver's connection.
        drop(serve(data, Function::Data, &data_reached));
        let (clock, pages) = (map(clock), map(pages));
        Self {
            reached,
            card,
            clock,
            pages,
            path,
            data_reached,
            thread: Some(thread),
            _directory: directory,
        }
    }

    /// Takes the word of a slot of its doorbell pages.
    pub fn take_slot(&self, slot: u64) -> u64 {
        let pages = self.pages.as_volatile_slice();
        let slot = pages.get_atomic_ref::<AtomicU64>(slot as usize);
        u64::from_le(slot.unwrap().swap(0, Ordering::AcqRel))
    }

    /// Lets its clock stand still, or run.
    pub fn stand_still(&self, is_still: bool) {
        let clock = self.clock.as_volatile_slice();
        let (word, at) = (u64::from(is_still), simulation::STILL as usize);
        clock.store(word, at, Ordering::SeqCst).unwrap();
    }

    pub fn socket(&self) -> &Path {
        &self.path
    }

    /// Waits until the driver has disconnected or the server has died. Returns whether it died.
    pub fn has_died(&mut self) -> bool {
        let thread = self.thread.take().expect("asked once");
        thread.join().is_err()
    }
}
