//! Software's control of a queue pair's paths.

use stellar_wire::rows::PathUseRow;

use super::{Endpoint, Memory};
use crate::requester::Requester;

impl<M: Memory> Endpoint<M> {
    /// Denies an MRC queue pair a path, or allows it again, as the row of the card's table does. Data packets and probes whose path was chosen before still leave
    /// on it; answers to the peer take the paths that were good of late. Returns whether there is such a queue pair.
    pub fn use_path(&mut self, qp: u32, change: PathUseRow) -> bool {
        let found = self.qps.get_mut(qp).map(|qp| &mut qp.requester);
        let Some(Requester::Mrc(mrc)) = found else {
            return false;
        };
        mrc.use_path(change);
        // The other port may have work now: new packets, or those that were lost on this plane.
        self.wake(qp);
        true
    }
}
