//! The guest's side of the control queue.

use std::sync::atomic::Ordering;
use std::sync::Arc;

use stellar_wire::vstellar::{
    Answer, GuestPathCounts, Malformed, Opcode, Request, Status, LONGEST_ANSWER, MOST_REQUEST,
};
use thiserror::Error;
use virtio_bindings::bindings::virtio_ring::{VRING_DESC_F_NEXT, VRING_DESC_F_WRITE};
use virtio_queue::desc::split::Descriptor;
use vm_memory::{Bytes, GuestAddress, GuestMemoryError, GuestMemoryMmap};

use crate::host::QueuePlace;

/// Sizes in bytes: a descriptor, an entry of the available ring, an entry of the used ring, and the header before either ring (virtio 1.3, section
/// 2.7).
const DESCRIPTOR: u64 = 16;
const AVAILABLE: u64 = 2;
const USED: u64 = 8;
const RING_HEADER: u64 = 4;
/// Offset of the ring's index.
const INDEX: u64 = 2;

/// Why a request failed.
#[derive(Debug, Error)]
pub enum CallError {
    /// The host refused it.
    #[error("the host refused {0:?}: {1:?}")]
    Refused(Opcode, Status),
    /// The host has not replied.
    #[error(
        "the host has not answered {0:?}; it must process the control queue when it is notified"
    )]
    NoAnswer(Opcode),
    /// The reply is malformed.
    #[error("the host answered {0:?} with what is no answer: {1}")]
    Answer(Opcode, Malformed),
    /// The queue is not in guest memory.
    #[error("the control queue lies outside of guest memory: {0}")]
    Memory(#[from] GuestMemoryError),
}

/// The driver of a device. It sends one request at a time.
pub struct GuestDriver {
    memory: Arc<GuestMemoryMmap>,
    queue: QueuePlace,
    /// Guest address of the request; the reply follows it.
    message: u64,
    /// Chains made available, modulo 2^16.
    made: u16,
}

impl GuestDriver {
    /// Bytes of guest memory for a control queue of `size` descriptors and its message.
    pub const fn bytes(size: u16) -> u64 {
        Self::rings(size) + (MOST_REQUEST + LONGEST_ANSWER) as u64
    }

    const fn rings(size: u16) -> u64 {
        let size = size as u64;
        let available = RING_HEADER + size * AVAILABLE;
        // The rounding aligns the used ring to 4.
        size * DESCRIPTOR + (available + 2).next_multiple_of(8) + RING_HEADER + size * USED + 4
    }

    /// Puts a control queue of `size` descriptors, 2 or more, into zeroed guest memory at `address`, a multiple of 16.
    pub fn new(memory: Arc<GuestMemoryMmap>, address: u64, size: u16) -> Self {
        let available = address + u64::from(size) * DESCRIPTOR;
        let used = available + (RING_HEADER + u64::from(size) * AVAILABLE + 2).next_multiple_of(8);
        Self {
            memory,
            queue: QueuePlace {
                size,
                descriptors: address,
                available,
                used,
            },
            message: address + Self::rings(size),
            made: 0,
        }
    }

    /// The location of the queue, for the host.
    pub const fn queue(&self) -> QueuePlace {
        self.queue
    }

    /// Puts a request into the queue, notifies the host by `notify`, and returns the reply. The reply must be there when `notify` returns.
    ///
    /// # Errors
    /// [`CallError`].
    pub fn call(&mut self, request: &Request, notify: impl FnOnce()) -> Result<Answer, CallError> {
        self.call_with(request, LONGEST_ANSWER, notify)
    }

    /// As [`Self::call`], with space for an answer of `space` bytes, at most [`LONGEST_ANSWER`].
    ///
    /// # Errors
    /// [`CallError`].
    pub fn call_with(
        &mut self,
        request: &Request,
        space: usize,
        notify: impl FnOnce(),
    ) -> Result<Answer, CallError> {
        let space = space.min(LONGEST_ANSWER);
        let asked = request.opcode();
        let bytes = request.to_bytes();
        let answer = self.message + MOST_REQUEST as u64;
        self.memory
            .write_slice(&bytes, GuestAddress(self.message))?;
        let chain = [
            Descriptor::new(
                self.message,
                bytes.len() as u32,
                VRING_DESC_F_NEXT as u16,
                1,
            ),
            Descriptor::new(answer, space as u32, VRING_DESC_F_WRITE as u16, 0),
        ];
        for (index, descriptor) in (0..).zip(chain) {
            let at = GuestAddress(self.queue.descriptors + index * DESCRIPTOR);
            self.memory.write_obj(descriptor, at)?;
        }
        self.make_available(0)?;
        notify();
        if !self.is_used()? {
            return Err(CallError::NoAnswer(asked));
        }
        let mut bytes = vec![0; space];
        self.memory.read_slice(&mut bytes, GuestAddress(answer))?;
        let answer = Answer::from_bytes(&bytes, asked);
        let answer = answer.map_err(|malformed| CallError::Answer(asked, malformed))?;
        answer.map_err(|status| CallError::Refused(asked, status))
    }

    /// What was counted on all paths of a queue pair, from its first call in this state RTS on: that returns zeros.
    ///
    /// # Errors
    /// [`CallError`].
    pub fn path_counts(
        &mut self,
        qp: u32,
        notify: impl FnOnce(),
    ) -> Result<Vec<GuestPathCounts>, CallError> {
        let request = Request::QueryPaths { qp, first: 0 };
        match self.call(&request, notify)? {
            Answer::Paths(counts) => Ok(counts.paths),
            other => unreachable!("an answer is decoded as that to its request, not {other:?}"),
        }
    }

    /// Makes the chain that begins at descriptor `head` available.
    fn make_available(&mut self, head: u16) -> Result<(), GuestMemoryError> {
        let place = u64::from(self.made % self.queue.size);
        let entry = self.queue.available + RING_HEADER + place * AVAILABLE;
        self.memory.write_obj(head.to_le(), GuestAddress(entry))?;
        self.made = self.made.wrapping_add(1);
        let index = GuestAddress(self.queue.available + INDEX);
        self.memory
            .store(self.made.to_le(), index, Ordering::Release)
    }

    /// Whether the host has processed every chain that was made available.
    fn is_used(&self) -> Result<bool, GuestMemoryError> {
        let index = GuestAddress(self.queue.used + INDEX);
        let used: u16 = self.memory.load(index, Ordering::Acquire)?;
        Ok(u16::from_le(used) == self.made)
    }
}
