//! Rate limit of a tenant.

use stellar_wire::rows::{TenantRow, BUCKET_BITS, RATE_BITS};

use crate::time::Ticks;

/// Tokens in units of 1/1,024 byte; the sign is that of `level` - `EMPTY`.
const EMPTY: u32 = 1 << 31;

/// A token bucket. It fills at the rate of the limit, up to its size. A burst that was sent empties it, and may leave a debt. The tenant may send while there are tokens,
/// so it is ahead of its limit by one burst of each schedule at most, and over time it gets neither more nor less than its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    row: TenantRow,
    level: u32,
    /// Time at which `level` was right.
    at: Ticks,
}

impl TokenBucket {
    /// A full bucket. A rate of 0 is no limit.
    pub const fn new(row: TenantRow, now: Ticks) -> Self {
        Self {
            row,
            level: Self::full(&row),
            at: now,
        }
    }

    /// Level of a full bucket.
    const fn full(row: &TenantRow) -> u32 {
        EMPTY + ((row.bucket as u32) << (BUCKET_BITS + RATE_BITS))
    }

    /// Whether the tenant has a limit.
    pub const fn is_limited(&self) -> bool {
        self.row.rate != 0
    }

    /// Level at a time.
    fn filled(&self, now: Ticks) -> u32 {
        let gained = u64::from(now.since(self.at).0) * u64::from(self.row.rate);
        let gained = gained.min(u64::from(EMPTY - 1)) as u32;
        let level = u64::from(self.level) + u64::from(gained);
        level.min(Self::full(&self.row).into()) as u32
    }

    /// Pays for `cost` bytes. Returns whether the tenant may send more.
    pub fn pay(&mut self, cost: u32, now: Ticks) -> bool {
        self.level = self.filled(now).saturating_sub(cost << RATE_BITS);
        self.at = now;
        !self.is_limited() || self.level > EMPTY
    }

    /// The time at which there are tokens again, if nothing else is paid.
    pub fn ready_at(&self) -> Ticks {
        let missing = (EMPTY + 1).saturating_sub(self.level);
        self.at.plus(Ticks(missing.div_ceil(self.row.rate.max(1))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 Gb/s: a byte per tick.
    fn bucket() -> TokenBucket {
        let row = TenantRow {
            step: 1,
            rate: 1 << RATE_BITS,
            bucket: 4,
        };
        TokenBucket::new(row, Ticks(100))
    }

    #[test]
    fn a_full_bucket_is_sent_at_once_and_a_debt_takes_its_time() {
        let mut bucket = bucket();
        assert!(bucket.pay(4_095, Ticks(100)));
        assert!(!bucket.pay(1_000, Ticks(100)));
        assert!(!bucket.pay(0, Ticks(1_099)));
        assert_eq!(bucket.ready_at(), Ticks(1_100));
        assert!(bucket.pay(0, Ticks(1_100)));
    }

    #[test]
    fn nothing_is_saved_beyond_the_bucket_or_lost_between_two_questions() {
        let mut idle = bucket();
        assert!(!idle.pay(4_096, Ticks(1 << 30)));
        let mut asked = bucket();
        asked.pay(4_096 + 50, Ticks(100));
        let ready = (101..).find(|&now| asked.pay(0, Ticks(now))).unwrap();
        assert_eq!(ready, 151);
    }

    #[test]
    fn without_a_rate_there_is_no_limit() {
        let mut bucket = TokenBucket::new(TenantRow::default(), Ticks(0));
        assert!((0..1_000).all(|_| bucket.pay(30_000, Ticks(0))));
    }

    #[test]
    fn the_slowest_rate_pays_a_burst_in_the_end() {
        let row = TenantRow {
            step: 1,
            rate: 1,
            bucket: 32,
        };
        let mut bucket = TokenBucket::new(row, Ticks(0));
        assert!(!bucket.pay(32 * 1024 + 20_480, Ticks(0)));
        let ready = bucket.ready_at();
        assert!(!bucket.pay(0, Ticks(ready.0 - 1)));
        assert!(bucket.pay(0, ready));
    }
}
