//! Queues that first have room for one entry. The standard library begins with four, and most queue pairs of a cluster, of which there may be millions, never
//! have a second message under way.

use std::collections::VecDeque;

/// A queue whose first allocation can be that of one entry.
pub(crate) trait OneFirst {
    /// Makes room for one entry, if there is none at all.
    fn one_first(&mut self);
}

impl<T> OneFirst for VecDeque<T> {
    fn one_first(&mut self) {
        if self.capacity() == 0 {
            self.reserve_exact(1);
        }
    }
}
