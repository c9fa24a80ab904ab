//! The transmit lane of one port: decided packets and their payload in, reads and frames out.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::address::{FrameAddress, PortConfig};
use stellar_wire::hw::read::{ReadBeat, ReadCommand};
use stellar_wire::hw::requester::{TxAnswer, TxRequest};

use crate::framing::{self, Framing};
use crate::payload_mux::PayloadMux;
use crate::tx_front::{self, TxFront};

/// For a lane of 1,024 bits and 1,024 queue pairs, with 64 KiB of payload.
pub type TxLane1024 = TxLane<10, 1024, 128, 7, 9, 10>;
/// For a lane of 512 bits and 1,024 queue pairs, with 32 KiB of payload.
pub type TxLane512 = TxLane<10, 512, 64, 6, 9, 10>;

/// Cycles from an accepted packet without payload to the first beat of its frame, if nothing is before it.
pub const LATENCY: usize = framing::LATENCY + tx_front::LATENCY;

/// [`Framing`], [`PayloadMux`] and [`TxFront`] together. 2^`Q` queue pairs, `W` bits a beat, `N` = W / 8 = 2^`B`, 2^`A` beats of payload, `C` = `A` +
/// 1.
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
    pub address_valid: Signal<In, Bit>,
    pub address_qp: Signal<In, Bits<10>>,
    pub address: Signal<In, FrameAddress>,

    // What to send, answers first.
    pub answer_valid: Signal<In, Bit>,
    pub answer: Signal<In, TxAnswer>,
    pub answer_ready: Signal<Out, Bit>,
    pub request_valid: Signal<In, Bit>,
    pub request: Signal<In, TxRequest>,
    pub request_ready: Signal<Out, Bit>,

    // To the DMA, and what it returns, in order.
    pub read_valid: Signal<Out, Bit>,
    pub read: Signal<Out, ReadCommand>,
    pub read_ready: Signal<In, Bit>,
    pub payload_valid: Signal<In, Bit>,
    pub payload_data: Signal<In, Bits<W>>,
    pub payload_beat: Signal<In, ReadBeat>,
    /// Never low for long: room was reserved.
    pub payload_ready: Signal<Out, Bit>,

    // Payload that could not be read: the queue pair, and the send queue index of the message.
    pub fault_valid: Signal<Out, Bit>,
    pub fault_qp: Signal<Out, Bits<10>>,
    pub fault_slot: Signal<Out, Bits<16>>,
    pub fault_ready: Signal<In, Bit>,

    // To the MAC.
    pub mac_valid: Signal<Out, Bit>,
    pub mac_data: Signal<Out, Bits<W>>,
    pub mac_bytes: Signal<Out, Bits<8>>,
    pub mac_last: Signal<Out, Bit>,
    pub mac_ready: Signal<In, Bit>,

    // Counters: one clock each.
    /// A frame was not sent, because its payload could not be read.
    pub left_out: Signal<Out, Bit>,
    /// A report of such a frame was dropped.
    pub fault_lost: Signal<Out, Bit>,
    /// The DMA returned more or fewer bytes than were asked for. Frames are wrong from there on until a reset.
    pub payload_mismatch: Signal<Out, Bit>,

    framing: Framing<Q, B, A>,
    mux: PayloadMux<W>,
    front: TxFront<W, N, B, A, C>,
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
        clock!(self, clock, framing, mux, front);
        self.framing.reset.next = self.reset.val();
        self.mux.reset.next = self.reset.val();
        self.front.reset.next = self.reset.val();

        self.framing.port_config.next = self.port_config.val();
        self.framing.address_valid.next = self.address_valid.val();
        self.framing.address_qp.next = self.address_qp.val();
        self.framing.address.next = self.address.val();
        self.framing.answer_valid.next = self.answer_valid.val();
        self.framing.answer.next = self.answer.val();
        self.answer_ready.next = self.framing.answer_ready.val();
        self.framing.request_valid.next = self.request_valid.val();
        self.framing.request.next = self.request.val();
        self.request_ready.next = self.framing.request_ready.val();
        self.read_valid.next = self.framing.read_valid.val();
        self.read.next = self.framing.read.val();
        self.framing.read_ready.next = self.read_ready.val();

        self.front.packet_valid.next = self.framing.packet_valid.val();
        self.front.packet.next = self.framing.packet.val();
        self.framing.packet_ready.next = self.front.packet_ready.val();
        self.framing.payload_freed.next = self.front.payload_freed.val();
        self.mux.source_valid.next = self.framing.source_valid.val();
        self.mux.source.next = self.framing.source.val();
        self.framing.source_ready.next = self.mux.source_ready.val();

        self.mux.read_valid.next = self.payload_valid.val();
        self.mux.read_data.next = self.payload_data.val();
        self.mux.read_beat.next = self.payload_beat.val();
        self.payload_ready.next = self.mux.read_ready.val();
        self.front.payload_valid.next = self.mux.payload_valid.val();
        self.front.payload_data.next = self.mux.payload_data.val();
        self.front.payload_last.next = self.mux.payload_last.val();
        self.front.payload_error.next = self.mux.payload_error.val();
        self.mux.payload_ready.next = self.front.payload_ready.val();
        self.fault_valid.next = self.mux.fault_valid.val();
        self.fault_qp.next = self.mux.fault_qp.val();
        self.fault_slot.next = self.mux.fault_slot.val();
        self.mux.fault_ready.next = self.fault_ready.val();

        self.mac_valid.next = self.front.mac_valid.val();
        self.mac_data.next = self.front.mac_data.val();
        self.mac_bytes.next = self.front.mac_bytes.val();
        self.mac_last.next = self.front.mac_last.val();
        self.front.mac_ready.next = self.mac_ready.val();
        self.left_out.next = self.front.left_out.val();
        self.fault_lost.next = self.mux.fault_lost.val();
        self.payload_mismatch.next = self.front.payload_mismatch.val();
    }
}
