//! A function behind `vfio-pci`.

#![allow(unsafe_code)]

use std::io;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pci_driver::backends::vfio::{VfioContainer, VfioPciDevice};
use pci_driver::device::PciDevice;
use pci_driver::regions::{MappedOwningPciRegion, PciRegion, Permissions};
use stellar_wire::host::config_space::{Bar, Function};
use vm_memory::VolatileSlice;

use super::bar;
use super::find::{data_functions, find, Found, VfioError};
use super::interrupt::Vectors;
use crate::addresses::BusAddresses;
use crate::card::lock;
use crate::device::{Access, DeviceError, DmaMemory, Interrupt, PciFunction};
use crate::functions::read_serial;
use crate::mapped::MappedMemory;

/// Both functions, and the addresses that are in use for them. Their groups are in one container, so memory is mapped once for both.
pub(super) struct Opened {
    pub device: VfioPciDevice,
    /// If there is a function with the serial number of the card.
    data: Option<VfioPciDevice>,
    pub addresses: Mutex<BusAddresses>,
}

impl Opened {
    fn device_of(&self, function: Function) -> Option<&VfioPciDevice> {
        match function {
            Function::Control => Some(&self.device),
            Function::Data => self.data.as_ref(),
        }
    }
}

/// The serial number of a function, which is opened alone for it.
fn serial_of(directory: &Path) -> io::Result<Option<u64>> {
    let device = VfioPciDevice::open(directory)?;
    let config = device.config();
    read_serial(|at| config.read_le_u32(at.into()))
}

/// An error of VFIO.
pub(super) fn failed(what: &'static str, error: &impl ToString) -> DeviceError {
    let reason = error.to_string();
    DeviceError::Backend { what, reason }
}

/// A PCI function bound to `vfio-pci`.
pub struct Vfio {
    opened: Arc<Opened>,
    registers: MappedOwningPciRegion,
    doorbells: MappedOwningPciRegion,
    vectors: Mutex<Option<Vectors>>,
    began: Instant,
    slowness: NonZeroU32,
}

impl Vfio {
    /// Opens the card whose control function is at a PCI address such as `0000:01:00.0`. Its data function, if it has one, has the same serial number.
    ///
    /// # Errors
    /// [`VfioError`], the first thing that is missing.
    pub fn open(address: &str) -> Result<Self, VfioError> {
        let (sys, dev) = (Path::new("/sys"), Path::new("/dev"));
        let control = find(sys, dev, address)?;
        let kernel = |what, reason: String| VfioError::Kernel {
            address: address.to_owned(),
            what,
            reason,
        };
        let unopened = |error: io::Error| kernel("VFIO does not open it", error.to_string());
        let serial = serial_of(&control.directory).map_err(unopened)?;
        let serial = serial.ok_or_else(|| {
            let reason = "without one, the card's other function cannot be found".to_owned();
            kernel("it has no serial number", reason)
        })?;
        let is_its_own =
            |data: &Found| matches!(serial_of(&data.directory), Ok(Some(other)) if other == serial);
        let data = data_functions(sys, dev).into_iter().find(is_its_own);
        let mut groups = vec![control.group];
        groups.extend(data.iter().map(|data| data.group));
        groups.dedup();
        let container = Arc::new(VfioContainer::new(&groups).map_err(unopened)?);
        let open = |found: &Found| {
            VfioPciDevice::open_in_container(&found.directory, Arc::clone(&container))
        };
        let device = open(&control).map_err(unopened)?;
        let data = data.as_ref().map(open).transpose().map_err(unopened)?;
        let map = |bar: Bar| {
            let region = device.bar(bar.index().into());
            let region = region.ok_or_else(|| kernel("a BAR is missing", format!("{bar:?}")))?;
            if region.len() < bar.length() {
                let (have, want) = (region.len(), bar.length());
                let reason = format!("{bar:?} has {have:#x} bytes of {want:#x}");
                return Err(kernel("a BAR is too short", reason));
            }
            region
                .map(..bar.length(), Permissions::ReadWrite)
                .map_err(|error| kernel("a BAR cannot be mapped", error.to_string()))
        };
        let (registers, doorbells) = (map(Bar::Registers)?, map(Bar::Doorbells)?);
        let first = BusAddresses::FIRST;
        let iommu = device.iommu();
        let range = iommu.valid_iova_ranges().iter();
        let end = range
            .filter(|range| range.contains(&first))
            .map(|range| range.end)
            .next();
        let end =
            end.ok_or_else(|| kernel("the IOMMU translates no address", format!("{first:#x}")))?;
        Ok(Self {
            opened: Arc::new(Opened {
                addresses: Mutex::new(BusAddresses::below(end)),
                device,
                data,
            }),
            registers,
            doorbells,
            vectors: Mutex::new(None),
            began: Instant::now(),
            slowness: NonZeroU32::MIN,
        })
    }

