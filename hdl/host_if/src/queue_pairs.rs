//! The number of queue pairs of a block.

/// A field that checks a block's parameter when the block is constructed: 2^`Q` queue pairs, at most 1,024.
pub struct QueuePairs<const Q: usize>;

impl<const Q: usize> Default for QueuePairs<Q> {
    /// # Panics
    /// If `Q` is not 1 to 10.
    fn default() -> Self {
        assert!(
            (1..=10).contains(&Q),
            "2^{Q} queue pairs: use Q of 1 to 10 (2 to 1,024 queue pairs)"
        );
        Self
    }
}
