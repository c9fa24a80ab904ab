//! Memory that engines access.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use stellar_driver::RemoteRegion;

use crate::ids::EngineId;
use crate::nic::Nic;
use crate::request::{LocalSlice, RemoteSlice};

/// The description of memory that a peer needs to write to it; it is sent out of band.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionDescriptor {
    pub(crate) owner: EngineId,
    /// The description for each NIC of the owner.
    pub(crate) parts: Vec<RemoteRegion>,
}

impl RegionDescriptor {
    /// The engine that owns the memory.
    pub const fn owner(&self) -> EngineId {
        self.owner
    }

    /// Length in bytes.
    pub fn length(&self) -> u64 {
        let lengths = self.parts.iter().map(|part| part.length);
        lengths.min().unwrap_or(0)
    }

    /// A target of a write, from this offset on.
    pub const fn at(&self, offset: u64) -> RemoteSlice<'_> {
        RemoteSlice {
            region: self,
            offset,
        }
    }
}

/// Memory that is registered with an engine's NICs. Clones are the same memory; outstanding transfers hold a clone.
pub struct LocalRegion<N: Nic>(pub(crate) Arc<Registered<N>>);

pub(crate) struct Registered<N: Nic> {
    pub descriptor: RegionDescriptor,
    /// The registration with each NIC.
    pub regions: Vec<N::Region>,
    pub memory: Option<N::Memory>,
}

impl<N: Nic> Clone for LocalRegion<N> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<N: Nic> LocalRegion<N> {
    /// The description for peers that will write to it.
    pub fn descriptor(&self) -> &RegionDescriptor {
        &self.0.descriptor
    }

    /// Length in bytes.
    pub fn length(&self) -> u64 {
        self.0.descriptor.length()
    }

    /// The region's memory; `None` if it is not host memory.
    pub fn memory(&self) -> Option<&N::Memory> {
        self.0.memory.as_ref()
    }

    /// A range of bytes to send. `Engine::submit` checks that it lies in the region.
    pub const fn slice(&self, offset: u64, length: u64) -> LocalSlice<'_, N> {
        LocalSlice {
            region: self,
            offset,
            length,
        }
    }

    /// Deregisters it from the NICs.
    ///
    /// # Errors
    /// [`InUse`], with the region, if outstanding transfers or clones use it.
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
    /// The region, unchanged.
    pub region: LocalRegion<N>,
    /// Number of other users.
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
