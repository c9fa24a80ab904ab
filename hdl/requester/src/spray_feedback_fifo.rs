//! Queue of path feedback for the spray engine.

use hdl_macros::hdl;
use hdl_primitives::SyncFifo;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::SprayRequest;

/// log2 of the depth. A burst of 32 packets occupies the spray engine for 41 cycles, and a SACK takes at least 14, so at most 3 entries are queued meanwhile.
const FIFO_BITS: usize = 2;

/// Keeps path feedback of SACKs in order, and issues it as soon as the spray engine is free. Levels: 2 behind the unit client.
#[derive(LogicBlock, Default)]
pub struct SprayFeedbackFifo {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // An entry is accepted when valid and ready are high.
    pub in_valid: Signal<In, Bit>,
    pub in_feedback: Signal<In, SprayRequest>,
    pub in_ready: Signal<Out, Bit>,
    /// Feedback is queued. A flow that needs the spray engine waits for it.
    pub pending: Signal<Out, Bit>,

    // Spray engine.
    pub spray_start: Signal<Out, Bit>,
    pub spray_request: Signal<Out, SprayRequest>,
    pub spray_busy: Signal<In, Bit>,

    fifo: SyncFifo<SprayRequest, FIFO_BITS, { FIFO_BITS + 1 }>,
}

impl Logic for SprayFeedbackFifo {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, fifo);
        self.fifo.reset.next = self.reset.val();
        self.fifo.in_valid.next = self.in_valid.val();
        self.fifo.in_data.next = self.in_feedback.val();
        self.in_ready.next = self.fifo.in_ready.val();
        self.pending.next = self.fifo.out_valid.val();

        // issue
        let issues = self.fifo.out_valid.val() & !self.spray_busy.val();
        self.fifo.out_ready.next = issues;
        self.spray_start.next = issues;
        self.spray_request.next = self.fifo.out_data.val();
    }
}
