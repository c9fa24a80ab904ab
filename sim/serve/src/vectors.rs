//! The targets of a card's interrupts: SET_IRQS, as VFIO defines it.

use std::fs::File;
use std::io;
use std::ops::Range;

use vfio_bindings::bindings::vfio::{
    VFIO_IRQ_SET_ACTION_TRIGGER, VFIO_IRQ_SET_ACTION_TYPE_MASK, VFIO_IRQ_SET_DATA_EVENTFD,
    VFIO_IRQ_SET_DATA_NONE, VFIO_IRQ_SET_DATA_TYPE_MASK, VFIO_PCI_MSIX_IRQ_INDEX,
};

use crate::backend::Backend;
use crate::error::invalid;

impl Backend {
    /// Executes SET_IRQS.
    ///
    /// # Errors
    /// If it names a vector that does not exist, or an operation that MSI-X does not have.
    pub fn route(
        &self,
        index: u32,
        flags: u32,
        start: u32,
        count: u32,
        fds: Vec<File>,
    ) -> io::Result<()> {
        let action = flags & VFIO_IRQ_SET_ACTION_TYPE_MASK;
        let data = flags & VFIO_IRQ_SET_DATA_TYPE_MASK;
        let is_off =
            (action, data, count) == (VFIO_IRQ_SET_ACTION_TRIGGER, VFIO_IRQ_SET_DATA_NONE, 0);
        if is_off && index == VFIO_PCI_MSIX_IRQ_INDEX {
            self.call(|simulation, host| simulation.peers[host].interrupts.clear());
        }
        // QEMU switches off interrupts that were never on, and kinds that the card does not have.
        if is_off {
            return Ok(());
        }
        let vectors = start..start.saturating_add(count);
        let have = u32::from(self.vectors);
        if index != VFIO_PCI_MSIX_IRQ_INDEX || vectors.end > have {
            let reason =
                format!("interrupts {vectors:?} of kind {index}; there are {have} MSI-X vectors");
            return Err(invalid(reason));
        }
        match (action, data) {
            (VFIO_IRQ_SET_ACTION_TRIGGER, VFIO_IRQ_SET_DATA_NONE) => {
                self.trigger(vectors);
                Ok(())
            }
            (VFIO_IRQ_SET_ACTION_TRIGGER, VFIO_IRQ_SET_DATA_EVENTFD) => self.point(vectors, fds),
            _ => Err(invalid(format!(
                "action {action:#x} on interrupts with data {data:#x}"
            ))),
        }
    }

    /// Enables MSI-X, as the operating system requests. The vectors keep their targets.
    pub fn enable_vectors(&self) {
        let vectors = self.call(|simulation, host| simulation.peers[host].interrupts.vectors());
        for vector in vectors {
            if let Err(error) = self.enable_vector(vector) {
                tracing::error!("card {}: {error}", self.host);
            }
        }
    }

    fn enable_vector(&self, vector: u16) -> io::Result<()> {
        let enabled =
            self.call(move |simulation, host| simulation.hosts.enable_vector(host, vector));
        enabled.map_err(io::Error::other)
    }

    fn trigger(&self, vectors: Range<u32>) {
        let bits = vectors.fold(0, |bits, vector| bits | 1 << vector);
        self.call(move |simulation, host| simulation.peers[host].interrupts.raise(bits));
    }

    fn point(&self, vectors: Range<u32>, fds: Vec<File>) -> io::Result<()> {
        let count = vectors.len();
        if !fds.is_empty() && fds.len() != count {
            let given = fds.len();
            return Err(invalid(format!("{given} eventfds for {count} vectors")));
        }
        if fds.is_empty() {
            self.call(|simulation, host| {
                let interrupts = &mut simulation.peers[host].interrupts;
                vectors.for_each(|vector| interrupts.remove(vector as u16));
            });
            return Ok(());
        }
        for (vector, fd) in vectors.zip(fds) {
            let vector = vector as u16;
            self.call(move |simulation, host| simulation.peers[host].interrupts.set(vector, fd));
            self.enable_vector(vector)?;
        }
        Ok(())
    }
}
