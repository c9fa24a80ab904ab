//! Memory that engines reach.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use stellar_driver::RemoteRegion;

use crate::ids::EngineId;
use crate::nic::Nic;
use crate::request::{LocalSlice, RemoteSlice};

/// What a peer has to know of memory to write it, to be sent to it out of band.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionDescriptor {
    pub(crate) owner: EngineId,
    /// As each NIC of the owner knows it.
    pub(crate) parts: Vec<RemoteRegion>,
}

impl RegionDescriptor {
    /// Whose memory it is.
    pub const fn owner(&self) -> EngineId {
        self.owner
    }

    /// Bytes.
    pub fn length(&self) -> u64 {
        let lengths = self.parts.iter().map(|part| part.length);
        lengths.min().unwrap_or(0)
    }

    /// Where a write shall begin.
    pub const fn at(&self, offset: u64) -> RemoteSlice<'_> {
        RemoteSlice {
            region: self,
            offset,
        }
    }
}

/// Memory that an engine's NICs reach. Clones are the same; transfers under way hold one.
pub struct LocalRegion<N: Nic>(pub(crate) Arc<Registered<N>>);

pub(crate) struct Registered<N: Nic> {
    pub descriptor: RegionDescriptor,
    /// As each NIC knows it.
    pub regions: Vec<N::Region>,
    pub memory: Option<N::Memory>,
}

impl<N: Nic> Clone for LocalRegion<N> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<N: Nic> LocalRegion<N> {
    /// For the peers that are to write it.
    pub fn descriptor(&self) -> &RegionDescriptor {
        &self.0.descriptor
    }

    /// Bytes.
    pub fn length(&self) -> u64 {
        self.0.descriptor.length()
    }

    /// Its memory; `None` if it is not host memory.
    pub fn memory(&self) -> Option<&N::Memory> {
        self.0.memory.as_ref()
    }

    /// Bytes to be sent. Whether they lie in the region is checked when they are.
    pub const fn slice(&self, offset: u64, length: u64) -> LocalSlice<'_, N> {
        LocalSlice {
            region: self,
            offset,
            length,
        }
    }

    /// Takes it from the NICs.
    ///
    /// # Errors
    /// [`InUse`], with the region, if transfers under way or clones use it.
    pub fn deregister(self) -> Result<(), InUse<N>> {
        match Arc::try_unwrap(self.0) {
            Ok(registered) => {
                drop(registered);
                Ok(())
            }
            Err(registered) => Err(InUse {
                users: Arc::strong_count(&registered) - 1,
                region: Self(registered),
            }),
        }
    }
}

/// A region that cannot be deregistered.
pub struct InUse<N: Nic> {
    /// The region, as it was.
    pub region: LocalRegion<N>,
    /// What else holds it.
    pub users: usize,
}

impl<N: Nic> fmt::Display for InUse<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} writes under way or clones use the region: make progress until they have ended, and drop clones",
            self.users
        )
    }
}

impl<N: Nic> fmt::Debug for InUse<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<N: Nic> std::error::Error for InUse<N> {}
