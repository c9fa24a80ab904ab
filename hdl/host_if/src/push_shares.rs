//! The number of doorbell pages with space for a pushed entry.

/// A field that checks a block's parameter when the block is constructed: 2^`P` pages, at most half of the pages that a write names.
pub struct PushShares<const P: usize>;

impl<const P: usize> Default for PushShares<P> {
    /// # Panics
    /// If `P` is not 1 to 15.
    fn default() -> Self {
        assert!(
            (1..=15).contains(&P),
            "2^{P} pages that push: use P of 1 to 15 (2 to 32,768 pages)"
        );
        Self
    }
}
