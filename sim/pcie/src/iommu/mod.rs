//! IOMMU: per-function domains, page tables, IOTLB, ATS permission and fault reports.

mod admission;
mod fault;
mod mapping;
mod page_table;

use std::collections::BTreeMap;

pub use fault::{Fault, FaultReason};
pub use mapping::{MapError, PageSize, Permission, IOVA_BITS};

use crate::bdf::Bdf;
use crate::config::IommuConfig;
use crate::translation_cache::{Index, TranslationCache};
use crate::Picoseconds;
use fault::FaultQueue;
pub(crate) use page_table::Leaf;
use page_table::PageTable;

/// A protection domain: one page table that any number of functions may share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DomainId(pub(crate) usize);

/// A kind of access by a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Memory read.
    Read,
    /// Memory write.
    Write,
}

/// Treatment of a function's untranslated requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attachment {
    None,
    Bypass,
    Domain(DomainId),
}

struct Context {
    attachment: Attachment,
    ats: bool,
}

/// Entries to remove from the IOTLB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalidation {
    /// Everything.
    All,
    /// One domain.
    Domain(DomainId),
    /// Every cached page of a domain that overlaps `len` bytes at `iova`.
    Range {
        /// The domain.
        domain: DomainId,
        /// First IO virtual address.
        iova: u64,
        /// Length in bytes.
        len: u64,
    },
}

/// IOTLB and fault counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IommuCounters {
    /// Translations found in the IOTLB.
    pub iotlb_hits: u64,
    /// Translations that needed a page walk, those that ended in a fault included.
    pub iotlb_misses: u64,
    /// Translation requests (AT = 01) answered, those without a page included.
    pub translation_requests: u64,
    /// Faults raised.
    pub faults: u64,
    /// Faults that found the fault queue full and were only counted.
    pub faults_lost: u64,
}

/// The IOMMU of the root complex.
///
/// Unmapping a page leaves it in the IOTLB until [`invalidate`](Self::invalidate), as in hardware: so this model shows the error of a driver that
/// forgets the invalidation.
pub struct Iommu {
    config: IommuConfig,
    domains: Vec<PageTable>,
    contexts: BTreeMap<Bdf, Context>,
    iotlb: TranslationCache<DomainId>,
    walkers_free_at: Vec<Picoseconds>,
    faults: FaultQueue,
    hits: u64,
    misses: u64,
    translation_requests: u64,
}

impl Iommu {
    pub(crate) fn new(config: IommuConfig) -> Self {
        Self {
            domains: Vec::new(),
            contexts: BTreeMap::new(),
            iotlb: TranslationCache::new(config.iotlb_sets, config.iotlb_ways, Index::LowBits),
            walkers_free_at: vec![0; config.walkers],
            faults: FaultQueue::new(config.fault_queue),
            hits: 0,
            misses: 0,
            translation_requests: 0,
            config,
        }
    }

    /// A new domain with nothing mapped.
    pub fn create_domain(&mut self) -> DomainId {
        self.domains.push(PageTable::new());
        DomainId(self.domains.len() - 1)
    }

    /// Puts a function's untranslated requests into `domain`.
    pub fn attach(&mut self, function: Bdf, domain: DomainId) -> Result<(), MapError> {
        self.table(domain)?;
        self.context(function).attachment = Attachment::Domain(domain);
        Ok(())
    }

    /// Lets a function's untranslated requests pass with their address unchanged.
    pub fn attach_bypass(&mut self, function: Bdf) {
        self.context(function).attachment = Attachment::Bypass;
    }

    /// Takes a function out of its domain; its untranslated requests fault from now on.
    pub fn detach(&mut self, function: Bdf) {
        self.context(function).attachment = Attachment::None;
    }

    /// Allows or forbids a function's requests for translations (AT = 01) and translated requests (AT = 10).
    pub fn set_ats(&mut self, function: Bdf, allowed: bool) {
        self.context(function).ats = allowed;
    }

