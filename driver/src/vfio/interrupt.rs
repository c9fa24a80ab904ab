//! Interrupts by eventfds.

use std::num::NonZeroU32;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pci_driver::backends::vfio::VfioPciDevice;
use pci_driver::device::PciDevice;

use super::function::failed;
use crate::device::{DeviceError, Interrupt};
use crate::event::{new_event, take_event};

/// The events of all vectors. VFIO is given all of them in one call.
pub struct Vectors(Vec<Arc<Event>>);

struct Event {
    event: OwnedFd,
    slowness: NonZeroU32,
}

impl Vectors {
    /// Enables MSI-X with an eventfd for each vector. `slowness` says how many times slower than the wall clock the card's clock runs.
    pub fn enable(device: &VfioPciDevice, slowness: NonZeroU32) -> Result<Self, DeviceError> {
        let interrupts = device.interrupts();
        let msi_x = interrupts.msi_x();
        let events: Vec<Arc<Event>> = (0..msi_x.max())
            .map(|_| {
                let event = new_event()?;
                Ok(Arc::new(Event { event, slowness }))
            })
            .collect::<Result<_, DeviceError>>()?;
        let fds: Vec<_> = events.iter().map(|event| event.event.as_raw_fd()).collect();
        let enabled = msi_x.enable(&fds);
        enabled.map_err(|error| failed("switching MSI-X on", &error))?;
        Ok(Self(events))
    }

    /// Returns a vector's event. Earlier signals that were not consumed are discarded.
    pub fn get(&self, vector: u16) -> Result<Arc<dyn Interrupt>, DeviceError> {
        let event = self.0.get(usize::from(vector)).cloned();
        let vectors = self.0.len() as u16;
        let event = event.ok_or(DeviceError::NoVector { vector, vectors })?;
        take_event(&event.event, Duration::ZERO)?;
        Ok(event)
    }
}

impl Interrupt for Event {
    fn wait(&self, timeout: Duration) -> Result<bool, DeviceError> {
        let end = Instant::now() + timeout.saturating_mul(self.slowness.get());
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if take_event(&self.event, left)? {
                return Ok(true);
            }
            if left.is_zero() {
                return Ok(false);
            }
        }
    }
}
