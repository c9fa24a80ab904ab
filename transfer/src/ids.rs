//! Identifiers.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An engine. The application gives every engine of the cluster a different number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EngineId(pub u64);

impl fmt::Display for EngineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "engine {}", self.0)
    }
}

/// A peer that an engine was connected to. A peer that is connected again gets another identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId(pub(crate) u32);

impl fmt::Display for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "peer {}", self.0)
    }
}

/// An outstanding transfer, message or barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransferId(pub(crate) u64);

/// A request that this engine sent to a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId {
    pub(crate) peer: PeerId,
    pub(crate) tag: u32,
}

/// A request of a peer, to be answered with [`crate::Engine::reply`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId {
    pub(crate) peer: PeerId,
    pub(crate) tag: u32,
}

impl RequestId {
    /// The peer.
    pub const fn peer(&self) -> PeerId {
        self.peer
    }
}
