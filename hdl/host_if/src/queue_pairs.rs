//! The number of queue pairs of a block.

use stellar_wire::hw::QPN_BITS;

/// A field that checks a block's parameter when the block is constructed: 2^`Q` queue pairs, at most 65,536.
pub struct QueuePairs<const Q: usize>;

impl<const Q: usize> Default for QueuePairs<Q> {
    /// # Panics
    /// If `Q` is not 1 to [`QPN_BITS`].
    fn default() -> Self {
        assert!(
            (1..=QPN_BITS).contains(&Q),
            "2^{Q} queue pairs: use Q of 1 to {QPN_BITS} (2 to 65,536 queue pairs)"
        );
        Self
    }
}
