//! The transmit lane of one port: decided packets and their payload in, reads and frames out.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{
    AddressFlowSnk, FlowSrc, MacTxSrc, PayloadFaultSrc, QpRowFlowSnk, ReadDataSnk, Snk, Src,
};
use rust_hdl::prelude::*;
use stellar_wire::hw::address::PortConfig;
use stellar_wire::hw::control::QpPeer;
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::read::ReadCommand;
use stellar_wire::hw::requester::{TxAnswer, TxRequest};
use stellar_wire::hw::window::Departure;

use crate::departures::Departures;
use crate::frame_assembler;
use crate::icrc_insert;
use crate::payload_mux::PayloadMux;
use crate::tx_frame_builder::{self, TxFrameBuilder};
use crate::tx_packet_builder::{self, TxPacketBuilder};

/// For a lane of 1,024 bits and 1,024 queue pairs, with 64 KiB of payload.
pub type TxLane1024 = TxLane<10, 1024, 128, 7, 9, 10>;
/// For a lane of 512 bits and 1,024 queue pairs, with 32 KiB of payload.
pub type TxLane512 = TxLane<10, 512, 64, 6, 9, 10>;

/// Cycles from the report of a packet's departure to the first beat of its frame, if the MAC accepts all beats.
pub const DEPARTURE_LATENCY: usize = frame_assembler::LATENCY + icrc_insert::LATENCY;
/// Cycles from an accepted acknowledgement to the first beat of its frame, if nothing is before it.
pub const LATENCY: usize = tx_packet_builder::LATENCY + tx_frame_builder::ANSWER_LATENCY;

/// The transmit lane of one port: [`TxPacketBuilder`], [`PayloadMux`] and [`TxFrameBuilder`] together. It has 2^`Q` queue pairs. A beat has `W` bits,
/// `N` = W / 8 = 2^`B`. The payload buffer has 2^`A` beats, `C` = `A` + 1.
#[derive(LogicBlock, Default)]
pub struct TxLane<
    const Q: usize,
    const W: usize,
    const N: usize,
    const B: usize,
    const A: usize,
    const C: usize,
> {
    pub clock: Signal<In, Clock>,
    /// Forgets everything but the addresses. Payload that is being read must have come before it ends.
    pub reset: Signal<In, Bit>,

    // Configuration.
    pub port_config: Signal<In, PortConfig>,
    pub peer: QpRowFlowSnk<QpPeer>,
    pub address: AddressFlowSnk,

    // Packets to send. Acknowledgements have priority.
    pub answer: Snk<TxAnswer>,
    pub request: Snk<TxRequest>,

    // Read commands to the DMA, and the payload that it returns, in order.
    pub read: Src<ReadCommand>,
    pub payload: ReadDataSnk<W>,
    /// A request without payload in memory passed.
    pub passed: Signal<Out, EpochEnd>,
    /// High for one cycle: the frame of an MRC data packet has begun, whose record this names.
    pub departs: FlowSrc<Departure>,

    // Payload that could not be read: the queue pair, the send queue index of the message, and where the payload is.
    pub fault: PayloadFaultSrc,

    // To the MAC.
    pub mac: MacTxSrc<W>,

    // Counters: one cycle each.
    /// A frame was not sent, because its payload could not be read.
    pub left_out: Signal<Out, Bit>,
    /// The report of a frame whose payload could not be read was dropped.
    pub fault_lost: Signal<Out, Bit>,
    /// The DMA returned more or fewer bytes than requested. Frames are wrong until a reset.
    pub payload_mismatch: Signal<Out, Bit>,

    packets: TxPacketBuilder<Q, B, A>,
    mux: PayloadMux<W>,
    frames: TxFrameBuilder<W, N, B, A, C>,
    departures: Departures,
}

impl<
        const Q: usize,
        const W: usize,
        const N: usize,
        const B: usize,
        const A: usize,
        const C: usize,
    > Logic for TxLane<Q, W, N, B, A, C>
{
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, packets, mux, frames, departures);

        join!(
            self,
            port_config => packets.port_config,
            peer => packets.peer,
            address => packets.address,
            answer => packets.answer,
            request => packets.request,
            packets.read => read,
            packets.passed => passed,
        );

        self.departures.accepted.valid.next =
            self.request.valid.val() & self.packets.request.ready.val();
        join!(
            self,
            request.record => departures.accepted.record,
            frames.request_freed => departures.begins,
            departures.departs => departs,
        );

        join!(
            self,
            packets.packet => frames.packet,
            packets.packet_answers => frames.packet_answers,
            frames.request_freed => packets.request_freed,
            frames.answer_freed => packets.answer_freed,
            frames.payload_freed => packets.payload_freed,
            packets.source => mux.source,
        );

        join!(
            self,
            payload => mux.read,
            mux.payload_valid => frames.payload_valid,
            mux.payload_data => frames.payload_data,
            mux.payload_last => frames.payload_last,
            mux.payload_error => frames.payload_error,
            frames.payload_ready => mux.payload_ready,
            mux.fault => fault,
        );

        join!(
            self,
            frames.mac => mac,
            frames.left_out => left_out,
            mux.fault_lost => fault_lost,
            frames.payload_mismatch => payload_mismatch,
        );
    }
}
