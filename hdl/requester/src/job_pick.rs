//! Which operation is next.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::requester::{ControlKind, ControlPacket, RequesterConfig};

use crate::records::{ConfigureKind, Job, JobKind, RequesterState};

/// Offers one operation out of all that wait: what arrived before what leaves, and the ports in turn.
///
/// What arrives - control packets, timers, doorbells - is bounded by what the network and PCIe deliver, so transmission is held up but not
/// starved. Combinational but for the turn. Levels: 4.
#[derive(LogicBlock, Default)]
pub struct JobPick {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Ticks of 8 ns.
    pub now: Signal<In, Bits<32>>,

    // What waits.
    /// The burst of this queue pair, at this port, has ended early.
    pub short_valid: Signal<In, Bit>,
    pub short_qp: Signal<In, Bits<10>>,
    pub short_port: Signal<In, Bit>,
    pub configure_valid: Signal<In, Bit>,
    pub configure: Signal<In, ConfigureKind>,
    pub configure_qp: Signal<In, Bits<10>>,
    pub control_valid: Signal<In, Bit>,
    pub control: Signal<In, ControlPacket>,
    pub due_valid: Signal<In, Bit>,
    pub due_qp: Signal<In, Bits<10>>,
    pub fault_valid: Signal<In, Bit>,
    pub fault_qp: Signal<In, Bits<10>>,
    pub fault_slot: Signal<In, Bits<16>>,
    pub flush_valid: Signal<In, Bit>,
    pub flush_qp: Signal<In, Bits<10>>,
    pub doorbell_valid: Signal<In, Bit>,
    pub doorbell_qp: Signal<In, Bits<10>>,
    pub doorbell_producer: Signal<In, Bits<16>>,
    pub wake_valid: Signal<In, Bit>,
    pub wake_qp: Signal<In, Bits<10>>,
    /// Bit p: port p has a queue pair in front and room for its packet.
    pub fronts: Signal<In, Bits<2>>,
    /// They go before control packets.
    pub fronts_first: Signal<In, Bit>,
    pub front0_qp: Signal<In, Bits<10>>,
    pub front1_qp: Signal<In, Bits<10>>,

    // The choice; `settings` and `state` are left to the sequencer.
    pub pick_valid: Signal<Out, Bit>,
    pub pick: Signal<Out, Job>,
    /// The choice is taken.
    pub take: Signal<In, Bit>,

    /// Port whose turn it is.
    turn: DFF<Bit>,
}

impl Logic for JobPick {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, turn);
        let fronts = self.fronts.val();
        let port = if self.turn.q.val() {
            fronts.get_bit(1)
        } else {
            !fronts.get_bit(0)
        };
        let control = self.control.val();
        let arrives = self.short_valid.val()
            | self.configure_valid.val()
            | self.control_valid.val()
            | self.due_valid.val()
            | self.fault_valid.val()
            | self.flush_valid.val()
            | self.doorbell_valid.val()
            | self.wake_valid.val();
        let kind = if self.short_valid.val() {
            JobKind::Retract
        } else if self.configure_valid.val() {
            JobKind::Configure
        } else if self.control_valid.val() & !(self.fronts_first.val() & fronts.any()) {
            if control.kind == ControlKind::Sack {
                JobKind::Sack
            } else if control.kind == ControlKind::Ack {
                JobKind::Ack
            } else {
                JobKind::Nack
            }
        } else if self.due_valid.val() {
            JobKind::Timer
        } else if self.fault_valid.val() {
            JobKind::Fault
        } else if self.flush_valid.val() {
            JobKind::Flush
        } else if self.doorbell_valid.val() {
            JobKind::Doorbell
        } else if self.wake_valid.val() {
            JobKind::Wake
        } else {
            JobKind::Transmit
        };
        let qp = match kind {
            JobKind::Retract => self.short_qp.val(),
            JobKind::Configure => self.configure_qp.val(),
            JobKind::Sack | JobKind::Nack | JobKind::Ack => control.qp,
            JobKind::Timer => self.due_qp.val(),
            JobKind::Fault => self.fault_qp.val(),
            JobKind::Flush => self.flush_qp.val(),
            JobKind::Doorbell => self.doorbell_qp.val(),
            JobKind::Wake => self.wake_qp.val(),
            JobKind::Transmit => {
                if port {
                    self.front1_qp.val()
                } else {
                    self.front0_qp.val()
                }
            }
        };
        self.pick_valid.next = arrives | fronts.any();
        self.pick.next = Job {
            kind,
            qp,
            port: if self.short_valid.val() {
                self.short_port.val()
            } else {
                port
            },
            slot: if kind == JobKind::Doorbell {
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
        if self.take.val() & (kind == JobKind::Transmit) {
            self.turn.d.next = !port;
        }
        if self.reset.val() {
            self.turn.d.next = false;
        }
    }
}
