//! Registers as the hardware's table holds them.

use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::NsccConfig;

use super::NsccRegisters;

impl NsccRegisters {
    /// The table row.
    pub fn to_hw(&self) -> NsccConfig {
        NsccConfig {
            base_rtt: u64::from(self.base_rtt).to_bits(),
            target: u64::from(self.target).to_bits(),
            qa_threshold: u64::from(self.qa_threshold).to_bits(),
            qa_gate: u64::from(self.qa_gate).to_bits(),
            min_cwnd: u64::from(self.min_cwnd).to_bits(),
            max_cwnd: u64::from(self.max_cwnd).to_bits(),
            alpha: u64::from(self.alpha).to_bits(),
            fi: u64::from(self.fi).to_bits(),
            eta: u64::from(self.eta).to_bits(),
            fi_scale: u64::from(self.fi_scale).to_bits(),
            adjust_bytes: u64::from(self.adjust_bytes).to_bits(),
        }
    }
}
