//! The fence of software.

use hdl_macros::{clock, clock_reset, hdl, join};
use hdl_nic::fence_control::SETTLE;
use hdl_nic::fence_epochs::{BEGINS, ENDS};
use hdl_nic::FenceControl;
use hdl_primitives::{FenceSnk, FenceSrc};
use rust_hdl::prelude::*;
use stellar_wire::hw::fence::EpochEnd;

/// Uses besides the followed one that have not ended, at most.
const OTHERS: u64 = 3;

/// Properties of [`FenceControl`], told for one use of the transmit direction that the solver picks among those of one source. A second source has up to
/// three other uses of each epoch.
#[derive(LogicBlock, Default)]
pub struct FenceControlProof {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub fence: FenceSnk,
    pub receive: FenceSrc,
    pub receive_done: Signal<In, Bit>,
    /// A use begins, which is followed if none is, and another one.
    pub begins: Signal<In, Bit>,
    pub other_begins: Signal<In, Bit>,
    /// A failure waits for the requester.
    pub failures_wait: Signal<In, Bit>,
    /// The followed use ends.
    pub ends: Signal<In, Bit>,
    pub other_ends: Signal<In, EpochEnd>,

    /// Only a use that began ends, and few others are under way.
    pub given_uses: Signal<Out, Bit>,
    /// The receive direction is done once for each fence that it took, and not before.
    pub given_receive: Signal<Out, Bit>,

    /// A fence is done only when a use that had begun before it has ended.
    pub holds_uses_ended: Signal<Out, Bit>,
    /// A fence is done only when the receive direction is done with it.
    pub holds_received: Signal<Out, Bit>,
    /// A fence is done once, and only after it was accepted.
    pub holds_once: Signal<Out, Bit>,
    /// A fence is done only when no failure has waited for [`SETTLE`] cycles.
    pub holds_failures: Signal<Out, Bit>,
    /// A fence that waits for nothing is done: what begins behind it does not delay it.
    pub holds_not_delayed: Signal<Out, Bit>,
    /// A fence can wait for the followed use alone.
    pub reaches_wait: Signal<Out, Bit>,
    /// A fence can be done while a use that began behind it goes on.
    pub reaches_done_with_later: Signal<Out, Bit>,

    control: FenceControl,
    /// The followed use is under way, belongs to this epoch, and began before the fence that is in progress.
    follows: DFF<Bit>,
    epoch: DFF<Bit>,
    before_fence: DFF<Bit>,
    others: [DFF<Bits<3>>; 2],
    fenced: DFF<Bit>,
    /// The receive direction has the fence, and is done with it.
    asked: DFF<Bit>,
    received: DFF<Bit>,
    /// Cycles in which the fence had nothing to wait for, and in which no failure waited.
    idle: DFF<Bits<5>>,
    calm: DFF<Bits<5>>,
}

impl Logic for FenceControlProof {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            follows,
            epoch,
            before_fence,
            fenced,
            asked,
            received,
            idle,
            calm
        );
        clock!(self, clock, others[..]);
        clock_reset!(self, control);
        join!(self, fence => control.fence, control.receive => receive, receive_done => control.receive_done, failures_wait => control.failures_wait);
        let begins = self.begins.val();
        let other_begins = self.other_begins.val();
        let follows = self.follows.q.val();
        let mut begun = bits::<BEGINS>(0);
        begun = begun.replace_bit(0, begins);
        begun = begun.replace_bit(1, other_begins);
        self.control.begun.next = begun;
        let ends = self.ends.val();
        let other = self.other_ends.val();
        for s in 0..ENDS {
            self.control.ended[s].next = if s == 0 {
                EpochEnd {
                    valid: ends,
                    epoch: self.epoch.q.val(),
                }
            } else if s == 1 {
                other
            } else {
                EpochEnd {
                    valid: false,
                    epoch: false,
                }
            };
        }

        // Uses.
        let current = self.control.epoch.val();
        if ends {
            self.follows.d.next = false;
        }
        if begins {
            self.follows.d.next = true;
            self.epoch.d.next = current;
            self.before_fence.d.next = !self.fenced.q.val();
        }
        let mut few = true;
        for e in 0..2 {
            let count = self.others[e].q.val();
            let begins_here = other_begins & (current == (e == 1));
            let ends_here = other.valid & (other.epoch == (e == 1));
            few = few & !(ends_here & !count.any()) & !(begins_here & (count == OTHERS));
            self.others[e].d.next = count;
            if begins_here & !ends_here {
                self.others[e].d.next = count + 1;
            } else if ends_here & !begins_here {
                self.others[e].d.next = count - 1;
            }
        }
        self.given_uses.next = few & !(ends & !follows) & !(begins & follows);

        // The fence.
        let done = self.control.done.val();
        let accepted = self.fence.valid.val() & self.control.fence.ready.val();
        let taken = self.control.receive.valid.val() & self.receive.ready.val();
        let asked = self.asked.q.val();
        let received = self.received.q.val() | self.receive_done.val();
        let fenced = self.fenced.q.val();
        self.given_receive.next = !self.receive_done.val() | (asked & !self.received.q.val());
        self.received.d.next = received & !done;
        if taken {
            self.asked.d.next = true;
        }
        if accepted {
            self.fenced.d.next = true;
            self.before_fence.d.next = true;
        }
        if done {
            self.fenced.d.next = false;
            self.asked.d.next = false;
        }
        let old_others = if current {
            self.others[0].q.val().any()
        } else {
            self.others[1].q.val().any()
        };
        let waits = follows & self.before_fence.q.val();
        let failures_wait = self.failures_wait.val();
        let uses_old = (follows & (self.epoch.q.val() != current)) | old_others;
        let free = asked & received & !uses_old & !failures_wait;
        let calm = self.calm.q.val();
        self.calm.d.next = if failures_wait {
            bits::<5>(0)
        } else if calm < SETTLE {
            calm + 1
        } else {
            calm
        };
        self.idle.d.next = if !free | done {
            bits::<5>(0)
        } else {
            self.idle.q.val() + 1
        };
        self.holds_uses_ended.next = !done | !waits;
        self.holds_received.next = !done | (asked & received);
        self.holds_once.next = !done | fenced;
        self.holds_failures.next = !done | (calm == SETTLE);
        self.holds_not_delayed.next = self.idle.q.val() < SETTLE + 4;
        self.reaches_wait.next = self.control.waits.val() & waits & !old_others;
        self.reaches_done_with_later.next = done & follows;

        if self.reset.val() {
            self.follows.d.next = false;
            self.fenced.d.next = false;
            self.asked.d.next = false;
            self.received.d.next = false;
            self.idle.d.next = bits(0);
            self.calm.d.next = bits(0);
            for e in 0..2 {
                self.others[e].d.next = bits(0);
            }
        }
    }
}
