//! Single path, round robin and oblivious spraying: the order of the rotation, or the path in use, whatever happens to packets.

use super::PathPolicy;

#[derive(Clone, Copy, Debug)]
pub(super) struct InOrder;

impl PathPolicy for InOrder {
    fn copy(&self) -> Box<dyn PathPolicy> {
        Box::new(*self)
    }
}
