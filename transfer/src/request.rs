//! Descriptions of transfers.

use crate::nic::Nic;
use crate::region::{LocalRegion, RegionDescriptor};

/// Bytes of a local region.
pub struct LocalSlice<'a, N: Nic> {
    pub(crate) region: &'a LocalRegion<N>,
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

impl<N: Nic> Clone for LocalSlice<'_, N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<N: Nic> Copy for LocalSlice<'_, N> {}

/// An offset in a peer's region.
#[derive(Clone, Copy)]
pub struct RemoteSlice<'a> {
    pub(crate) region: &'a RegionDescriptor,
    pub(crate) offset: u64,
}

/// Pages of a region, in any order: page i begins at `offset + indices[i] * stride`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pages {
    /// Offset of page 0 in the region.
    pub offset: u64,
    /// Distance between the beginnings of two pages.
    pub stride: u64,
    /// Indices of the pages.
    pub indices: Vec<u32>,
}

/// The way in which several NICs share a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharding {
    /// Every write uses one NIC. NICs take turns at transfers and at the peers of a scatter, and get even shares of pages.
    #[default]
    Whole,
    /// Every write, page or part for a peer is cut into as many writes as there are NICs, and each of them carries the immediate. A NIC that gets no
    /// bytes sends an empty write, so that its immediate arrives.
    Bytes,
    /// All writes use this NIC.
    Rail(usize),
}

impl Sharding {
    /// Immediates that a receiver gets for each write, each page and each peer's part, with this number of NICs.
    pub const fn immediates(self, nics: usize) -> u64 {
        match self {
            Self::Bytes => nics as u64,
            Self::Whole | Self::Rail(_) => 1,
        }
    }
}

pub(crate) enum What<'a, N: Nic> {
    Writes(Vec<(LocalSlice<'a, N>, RemoteSlice<'a>)>),
    Pages {
        source: &'a LocalRegion<N>,
        source_pages: Pages,
        target: &'a RegionDescriptor,
        target_pages: Pages,
        bytes: u32,
    },
}

/// One-sided writes, for [`crate::Engine::submit`].
pub struct Transfer<'a, N: Nic> {
    pub(crate) what: What<'a, N>,
    pub(crate) immediate: Option<u32>,
    pub(crate) sharding: Sharding,
}

impl<'a, N: Nic> Transfer<'a, N> {
    const fn new(what: What<'a, N>) -> Self {
        Self {
            what,
            immediate: None,
            sharding: Sharding::Whole,
        }
    }

    /// Writes bytes to one place.
    pub fn write(source: LocalSlice<'a, N>, target: RemoteSlice<'a>) -> Self {
        Self::scatter([(source, target)])
    }

    /// Writes bytes to many places, of one peer or of several.
    pub fn scatter(writes: impl IntoIterator<Item = (LocalSlice<'a, N>, RemoteSlice<'a>)>) -> Self {
        Self::new(What::Writes(writes.into_iter().collect()))
    }

    /// Writes pages of `bytes` bytes, each to the page at the same position of the other list.
    pub const fn pages(
        source: &'a LocalRegion<N>,
        source_pages: Pages,
        target: &'a RegionDescriptor,
        target_pages: Pages,
        bytes: u32,
    ) -> Self {
        Self::new(What::Pages {
            source,
            source_pages,
            target,
            target_pages,
            bytes,
        })
    }

    /// Adds this immediate to every write. [`Sharding::immediates`] returns their number.
    #[must_use]
    pub const fn with_immediate(mut self, immediate: u32) -> Self {
        self.immediate = Some(immediate);
        self
    }

    /// Sets the way in which NICs share the transfer.
    #[must_use]
    pub const fn sharded(mut self, sharding: Sharding) -> Self {
        self.sharding = sharding;
        self
    }
}