    /// Returns a function for a card that is simulated behind `vfio-pci` in a virtual machine. Its clock is assumed to run `slowness` times slower
    /// than the wall clock. All times of this crate are then times of the card: at a `slowness` of 1000, a timeout of 10 ms takes 10 s.
    #[must_use]
    pub const fn slowed(mut self, slowness: NonZeroU32) -> Self {
        self.slowness = slowness;
        self
    }

    /// The BAR of an access; `None` for the table of vectors, which is the kernel's.
    fn bar(&self, access: Access) -> Option<VolatileSlice<'_>> {
        let region = match access.bar() {
            Bar::Registers => &self.registers,
            Bar::Doorbells => &self.doorbells,
            Bar::Vectors => return None,
        };
        // SAFETY: the region is mapped as long as `self` lives, from this address on and for this length. It is device memory, to which nothing has a
        // reference. The IOMMU bounds the effects of an access: the card reaches only memory that is mapped for it.
        Some(unsafe { VolatileSlice::new(region.as_mut_ptr(), region.len()) })
    }
}

impl PciFunction for Vfio {
    fn config_load(&self, function: Function, offset: u16) -> Result<u32, DeviceError> {
        let Some(device) = self.opened.device_of(function) else {
            return Ok(u32::MAX);
        };
        let word = device.config().read_le_u32(offset.into());
        word.map_err(|error| failed("reading the configuration space", &error))
    }

    fn config_store(&self, function: Function, offset: u16, value: u16) -> Result<(), DeviceError> {
        let Some(device) = self.opened.device_of(function) else {
            return Ok(());
        };
        let written = device.config().write_le_u16(offset.into(), value);
        written.map_err(|error| failed("writing the configuration space", &error))
    }

    fn load(&self, access: Access) -> Result<u64, DeviceError> {
        let bar = self.bar(access);
        Ok(bar.map_or(access.width().ones(), |bar| bar::load(&bar, access)))
    }

    fn store(&self, access: Access, value: u64) -> Result<(), DeviceError> {
        if let Some(bar) = self.bar(access) {
            bar::store(&bar, access, value);
        }
        Ok(())
    }

    fn allocate_memory(&self, bytes: usize) -> Result<Arc<dyn DmaMemory>, DeviceError> {
        let memory = MappedMemory::new(Arc::clone(&self.opened), bytes)?;
        Ok(Arc::new(memory))
    }

    fn interrupt(&self, vector: u16) -> Result<Arc<dyn Interrupt>, DeviceError> {
        let mut vectors = lock(&self.vectors);
        let all = match vectors.take() {
            Some(all) => all,
            None => Vectors::enable(&self.opened.device, self.slowness)?,
        };
        let interrupt = all.get(vector);
        *vectors = Some(all);
        interrupt
    }

    fn reset(&self) -> Result<(), DeviceError> {
        if lock(&self.vectors).take().is_some() {
            let disabled = self.opened.device.interrupts().msi_x().disable();
            disabled.map_err(|error| failed("switching MSI-X off", &error))?;
        }
        for device in Function::ALL.map(|function| self.opened.device_of(function)) {
            let reset = device.map_or(Ok(()), VfioPciDevice::reset);
            reset.map_err(|error| failed("a function-level reset", &error))?;
        }
        Ok(())
    }

    fn now(&self) -> Duration {
        self.began.elapsed() / self.slowness.get()
    }

    fn relax(&self) {
        std::hint::spin_loop();
    }
}
