//! Work requests, and those of a queue pair that have not completed.

use std::collections::VecDeque;
use std::sync::Arc;

use stellar_wire::host::{CqeOpcode, WcStatus, Wqe, WqeOpcode, WqeSize};
use thiserror::Error as ThisError;

use super::state::QpState;
use crate::cq::Completion;
use crate::device::DeviceError;
use crate::error::Error;
use crate::region::{MemoryRegion, Registered};

/// Operation of a work request (verbs: `ibv_wr_opcode`). The card executes the first three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum WrOpcode {
    Nop,
    RdmaWrite,
    RdmaWriteWithImm,
    Send,
    SendWithImm,
    SendWithInv,
    RdmaRead,
    AtomicCmpAndSwp,
    AtomicFetchAndAdd,
    LocalInv,
    BindMw,
}

impl WrOpcode {
    /// The card's codes for it, if the card executes it.
    const fn on_card(self) -> Option<(WqeOpcode, CqeOpcode)> {
        match self {
            Self::Nop => Some((WqeOpcode::Nop, CqeOpcode::Nop)),
            Self::RdmaWrite => Some((WqeOpcode::Write, CqeOpcode::Write)),
            Self::RdmaWriteWithImm => Some((WqeOpcode::WriteImm, CqeOpcode::WriteImm)),
            _ => None,
        }
    }
}

/// Where the bytes of a work request come from.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// The work request has no bytes.
    Nothing,
    /// Part of a region ([`MemoryRegion::slice`]).
    Region {
        /// The region.
        region: &'a MemoryRegion,
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u32,
    },
    /// Up to 32 or 64 bytes ([`crate::QueuePairConfig::inline_bytes`]), which are copied when the work request is posted.
    Inline(&'a [u8]),
}

/// A work request (verbs: `ibv_send_wr`).
#[derive(Clone, Copy)]
pub struct WorkRequest<'a> {
    /// Identifier, returned with the completion.
    pub wr_id: u64,
    /// The operation.
    pub opcode: WrOpcode,
    /// The data to send.
    pub source: Source<'a>,
    /// Destination of the bytes: an address in the peer's region.
    pub remote_address: u64,
    /// Key of that region.
    pub rkey: u32,
    /// Immediate data, of [`WrOpcode::RdmaWriteWithImm`].
    pub immediate: u32,
    /// Success makes a completion; failure always does. A work request that is not signaled frees its slot in the send queue only when a later one
    /// completes.
    pub signaled: bool,
    /// Starts only when everything before it has completed.
    pub fence: bool,
    /// The entry is pushed to the card with its doorbell: nine register writes instead of one, and no read by the card. For single requests that need
    /// low latency.
    pub push: bool,
}

impl<'a> WorkRequest<'a> {
    /// Makes a work request without data, which completes when all earlier ones have completed.
    pub const fn nop(wr_id: u64) -> Self {
        Self {
            wr_id,
            opcode: WrOpcode::Nop,
            source: Source::Nothing,
            remote_address: 0,
            rkey: 0,
            immediate: 0,
            signaled: true,
            fence: false,
            push: false,
        }
    }

    /// Writes `source` to the peer's memory.
    pub const fn write(wr_id: u64, source: Source<'a>, remote_address: u64, rkey: u32) -> Self {
        Self {
            opcode: WrOpcode::RdmaWrite,
            source,
            remote_address,
            rkey,
            ..Self::nop(wr_id)
        }
    }

    /// Adds immediate data to a WRITE. The peer gets it when this WRITE and all earlier ones have arrived.
    #[must_use]
    pub const fn with_immediate(mut self, immediate: u32) -> Self {
        self.opcode = WrOpcode::RdmaWriteWithImm;
        self.immediate = immediate;
        self
    }

    /// Requests no completion in case of success.
    #[must_use]
    pub const fn unsignaled(mut self) -> Self {
        self.signaled = false;
        self
    }

    /// Puts a fence before the work request: it starts after all earlier ones have completed.
    #[must_use]
    pub const fn fenced(mut self) -> Self {
        self.fence = true;
        self
    }

    /// Pushes the entry to the card with the doorbell, so that the card need not read it.
    #[must_use]
    pub const fn pushed(mut self) -> Self {
        self.push = true;
        self
    }
}

/// Why a work request was not posted.
#[derive(Debug, ThisError)]
pub enum PostError {
    /// The queue pair is not in a state in which it sends.
    #[error("queue pair {qp} is in {state:?}; it sends in Rts only")]
    State {
        /// The queue pair.
        qp: u32,
        /// Its state.
        state: QpState,
    },
    /// The card cannot do it.
    #[error("the card has no {0:?}; it has Nop, RdmaWrite and RdmaWriteWithImm")]
    Opcode(WrOpcode),
    /// It has no receive queue.
    #[error("queue pair {qp} has no receive queue for work request {wr_id}: the card takes no SEND; write to a region of this side, with immediate to be told \
        (it completes without a receive work request)")]
    NoReceiveQueue {
        /// The queue pair.
        qp: u32,
        /// Identifier of the refused work request.
        wr_id: u64,
    },
    /// The send queue has no free entry.
    #[error("the send queue of {entries} entries is full; poll completions, and signal some work requests")]
    Full {
        /// Its size.
        entries: u32,
    },
    /// More inline bytes than an entry can hold.
    #[error("{length} bytes inline; an entry of this queue pair holds at most {most} (`QueuePairConfig::inline_bytes`, up to {limit})", limit = Wqe::INLINE)]
    Inline {
        /// Bytes.
        length: usize,
        /// How many the queue pair's entries hold.
        most: usize,
    },
    /// The bytes are not completely inside the region.
    #[error("{length} bytes at {offset:#x} do not lie in a region of {have:#x} bytes")]
    Bounds {
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u32,
        /// Bytes of the region.
        have: u64,
    },
    /// The region is not of the queue pair's protection domain.
    #[error(
        "the region belongs to another protection domain; register the memory in the queue pair's"
    )]
    Domain,
    /// The card or its memory.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// A posted work request.
