//! Protection domains.

use std::sync::Arc;

use crate::card::lock;
use crate::context::Opened;
use crate::cq::CompletionQueue;
use crate::device::DmaBuffer;
use crate::error::Error;
use crate::qp::{QueuePair, QueuePairConfig};
use crate::region::{AccessFlags, Backing, MemoryRegion, Pages};

/// A protection domain, for what was made in it.
pub(crate) struct Domain {
    pub context: Arc<Opened>,
    pub number: u32,
}

impl Drop for Domain {
    fn drop(&mut self) {
        let mut pools = lock(&self.context.device.pools);
        pools.domains.give_back(self.number);
    }
}

/// A protection domain: its queue pairs reach its regions, here and from the peer, and no others. Clones are the same domain.
#[derive(Clone)]
pub struct ProtectionDomain(pub(crate) Arc<Domain>);

impl ProtectionDomain {
    pub(crate) fn new(context: Arc<Opened>) -> Result<Self, Error> {
        let number = lock(&context.device.pools).domains.take()?;
        Ok(Self(Arc::new(Domain { context, number })))
    }

    /// Its number on the card, 20 bits.
    pub fn number(&self) -> u32 {
        self.0.number
    }

    /// Registers host memory from [`crate::Context::alloc`]. Its address in the region is its bus address.
    ///
    /// # Errors
    /// [`Error::Exhausted`], [`Error::Device`].
    pub fn register(&self, memory: DmaBuffer, access: AccessFlags) -> Result<MemoryRegion, Error> {
        MemoryRegion::new(Arc::clone(&self.0), Backing::Host(memory), access)
    }

    /// Registers memory by the final addresses of its pages, as of a GPU's BAR. TLPs carry AT = 10: no IOMMU looks at them.
    ///
    /// # Errors
    /// [`Error::Region`], [`Error::Exhausted`], [`Error::Device`].
    ///
    /// # Safety
    /// The card reads these pages and, as `access` says, a peer writes them, until the region is gone and nothing posted uses it. They must be
    /// memory that is not host memory of this or another program, and stay the caller's for that time.
    #[allow(unsafe_code)]
    pub unsafe fn register_translated(
        &self,
        pages: Pages,
        access: AccessFlags,
    ) -> Result<MemoryRegion, Error> {
        MemoryRegion::new(Arc::clone(&self.0), Backing::Translated(pages), access)
    }

    /// A queue pair in state RESET, whose completions go to `cq`.
    ///
    /// # Errors
    /// [`Error::OtherContext`], [`Error::QueueSize`], [`Error::Exhausted`], [`Error::Device`].
    pub fn create_qp(
        &self,
        cq: &CompletionQueue,
        config: QueuePairConfig,
    ) -> Result<QueuePair, Error> {
        QueuePair::new(Arc::clone(&self.0), cq, config)
    }
}
