//! Fault reports and the bounded queue that holds them.

use std::collections::VecDeque;

use thiserror::Error;

use super::Access;
use crate::bdf::Bdf;
use crate::Picoseconds;
use stellar_wire::pcie::AddressType;

/// Why the IOMMU refused a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
pub enum FaultReason {
    /// The function is in no domain.
    #[error("function is attached to no domain")]
    NoDomain,
    /// Nothing is mapped at the address.
    #[error("address is not mapped")]
    NotPresent,
    /// The page does not permit reads.
    #[error("page does not permit reads")]
    ReadNotPermitted,
    /// The page does not permit writes.
    #[error("page does not permit writes")]
    WriteNotPermitted,
    /// AT = 10 from a function for which ATS is not enabled.
    #[error("translated request from a function without ATS")]
    TranslatedNotAllowed,
    /// AT = 01 from a function for which ATS is not enabled, or a request that is no read of one entry.
    #[error("translation request from a function without ATS, or not of one entry")]
    TranslationRequest,
    /// AT = 11.
    #[error("reserved address type")]
    ReservedAddressType,
}

/// One fault report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// When the request reached the root complex.
    pub time: Picoseconds,
    /// The requester.
    pub function: Bdf,
    /// The address in the request.
    pub address: u64,
    /// The request's AT field.
    pub at: AddressType,
    /// Read or write.
    pub access: Access,
    /// Why it was refused.
    pub reason: FaultReason,
}

/// First in, first out; a fault that finds the queue full is counted and lost, as in hardware.
pub(crate) struct FaultQueue {
    waiting: VecDeque<Fault>,
    capacity: usize,
    raised: u64,
    lost: u64,
}

impl FaultQueue {
    pub fn new(capacity: usize) -> Self {
        Self {
            waiting: VecDeque::new(),
            capacity,
            raised: 0,
            lost: 0,
        }
    }

    pub fn raise(&mut self, fault: Fault) {
        self.raised += 1;
        if self.waiting.len() < self.capacity {
            self.waiting.push_back(fault);
        } else {
            self.lost += 1;
        }
    }

    pub fn take(&mut self) -> Vec<Fault> {
        self.waiting.drain(..).collect()
    }

    pub fn raised(&self) -> u64 {
        self.raised
    }

    pub fn lost(&self) -> u64 {
        self.lost
    }
}
