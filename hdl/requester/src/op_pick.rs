//! Chooses the next operation while the present one is executed.

use hdl_macros::{clock_reset, hdl, hdl_fn, join};
use hdl_primitives::bundles::{QpSnk, ReadFaultSnk};
use hdl_primitives::Snk;
use rust_hdl::prelude::*;
use stellar_wire::hw::requester::{ControlKind, ControlPacket};
use stellar_wire::hw::tx::TxSeth;
use stellar_wire::hw::{Psn, Qpn};

use crate::bundles::{BackgroundBurstSnk, DueSnk, ProducerSnk};
use crate::burst_send::UnreadableMessage;
use crate::op_arbiter::OpArbiter;
use crate::ports::{of_port, pair};
use crate::records::{ConfigureKind, OpKind, Pick};
use crate::sack_fields::offset;

/// Returns whether the SACK covers only PSNs before `psn`. Levels: two carry chains and 2.
#[hdl_fn]
fn names_only_before(seth: TxSeth, psn: Psn) -> Bit {
    let cumulative = seth.cack_psn - psn;
    let answered = offset(seth.cack_psn, seth.ack_psn_offset) - psn;
    let highest = offset(seth.cack_psn, seth.sack_offset) + bits::<24>(63) - psn;
    cumulative.get_bit(23) & answered.get_bit(23) & highest.get_bit(23)
}

/// Holds the choice of the last cycle in a register, so that the arbiter and what pends are on one side of it, and the start of an operation on the other.
///
/// An operation takes at least one cycle after the one in which it is taken, so the choice costs a cycle only if nothing was pending before. What pends stays
/// until it is taken, with these exceptions. A timer is withdrawn when it is armed, a head changes when it is rotated, and a burst begins or ends. So it is
/// decided in the cycle of the choice whether an operation may start (`valid`), and a choice that may not is made again in every cycle. An operation starts
/// at most one cycle later than another one that has come meanwhile and goes first.
///
/// Levels: 6 to the register, 3 behind it.
#[derive(LogicBlock, Default)]
pub struct OpPick {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// Starts no operation: the queue of failures is nearly full.
    pub hold: Signal<In, Bit>,

    // Pending operations. Each is accepted when valid and ready are high.
    pub unreadable: Snk<UnreadableMessage>,
    /// The sequencer accepts it when it is done.
    pub configure_valid: Signal<In, Bit>,
    pub configure: Signal<In, ConfigureKind>,
    pub configure_qp: Signal<In, Qpn>,
    pub control: Snk<ControlPacket>,
    /// Many control packets are queued: they have priority over the next burst.
    pub control_almost_full: Signal<In, Bit>,
    pub due: DueSnk,
    /// A timer is armed or disarmed in this cycle, so `due` may be out of date.
    pub arms: Signal<In, Bit>,
    pub fault: ReadFaultSnk,
    pub flush: QpSnk,
    pub doorbell: ProducerSnk,
    /// The message table executes a request, such as the completions of a SACK. A doorbell waits for it.
    pub messages_busy: Signal<In, Bit>,
    pub wake: QpSnk,
    /// The schedules accept a queue pair.
    pub schedule_ready: Signal<In, Bit>,
    /// Bit p: the schedule of port p has a head; the port has space for a burst; the head changes in this cycle; the operation in progress serves it, so it may change.
    pub head_valid: Signal<In, Bits<2>>,
    pub tx_space: Signal<In, Bits<2>>,
    pub turns: Signal<In, Bits<2>>,
    pub served: Signal<In, Bits<2>>,
    pub head0_qp: Signal<In, Qpn>,
    pub head1_qp: Signal<In, Qpn>,

    // The burst that is sent in the background. Beside it only SACKs that cannot cover its PSNs, doorbells and wake-ups start. Near its end the next burst of
    // the other port may start too, if nothing else is pending.
    pub burst: BackgroundBurstSnk,

    /// The operation may start in this cycle.
    pub valid: Signal<Out, Bit>,
    /// The operation. It is stable for as long as nothing else is chosen, `valid` or not.
    pub pick: Signal<Out, Pick>,
    /// Queue pair of `pick` in the next cycle.
    pub next_qp: Signal<Out, Qpn>,
    /// No operation is in progress: if `valid`, it starts.
    pub starts: Signal<In, Bit>,
    /// `valid`, and it is a SACK.
    pub sack_valid: Signal<Out, Bit>,
    /// It starts at once behind the SACK in progress. `sack_valid` is high. This comes late in a cycle, so the control packet is accepted a cycle later, and until then
    /// stays where it is.
    pub chains: Signal<In, Bit>,
    /// It started in the last cycle: the control packet is accepted in this one.
    pub chained: Signal<Out, Bit>,

    arbiter: OpArbiter,
    chosen: DFF<Bit>,
    choice: DFF<Pick>,
    /// The pending control packet has been compared with the burst in flight; it covers none of its PSNs.
    control_checked: DFF<Bit>,
    control_before_burst: DFF<Bit>,
    sack_chained: DFF<Bit>,
}

