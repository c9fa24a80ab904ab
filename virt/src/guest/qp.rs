//! A guest's queue pair: work requests and completions in its own memory, doorbells in its own page. The host takes no part.

use std::sync::atomic::Ordering;
use std::sync::Arc;

use stellar_wire::host::{ConsumerIndex, Cqe, Doorbell, Wqe, WqeSize};
use stellar_wire::WireError;
use thiserror::Error;
use vm_memory::{Bytes, GuestAddress, GuestMemoryError, GuestMemoryMmap};

use crate::window::{DoorbellWindow, WindowFault};

/// Modulus of consumer indices.
const INDEX_MODULUS: u32 = 1 << 24;

/// A ring in guest memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingPlace {
    /// Guest address of entry 0.
    pub address: u64,
    /// Entries, a power of two.
    pub entries: u32,
}

/// Why sending or polling failed.
#[derive(Debug, Error)]
pub enum SendError {
    /// Every entry is in use.
    #[error("the send queue of {0} entries is full; poll completions")]
    Full(u32),
    /// More inline data than an entry holds, of 64 bytes.
    #[error("{0} bytes inline; an entry holds at most {most}", most = WqeSize::Bytes64.inline())]
    Inline(u32),
    /// The ring is not in guest memory.
    #[error("the ring lies outside of guest memory: {0}")]
    Memory(#[from] GuestMemoryError),
    /// The doorbell page is not mapped.
    #[error(transparent)]
    Window(#[from] WindowFault),
    /// The card wrote an invalid completion.
    #[error("the card wrote an entry that cannot be: {0}")]
    Entry(#[from] WireError),
}

/// A queue pair of a virtual device.
pub struct GuestQueuePair {
    memory: Arc<GuestMemoryMmap>,
    window: DoorbellWindow,
    number: u32,
    send: RingPlace,
    completions: RingPlace,
    /// Index behind the last work request, and index of the first one that has not completed, modulo 2^16.
    producer: u16,
    head: u16,
    /// Number of completions read, modulo 2^24.
    taken: u32,
}

impl GuestQueuePair {
    /// The queue pair `number`, whose rings the host knows from its creation.
    pub const fn new(
        memory: Arc<GuestMemoryMmap>,
        window: DoorbellWindow,
        number: u32,
        send: RingPlace,
        completions: RingPlace,
    ) -> Self {
        Self {
            memory,
            window,
            number,
            send,
            completions,
            producer: 0,
            head: 0,
            taken: 0,
        }
    }

    /// The queue pair's number.
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// Posts a work request. This function fills in its slot.
    ///
    /// # Errors
    /// [`SendError`].
    pub fn post(&mut self, request: Wqe) -> Result<(), SendError> {
        let entries = self.send.entries;
        if u32::from(self.producer.wrapping_sub(self.head)) >= entries {
            return Err(SendError::Full(entries));
        }
        if request.has_rest() {
            return Err(SendError::Inline(request.length));
        }
        let slot = self.producer;
        let at = self.send.address + u64::from(u32::from(slot) % entries) * Wqe::LEN as u64;
        let entry = Wqe { slot, ..request };
        self.memory
            .write_slice(&entry.to_bytes(), GuestAddress(at))?;
        self.producer = slot.wrapping_add(1);
        let doorbell = Doorbell {
            qp: self.number,
            producer: self.producer,
        };
        let word = u64::from_le_bytes(doorbell.to_bytes());
        Ok(self.window.store(Doorbell::OFFSET.into(), word)?)
    }

    /// The next completion, if there is one.
    ///
    /// # Errors
    /// [`SendError`].
    pub fn poll(&mut self) -> Result<Option<Cqe>, SendError> {
        let entries = self.completions.entries;
        let at = self.completions.address + u64::from(self.taken % entries) * Cqe::LEN as u64;
        let first: u64 = self.memory.load(GuestAddress(at), Ordering::Acquire)?;
        let phase = u64::from((self.taken / entries).is_multiple_of(2));
        if u64::from_le(first) >> Cqe::PHASE_BIT & 1 != phase {
            return Ok(None);
        }
        let mut bytes = [0; Cqe::LEN];
        self.memory.read_slice(&mut bytes, GuestAddress(at))?;
        self.taken = (self.taken + 1) % INDEX_MODULUS;
        let consumer = ConsumerIndex {
            qp: self.number,
            index: self.taken,
            arm: false,
        };
        let word = u64::from_le_bytes(consumer.to_bytes());
        self.window.store(ConsumerIndex::OFFSET.into(), word)?;
        let cqe = Cqe::from_bytes(&bytes)?;
        if !cqe.opcode.is_receive() {
            self.head = cqe.sq_head;
        }
        Ok(Some(cqe))
    }
}
