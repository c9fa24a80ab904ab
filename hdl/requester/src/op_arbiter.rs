//! Arbitrates between the operations.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::requester::{ControlKind, ControlPacket};
use stellar_wire::hw::{Qpn, SqIndex};

use crate::burst_send::UnreadableMessage;
use crate::records::{ConfigureKind, OpKind, Pick};

/// log2 of the control packets after which another operation goes first.
const CONTROL_BITS: usize = 4;
/// log2 of the doorbells that go before transmissions of both ports. The more, the more entries a queue pair collects for a burst.
const BELL_BITS: usize = 4;

/// Chooses one of the pending operations. Events have priority over transmission, and the two ports take turns.
///
/// Failures go before all other events, so that a peer's control packets do not hold them up: a fence waits for them, and a queue pair that failed sends nothing more.
///
/// Events delay transmission but do not starve it. Control packets may come faster than they are executed: after sixteen of them another operation has priority, if one pends. A wake-up is for an entry that was read, and
/// the next read waits until that one is sent. Software can cause any number of doorbells: after sixteen of them, a transmission of each port has priority,
/// and after each one a wake-up. So a tenant that rings all the time does not stop the others that transmit. A doorbell of new entries makes its queue pair
/// a head at both ports, and SACKs wait for heads, so both ports have to come first. The block is combinational except for `turn`, `controls`, `yields`, `bells`, `owed` and
/// `doorbell_last`. Levels: 4.
#[derive(LogicBlock, Default)]
pub struct OpArbiter {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Pending operations.
    /// A payload of a burst cannot be read. This goes first: its queue pair may not transmit before.
    pub unreadable_valid: Signal<In, Bit>,
    pub unreadable: Signal<In, UnreadableMessage>,
    pub configure_valid: Signal<In, Bit>,
    pub configure: Signal<In, ConfigureKind>,
    pub configure_qp: Signal<In, Qpn>,
    pub control_valid: Signal<In, Bit>,
    pub control: Signal<In, ControlPacket>,
    pub due_valid: Signal<In, Bit>,
    pub due_qp: Signal<In, Qpn>,
    pub fault_valid: Signal<In, Bit>,
    pub fault_qp: Signal<In, Qpn>,
    pub fault_slot: Signal<In, SqIndex>,
    pub flush_valid: Signal<In, Bit>,
    pub flush_qp: Signal<In, Qpn>,
    pub doorbell_valid: Signal<In, Bit>,
    pub doorbell_qp: Signal<In, Qpn>,
    pub doorbell_producer: Signal<In, SqIndex>,
    pub wake_valid: Signal<In, Bit>,
    /// There is a wake-up, although the schedules may not be ready for it yet.
    pub wake_waits: Signal<In, Bit>,
    pub wake_qp: Signal<In, Qpn>,
    /// Bit p: the schedule of port p has a head, and the port has space for a burst.
    pub heads: Signal<In, Bits<2>>,
    /// Transmission has priority over control packets.
    pub heads_first: Signal<In, Bit>,
    pub head0_qp: Signal<In, Qpn>,
    pub head1_qp: Signal<In, Qpn>,

    // The choice of this cycle.
    pub choice_valid: Signal<Out, Bit>,
    pub choice: Signal<Out, Pick>,
    /// High for one cycle when an operation starts that was chosen before: `taken`.
    pub take: Signal<In, Bit>,
    pub taken: Signal<In, Pick>,
    /// High for one cycle per control packet that is taken, also if it follows another one without a choice.
    pub takes_control: Signal<In, Bit>,

    /// The port that transmits next, if both can.
    turn: DFF<Bit>,
    /// Control packets since the last operation of another kind, 15 at most; and whether there were as many.
    controls: DFF<Bits<CONTROL_BITS>>,
    yields: DFF<Bit>,
    /// Doorbells, modulo sixteen.
    bells: DFF<Bits<BELL_BITS>>,
    /// Bit p: a transmission of port p comes before the next doorbell.
    owed: DFF<Bits<2>>,
    /// There was a doorbell since the last wake-up.
    doorbell_last: DFF<Bit>,
}

