//! Shares of tenants in the ports, and what their schedules ask of their limits.

use rust_hdl::prelude::*;

pub use crate::rows::tenant::TenantEntry;
use crate::rows::{tenant_of, wire_cost, BURST_BYTES, BURST_PACKETS, TENANT_BITS};

/// Bits of the cost of a burst in bytes.
pub const COST_BITS: usize = 15;

const _: () = assert!(wire_cost(BURST_BYTES, BURST_PACKETS) < 1 << COST_BITS);
const _: () = assert!(tenant_of(u32::MAX) + 1 == 1 << TENANT_BITS);

/// What a tenant has sent, for its limit.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TenantCharge {
    pub tenant: Bits<TENANT_BITS>,
    /// Bytes; 0 asks only whether the tenant may send.
    pub cost: Bits<COST_BITS>,
}
