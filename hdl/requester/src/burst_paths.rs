//! The paths of the packets of a burst.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{DataSrc, FlowSnk, SyncFifo};
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::SprayResponse;

/// log2 of the depth of the FIFO: the paths of a burst, and of the next one.
const PATHS_BITS: usize = 6;

/// Keeps the paths that the spray engine returns until their packets leave, and counts those that are still to come.
#[derive(LogicBlock, Default)]
pub struct BurstPaths {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// Number of paths that are requested in this cycle.
    pub expects: Signal<In, Bits<6>>,
    /// Responses of the spray engine. One without a path ends what is expected.
    pub path: FlowSnk<SprayResponse>,
    /// The path of the next packet.
    pub out: DataSrc<SprayResponse>,
    /// The spray engine still has to return paths; if none are requested in this cycle, it has to in the next one.
    pub pending: Signal<Out, Bit>,
    pub follow: Signal<Out, Bit>,

    paths: SyncFifo<SprayResponse, PATHS_BITS, { PATHS_BITS + 1 }>,
    /// Number of responses outstanding.
    due: DFF<Bits<7>>,
    /// It is not 0. A register of its own, because what waits for the spray engine is at the end of long paths.
    awaited: DFF<Bit>,
}

impl Logic for BurstPaths {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, due, awaited);
        clock_reset!(self, paths);
        let path = self.path.record.val();
        let due = self.due.q.val();
        let arrives = self.path.valid.val() & self.awaited.q.val();
        let expected = due + bit_cast::<7, 6>(self.expects.val());
        let more = self.expects.val().any();
        self.paths.in_.valid.next = arrives & path.found;
        self.paths.in_.data.next = path;
        join!(self, paths.out => out);
        self.due.d.next = if arrives & !path.found {
            bits::<7>(0)
        } else if arrives {
            expected - 1
        } else {
            expected
        };
        self.awaited.d.next = if arrives & !path.found {
            false
        } else if arrives {
            (due != 1) | more
        } else {
            due.any() | more
        };
        let is_last = arrives & (!path.found | (due == 1));
        self.pending.next = self.awaited.q.val();
        self.follow.next = self.awaited.q.val() & !is_last;
        if self.reset.val() {
            self.due.d.next = bits::<7>(0);
            self.awaited.d.next = false;
        }
    }
}
