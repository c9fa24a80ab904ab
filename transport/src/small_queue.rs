//! Queues of which a cluster has millions.

use std::collections::VecDeque;

/// Makes room for one entry in a queue that never had one. The standard library would begin with four, and most queue pairs of a cluster never have a second
/// message under way.
pub(crate) fn begin_with_one<T>(queue: &mut VecDeque<T>) {
    if queue.capacity() == 0 {
        queue.reserve_exact(1);
    }
}
