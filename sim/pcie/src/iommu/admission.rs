//! What the IOMMU decides about a request.

use super::{Access, Attachment, Fault, FaultReason, Iommu};
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
}
