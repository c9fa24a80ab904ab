//! Protection domains.

use std::sync::Arc;

use crate::card::lock;
use crate::context::Opened;
use crate::cq::CompletionQueue;
use crate::device::DmaBuffer;
use crate::error::Error;
use crate::limits::Limits;
use crate::on_demand::{OnDemand, OnDemandShape};
use crate::qp::{ForeignRings, MediatedQueuePair, QueuePair, QueuePairConfig};
use crate::region::{AccessFlags, Backing, Hold, MemoryRegion, Pages};

/// A protection domain, shared by everything made in it.
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

    /// The protection domain's number on the card, 20 bits.
    pub fn number(&self) -> u32 {
        self.0.number
    }

    /// Registers host memory from [`crate::Context::alloc`]. Its address in the region is its bus address.
    ///
    /// # Errors
    /// [`Error::OtherCard`] if it was allocated for another card, [`Error::Exhausted`], [`Error::Device`].
    pub fn register(&self, memory: DmaBuffer, access: AccessFlags) -> Result<MemoryRegion, Error> {
        if !memory.is_mapped_for(self.0.context.device.card.function()) {
            return Err(Error::OtherCard);
        }
        MemoryRegion::new(Arc::clone(&self.0), Backing::Host(memory), access)
    }

    /// Registers host memory that is allocated page by page on first use (verbs: `IBV_ACCESS_ON_DEMAND`), when it is sent from, stored to, or written
    /// by a peer over MRC. A peer's packets to an absent page count as lost. The page is mapped when this side next reads events or completions, and
    /// the peer retransmits the packets, so it needs enough retries. Over RC such a packet moves the queue pair to the error state: call
    /// [`MemoryRegion::prefetch`] first.
    ///
    /// # Errors
    /// [`Error::Region`], [`Error::Exhausted`], [`Error::Device`].
    pub fn register_on_demand(
        &self,
        shape: OnDemandShape,
        access: AccessFlags,
    ) -> Result<MemoryRegion, Error> {
        let translations = Limits::of(&self.0.context.device.probe).translations;
        let memory = Arc::new(OnDemand::new(shape, translations)?);
        MemoryRegion::new(Arc::clone(&self.0), Backing::OnDemand(memory), access)
    }

    /// Registers memory by the final addresses of its pages, such as those in a GPU's BAR. TLPs carry AT = 10, so no IOMMU checks them.
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
        if !self.0.context.device.probe.ats {
            return Err(Error::NoAts);
        }
        MemoryRegion::new(Arc::clone(&self.0), Backing::Translated(pages), access)
    }

    /// Registers host memory that another owner, such as a guest, has mapped for the card. The pages are given by their IO virtual addresses. TLPs
    /// carry AT = 00, so the IOMMU translates them.
    ///
    /// # Errors
    /// [`Error::Region`], [`Error::Exhausted`], [`Error::Device`].
    ///
    /// # Safety
    /// Until `hold` is dropped, the card reads these pages, and a peer writes them if `access` permits it. So they must stay mapped, and must belong to the
    /// owner that may use the region: the IOMMU has one domain for all users of a card and cannot protect one from another.
    #[allow(unsafe_code)]
    pub unsafe fn register_mapped(
        &self,
        pages: Pages,
        access: AccessFlags,
        hold: Hold,
    ) -> Result<MemoryRegion, Error> {
        MemoryRegion::new(Arc::clone(&self.0), Backing::Mapped(pages, hold), access)
    }

    /// Creates a queue pair in state RESET whose rings are in memory of another owner.
    ///
    /// # Errors
    /// [`Error::QueueSize`], [`Error::Region`], [`Error::Exhausted`].
    ///
    /// # Safety
    /// The card reads one ring and writes the other until `hold` is dropped. Until then, all bytes of both must be mapped for the card, and be memory
    /// of the owner of the doorbell page.
    #[allow(unsafe_code)]
    pub unsafe fn create_mediated_qp(
        &self,
        rings: ForeignRings,
        hold: Hold,
    ) -> Result<MediatedQueuePair, Error> {
        MediatedQueuePair::new(Arc::clone(&self.0), rings, hold)
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

#[cfg(test)]
mod tests;
