//! Interrupts by eventfds.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use vfio_bindings::bindings::vfio::{
    VFIO_IRQ_SET_ACTION_TRIGGER, VFIO_IRQ_SET_DATA_EVENTFD, VFIO_PCI_MSIX_IRQ_INDEX,
};

use super::link::Link;
use crate::device::{DeviceError, Interrupt};
use crate::event::{new_event, take_event};

/// Longest sleep between two polls of the simulation's time: some tens of its cycles.
const NAP: Duration = Duration::from_millis(1);

/// A vector of the card.
pub struct EventInterrupt {
    link: Arc<Link>,
    event: OwnedFd,
}

impl EventInterrupt {
    /// Points a vector to a fresh event.
    pub fn new(link: &Arc<Link>, vector: u16) -> Result<Self, DeviceError> {
        let vectors = link.vectors;
        if vector >= vectors {
            return Err(DeviceError::NoVector { vector, vectors });
        }
        let event = new_event()?;
        let flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
        link.control
            .ask("pointing an interrupt to an eventfd", |client| {
                let (index, fds) = (VFIO_PCI_MSIX_IRQ_INDEX, [event.as_raw_fd()]);
                client.set_irqs(index, flags, vector.into(), 1, &fds)
            })?;
        Ok(Self {
            link: Arc::clone(link),
            event,
        })
    }
}

impl Interrupt for EventInterrupt {
    fn wait(&self, timeout: Duration) -> Result<bool, DeviceError> {
        let end = self.link.now() + timeout;
        loop {
            // The server raises the interrupts of a cycle before it shows the time of that cycle. So all interrupts up to the time read have been raised.
            let is_over = self.link.now() >= end;
            let nap = if is_over { Duration::ZERO } else { NAP };
            if take_event(&self.event, nap)? {
                return Ok(true);
            }
            if is_over {
                return Ok(false);
            }
            self.link.run_on(end)?;
        }
    }
}
