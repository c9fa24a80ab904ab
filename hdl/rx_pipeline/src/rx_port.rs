//! The front end of a lane with its control path.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{
    AddressFlowSnk, BufferFreeSnk, BufferReadSnk, MacRxSnk, QpRowFlowSnk, Src, TokenSrc,
};
use rust_hdl::prelude::*;
use stellar_wire::hw::control::QpPeer;
use stellar_wire::hw::core::CoreToken;
use stellar_wire::hw::requester::ControlPacket;

use crate::own_address::OwnAddress;
use crate::rx_control::RxControl;
use crate::rx_front::RxFront;

/// [`RxFront`] and [`RxControl`]: frames of a port become tokens for the core and control packets for the requester.
#[derive(LogicBlock, Default)]
pub struct RxPort<const W: usize, const A: usize = 8, const Q: usize = 10> {
    pub clock: Signal<In, Clock>,
    /// Synchronous; resets `rx_front` and `rx_control`.
    pub reset: Signal<In, Bit>,
    /// Number of the port.
    pub port: Signal<In, Bit>,

    pub mac: MacRxSnk<W>,
    /// UDP destination port of RoCE packets.
    pub udp_port: Signal<In, Bits<16>>,
    /// The port's own address.
    pub own: Signal<In, OwnAddress>,
    /// Write ports of the table of peers, and of the addresses of the two ports of their hosts.
    pub peer: QpRowFlowSnk<QpPeer>,
    pub address: [AddressFlowSnk; 2],

    /// To the core.
    pub out: TokenSrc<CoreToken>,
    /// Packet buffer, as in `RxFront`.
    pub read: BufferReadSnk<W>,
    pub free: BufferFreeSnk,

    /// To the requester.
    pub control: Src<ControlPacket>,
    /// A packet for the requester is queued in this cycle, in the current epoch.
    pub control_begun: Signal<Out, Bit>,
    pub epoch: Signal<In, Bit>,

    front: RxFront<W, A>,
    control_path: RxControl<Q>,
}

impl<const W: usize, const A: usize, const Q: usize> Logic for RxPort<W, A, Q> {
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, front, control_path);
        join!(
            self,
            mac => front.mac,
            udp_port => front.udp_port,
            own => front.own,
            front.out => out,
            read => front.read,
            free => front.free,

            port => control_path.port,
            peer => control_path.peer,
            address => control_path.address,
            front.out_fields => control_path.in_fields,
            front.out_source => control_path.in_source,
            front.out_transport => control_path.in_transport,
            control_path.out_finding => front.in_finding,
            control_path.room => front.control_room,
            front.control_taken => control_path.taken,
            front.control_taken => control_begun,
            epoch => control_path.epoch,
            control_path.control => control,
        );
    }
}
