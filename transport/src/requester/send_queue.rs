//! Send queue: doorbell and WQE fetch (hardware blocks `doorbells`, `wqe_prefetch`).

use std::collections::VecDeque;

use stellar_wire::host::{WcStatus, Wqe, WqeOpcode, WqeSize};
use thiserror::Error;

use super::{RequesterConfigError, SqRing};
use crate::endpoint::Memory;
use crate::small_queue::begin_with_one;

/// Longest RDMA message in bytes (InfiniBand architecture volume 1, section 9.4.1): 2^31.
pub const MAX_MESSAGE: u32 = 1 << 31;

/// An impossible producer index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("producer index {producer} leaves {pending} entries to execute; the ring has {entries}")]
pub struct ProducerError {
    pub producer: u16,
    pub pending: u16,
    pub entries: u32,
}

/// A work request as fetched. `fault` is the reason why it cannot be executed; then only its identifier and slot are valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetched {
    pub wqe: Wqe,
    pub fault: Option<WcStatus>,
}

#[derive(Clone, Debug)]
enum Source {
    Ring(SqRing),
    Posted(VecDeque<Wqe>),
}

/// Work requests between the doorbell and their start. Indices count modulo 2^16.
#[derive(Clone, Debug)]
pub struct SendQueue {
    source: Source,
    producer: u16,
    fetched: u16,
}

impl SendQueue {
    /// Entries of a queue without a ring.
    const POSTED_ENTRIES: u32 = 1 << 15;

    /// An empty queue; without a ring its work requests come from [`Self::post`].
    ///
    /// # Errors
    /// [`RequesterConfigError::QueueSize`].
    pub fn new(ring: Option<SqRing>) -> Result<Self, RequesterConfigError> {
        if let Some(SqRing { log2_entries, .. }) = ring {
            if !(1..=15).contains(&log2_entries) {
                return Err(RequesterConfigError::QueueSize(log2_entries));
            }
        }
        Ok(Self {
            source: ring.map_or_else(|| Source::Posted(VecDeque::new()), Source::Ring),
            producer: 0,
            fetched: 0,
        })
    }

    /// Whether work requests come through a ring in host memory.
    pub const fn has_ring(&self) -> bool {
        matches!(self.source, Source::Ring(_))
    }

    const fn entries(&self) -> u32 {
        match &self.source {
            Source::Ring(ring) => 1 << ring.log2_entries,
            Source::Posted(_) => Self::POSTED_ENTRIES,
        }
    }

    /// Work requests not fetched yet.
    pub const fn pending(&self) -> u16 {
        self.producer.wrapping_sub(self.fetched)
    }

    /// Takes a new producer index.
    ///
    /// # Errors
    /// [`ProducerError`] if the entries not fetched would be more than the ring has; nothing changes then.
    pub fn ring_doorbell(&mut self, producer: u16) -> Result<(), ProducerError> {
        let pending = producer.wrapping_sub(self.fetched);
        let entries = self.entries();
        // An index before the last one looks like a very large step forward.
        if u32::from(pending) > entries || pending < self.pending() {
            return Err(ProducerError {
                producer,
                pending,
                entries,
            });
        }
        self.producer = producer;
        Ok(())
    }

    /// Adds a work request to a queue without a ring; its slot is set here.
    ///
    /// # Errors
    /// [`ProducerError`] if the queue is full.
    pub fn post(&mut self, wqe: Wqe) -> Result<(), ProducerError> {
        let slot = self.producer;
        self.ring_doorbell(slot.wrapping_add(1))?;
        if let Source::Posted(queue) = &mut self.source {
            begin_with_one(queue);
            queue.push_back(Wqe { slot, ..wqe });
        }
        Ok(())
    }

    /// The next work request, if there is one, with its own fields checked.
    pub fn fetch(&mut self, memory: &mut dyn Memory) -> Option<Fetched> {
        if self.pending() == 0 {
            return None;
        }
        let slot = self.fetched;
        self.fetched = slot.wrapping_add(1);
        Some(match &mut self.source {
            Source::Posted(queue) => check(queue.pop_front()?, slot, WqeSize::Bytes128),
            Source::Ring(ring) => fetch_at(*ring, slot, memory),
        })
    }
}

/// Reads the entry at a slot of a ring.
fn fetch_at(ring: SqRing, slot: u16, memory: &mut dyn Memory) -> Fetched {
    let mut bytes = [0; Wqe::LONG_LEN];
    let read = memory.read(
        ring.address_of(slot),
        false,
        &mut bytes[..ring.entry.bytes()],
    );
    match Wqe::from_long_bytes(&bytes) {
        Ok(wqe) if read.is_ok() => check(wqe, slot, ring.entry),
        _ => Fetched {
            wqe: Wqe {
                slot,
                wr_id: Wqe::wr_id_of(&bytes),
                ..Wqe::default()
            },
            fault: Some(WcStatus::LocQpOpErr),
        },
    }
}

/// Checks an entry of `size` by itself.
fn check(wqe: Wqe, slot: u16, size: WqeSize) -> Fetched {
    let too_long = wqe.inline && wqe.length as usize > size.inline() || wqe.length > MAX_MESSAGE;
    let fault = if wqe.slot != slot {
        Some(WcStatus::LocQpOpErr)
    } else if wqe.opcode != WqeOpcode::Nop && too_long {
        Some(WcStatus::LocLenErr)
    } else {
        None
    };
    Fetched {
        wqe: Wqe { slot, ..wqe },
        fault,
    }
}