    /// Whether a function may ask for translations and send translated requests.
    pub fn has_ats(&self, function: Bdf) -> bool {
        self.contexts.get(&function).is_some_and(|c| c.ats)
    }

    /// Maps one page of `size` at `iova` to `address`, both multiples of the size.
    pub fn map(
        &mut self,
        domain: DomainId,
        iova: u64,
        address: u64,
        size: PageSize,
        permission: Permission,
    ) -> Result<(), MapError> {
        self.table(domain)?.map(iova, address, size, permission)
    }

    /// Maps `len` bytes, a multiple of 4 KiB, with the largest pages that alignment and length allow. On an error the pages before the wrong one stay
    /// mapped.
    pub fn map_range(
        &mut self,
        domain: DomainId,
        iova: u64,
        address: u64,
        len: u64,
        permission: Permission,
    ) -> Result<(), MapError> {
        let largest = PageSize::Size1GiB;
        self.map_range_in(domain, iova, address, len, permission, largest)
    }

    /// Does what [`Self::map_range`] does, with pages of at most `largest`.
    pub fn map_range_in(
        &mut self,
        domain: DomainId,
        iova: u64,
        address: u64,
        len: u64,
        permission: Permission,
        largest: PageSize,
    ) -> Result<(), MapError> {
        let small = PageSize::Size4KiB;
        if !len.is_multiple_of(small.bytes()) {
            return Err(MapError::Misaligned {
                address: len,
                page: small.bytes(),
            });
        }
        let mut done = 0;
        while done < len {
            let fits = |size: &PageSize| {
                *size <= largest
                    && (iova + done).is_multiple_of(size.bytes())
                    && (address + done).is_multiple_of(size.bytes())
                    && len - done >= size.bytes()
            };
            let size = PageSize::ALL.into_iter().find(fits).unwrap_or(small);
            self.map(domain, iova + done, address + done, size, permission)?;
            done += size.bytes();
        }
        Ok(())
    }

    /// Removes one page, with the size it was mapped with. Cached copies stay until invalidated.
    pub fn unmap(&mut self, domain: DomainId, iova: u64, size: PageSize) -> Result<(), MapError> {
        self.table(domain)?.unmap(iova, size)
    }

    /// Removes every page of `len` bytes at `iova`, whatever its size. Cached copies stay until invalidated. On an error the pages before the hole are
    /// removed.
    pub fn unmap_range(&mut self, domain: DomainId, iova: u64, len: u64) -> Result<(), MapError> {
        let table = self.table(domain)?;
        let mut at = iova;
        while at - iova < len {
            let leaf = table.walk(at).ok_or(MapError::NotMapped(at))?;
            table.unmap(at, leaf.size)?;
            at += leaf.size.bytes();
        }
        Ok(())
    }

    /// Removes cached translations. Requests that were translated before are in flight and still complete.
    pub fn invalidate(&mut self, what: Invalidation) {
        self.iotlb.invalidate(|domain, base, size| match what {
            Invalidation::All => true,
            Invalidation::Domain(stale) => domain == stale,
            Invalidation::Range {
                domain: stale,
                iova,
                len,
            } => domain == stale && base < iova.saturating_add(len) && iova < base + size,
        });
    }

    /// Returns the waiting fault reports, oldest first, and removes them from the queue.
    pub fn take_faults(&mut self) -> Vec<Fault> {
        self.faults.take()
    }

    /// Counters since construction.
    pub fn counters(&self) -> IommuCounters {
        IommuCounters {
            iotlb_hits: self.hits,
            iotlb_misses: self.misses,
            translation_requests: self.translation_requests,
            faults: self.faults.raised(),
            faults_lost: self.faults.lost(),
        }
    }

    fn context(&mut self, function: Bdf) -> &mut Context {
        self.contexts.entry(function).or_insert(Context {
            attachment: Attachment::None,
            ats: false,
        })
    }

    fn table(&mut self, domain: DomainId) -> Result<&mut PageTable, MapError> {
        self.domains
            .get_mut(domain.0)
            .ok_or(MapError::UnknownDomain(domain.0))
    }
}

#[cfg(test)]
mod tests;
