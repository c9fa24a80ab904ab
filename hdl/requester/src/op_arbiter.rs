//! Arbitrates between the operations.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::requester::{ControlKind, ControlPacket, RequesterConfig};
use stellar_wire::hw::{Qpn, SqIndex};

use crate::records::{ConfigureKind, Op, OpKind, RequesterState};

/// Offers one of the pending operations. Events have priority over transmission, and the two ports take turns.
///
/// Events are control packets and timers, whose rate the network bounds, so they delay transmission but do not starve it; and doorbells and wake-ups,
/// of which software can cause any number. After one of these, a transmission of each port has priority over them, and after a doorbell a wake-up has
/// priority over the next one. So a tenant that rings all the time does not stop the others that transmit. A doorbell makes its queue pair a head at both
/// ports, and SACKs wait for heads; if only one port came first, there would always be a head, and SACKs would wait for ever. The block is combinational except for `turn`, `rang` and
/// `doorbell_last`. Levels: 4.
#[derive(LogicBlock, Default)]
pub struct OpArbiter {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Ticks of 8 ns.
    pub now: Signal<In, Bits<32>>,

    // Pending operations.
    /// The burst of this queue pair on this port ended early, and has to be rolled back.
    pub rollback_valid: Signal<In, Bit>,
    pub rollback_qp: Signal<In, Qpn>,
    pub rollback_port: Signal<In, Bit>,
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

    // The offered operation. The sequencer fills in `settings` and `state`.
    pub offer_valid: Signal<Out, Bit>,
    pub offer: Signal<Out, Op>,
    /// The sequencer accepts the offer.
    pub take: Signal<In, Bit>,

    /// The port that transmits next, if both can.
    turn: DFF<Bit>,
    /// Bit p: there was a doorbell or a wake-up since the last transmission of port p.
    rang: DFF<Bits<2>>,
    /// There was a doorbell since the last wake-up.
    doorbell_last: DFF<Bit>,
}

impl Logic for OpArbiter {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, turn, rang, doorbell_last);
        let heads = self.heads.val();
        let port = if self.turn.q.val() {
            heads.get_bit(1)
        } else {
            !heads.get_bit(0)
        };
        let transmits_first = (self.rang.q.val() & heads).any();
        let wakes_first = self.doorbell_last.q.val() & self.wake_waits.val();
        let doorbell_goes = self.doorbell_valid.val() & !transmits_first & !wakes_first;
        let wake_goes = self.wake_valid.val() & !transmits_first;
        let control = self.control.val();
        let event_pending = self.rollback_valid.val()
            | self.configure_valid.val()
            | self.control_valid.val()
            | self.due_valid.val()
            | self.fault_valid.val()
            | self.flush_valid.val()
            | doorbell_goes
            | wake_goes;
        let kind = if self.rollback_valid.val() {
            OpKind::Rollback
        } else if self.configure_valid.val() {
            OpKind::Configure
        } else if self.control_valid.val() & !(self.heads_first.val() & heads.any()) {
            if control.kind == ControlKind::Sack {
                OpKind::Sack
            } else if control.kind == ControlKind::Ack {
                OpKind::Ack
            } else {
                OpKind::Nack
            }
        } else if self.due_valid.val() {
            OpKind::Timer
        } else if self.fault_valid.val() {
            OpKind::Fault
        } else if self.flush_valid.val() {
            OpKind::Flush
        } else if doorbell_goes {
            OpKind::Doorbell
        } else if wake_goes {
            OpKind::Wake
        } else {
            OpKind::Transmit
        };
        let qp = match kind {
            OpKind::Rollback => self.rollback_qp.val(),
            OpKind::Configure => self.configure_qp.val(),
            OpKind::Sack | OpKind::Nack | OpKind::Ack => control.qp,
            OpKind::Timer => self.due_qp.val(),
            OpKind::Fault => self.fault_qp.val(),
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
        self.offer_valid.next = event_pending | heads.any();
        self.offer.next = Op {
            kind,
            qp,
            port: if self.rollback_valid.val() {
                self.rollback_port.val()
            } else {
                port
            },
            slot: if kind == OpKind::Doorbell {
                self.doorbell_producer.val()
            } else {
                self.fault_slot.val()
            },
            configure: self.configure.val(),
            now: self.now.val(),
            control,
            settings: RequesterConfig::default(),
            state: RequesterState::default(),
        };
        if self.take.val() & (kind == OpKind::Transmit) {
            self.turn.d.next = !port;
            self.rang.d.next = if port {
                self.rang.q.val() & 1
            } else {
                self.rang.q.val() & 2
            };
        }
        if self.take.val() & ((kind == OpKind::Doorbell) | (kind == OpKind::Wake)) {
            self.rang.d.next = bits::<2>(3);
            self.doorbell_last.d.next = kind == OpKind::Doorbell;
        }
        if self.reset.val() {
            self.doorbell_last.d.next = false;
            self.turn.d.next = false;
            self.rang.d.next = bits::<2>(0);
        }
    }
}