impl Logic for OpPick {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            chosen,
            choice,
            control_checked,
            control_before_burst,
            sack_chained
        );
        clock_reset!(self, arbiter);
        let pick = self.choice.q.val();
        let control = self.control.record.val();
        let is_sack = control.kind == ControlKind::Sack;

        // what may start beside the burst
        let burst_active = self.burst.active.val();
        let free = !burst_active;
        let is_before_burst = self.control_checked.q.val() & self.control_before_burst.q.val();
        let may_pass = is_before_burst & is_sack;
        let higher_prio_pending = self.configure_valid.val()
            | (self.control.valid.val() & !is_sack)
            | self.due.valid.val()
            | self.fault.valid.val()
            | self.flush.valid.val();
        let ends_soon = self.burst.ends_soon.val();
        let next_may_start = ends_soon & !higher_prio_pending;
        let ready_heads = self.head_valid.val() & self.tx_space.val() & !self.turns.val();
        let unserved_heads = ready_heads & !self.served.val();
        let burst_port = self.burst.port.val();
        let other_port = pair(burst_port, !burst_port);
        let other_head = unserved_heads & other_port;
        let due = self.due.valid.val() & free & !self.arms.val();

        // start. Whether a head may send is known later than all else, and only a transmission has to know it. No head is served where an operation starts.
        let may_send =
            of_port(ready_heads, pick.port) & (free | (ends_soon & of_port(other_port, pick.port)));
        let chosen = self.chosen.q.val() & !self.hold.val();
        let starts = chosen & self.starts.val();
        let doorbell_may_start = !self.messages_busy.val();
        let sack_may_start = free | is_before_burst;
        let may_start = match pick.kind {
            OpKind::Transmit => may_send,
            OpKind::Sack => sack_may_start,
            OpKind::Timer => due,
            OpKind::Fault => free | pick.is_unreadable,
            OpKind::Doorbell => doorbell_may_start,
            OpKind::Wake => self.schedule_ready.val(),
            _ => free,
        };
        let take = starts & may_start;
        assert!(
            !self.starts.val() | !self.served.val().any(),
            "an operation starts while another one serves a head"
        );

        // choose
        join!(
            self,
            unreadable.valid => arbiter.unreadable_valid,
            unreadable.record => arbiter.unreadable,
            configure => arbiter.configure,
            configure_qp => arbiter.configure_qp,
            due.qp => arbiter.due_qp,
            fault.qp => arbiter.fault_qp,
            fault.slot => arbiter.fault_slot,
            flush.qp => arbiter.flush_qp,
            doorbell.qp => arbiter.doorbell_qp,
            doorbell.producer => arbiter.doorbell_producer,
            wake.valid => arbiter.wake_waits,
            wake.qp => arbiter.wake_qp,
            head0_qp => arbiter.head0_qp,
            head1_qp => arbiter.head1_qp,
        );
        self.arbiter.configure_valid.next = self.configure_valid.val() & free;
        let chained = self.sack_chained.q.val();
        self.arbiter.control_valid.next = self.control.valid.val() & (free | may_pass) & !chained;
        self.arbiter.control.next = control;
        self.arbiter.due_valid.next = due;
        self.arbiter.fault_valid.next = self.fault.valid.val() & free;
        self.arbiter.flush_valid.next = self.flush.valid.val() & free;
        self.arbiter.doorbell_valid.next = self.doorbell.valid.val() & !self.messages_busy.val();
        self.arbiter.wake_valid.next = self.wake.valid.val() & self.schedule_ready.val();
        self.arbiter.heads_first.next =
            (free | next_may_start) & is_sack & !self.control_almost_full.val();
        self.arbiter.heads.next = if free {
            unserved_heads
        } else if next_may_start {
            other_head
        } else {
            bits::<2>(0)
        };
        self.arbiter.take.next = take;
        self.arbiter.taken.next = pick;
        // What begins in this cycle still pends in it.
        let begins = take | self.chains.val();
        self.chosen.d.next = self.arbiter.choice_valid.val() & !begins;
        self.choice.d.next = self.arbiter.choice.val();
        self.next_qp.next = self.arbiter.choice.val().qp;

        // accept
        self.valid.next = chosen & may_start;
        self.sack_valid.next = chosen & (pick.kind == OpKind::Sack) & sack_may_start;
        self.pick.next = pick;
        let takes_other_control =
            starts & free & ((pick.kind == OpKind::Nack) | (pick.kind == OpKind::Ack));
        let takes_sack = starts & (pick.kind == OpKind::Sack) & sack_may_start;
        let takes_control = takes_other_control | takes_sack | chained;
        self.arbiter.takes_control.next = takes_control;
        self.sack_chained.d.next = self.chains.val();
        self.chained.next = chained;
        self.control.ready.next = takes_control;
        self.due.ready.next = starts & (pick.kind == OpKind::Timer) & due;
        self.unreadable.ready.next = starts & pick.is_unreadable;
        self.fault.ready.next = starts & free & (pick.kind == OpKind::Fault) & !pick.is_unreadable;
        self.flush.ready.next = starts & free & (pick.kind == OpKind::Flush);
        self.doorbell.ready.next = starts & (pick.kind == OpKind::Doorbell) & doorbell_may_start;
        self.wake.ready.next = starts & (pick.kind == OpKind::Wake) & self.schedule_ready.val();
        assert!(
            !self.doorbell.ready.val() | self.doorbell.valid.val(),
            "a doorbell was taken back"
        );

        // compare the control packet with the burst
        self.control_checked.d.next = self.control.valid.val() & burst_active & !takes_control;
        let other_qp = control.qp != self.burst.qp.val();
        self.control_before_burst.d.next =
            other_qp | names_only_before(control.seth, self.burst.first_psn.val());

        if self.reset.val() {
            self.chosen.d.next = false;
            self.control_checked.d.next = false;
            self.sack_chained.d.next = false;
        }
    }
}