struct Posted {
    wr_id: u64,
    opcode: CqeOpcode,
    byte_len: u32,
    /// Holds the region until the work request has completed.
    _region: Option<Arc<Registered>>,
}

/// A work request, checked.
pub struct Ready {
    pub wqe: Wqe,
    posted: Posted,
}

/// Software's state of a send queue.
pub struct Work {
    entries: u32,
    /// Index behind the last entry, modulo 2^16.
    producer: u16,
    /// Work requests from the consumer index to the producer index.
    posted: VecDeque<Posted>,
}

impl Work {
    /// An empty queue.
    pub const fn new(entries: u32) -> Self {
        Self {
            entries,
            producer: 0,
            posted: VecDeque::new(),
        }
    }

    /// Empties the queue; posted work requests do not complete.
    pub fn clear(&mut self) {
        *self = Self::new(self.entries);
    }

    /// Index of the next entry, modulo 2^16.
    pub const fn producer(&self) -> u16 {
        self.producer
    }

    /// Work requests that have not completed.
    pub fn len(&self) -> usize {
        self.posted.len()
    }

    /// Checks that there is room.
    pub fn check_room(&self) -> Result<(), PostError> {
        if self.posted.len() < self.entries as usize {
            Ok(())
        } else {
            let entries = self.entries;
            Err(PostError::Full { entries })
        }
    }

    /// Place of the next entry in the ring.
    pub const fn place(&self) -> usize {
        self.producer as usize % self.entries as usize
    }

    /// Adds one, for which there is room.
    pub fn push(&mut self, ready: Ready) {
        self.posted.push_back(ready.posted);
        self.producer = self.producer.wrapping_add(1);
    }

    /// Frees every entry before `head`, which the card has completed.
    pub fn free(&mut self, qp: u32, head: u16) -> Result<(), Error> {
        let left = self.producer.wrapping_sub(head);
        let Some(done) = self.posted.len().checked_sub(left.into()) else {
            let producer = self.producer;
            let freed = producer.wrapping_sub(self.posted.len() as u16);
            return Err(Error::BadHead {
                qp,
                head,
                freed,
                producer,
            });
        };
        self.posted.drain(..done);
        Ok(())
    }

    /// Completions, as flushed, of all work requests that are left.
    pub fn flush(&mut self, qp: u32) -> Vec<Completion> {
        let completion = |posted: Posted| Completion {
            wr_id: posted.wr_id,
            status: WcStatus::WrFlushErr,
            opcode: posted.opcode,
            qp,
            byte_len: posted.byte_len,
            immediate: None,
        };
        self.posted.drain(..).map(completion).collect()
    }
}

impl WorkRequest<'_> {
    /// Checks it against the protection domain `domain` and makes its entry, of `size`, for index `slot`.
    pub(super) fn ready(
        &self,
        domain: &Arc<crate::pd::Domain>,
        slot: u16,
        size: WqeSize,
    ) -> Result<Ready, PostError> {
        let (opcode, completes) = self
            .opcode
            .on_card()
            .ok_or(PostError::Opcode(self.opcode))?;
        let mut wqe = Wqe {
            opcode,
            signaled: self.signaled,
            fence: self.fence,
            slot,
            remote_va: self.remote_address,
            rkey: self.rkey,
            immediate: self.immediate,
            wr_id: self.wr_id,
            ..Wqe::default()
        };
        let mut used = None;
        match self.source {
            Source::Nothing => {}
            Source::Inline(bytes) => {
                let (length, most) = (bytes.len(), size.inline());
                let carrying = wqe.with_inline(bytes).filter(|_| length <= most);
                wqe = carrying.ok_or(PostError::Inline { length, most })?;
            }
            Source::Region {
                region,
                offset,
                length,
            } => {
                let registered = &region.registered;
                if !Arc::ptr_eq(&registered.domain, domain) {
                    return Err(PostError::Domain);
                }
                let have = region.length();
                let end = offset.checked_add(length.into());
                if end.is_none_or(|end| end > have) {
                    return Err(PostError::Bounds {
                        offset,
                        length,
                        have,
                    });
                }
                registered.prepare(offset, length)?;
                wqe.length = length;
                wqe.local_va = region.address() + offset;
                wqe.lkey = region.lkey();
                used = Some(Arc::clone(registered));
            }
        }
        let posted = Posted {
            wr_id: self.wr_id,
            opcode: completes,
            byte_len: wqe.length,
            _region: used,
        };
        Ok(Ready { wqe, posted })
    }
}
