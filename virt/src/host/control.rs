//! The control queue: descriptor chains in, replies out.

use std::io::{Read, Write};
use std::sync::Arc;

use stellar_wire::vstellar::{
    Answer, Malformed, Request, Status, HEADER, MOST_ANSWER, MOST_REQUEST,
};
use thiserror::Error;
use virtio_queue::{DescriptorChain, QueueOwnedT, QueueT};
use vm_memory::{GuestAddress, GuestMemoryMmap};

use super::device::VirtualDevice;

/// Guest addresses of the parts of a split virtqueue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePlace {
    /// Descriptors, a power of two up to [`stellar_wire::vstellar::QUEUE_SIZE`].
    pub size: u16,
    /// Descriptor table, a multiple of 16.
    pub descriptors: u64,
    /// Ring of available chains, a multiple of 2.
    pub available: u64,
    /// Ring of used chains, a multiple of 4.
    pub used: u64,
}

/// A control queue that is not usable.
#[derive(Debug, Error)]
pub enum ControlError {
    /// Its addresses are invalid.
    #[error("the control queue {0:?} is not aligned, or not in guest memory")]
    Place(QueuePlace),
    /// It was never configured, or it has been broken since.
    #[error("the control queue is not set up; the guest's driver must do that first, and again after it broke it")]
    NotReady,
    /// The guest's driver breaks the rules of virtqueues.
    #[error("the guest's driver broke the control queue: {0}")]
    Broken(virtio_queue::Error),
}

type Chain<'a> = DescriptorChain<&'a GuestMemoryMmap>;

impl VirtualDevice {
    /// Configures the queue.
    pub fn activate(&mut self, place: QueuePlace) -> Result<(), ControlError> {
        let refused = |_| ControlError::Place(place);
        self.queue.reset();
        self.queue.try_set_size(place.size).map_err(refused)?;
        let at = |address| GuestAddress(address);
        let queue = &mut self.queue;
        queue
            .try_set_desc_table_address(at(place.descriptors))
            .and_then(|()| queue.try_set_avail_ring_address(at(place.available)))
            .and_then(|()| queue.try_set_used_ring_address(at(place.used)))
            .map_err(refused)?;
        queue.set_ready(true);
        self.is_broken = !queue.is_valid(&*self.machine.memory);
        if self.is_broken {
            return Err(ControlError::Place(place));
        }
        Ok(())
    }

    /// Processes the chains in the queue, at most `most` and at most one full ring; returns their number.
    pub fn process(&mut self, most: usize) -> Result<usize, ControlError> {
        if self.is_broken || !self.queue.ready() {
            return Err(ControlError::NotReady);
        }
        let memory = Arc::clone(&self.machine.memory);
        let most = most.min(self.queue.size().into());
        for answered in 0..most {
            let next = self.queue.iter(&*memory).map(|mut chains| chains.next());
            let Some(chain) = next.map_err(|error| self.broken(error))? else {
                return Ok(answered);
            };
            let head = chain.head_index();
            let written = self.answer(&memory, chain);
            let used = self.queue.add_used(&*memory, head, written);
            used.map_err(|error| self.broken(error))?;
        }
        Ok(most)
    }

    fn broken(&mut self, error: virtio_queue::Error) -> ControlError {
        self.is_broken = true;
        ControlError::Broken(error)
    }

    /// Processes one chain; returns the number of bytes written.
    fn answer(&mut self, memory: &GuestMemoryMmap, chain: Chain<'_>) -> u32 {
        let Some(mut writer) = chain
            .clone()
            .writer(memory)
            .ok()
            .filter(|writer| writer.available_bytes() >= HEADER)
        else {
            self.unanswerable += 1;
            return 0;
        };
        let space = writer.available_bytes();
        let result = if space < MOST_ANSWER {
            // A reply that does not fit would lose the handle of the new object.
            Err(Status::Malformed)
        } else {
            request(memory, chain).and_then(|request| self.execute(&request, space))
        };
        match result {
            Ok(_) => self.done += 1,
            Err(_) => self.refused += 1,
        }
        let bytes = Answer::to_bytes(result.as_ref().map_err(|status| *status));
        match writer.write_all(&bytes) {
            Ok(()) => bytes.len() as u32,
            Err(_) => 0,
        }
    }
}

/// The request in a chain.
fn request(memory: &GuestMemoryMmap, chain: Chain<'_>) -> Result<Request, Status> {
    let mut reader = chain.reader(memory).map_err(|_| Status::BadAddress)?;
    let mut bytes = vec![0; reader.available_bytes().min(MOST_REQUEST)];
    reader
        .read_exact(&mut bytes)
        .map_err(|_| Status::BadAddress)?;
    Request::from_bytes(&bytes).map_err(|malformed| match malformed {
        Malformed::Opcode(_) => Status::UnknownCommand,
        Malformed::Short { .. } | Malformed::Field { .. } => Status::Malformed,
    })
}
