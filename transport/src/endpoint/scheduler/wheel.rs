//! Tenants in the order of their tags.

use stellar_wire::rows::{wire_cost, BURST_BYTES, BURST_PACKETS, STEP_ONE, STEP_SHIFT};

/// Buckets of the wheel.
pub const BUCKETS: usize = 32;
/// log2 of the virtual time of a bucket: 1 KiB of weight 1.
const BUCKET_SHIFT: u32 = 18;
/// Virtual time in buckets is a number of this many bits.
const TURN_MASK: u32 = u32::MAX >> BUCKET_SHIFT;

// The longest burst of the lowest weight stays behind the present bucket.
const _: () = assert!(
    after(
        (1 << BUCKET_SHIFT) - 1,
        wire_cost(BURST_BYTES, BURST_PACKETS),
        STEP_ONE
    ) >> BUCKET_SHIFT
        < BUCKETS as u32
);

/// The tag of a tenant that has sent `cost` bytes.
pub const fn after(tag: u32, cost: u32, step: u16) -> u32 {
    tag.wrapping_add((cost * step as u32) >> STEP_SHIFT)
}

/// A list of tenants. It is short, as every card of a cluster has 64 of them.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    first: u16,
    last: u16,
}

/// Tenants by tag. As in hardware, the tenants of a bucket are a list, so nothing is allocated but one link for each tenant.
#[derive(Clone, Debug, Default)]
pub struct Wheel {
    buckets: [Bucket; BUCKETS],
    /// Bit b: bucket b has tenants.
    occupied: u32,
    /// The next tenant of the bucket, if a tenant is not its last one.
    links: Vec<u16>,
    /// Virtual time in buckets: that of the tenant that was taken last.
    now: u32,
}

impl Wheel {
    /// The tag of a tenant that comes back: its own if it is in debt, otherwise the present virtual time. A tag that is so old that it has wrapped may look like a debt.
    pub fn present(&self, tag: u32) -> u32 {
        let ahead = (tag >> BUCKET_SHIFT).wrapping_sub(self.now) & TURN_MASK;
        if ahead < BUCKETS as u32 {
            tag
        } else {
            self.now << BUCKET_SHIFT
        }
    }

    /// Makes room for the links of `tenants` tenants.
    ///
    /// # Panics
    /// If they are more than 2^16.
    pub fn reserve(&mut self, tenants: usize) {
        assert!(tenants <= 1 << 16, "a tenant's index has 16 bits");
        self.links.resize(tenants, 0);
    }

    /// Removes all tenants. The virtual time stays.
    pub fn clear(&mut self) {
        self.occupied = 0;
    }

    /// Adds a tenant, which has a link.
    pub fn add(&mut self, tag: u32, tenant: usize) {
        let number = (tag >> BUCKET_SHIFT) as usize % BUCKETS;
        let bucket = &mut self.buckets[number];
        let tenant = tenant as u16;
        if self.occupied >> number & 1 == 0 {
            bucket.first = tenant;
            self.occupied |= 1 << number;
        } else {
            self.links[usize::from(bucket.last)] = tenant;
        }
        bucket.last = tenant;
    }

    /// Takes the tenant that is next.
    pub fn next(&mut self) -> Option<usize> {
        let from = self.now % BUCKETS as u32;
        let ahead = self.occupied.rotate_right(from).trailing_zeros();
        if ahead == u32::BITS {
            return None;
        }
        self.now = (self.now + ahead) & TURN_MASK;
        let number = self.now as usize % BUCKETS;
        let bucket = &mut self.buckets[number];
        let tenant = bucket.first;
        if tenant == bucket.last {
            self.occupied &= !(1 << number);
        } else {
            bucket.first = self.links[usize::from(tenant)];
        }
        Some(tenant.into())
    }
}
