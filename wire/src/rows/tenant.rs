//! Shares of tenants in the ports.

#[cfg(feature = "hdl")]
use rust_hdl::prelude::*;

/// log2 of the tenants of a card. A tenant is a doorbell page ([`tenant_of`]).
pub const TENANT_BITS: usize = 12;

/// Bytes that a packet counts beside its payload, for headers, preamble and gap. Over MRC and IPv6 they are 122 ([`crate::frame`]); a power of two needs no
/// multiplier.
pub const PACKET_OVERHEAD: u32 = 128;

/// Virtual time of a byte of a tenant of weight 1 ([`TenantRow::step`]). Virtual time of a burst is its bytes times the step, divided by 2^[`STEP_SHIFT`].
pub const STEP_ONE: u16 = u16::MAX;
/// See [`STEP_ONE`].
pub const STEP_SHIFT: usize = 8;
/// log2 of the units of a rate in a byte per tick of 8 ns.
pub const RATE_BITS: usize = 10;
/// log2 of the bytes in a unit of a bucket: KiB.
pub const BUCKET_BITS: usize = 10;

row! {
    /// Share of a tenant in the ports, checked by software ([`crate::config::TenantShare`]).
    pub struct TenantRow => TenantEntry {
        /// Virtual time per byte: [`STEP_ONE`] divided by the weight, rounded.
        step: u16 => Bits<16>,
        /// Bytes per tick of 8 ns, in units of 1/1,024: a unit is 0.9765625 Mb/s. 0 is no limit.
        rate: u32 => Bits<20>,
        /// Bytes that the tenant may send at once after a pause, in KiB.
        bucket: u16 => Bits<10>,
    }
}

/// The tenant of a doorbell page. Pages from 4,095 on are one tenant: the driver gives them only while all below are taken.
pub const fn tenant_of(page: u32) -> u32 {
    const LAST: u32 = (1 << TENANT_BITS) - 1;
    if page < LAST {
        page
    } else {
        LAST
    }
}

/// Bytes that a burst of `packets` packets with `payload` bytes of payload counts.
#[inline]
pub const fn wire_cost(payload: u32, packets: u32) -> u32 {
    payload + PACKET_OVERHEAD * packets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_tenant_has_all_further_pages() {
        let tenants = [0, 4_094, 4_095, 4_096, 65_535].map(tenant_of);
        assert_eq!(tenants, [0, 4_094, 4_095, 4_095, 4_095]);
    }

    #[test]
    fn packets_count_beside_their_payload() {
        assert_eq!((wire_cost(0, 1), wire_cost(16_384, 4)), (128, 16_896));
    }
}
