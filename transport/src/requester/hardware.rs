//! Registers as the hardware's tables hold them.

use rust_hdl::prelude::*;
use stellar_wire::hw::messages::SendQueueConfig;
use stellar_wire::hw::requester::MrcRequesterConfig;

use super::{Backoff, MrcConfig, QpIdentity, SqRing};
use crate::rx::Psn;

impl MrcConfig {
    /// The requester's table row of the queue pair `qp`, which doorbell page `page` owns and whose first packet is `first`.
    pub fn to_hw(&self, qp: &QpIdentity, page: u32, first: Psn) -> MrcRequesterConfig {
        MrcRequesterConfig {
            valid: true,
            pd: u64::from(qp.pd).to_bits(),
            mtu_log2: u64::from(qp.mtu.ilog2()).to_bits(),
            mpr: u64::from(self.mpr).to_bits(),
            rto: u64::from(self.rto.0).to_bits(),
            exponential: self.backoff == Backoff::Exponential,
            retry_budget: u64::from(self.retry_budget).to_bits(),
            early_loss: u64::from(self.early_loss).to_bits(),
            coalesce_from: u64::from(self.coalesce_from).to_bits(),
            page: u64::from(page).to_bits(),
            first_psn: u64::from(first.value()).to_bits(),
        }
    }
}

impl SqRing {
    /// The send queue's table row of a queue pair with this path MTU and MAX_WIMM.
    pub fn to_hw(&self, mtu: u32, max_wimm: u16) -> SendQueueConfig {
        SendQueueConfig {
            base: self.base.to_bits(),
            log2_entries: u64::from(self.log2_entries).to_bits(),
            mtu_log2: u64::from(mtu.ilog2()).to_bits(),
            max_wimm: u64::from(max_wimm).to_bits(),
        }
    }
}
