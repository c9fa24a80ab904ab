//! What waits to be executed by a schedule.

use hdl_macros::{hdl, hdl_fn};
use rust_hdl::prelude::*;
use stellar_wire::hw::tenant::COST_BITS;

use crate::bundles::ScheduleSnk;

/// The tenant of a doorbell page: the pages from the last tenant's on are one tenant (`stellar_wire::rows::tenant_of`).
#[hdl_fn]
fn tenant_of<const P: usize>(page: Bits<16>) -> Bits<P> {
    let further = page >> (P as u64);
    if further.any() {
        Bits::<P>::mask()
    } else {
        page.get_bits::<P>(0)
    }
}

/// Holds a turn and a wake-up until the schedule has executed them, and says which of them came first. Levels: 3.
#[derive(LogicBlock, Default)]
pub struct ScheduleInbox<const Q: usize, const P: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Turn.
    /// There is a head. It is stable until it is rotated or deactivated; `turn_ends` moves it.
    pub serving: Signal<In, Bit>,
    pub head_stable: Signal<Out, Bit>,
    pub rotate: Signal<In, Bit>,
    pub deactivate: Signal<In, Bit>,
    /// Bytes of the burst. Valid in the cycle after `rotate`.
    pub cost: Signal<In, Bits<COST_BITS>>,
    /// The head was rotated or deactivated, but is not moved yet. It was deactivated.
    pub turns: Signal<Out, Bit>,
    pub leaves: Signal<Out, Bit>,
    pub burst_cost: Signal<Out, Bits<COST_BITS>>,
    pub turn_ends: Signal<In, Bit>,

    // Wake-up.
    /// Wake-ups are accepted.
    pub accepts: Signal<In, Bit>,
    pub wake: ScheduleSnk,
    /// A wake-up waits, or is executed.
    pub wake_pending: Signal<Out, Bit>,
    /// It comes before the turn, if there is one.
    pub wakes: Signal<Out, Bit>,
    pub woken: Signal<Out, Bits<Q>>,
    pub woken_tenant: Signal<Out, Bits<P>>,
    pub wake_ends: Signal<In, Bit>,

    turn_pending: DFF<Bit>,
    head_leaves: DFF<Bit>,
    cost_comes: DFF<Bit>,
    cost_held: DFF<Bits<COST_BITS>>,
    pending: DFF<Bit>,
    /// The pending wake-up came before the pending turn.
    wake_first: DFF<Bit>,
    qp: DFF<Bits<Q>>,
    tenant: DFF<Bits<P>>,
}

impl<const Q: usize, const P: usize> Logic for ScheduleInbox<Q, P> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            turn_pending,
            head_leaves,
            cost_comes,
            cost_held,
            pending,
            wake_first,
            qp,
            tenant
        );
        let turn_pending = self.turn_pending.q.val();
        let pending = self.pending.q.val();

        // turn
        let head_stable = self.serving.val() & !turn_pending;
        let turned = head_stable & (self.rotate.val() | self.deactivate.val());
        self.cost_comes.d.next = turned;
        if self.cost_comes.q.val() {
            self.cost_held.d.next = self.cost.val();
        }
        if turned {
            self.turn_pending.d.next = true;
            self.head_leaves.d.next = self.deactivate.val();
            self.wake_first.d.next = pending;
        }
        if self.turn_ends.val() {
            self.turn_pending.d.next = false;
        }

        // wake-up
        let ready = self.accepts.val() & !pending;
        if ready & self.wake.valid.val() {
            self.pending.d.next = true;
        }
        // Whether there is a wake-up is known late in a cycle.
        if ready {
            self.qp.d.next = self.wake.qp.val().get_bits::<Q>(0);
            self.tenant.d.next = tenant_of::<P>(self.wake.page.val());
        }
        if self.wake_ends.val() {
            self.pending.d.next = false;
            self.wake_first.d.next = false;
        }

        self.head_stable.next = head_stable;
        self.turns.next = turn_pending;
        self.leaves.next = self.head_leaves.q.val();
        self.burst_cost.next = self.cost_held.q.val();
        self.wake.ready.next = ready;
        self.wake_pending.next = pending;
        self.wakes.next = pending & (self.wake_first.q.val() | !turn_pending);
        self.woken.next = self.qp.q.val();
        self.woken_tenant.next = self.tenant.q.val();
        if self.reset.val() {
            self.turn_pending.d.next = false;
            self.pending.d.next = false;
            self.wake_first.d.next = false;
        }
    }
}
