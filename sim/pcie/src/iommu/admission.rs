//! What the IOMMU decides about a request.

use super::{Access, Attachment, Fault, FaultReason, Iommu, Leaf};
use crate::ats::TranslationEntry;
use crate::bdf::Bdf;
use crate::config::IommuMode;
use crate::Picoseconds;
use stellar_wire::pcie::AddressType;

/// Result of a translation: the host physical address and the time at which it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Translation {
    pub address: u64,
    pub known_at: Picoseconds,
}

impl Iommu {
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
                if self.has_ats(function) {
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
        admitted.map_err(|reason| self.fault(now, function, address, at, access, reason))
    }

    /// Raises a fault; returns its reason.
    pub(crate) fn fault(
        &mut self,
        time: Picoseconds,
        function: Bdf,
        address: u64,
        at: AddressType,
        access: Access,
        reason: FaultReason,
    ) -> FaultReason {
        self.faults.raise(Fault {
            time,
            function,
            address,
            at,
            access,
            reason,
        });
        reason
    }

    fn translate(
        &mut self,
        now: Picoseconds,
        function: Bdf,
        address: u64,
        access: Access,
    ) -> Result<Translation, FaultReason> {
        let (found, known_at) = self.find(now, function, address)?;
        let leaf = found.ok_or(FaultReason::NotPresent)?;
        match access {
            Access::Read if !leaf.permission.read => Err(FaultReason::ReadNotPermitted),
            Access::Write if !leaf.permission.write => Err(FaultReason::WriteNotPermitted),
            _ => Ok(Translation {
                address: leaf.translate(address),
                known_at,
            }),
        }
    }

    /// The answer to a translation request (AT = 01) that reached the root complex at `now`, and the time at which it is known. A page that is not
    /// mapped is an answer, and no fault: its entry permits nothing (PCIe base specification, section 10.2.3).
    pub(crate) fn answer_translation_request(
        &mut self,
        now: Picoseconds,
        function: Bdf,
        address: u64,
    ) -> Result<(TranslationEntry, Picoseconds), FaultReason> {
        let allowed = self.has_ats(function);
        let found = if allowed {
            self.find(now, function, address)
        } else {
            Err(FaultReason::TranslationRequest)
        };
        let (leaf, known_at) = found.map_err(|reason| {
            let at = AddressType::TranslationRequest;
            self.fault(now, function, address, at, Access::Read, reason)
        })?;
        self.translation_requests += 1;
        let entry = leaf.map_or(TranslationEntry::NOTHING, TranslationEntry::of_leaf);
        Ok((entry, known_at))
    }

    /// The page that holds an address of a function, and the time at which it is known.
    fn find(
        &mut self,
        now: Picoseconds,
        function: Bdf,
        address: u64,
    ) -> Result<(Option<Leaf>, Picoseconds), FaultReason> {
        let attachment = self.contexts.get(&function).map(|c| c.attachment);
        let domain = match (self.config.mode, attachment) {
            (IommuMode::Bypass, _) | (_, Some(Attachment::Bypass)) => {
                return Ok((Some(Leaf::unchanged(address)), now));
            }
            (IommuMode::Translate, Some(Attachment::Domain(domain))) => domain,
            (IommuMode::Translate, _) => return Err(FaultReason::NoDomain),
        };
        if let Some(leaf) = self.iotlb.lookup(domain, address) {
            self.hits += 1;
            return Ok((Some(leaf), now));
        }
        self.misses += 1;
        let known_at = self.walk_from(now);
        let leaf = self.domains[domain.0].walk(address);
        if let Some(leaf) = leaf {
            self.iotlb.insert(domain, address, leaf);
        }
        Ok((leaf, known_at))
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
}
