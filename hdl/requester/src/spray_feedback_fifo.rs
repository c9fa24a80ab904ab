//! Queue of path feedback for the spray engine.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{Snk, SyncFifo};
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::SprayRequest;

use crate::bundles::CallSrc;

/// log2 of the depth. A burst of 32 packets occupies the spray engine for 41 cycles, and a SACK takes at least 14, so at most 3 entries are queued meanwhile.
const FIFO_BITS: usize = 2;

/// Keeps path feedback of acknowledgements in order, and issues it as soon as the spray engine is free. Levels: 2 behind the unit client.
#[derive(LogicBlock, Default)]
pub struct SprayFeedbackFifo {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // An entry is accepted when valid and ready are high.
    pub feedback: Snk<SprayRequest>,
    /// Feedback is queued. A flow that needs the spray engine waits for it.
    pub pending: Signal<Out, Bit>,

    // Spray engine.
    pub spray: CallSrc<SprayRequest>,

    fifo: SyncFifo<SprayRequest, FIFO_BITS, { FIFO_BITS + 1 }>,
}

impl Logic for SprayFeedbackFifo {
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, fifo);
        join!(self, feedback => fifo.in_);
        self.pending.next = self.fifo.out.valid.val();

        // issue
        let issues = self.fifo.out.valid.val() & !self.spray.busy.val();
        self.fifo.out.ready.next = issues;
        self.spray.start.next = issues;
        self.spray.request.next = self.fifo.out.data.val();
    }
}
