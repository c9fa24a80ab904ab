//! IOMMU: per-function domains, page tables, IOTLB, ATS permission and fault reports.

mod fault;
mod iotlb;
mod mapping;
mod page_table;

use std::collections::BTreeMap;

pub use fault::{Fault, FaultReason};
pub use mapping::{MapError, PageSize, Permission, IOVA_BITS};

use crate::bdf::Bdf;
use crate::config::{IommuConfig, IommuMode};
use crate::Picoseconds;
use fault::FaultQueue;
use iotlb::Iotlb;
use page_table::PageTable;
use stellar_wire::pcie::AddressType;

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
    /// Faults raised.
    pub faults: u64,
    /// Faults that found the fault queue full and were only counted.
    pub faults_lost: u64,
}

/// Result of a translation: the host physical address and the time at which it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Translation {
    pub address: u64,
    pub known_at: Picoseconds,
}

/// The IOMMU of the root complex.
///
/// Unmapping a page leaves it in the IOTLB until [`invalidate`](Self::invalidate), as in hardware: so this model shows the error of a driver that
/// forgets the invalidation.
pub struct Iommu {
    config: IommuConfig,
    domains: Vec<PageTable>,
    contexts: BTreeMap<Bdf, Context>,
    iotlb: Iotlb,
    walkers_free_at: Vec<Picoseconds>,
    faults: FaultQueue,
    hits: u64,
    misses: u64,
}

impl Iommu {
    pub(crate) fn new(config: IommuConfig) -> Self {
        Self {
            domains: Vec::new(),
            contexts: BTreeMap::new(),
            iotlb: Iotlb::new(config.iotlb_sets, config.iotlb_ways),
            walkers_free_at: vec![0; config.walkers],
            faults: FaultQueue::new(config.fault_queue),
            hits: 0,
            misses: 0,
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

    /// Allows or forbids translated requests (AT = 10) of a function.
    pub fn set_ats(&mut self, function: Bdf, allowed: bool) {
        self.context(function).ats = allowed;
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
                (iova + done).is_multiple_of(size.bytes())
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
            faults: self.faults.raised(),
            faults_lost: self.faults.lost(),
        }
    }

    /// Decides about a request that reached the root complex at `now`.
    pub(crate) fn admit(
        &mut self,
        now: Picoseconds,
        function: Bdf,
        address: u64,
        at: AddressType,
        access: Access,
    ) -> Result<Translation, FaultReason> {
        let admitted = match at {
            AddressType::Untranslated => self.translate(now, function, address, access),
            AddressType::Translated => {
                if self.contexts.get(&function).is_some_and(|c| c.ats) {
                    Ok(Translation {
                        address,
                        known_at: now,
                    })
                } else {
                    Err(FaultReason::TranslatedNotAllowed)
                }
            }
            AddressType::TranslationRequest => Err(FaultReason::TranslationRequest),
            AddressType::Reserved => Err(FaultReason::ReservedAddressType),
        };
        admitted.inspect_err(|&reason| {
            self.faults.raise(Fault {
                time: now,
                function,
                address,
                at,
                access,
                reason,
            });
        })
    }

    fn translate(
        &mut self,
        now: Picoseconds,
        function: Bdf,
        address: u64,
        access: Access,
    ) -> Result<Translation, FaultReason> {
        let unchanged = Translation {
            address,
            known_at: now,
        };
        let attachment = self.contexts.get(&function).map(|c| c.attachment);
        let domain = match (self.config.mode, attachment) {
            (IommuMode::Bypass, _) | (_, Some(Attachment::Bypass)) => return Ok(unchanged),
            (IommuMode::Translate, Some(Attachment::Domain(domain))) => domain,
            (IommuMode::Translate, _) => return Err(FaultReason::NoDomain),
        };
        let (leaf, known_at) = match self.iotlb.lookup(domain, address) {
            Some(leaf) => {
                self.hits += 1;
                (leaf, now)
            }
            None => {
                self.misses += 1;
                let known_at = self.walk_from(now);
                let leaf = self.domains[domain.0].walk(address);
                let leaf = leaf.ok_or(FaultReason::NotPresent)?;
                self.iotlb.insert(domain, address, leaf);
                (leaf, known_at)
            }
        };
        match access {
            Access::Read if !leaf.permission.read => Err(FaultReason::ReadNotPermitted),
            Access::Write if !leaf.permission.write => Err(FaultReason::WriteNotPermitted),
            _ => Ok(Translation {
                address: leaf.frame | address & (leaf.size.bytes() - 1),
                known_at,
            }),
        }
    }

    /// Occupies the page walker that is free first; returns when the walk ends.
    fn walk_from(&mut self, now: Picoseconds) -> Picoseconds {
        let latency = self.config.walk_latency_ps;
        match self.walkers_free_at.iter_mut().min() {
            Some(free_at) => {
                *free_at = now.max(*free_at) + latency;
                *free_at
            }
            None => now + latency,
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
