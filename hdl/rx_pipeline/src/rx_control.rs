//! The control path of a lane: it checks control packets in parallel with the front end, and queues them for the requester.

use hdl_macros::{clock, clock_reset, hdl, join};
use hdl_primitives::{AddressFlowSnk, BlockFifo, Delay, QpRowFlowSnk, Src};
use rust_hdl::prelude::*;
use stellar_wire::hw::control::QpPeer;
use stellar_wire::hw::requester::ControlPacket;

use crate::control_check::{self, ControlCheck, ControlCheckResult};
use crate::layout::TRANSPORT_BITS;
use crate::parse_ip::{self, IpFields};
use crate::{frame_verdict, header_window, icrc_check};

/// Cycles by which the result of the check is delayed, to meet the iCRC.
const FINDING_WAIT: usize =
    icrc_check::LATENCY - header_window::LATENCY - parse_ip::LATENCY - control_check::LATENCY;
/// Cycles by which the packet is delayed, to meet the verdict.
const PACKET_WAIT: usize =
    control_check::LATENCY - control_check::PACKET_LATENCY + FINDING_WAIT + frame_verdict::LATENCY;
/// Cycles from the write of a peer until no packet is queued that was compared with the one before: a fence has to begin its epoch later than that.
pub const OLD_PEER_CYCLES: usize = control_check::PACKET_LATENCY + PACKET_WAIT + 1;

/// log2 of the entries of the FIFO: 512, the depth of one block RAM. A requester engine takes less than 64 cycles for a control packet, and a port
/// delivers at most one per cycle. So bursts of about 500 fit; the transport recovers packets lost beyond that.
const DEPTH_BITS: usize = 9;
const COUNT_BITS: usize = DEPTH_BITS + 1;
/// Packets that may still arrive after `room` is low: one for each register of `room`, verdict and count, and one to spare.
const MARGIN: usize = 4;

/// Works in parallel with [`RxFront`](crate::RxFront). It checks the headers from the IP parser of the front end, gives the result to its
/// `frame_verdict`, and queues the packets that the verdict accepts. LUT levels: 2 (count).
#[derive(LogicBlock, Default)]
pub struct RxControl<const Q: usize = 10> {
    pub clock: Signal<In, Clock>,
    /// Empties the FIFO; the tables of peers and their addresses keep their contents.
    pub reset: Signal<In, Bit>,
    /// Port of this lane.
    pub port: Signal<In, Bit>,

    /// From which peer a queue pair accepts packets, and the addresses of the two ports of its host.
    pub peer: QpRowFlowSnk<QpPeer>,
    pub address: [AddressFlowSnk; 2],

    // From and to the front end.
    pub in_fields: Signal<In, IpFields>,
    pub in_source: Signal<In, Bits<128>>,
    pub in_transport: Signal<In, Bits<TRANSPORT_BITS>>,
    /// The result of the check, in the cycle in which `frame_verdict` reads its inputs.
    pub out_finding: Signal<Out, ControlCheckResult>,
    /// The FIFO has space.
    pub room: Signal<Out, Bit>,
    /// The verdict, one cycle later: the packet is queued. A fence waits until the requester has it, so `taken` is the beginning of a use.
    pub taken: Signal<In, Bit>,
    /// Epoch of what begins in this cycle.
    pub epoch: Signal<In, Bit>,

    /// To the requester.
    pub control: Src<ControlPacket>,

    check: ControlCheck<Q>,
    finding_wait: Delay<ControlCheckResult, FINDING_WAIT>,
    packet_wait: Delay<ControlPacket, PACKET_WAIT>,
    queue: BlockFifo<ControlPacket, DEPTH_BITS, COUNT_BITS>,
    has_room: DFF<Bit>,
}

impl<const Q: usize> Logic for RxControl<Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, has_room);
        clock_reset!(self, queue);
        clock!(self, clock, check, finding_wait, packet_wait);
        assert!(
            self.queue.in_.ready.val() || !self.taken.val(),
            "RxControl overflow: MARGIN is too small"
        );

        join!(
            self,
            port => check.port,
            peer => check.peer,
            address => check.address,
            in_fields => check.in_fields,
            in_source => check.in_source,
            in_transport => check.in_transport,
            check.out_finding => finding_wait.data,
            check.out_packet => packet_wait.data,
            finding_wait.delayed => out_finding,
        );

        let limit = ((1 << DEPTH_BITS) - MARGIN) as u64;
        self.has_room.d.next = self.queue.count.val() < limit;
        self.room.next = self.has_room.q.val();
        self.queue.in_.data.next = ControlPacket {
            epoch: self.epoch.val(),
            ..self.packet_wait.delayed.val()
        };
        join!(self, taken => queue.in_.valid, queue.out => control);
        if self.reset.val() {
            self.has_room.d.next = false;
        }
    }
}
