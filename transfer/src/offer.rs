//! Exchange of connection parameters between two engines.

use std::io::{Read, Write};

use serde::{Deserialize, Serialize};
use stellar_driver::{exchange, RemoteRegion};
use stellar_wire::transfer::{ControlBlock, MessageImmediate};

use crate::engine::Engine;
use crate::error::{ConnectError, JoinError};
use crate::ids::{EngineId, PeerId};
use crate::nic::Nic;

/// An engine's offer to a peer, to be sent out of band. `A` is the NIC's address of a queue pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkOffer<A> {
    pub(crate) engine: EngineId,
    /// A queue pair of each NIC, and one for messages on the first NIC.
    pub(crate) channels: Vec<A>,
    /// Space for writes with immediate on each queue pair but the last.
    pub(crate) immediates: u32,
    /// Number of slots for messages.
    pub(crate) slots: u16,
    /// Length of a slot in bytes.
    pub(crate) slot_bytes: u32,
    /// The memory to which the peer writes messages and credits.
    pub(crate) control: RemoteRegion,
}

impl<A> LinkOffer<A> {
    /// The engine that made the offer.
    pub const fn engine(&self) -> EngineId {
        self.engine
    }

    pub(crate) fn block(&self) -> ControlBlock {
        ControlBlock {
            channels: self.channels.len() as u32,
            slots: self.slots,
            slot_bytes: self.slot_bytes,
        }
    }

    /// Whether `ours` queue pairs can be connected to it.
    pub(crate) fn check(&self, ours: usize) -> Result<(), ConnectError> {
        let engine = self.engine;
        if self.channels.len() != ours {
            let theirs = self.channels.len();
            return Err(ConnectError::Channels {
                engine,
                theirs,
                ours,
            });
        }
        let wrong = |reason: String| Err(ConnectError::Offer { engine, reason });
        if !(1..=MessageImmediate::SLOTS).contains(&self.slots) || self.slot_bytes == 0 {
            let Self {
                slots, slot_bytes, ..
            } = self;
            return wrong(format!("{slots} slots of {slot_bytes} bytes"));
        }
        if self.immediates == 0 {
            return wrong("room for no immediates".to_owned());
        }
        let (needs, has) = (self.block().bytes(), self.control.length);
        if has < needs {
            return wrong(format!(
                "{has:#x} bytes of memory for what takes {needs:#x}"
            ));
        }
        Ok(())
    }
}

/// Queue pairs and memory for a peer that is not connected yet. Dropping this frees them.
pub struct Offered<N: Nic> {
    pub(crate) offer: LinkOffer<N::Address>,
    pub(crate) qps: Vec<N::QueuePair>,
    pub(crate) memory: N::Memory,
    pub(crate) region: N::Region,
}

impl<N: Nic> Offered<N> {
    /// The offer for the peer.
    pub const fn offer(&self) -> &LinkOffer<N::Address> {
        &self.offer
    }
}

/// Connects to an engine at the other end of a stream, which must call the same function. When it returns, both can send.
///
/// # Errors
/// [`JoinError`].
pub fn join<N: Nic, S: Read + Write>(
    engine: &mut Engine<N>,
    stream: &mut S,
) -> Result<PeerId, JoinError> {
    let offered = engine.offer()?;
    let theirs = exchange(stream, offered.offer())?;
    let peer = engine.connect(offered, &theirs)?;
    // A write before the peer's queue pairs can receive would fail them.
    exchange(stream, &engine.id())?;
    Ok(peer)
}
