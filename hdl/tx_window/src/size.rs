//! Sizes of a transmit window.

/// Checks the parameters of `TxWindow` when the block is constructed.
pub struct WindowSize<const Q: usize, const S: usize>;

impl<const Q: usize, const S: usize> Default for WindowSize<Q, S> {
    fn default() -> Self {
        assert!(
            (1..=10).contains(&Q) && S == Q + 8,
            "TxWindow<{Q}, {S}>: use Q = 1 (2 queue pairs) to 10 (1,024) and S = Q + 8"
        );
        Self
    }
}
