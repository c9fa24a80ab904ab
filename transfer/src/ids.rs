//! Names of things.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An engine, in all of the cluster. The application gives every engine another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EngineId(pub u64);

impl fmt::Display for EngineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "engine {}", self.0)
    }
}

/// A peer that an engine was connected to. A peer that is connected again has another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId(pub(crate) u32);

impl fmt::Display for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "peer {}", self.0)
    }
}

/// A transfer, a message or a barrier under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransferId(pub(crate) u64);

/// A request that was made of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId {
    pub(crate) peer: PeerId,
    pub(crate) tag: u32,
}

/// A request that a peer makes, to be answered by [`crate::Engine::reply`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId {
    pub(crate) peer: PeerId,
    pub(crate) tag: u32,
}

impl RequestId {
    /// Who asks.
    pub const fn peer(&self) -> PeerId {
        self.peer
    }
}