impl Logic for OpArbiter {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, turn, bells, owed, doorbell_last);
        dff_setup!(self, clock, controls, yields);
        let heads = self.heads.val();
        let port = if self.turn.q.val() {
            heads.get_bit(1)
        } else {
            !heads.get_bit(0)
        };
        let transmits_first = (self.owed.q.val() & heads).any();
        let wakes_first = self.doorbell_last.q.val() & self.wake_waits.val();
        let doorbell_goes = self.doorbell_valid.val() & !transmits_first & !wakes_first;
        let control = self.control.val();
        let yields = self.yields.q.val();
        let transmits_before = (self.heads_first.val() | yields) & heads.any();
        let others_wait = self.due_valid.val() | self.doorbell_valid.val() | self.wake_valid.val();
        let control_goes = self.control_valid.val() & !transmits_before & !(yields & others_wait);
        let event_pending = self.unreadable_valid.val()
            | self.configure_valid.val()
            | control_goes
            | self.due_valid.val()
            | self.fault_valid.val()
            | self.flush_valid.val()
            | doorbell_goes
            | self.wake_valid.val();
        let kind = if self.unreadable_valid.val() {
            OpKind::Fault
        } else if self.fault_valid.val() {
            OpKind::Fault
        } else if self.flush_valid.val() {
            OpKind::Flush
        } else if self.configure_valid.val() {
            OpKind::Configure
        } else if control_goes {
            if control.kind == ControlKind::Sack {
                OpKind::Sack
            } else if control.kind == ControlKind::Ack {
                OpKind::Ack
            } else {
                // A NACK, or a Transport ACK. Probes do not come here.
                OpKind::Nack
            }
        } else if self.due_valid.val() {
            OpKind::Timer
        } else if doorbell_goes {
            OpKind::Doorbell
        } else if self.wake_valid.val() {
            OpKind::Wake
        } else {
            OpKind::Transmit
        };
        let qp = match kind {
            OpKind::Configure => self.configure_qp.val(),
            OpKind::Sack | OpKind::Nack | OpKind::Ack => control.qp,
            OpKind::Timer => self.due_qp.val(),
            OpKind::Fault => {
                if self.unreadable_valid.val() {
                    self.unreadable.val().qp
                } else {
                    self.fault_qp.val()
                }
            }
            OpKind::Flush => self.flush_qp.val(),
            OpKind::Doorbell => self.doorbell_qp.val(),
            OpKind::Wake => self.wake_qp.val(),
            OpKind::Transmit => {
                if port {
                    self.head1_qp.val()
                } else {
                    self.head0_qp.val()
                }
            }
        };
        self.choice_valid.next = event_pending | heads.any();
        self.choice.next = Pick {
            kind,
            qp,
            port,
            slot: if self.unreadable_valid.val() {
                self.unreadable.val().slot
            } else if kind == OpKind::Doorbell {
                self.doorbell_producer.val()
            } else {
                self.fault_slot.val()
            },
            configure: self.configure.val(),
            is_unreadable: self.unreadable_valid.val(),
        };
        let take = self.take.val();
        let taken = self.taken.val();
        let takes_control = self.takes_control.val();
        let controls = self.controls.q.val();
        if takes_control & !controls.all() {
            self.controls.d.next = controls + 1;
        } else if take & !takes_control {
            self.controls.d.next = bits(0);
        }
        self.yields.d.next = controls.all();
        if take & (taken.kind == OpKind::Transmit) {
            self.turn.d.next = !taken.port;
            self.owed.d.next = if taken.port {
                self.owed.q.val() & 1
            } else {
                self.owed.q.val() & 2
            };
        }
        if take & (taken.kind == OpKind::Wake) {
            self.doorbell_last.d.next = false;
        }
        if take & (taken.kind == OpKind::Doorbell) {
            self.doorbell_last.d.next = true;
            self.bells.d.next = self.bells.q.val() + 1;
            if self.bells.q.val().all() {
                self.owed.d.next = bits::<2>(3);
            }
        }
        if self.reset.val() {
            self.doorbell_last.d.next = false;
            self.controls.d.next = bits(0);
            self.yields.d.next = false;
            self.turn.d.next = false;
            self.bells.d.next = bits(0);
            self.owed.d.next = bits::<2>(0);
        }
    }
}
