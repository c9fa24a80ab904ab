//! Registers as the hardware's tables hold them.

use rust_hdl::prelude::*;
use stellar_wire::hw::messages::SendQueueConfig;
use stellar_wire::hw::requester::RequesterConfig;

use super::{Backoff, MrcConfig, QpIdentity, RcConfig, SqRing, MAX_UNDER_WAY};
use crate::rx::Psn;

impl MrcConfig {
    /// The requester's table row of the queue pair `qp`, which doorbell page `page` owns and whose first packet is `first`.
    pub fn to_hw(&self, qp: &QpIdentity, page: u32, first: Psn) -> RequesterConfig {
        RequesterConfig {
            mpr: u64::from(self.mpr).to_bits(),
            rto: u64::from(self.rto.0).to_bits(),
            exponential: self.backoff == Backoff::Exponential,
            retry_budget: u64::from(self.retry_budget).to_bits(),
            early_loss: u64::from(self.early_loss).to_bits(),
            coalesce_from: u64::from(self.coalesce_from).to_bits(),
            ..common(qp, page, first)
        }
    }
}

impl RcConfig {
    /// As [`MrcConfig::to_hw`].
    pub fn to_hw(&self, qp: &QpIdentity, page: u32, first: Psn) -> RequesterConfig {
        RequesterConfig {
            rc: true,
            mpr: u64::from(self.window).to_bits(),
            rto: u64::from(self.rto.0).to_bits(),
            retry_budget: u64::from(self.retry_count).to_bits(),
            ack_every: u64::from(self.ack_every).to_bits(),
            udp_sport: u64::from(self.udp_sport).to_bits(),
            plane: self.plane == 1,
            ..common(qp, page, first)
        }
    }
}

fn common(qp: &QpIdentity, page: u32, first: Psn) -> RequesterConfig {
    RequesterConfig {
        valid: true,
        pd: u64::from(qp.pd).to_bits(),
        mtu_log2: u64::from(qp.mtu.ilog2()).to_bits(),
        page: u64::from(page).to_bits(),
        first_psn: u64::from(first.value()).to_bits(),
        ..RequesterConfig::default()
    }
}

impl SqRing {
    /// The send queue's table row of a queue pair with this path MTU and MAX_WIMM, any number of which above what may be under way is none.
    pub fn to_hw(&self, mtu: u32, max_wimm: u16) -> SendQueueConfig {
        let max_wimm = u64::from(max_wimm).min(MAX_UNDER_WAY as u64);
        SendQueueConfig {
            base: self.base.to_bits(),
            log2_entries: u64::from(self.log2_entries).to_bits(),
            mtu_log2: u64::from(mtu.ilog2()).to_bits(),
            max_wimm: max_wimm.to_bits(),
        }
    }
}
