//! The front end of a lane with its control path.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::control::ControlPeer;
use stellar_wire::hw::core::CoreToken;
use stellar_wire::hw::requester::ControlPacket;
use stellar_wire::hw::Qpn;

use crate::rx_control::RxControl;
use crate::rx_front::RxFront;

/// [`RxFront`] and [`RxControl`]: frames of a port become tokens for the core and control packets for the requester.
#[derive(LogicBlock, Default)]
pub struct RxPort<const W: usize, const A: usize = 8> {
    pub clock: Signal<In, Clock>,
    /// Synchronous; resets `rx_front` and `rx_control`.
    pub reset: Signal<In, Bit>,
    /// Number of the port.
    pub port: Signal<In, Bit>,

    // From the MAC, as in `RxFront`; no `ready`.
    pub mac_valid: Signal<In, Bit>,
    pub mac_data: Signal<In, Bits<W>>,
    pub mac_bytes: Signal<In, Bits<8>>,
    pub mac_last: Signal<In, Bit>,
    pub mac_error: Signal<In, Bit>,
    /// UDP destination port of RoCE packets.
    pub udp_port: Signal<In, Bits<16>>,
    // Write port of the table of peers, always accepted.
    pub peer_valid: Signal<In, Bit>,
    pub peer_qp: Signal<In, Qpn>,
    pub peer: Signal<In, ControlPeer>,

    // To the core, and the packet buffer, as in `RxFront`.
    pub out_valid: Signal<Out, Bit>,
    pub out_token: Signal<Out, CoreToken>,
    pub out_ready: Signal<In, Bit>,
    pub read_beat: Signal<In, Bits<12>>,
    pub read_low: Signal<Out, Bits<W>>,
    pub read_high: Signal<Out, Bits<W>>,
    pub free_valid: Signal<In, Bit>,
    pub free_beats: Signal<In, Bits<8>>,

    // To the requester.
    pub control_valid: Signal<Out, Bit>,
    pub control: Signal<Out, ControlPacket>,
    pub control_ready: Signal<In, Bit>,

    front: RxFront<W, A>,
    control_path: RxControl,
}

impl<const W: usize, const A: usize> Logic for RxPort<W, A> {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, front, control_path);
        self.front.reset.next = self.reset.val();
        self.control_path.reset.next = self.reset.val();

        self.front.mac_valid.next = self.mac_valid.val();
        self.front.mac_data.next = self.mac_data.val();
        self.front.mac_bytes.next = self.mac_bytes.val();
        self.front.mac_last.next = self.mac_last.val();
        self.front.mac_error.next = self.mac_error.val();
        self.front.udp_port.next = self.udp_port.val();

        self.control_path.port.next = self.port.val();
        self.control_path.peer_valid.next = self.peer_valid.val();
        self.control_path.peer_qp.next = self.peer_qp.val();
        self.control_path.peer.next = self.peer.val();
        self.control_path.in_fields.next = self.front.out_fields.val();
        self.control_path.in_source.next = self.front.out_source.val();
        self.control_path.in_transport.next = self.front.out_transport.val();
        self.front.in_finding.next = self.control_path.out_finding.val();
        self.front.control_room.next = self.control_path.room.val();
        self.control_path.taken.next = self.front.control_taken.val();

        self.out_valid.next = self.front.out_valid.val();
        self.out_token.next = self.front.out_token.val();
        self.front.out_ready.next = self.out_ready.val();
        self.front.read_beat.next = self.read_beat.val();
        self.read_low.next = self.front.read_low.val();
        self.read_high.next = self.front.read_high.val();
        self.front.free_valid.next = self.free_valid.val();
        self.front.free_beats.next = self.free_beats.val();
        self.control_valid.next = self.control_path.control_valid.val();
        self.control.next = self.control_path.control.val();
        self.control_path.control_ready.next = self.control_ready.val();
    }
}
