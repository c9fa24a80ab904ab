//! What a tenant gets of the ports.

use std::num::NonZeroU8;

use thiserror::Error;

use crate::rows::{TenantRow, BUCKET_BITS, BURST_BYTES, RATE_BITS, STEP_ONE};
use crate::time::Ticks;

/// Limit of a tenant's rate: a token bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Bits per second that its packets take on the wire, both ports together. A packet counts 128 bytes beside its payload
    /// ([`crate::rows::PACKET_OVERHEAD`]).
    pub bits_per_second: u64,
    /// Bytes that it may send at once after a pause.
    pub bucket: u32,
}

/// Share of a tenant in the ports of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TenantShare {
    /// Tenants that have something to send share each port in proportion to their weights, whatever their number of queue pairs.
    pub weight: NonZeroU8,
    /// `None`: the tenant may take what the others leave.
    pub limit: Option<RateLimit>,
}

/// Weight 1, no limit: the share of a tenant that software has not set.
impl Default for TenantShare {
    fn default() -> Self {
        Self {
            weight: NonZeroU8::MIN,
            limit: None,
        }
    }
}

/// A share that the card cannot give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TenantShareError {
    /// Rate.
    #[error("a rate limit of {0} bits per second; use {MIN_RATE} to {MAX_RATE}, or none")]
    Rate(u64),
    /// Bucket.
    #[error("a bucket of {0} bytes; use a multiple of 1024 from {MIN_BUCKET} to {MAX_BUCKET}")]
    Bucket(u32),
}

/// Nanoseconds of a second.
const SECOND: u128 = 1_000_000_000;
/// Units of a rate in the row ([`TenantRow::rate`]) that are a byte per nanosecond.
const UNITS: u128 = (Ticks::NANOSECONDS as u128) << RATE_BITS;
/// Lowest limit in bits per second: one unit of the row, rounded up.
pub const MIN_RATE: u64 = (8 * SECOND).div_ceil(UNITS) as u64;
/// Highest limit in bits per second.
pub const MAX_RATE: u64 = 1_000_000_000_000;
/// Least bytes of a bucket: with less, a burst would empty it before it is full.
pub const MIN_BUCKET: u32 = 2 * BURST_BYTES;
/// Most bytes of a bucket.
pub const MAX_BUCKET: u32 = 1023 << BUCKET_BITS;

impl RateLimit {
    /// Checks the limit.
    ///
    /// # Errors
    /// [`TenantShareError`], the first that is found.
    pub fn check(&self) -> Result<(), TenantShareError> {
        if !(MIN_RATE..=MAX_RATE).contains(&self.bits_per_second) {
            return Err(TenantShareError::Rate(self.bits_per_second));
        }
        let whole = self.bucket.is_multiple_of(1 << BUCKET_BITS);
        if !whole || !(MIN_BUCKET..=MAX_BUCKET).contains(&self.bucket) {
            return Err(TenantShareError::Bucket(self.bucket));
        }
        Ok(())
    }

    /// The rate in units of [`TenantRow::rate`], rounded down.
    fn units(&self) -> u32 {
        (u128::from(self.bits_per_second) * UNITS / (8 * SECOND)) as u32
    }
}

impl TenantShare {
    /// A share of this weight, without a limit.
    pub const fn of_weight(weight: NonZeroU8) -> Self {
        Self {
            weight,
            limit: None,
        }
    }

    /// Checks the share.
    ///
    /// # Errors
    /// [`TenantShareError`], the first that is found.
    pub fn check(&self) -> Result<(), TenantShareError> {
        self.limit.map_or(Ok(()), |limit| limit.check())
    }

    /// The row of a share that was checked.
    pub fn row(&self) -> TenantRow {
        let weight = u32::from(self.weight.get());
        TenantRow {
            step: ((2 * u32::from(STEP_ONE) + weight) / (2 * weight)) as u16,
            rate: self.limit.map_or(0, |limit| limit.units()),
            bucket: self
                .limit
                .map_or(0, |limit| (limit.bucket >> BUCKET_BITS) as u16),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limited(bits_per_second: u64, bucket: u32) -> TenantShare {
        let limit = RateLimit {
            bits_per_second,
            bucket,
        };
        TenantShare {
            limit: Some(limit),
            ..TenantShare::default()
        }
    }

    #[test]
    fn steps_are_in_inverse_proportion_to_weights() {
        for weight in 1..=u8::MAX {
            let share = TenantShare::of_weight(NonZeroU8::new(weight).unwrap());
            let back = f64::from(STEP_ONE) / f64::from(share.row().step);
            let error = (back / f64::from(weight) - 1.0).abs();
            assert!(error < 0.002, "weight {weight}: {back}");
        }
        assert_eq!(TenantShare::default().row().step, STEP_ONE);
    }

    #[test]
    fn a_limit_becomes_units_of_the_row() {
        let row = limited(1_000_000_000, 65_536).row();
        assert_eq!((row.rate, row.bucket), (1024, 64));
        assert_eq!(limited(MIN_RATE, MIN_BUCKET).row().rate, 1);
        let most = limited(MAX_RATE, MAX_BUCKET).row();
        assert_eq!((most.rate, most.bucket), (1_024_000, 1023));
        assert_eq!(TenantShare::default().row().rate, 0);
    }

    #[test]
    fn what_the_row_cannot_hold_is_refused() {
        let errors = [
            limited(MIN_RATE - 1, MIN_BUCKET),
            limited(MAX_RATE + 1, MIN_BUCKET),
            limited(MIN_RATE, MIN_BUCKET - 1024),
            limited(MIN_RATE, MIN_BUCKET + 1),
            limited(MIN_RATE, MAX_BUCKET + 1024),
        ];
        let errors = errors.map(|share| share.check().unwrap_err().to_string());
        assert_eq!(
            errors[0],
            "a rate limit of 976562 bits per second; use 976563 to 1000000000000, or none"
        );
        assert_eq!(
            errors[2],
            "a bucket of 31744 bytes; use a multiple of 1024 from 32768 to 1047552"
        );
        assert!(limited(MIN_RATE, MIN_BUCKET).check().is_ok());
        assert!(TenantShare::default().check().is_ok());
    }
}
