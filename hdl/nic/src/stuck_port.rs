//! Finds a port that does not send while a fence waits.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

/// Says that a port is to drop its frames, because its MAC takes nothing and a fence waits for what is before it.
///
/// A fence waits until every packet of its epoch is read or dropped ([`FenceControl`](crate::fence_control::FenceControl)), and a port that is paused for
/// ever reads and drops nothing. So a fence is done at most `timeout` after the MAC has taken its last beat, and the time in which the frames are dropped.
/// Their packets count as lost. Without a fence nothing is dropped: a pause that ends costs time only. LUT levels: 2 and a carry chain.
#[derive(LogicBlock, Default)]
pub struct StuckPort {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Cycles without a beat after which the port is stuck; 0 switches it off.
    pub timeout: Signal<In, Bits<31>>,
    /// A fence waits for what began before it.
    pub fence_waits: Signal<In, Bit>,

    // At the MAC.
    pub offers: Signal<In, Bit>,
    pub takes: Signal<In, Bit>,

    /// The port drops its frames.
    pub drops: Signal<Out, Bit>,

    /// Cycles for which the beat on offer waits, at most the timeout.
    waited: DFF<Bits<31>>,
    stuck: DFF<Bit>,
    dropping: DFF<Bit>,
}

impl Logic for StuckPort {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, waited, stuck, dropping);
        let waits = self.offers.val() & !self.takes.val();
        let waited = self.waited.q.val();
        let timeout = self.timeout.val();
        let is_over = waited >= timeout;
        self.waited.d.next = if !waits {
            bits::<31>(0)
        } else if is_over {
            waited
        } else {
            waited + 1
        };
        self.stuck.d.next = waits & is_over & timeout.any();
        self.dropping.d.next = self.stuck.q.val() & self.fence_waits.val();
        self.drops.next = self.dropping.q.val();

        if self.reset.val() {
            self.waited.d.next = bits(0);
            self.stuck.d.next = false;
            self.dropping.d.next = false;
        }
    }
}
