//! What the bare card and a virtual device have in common for a measurement.

use std::time::Duration;

use anyhow::ensure;
use sim_nic::{CardPair, CLOCK_PS};

/// Longest time of a measurement on the cards' clock.
pub const PATIENCE: Duration = Duration::from_millis(50);

/// A queue pair that writes from the start of its memory to the start of its peer's.
pub trait Writer {
    /// The cards.
    fn pair(&self) -> &CardPair;

    /// Posts a write of this length.
    fn post(&mut self, bytes: u32) -> anyhow::Result<()>;

    /// Number of writes that have completed since the last call. Fails if one was no success.
    fn poll(&mut self) -> anyhow::Result<usize>;

    /// Compares every byte, after the longest write.
    fn compare(&self) -> anyhow::Result<()>;

    /// Fails if the measurement that began in this cycle takes too long.
    fn check_patience(&self, began: u64) -> anyhow::Result<()> {
        let taken = Duration::from_nanos((self.pair().clocks() - began) * CLOCK_PS / 1000);
        ensure!(
            taken < PATIENCE,
            "not all bytes have arrived within {PATIENCE:?} of the cards' time"
        );
        Ok(())
    }
}
