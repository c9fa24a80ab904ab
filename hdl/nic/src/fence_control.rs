//! The fence of software: it covers the receive direction and the transmit direction.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{FenceSnk, FenceSrc};
use hdl_rx_pipeline::rx_control::OLD_PEER_CYCLES;
use rust_hdl::prelude::*;
use stellar_wire::hw::fence::EpochEnd;

use crate::fence_epochs::{FenceEpochs, BEGINS, ENDS};

/// Cycles from a fence to its new epoch. A table write is done a few cycles before the last block applies it: the prefetch of send queue entries takes up to
/// 9 cycles to begin no more reads of an old ring.
pub const SETTLE: u64 = 15;
const _: () = assert!(OLD_PEER_CYCLES as u64 <= SETTLE);

/// The progress of a fence.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum FenceStep {
    /// Accepts a fence.
    Idle,
    /// Waits until the tables are in effect everywhere, then begins a new epoch.
    Settle,
    /// Offers the fence to the receive direction.
    Ask,
    /// Waits for the receive direction, and for the old epoch.
    Wait,
    /// Waits until no failure waits that the requester has to hear of. All of before the fence are on their way.
    Drain,
}

/// Executes one fence at a time. A fence is done when the receive direction is done with it, and when everything of the transmit direction that began
/// before it has ended: every location of a payload given to the requester is read or dropped, every queued packet is with its lane, every read of send
/// queue entries is complete, and the requester has taken every control packet that was queued for it. A read that is complete has its data or its timeout.
/// What has failed until then, a read or a queue pair, the requester has executed, too: the fence ends after [`SETTLE`] cycles in which no failure waits. Those that
/// come meanwhile may be waited for as well; each ends a queue pair, so there are few.
///
/// A fence stops nothing: what begins behind it is of the new epoch, and is not waited for. So a read that hangs delays the fence, and nothing else. A port that
/// does not send delays it until [`StuckPort`](crate::stuck_port::StuckPort) has its frames dropped. LUT levels: those of [`FenceEpochs`].
#[derive(LogicBlock, Default)]
pub struct FenceControl {
    pub clock: Signal<In, Clock>,
    /// Forgets the fence in progress, and all uses.
    pub reset: Signal<In, Bit>,

    /// From software.
    pub fence: FenceSnk,
    /// One cycle: the fence is done.
    pub done: Signal<Out, Bit>,

    // Receive direction.
    pub receive: FenceSrc,
    pub receive_done: Signal<In, Bit>,

    // Transmit direction: see `FenceEpochs`.
    /// Epoch of what begins in this cycle.
    pub epoch: Signal<Out, Bit>,
    pub begun: Signal<In, Bits<BEGINS>>,
    pub ended: [Signal<In, EpochEnd>; ENDS],
    /// A fence waits for uses of the transmit direction.
    pub waits: Signal<Out, Bit>,
    /// A read that failed, or a queue pair that fails, waits for the requester.
    pub failures_wait: Signal<In, Bit>,

    epochs: FenceEpochs,
    step: DFF<FenceStep>,
    settled: DFF<Bits<4>>,
    current: DFF<Bit>,
    received: DFF<Bit>,
}

impl Logic for FenceControl {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, settled, current, received);
        clock_reset!(self, epochs);
        let current = self.current.q.val();
        self.epoch.next = current;
        self.epochs.epoch.next = current;
        join!(self, begun => epochs.begun);
        for s in 0..ENDS {
            join!(self, ended[s] => epochs.ended[s]);
        }

        let step = self.step.q.val();
        let settled = self.settled.q.val();
        let received = self.received.q.val() | self.receive_done.val();
        let open = self.epochs.open.val();
        let old_open = if current {
            open.get_bit(0)
        } else {
            open.get_bit(1)
        };
        let is_clear = (step == FenceStep::Wait) & received & !old_open;
        let ends = (step == FenceStep::Drain) & (settled == SETTLE);
        self.fence.ready.next = step == FenceStep::Idle;
        self.receive.valid.next = step == FenceStep::Ask;
        self.done.next = ends;
        self.waits.next = (step == FenceStep::Wait) & old_open;
        self.received.d.next = (step == FenceStep::Wait) & received & !is_clear;
        if step == FenceStep::Idle {
            self.settled.d.next = bits(0);
            if self.fence.valid.val() {
                self.step.d.next = FenceStep::Settle;
            }
        } else if step == FenceStep::Settle {
            self.settled.d.next = settled + 1;
            if settled == SETTLE {
                self.current.d.next = !current;
                self.step.d.next = FenceStep::Ask;
            }
        } else if step == FenceStep::Ask {
            if self.receive.ready.val() {
                self.step.d.next = FenceStep::Wait;
            }
        } else if step == FenceStep::Wait {
            self.settled.d.next = bits(0);
            if is_clear {
                self.step.d.next = FenceStep::Drain;
            }
        } else if ends {
            self.step.d.next = FenceStep::Idle;
        } else if self.failures_wait.val() {
            self.settled.d.next = bits(0);
        } else {
            self.settled.d.next = settled + 1;
        }

        if self.reset.val() {
            self.step.d.next = FenceStep::Idle;
            self.current.d.next = false;
            self.received.d.next = false;
        }
    }
}
