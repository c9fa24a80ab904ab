//! A served card as a PCI function.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use vfio_bindings::bindings::vfio::VFIO_PCI_CONFIG_REGION_INDEX;

use super::connect::{connect, VfioUserError};
use super::interrupt::EventInterrupt;
use super::link::Link;
use super::memory::SharedFiles;
use super::pages::Pages;
use stellar_wire::host::config_space::Function;
use stellar_wire::host::simulation::data_socket;

use crate::device::{Access, DeviceError, DmaMemory, Interrupt, PciFunction, Width};
use crate::mapped::MappedMemory;

/// Longest a server may take to answer a new driver. It answers at once unless it is resetting the card after the last one.
const PATIENCE: Duration = Duration::from_secs(120);
/// Sleep between two polls while the driver waits: about one cycle of the simulation.
const PAUSE: Duration = Duration::from_micros(50);

/// A card behind vfio-user sockets.
pub struct VfioUser {
    link: Arc<Link>,
    window: Option<usize>,
    /// The server's doorbell pages, mapped, if the server offers them: a doorbell is then a store, not a message on the socket.
    pages: Option<Pages>,
}

impl VfioUser {
    /// Connects to the card at `socket`, and to its data function at [`data_socket`], if it has one.
    ///
    /// # Errors
    /// [`VfioUserError`].
    pub fn open(socket: &Path) -> Result<Self, VfioUserError> {
        Self::open_within(socket, PATIENCE)
    }

    /// Does what [`Self::open`] does, but waits at most `patience` of wall time.
    ///
    /// # Errors
    /// [`VfioUserError`].
    pub fn open_within(socket: &Path, patience: Duration) -> Result<Self, VfioUserError> {
        let other = |reason| {
            let path = socket.to_owned();
            VfioUserError::Other { path, reason }
        };
        let client = connect(socket, patience)?;
        // The server makes the socket of the data function first.
        let data = Some(data_socket(socket)).filter(|socket| socket.exists());
        let data = data.map(|socket| connect(&socket, patience)).transpose()?;
        let pages = Pages::of(&client).map_err(other)?;
        Ok(Self {
            link: Arc::new(Link::new(client, data).map_err(other)?),
            window: None,
            pages,
        })
    }

    /// From now on, sends every doorbell as a message, as a driver without mapped doorbell pages does. This is for comparison.
    #[must_use]
    pub fn with_doorbell_messages(mut self) -> Self {
        self.pages = None;
        self
    }

    /// From now on, maps memory for the card in pieces of at most `bytes` bytes, as a host with scattered memory does. QEMU's virtual IOMMU maps
    /// pieces of 4,096.
    ///
    /// # Panics
    /// If `bytes` is zero or not a multiple of 4,096.
    #[must_use]
    pub fn with_windows(mut self, bytes: usize) -> Self {
        assert!(
            bytes > 0 && bytes.is_multiple_of(4096),
            "windows of {bytes} bytes"
        );
        self.window = Some(bytes);
        self
    }
}

impl PciFunction for VfioUser {
    fn config_load(&self, function: Function, offset: u16) -> Result<u32, DeviceError> {
        let Some(connection) = self.link.connection(function) else {
            return Ok(u32::MAX);
        };
        let bytes = connection.read(VFIO_PCI_CONFIG_REGION_INDEX, offset.into())?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn config_store(&self, function: Function, offset: u16, value: u16) -> Result<(), DeviceError> {
        let bytes = value.to_le_bytes();
        self.link.connection(function).map_or(Ok(()), |connection| {
            connection.write(VFIO_PCI_CONFIG_REGION_INDEX, offset.into(), &bytes)
        })
    }

    fn load(&self, access: Access) -> Result<u64, DeviceError> {
        let (region, offset) = (access.bar().index().into(), access.offset());
        Ok(match access.width() {
            Width::Four => u32::from_le_bytes(self.link.control.read(region, offset)?).into(),
            Width::Eight => u64::from_le_bytes(self.link.control.read(region, offset)?),
        })
    }

    fn store(&self, access: Access, value: u64) -> Result<(), DeviceError> {
        if let Some(pages) = self.pages.as_ref().filter(|_| Pages::has(access)) {
            return pages.store(&self.link, access.offset(), value);
        }
        let bytes = &value.to_le_bytes()[..access.width().bytes().into()];
        self.link
            .control
            .write(access.bar().index().into(), access.offset(), bytes)
    }

    fn allocate_memory(&self, bytes: usize) -> Result<Arc<dyn DmaMemory>, DeviceError> {
        let files = SharedFiles {
            link: Arc::clone(&self.link),
            window: self.window,
        };
        Ok(Arc::new(MappedMemory::new(Arc::new(files), bytes)?))
    }

    fn interrupt(&self, vector: u16) -> Result<Arc<dyn Interrupt>, DeviceError> {
        Ok(Arc::new(EventInterrupt::new(&self.link, vector)?))
    }

    fn reset(&self) -> Result<(), DeviceError> {
        // The PCI Express capability says whether the server can reset: `Client::resettable` of vfio_user 0.1.7 says the opposite.
        let what = "a reset over vfio-user";
        for connection in self.link.connections() {
            connection.ask(what, vfio_user::Client::reset)?;
        }
        Ok(())
    }

    fn now(&self) -> Duration {
        self.link.now()
    }

    fn relax(&self) {
        // A connection that is gone shows in the next register access.
        let _ = self.link.run_on(Duration::MAX);
        std::thread::sleep(PAUSE);
    }
}
