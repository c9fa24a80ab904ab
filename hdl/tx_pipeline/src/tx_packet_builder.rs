//! Makes the header record of a decided packet, and the source of its payload.
//!
//! States, with planned LUT6 levels:
//! 1. `Take`: accept an acknowledgement or a request, and read the peer of its queue pair (2: choice between the two).
//! 2. `Peer`: read the address vector of the peer's host, count the payload beats (2 carries), queue the read.
//! 3. `Address`: store the address, cut the uplink out of the entropy value (4: 32 to 16 bits, mask).
//!
//! In the cycle behind, the record leaves, which comes from registers only (the uplink is added to its uSID, 1 + carry), and the source of the payload. The next
//! packet may be accepted in that cycle.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{
    AddressFlowSnk, Checked, Credit, FlowSrc, Parameters, QpRowFlowSnk, RowRam, Snk, Src, SyncFifo,
};
use rust_hdl::prelude::*;
use stellar_wire::hw::address::{FrameAddress, PortConfig, VECTOR_BITS};
use stellar_wire::hw::control::QpPeer;
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::payload::{read_user, PayloadSource, READ_ADDRESS};
use stellar_wire::hw::read::ReadCommand;
use stellar_wire::hw::requester::{TxAnswer, TxRequest};
use stellar_wire::hw::tx::TxPacket;
use stellar_wire::hw::QPN_BITS;
use stellar_wire::mtu::{LENGTH_BITS, MAX_PAYLOAD};

use crate::frame_record::{entropy_uplink, frame_record};
use crate::tx_frame_builder::{ANSWER_ADDRESS, ANSWER_COUNT, REQUEST_ADDRESS, REQUEST_COUNT};

/// For a lane of 1,024 bits: 1,024 queue pairs, and [`crate::TxFrameBuilder1024`] behind.
pub type TxPacketBuilder1024 = TxPacketBuilder<10, 7, 9>;
/// For a lane of 512 bits.
pub type TxPacketBuilder512 = TxPacketBuilder<10, 6, 9>;

/// Cycles from one accepted packet to the next, if no later block stalls.
pub const CLOCKS_PER_PACKET: usize = 3;
/// Cycles from an accepted packet to its record.
pub const LATENCY: usize = 3;

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum BuildState {
    Take,
    Peer,
    Address,
}

/// Converts the packets of one port to records for [`crate::TxFrameBuilder`]. Acknowledgements have priority. 2^`Q` queue pairs; beats of 2^`B` bytes, and a
/// payload buffer of 2^`A` beats behind this block. One packet per [`CLOCKS_PER_PACKET`] cycles.
///
/// **Reserve before request**: a request is accepted only if the payload buffer has space for the longest payload beside everything that was
/// requested and has not left. So payload from memory never waits for the MAC, and the DMA, which also serves others, never waits for this port
/// (`docs/tx_lane.md`, payload).
///
/// **A packet that is accepted never waits here**: there is space for its header, in a FIFO of its kind, and for its read command. So an
/// acknowledgement does not wait for requests whose payload is late.
#[derive(LogicBlock)]
pub struct TxPacketBuilder<const Q: usize, const B: usize, const A: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Discards the packet in progress and all reservations; keeps the tables. Reset the blocks behind at the same time.
    pub reset: Signal<In, Bit>,

    // Configuration.
    /// Change it only while nothing is in progress.
    pub port_config: Signal<In, PortConfig>,
    /// Peers of queue pairs, and addresses of their hosts. A queue pair sends nothing before it has a peer, and keeps the last one that was valid.
    pub peer: QpRowFlowSnk<QpPeer>,
    pub address: AddressFlowSnk,

    // Packets to send.
    pub answer: Snk<TxAnswer>,
    /// Requests to send. They are not accepted while an acknowledgement is offered that can be accepted.
    pub request: Snk<TxRequest>,

    // To TxFrameBuilder.
    pub packet: FlowSrc<TxPacket>,
    /// The packet is an acknowledgement.
    pub packet_answers: Signal<Out, Bit>,
    /// The header of a request left its FIFO in this cycle, and that of an acknowledgement.
    pub request_freed: Signal<In, Bit>,
    pub answer_freed: Signal<In, Bit>,
    /// Beats that left the payload buffer in this cycle.
    pub payload_freed: Signal<In, Bits<8>>,

    // To PayloadMux: one for each packet with payload, in order.
    pub source: FlowSrc<PayloadSource>,

    // To the DMA: one for each packet with payload in memory, in order. An offer stays until it is accepted.
    pub read: Src<ReadCommand>,
    /// A request without payload in memory passed: its address is read, and nothing is read for it.
    pub passed: Signal<Out, EpochEnd>,

    peers: RowRam<QpPeer, Q>,
    addresses: RowRam<FrameAddress, VECTOR_BITS>,
    request_credit: Credit<REQUEST_COUNT>,
    answer_credit: Credit<ANSWER_COUNT>,
    reads: SyncFifo<ReadCommand, 1, 2>,
    state: DFF<BuildState>,
    answering: DFF<Bit>,
    held_answer: DFF<TxAnswer>,
    held_request: DFF<TxRequest>,
    held_peer: DFF<QpPeer>,
    held_address: DFF<FrameAddress>,
    /// The record leaves.
    sending: DFF<Bit>,
    uplink: DFF<Bits<16>>,
    /// Beats of the payload buffer that are used or reserved.
    used: DFF<Bits<12>>,
    /// There is space for the longest payload.
    room: DFF<Bit>,
}

impl<const Q: usize, const B: usize, const A: usize> Parameters for TxPacketBuilder<Q, B, A> {
    fn check() {
        assert!(
            (1..=QPN_BITS).contains(&Q),
            "TxPacketBuilder<{Q}, {B}, {A}>: queue pair numbers have {QPN_BITS} bits, use Q = 1 to {QPN_BITS}"
        );
        assert!(
            (4..=7).contains(&B) && A <= 11 && MAX_PAYLOAD <= 1 << (A + B),
            "TxPacketBuilder<{Q}, {B}, {A}>: use B = 4 to 7, and A = {} to 11 so that the payload buffer holds {MAX_PAYLOAD} bytes",
            13usize.saturating_sub(B)
        );
    }
}

impl<const Q: usize, const B: usize, const A: usize> Default for TxPacketBuilder<Q, B, A> {
    fn default() -> Self {
        Self {
            _parameters: Default::default(),
            clock: Default::default(),
            reset: Default::default(),
            port_config: Default::default(),
            peer: Default::default(),
            address: Default::default(),
            answer: Default::default(),
            request: Default::default(),
            packet: Default::default(),
            packet_answers: Default::default(),
            request_freed: Default::default(),
            answer_freed: Default::default(),
            payload_freed: Default::default(),
            source: Default::default(),
            read: Default::default(),
            passed: Default::default(),
            peers: Default::default(),
            addresses: Default::default(),
            request_credit: Credit::new(1 << REQUEST_ADDRESS),
            answer_credit: Credit::new(1 << ANSWER_ADDRESS),
            reads: Default::default(),
            state: Default::default(),
            answering: Default::default(),
            held_answer: Default::default(),
            held_request: Default::default(),
            held_peer: Default::default(),
            held_address: Default::default(),
            sending: Default::default(),
            uplink: Default::default(),
            used: Default::default(),
            room: Default::default(),
        }
    }
}

impl<const Q: usize, const B: usize, const A: usize> Logic for TxPacketBuilder<Q, B, A> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, state, answering, held_answer, held_request);
        dff_setup!(self, clock, held_peer, held_address, uplink, sending);
        dff_setup!(self, clock, used, room);
        clock!(self, clock, peers, addresses);
        clock_reset!(self, request_credit, answer_credit, reads);
        let written = self.peer.record.val();
        self.peers.write_enable.next = self.peer.valid.val() & written.valid;
        self.peers.write_address.next = bit_cast::<Q, QPN_BITS>(self.peer.qp.val());
        self.peers.write_data.next = written;
        self.addresses.write_enable.next = self.address.valid.val();
        self.addresses.write_address.next = self.address.vector.val();
        self.addresses.write_data.next = self.address.record.val();

        // take
        let taking = self.state.q.val() == BuildState::Take;
        let answers = self.answer.valid.val() & self.answer_credit.room.val();
        let take_answer = taking & answers;
        let may_request = taking
            & self.room.q.val()
            & self.request_credit.room.val()
            & self.reads.in_.ready.val()
            & !answers;
        let take_request = may_request & self.request.valid.val();
        self.answer.ready.next = taking & self.answer_credit.room.val();
        self.request.ready.next = may_request;
        self.answer_credit.take.next = take_answer;
        self.request_credit.take.next = take_request;
        join!(
            self,
            answer_freed => answer_credit.give,
            request_freed => request_credit.give,
        );
        let qp = if answers {
            self.answer.record.val().qp
        } else {
            self.request.record.val().qp
        };
        self.peers.read_address.next = bit_cast::<Q, QPN_BITS>(qp);
        if taking {
            self.answering.d.next = answers;
            self.held_answer.d.next = self.answer.record.val();
            self.held_request.d.next = self.request.record.val();
        }
        let answering = self.answering.q.val();
        let answer = self.held_answer.q.val();
        let request = self.held_request.q.val();

        // peer
        let finding = self.state.q.val() == BuildState::Peer;
        let peer = self.peers.read_data.val();
        if finding {
            self.held_peer.d.next = peer;
        }
        self.addresses.read_address.next = peer.vector;
        let has_payload = !answering & request.length.any();
        let reads = has_payload & !request.inline;
        self.passed.next = EpochEnd {
            valid: finding & !answering & !reads,
            epoch: request.epoch,
        };
        self.reads.in_.valid.next = finding & reads;
        self.reads.in_.data.next = ReadCommand {
            length: request.length,
            segments: request.segments,
            user: (bit_cast::<{ read_user::BITS }, 16>(request.slot) << (read_user::SLOT as u64))
                | (bit_cast::<{ read_user::BITS }, QPN_BITS>(request.qp) << (read_user::QP as u64))
                | (bit_cast::<{ read_user::BITS }, 1>(request.epoch.into())
                    << (read_user::EPOCH as u64)),
        };
        join!(self, reads.out => read);

        // reserve
        let beats = (request.length + bits::<LENGTH_BITS>((1 << B) - 1)) >> (B as u64);
        let reserved = if finding & has_payload {
            bit_cast::<12, LENGTH_BITS>(beats)
        } else {
            bits::<12>(0)
        };
        let freed = bit_cast::<12, 8>(self.payload_freed.val());
        let used = self.used.q.val();
        assert!(
            used.index() <= 1 << A,
            "more payload left the buffer than was asked for, or did not fit it"
        );
        self.used.d.next = used + reserved - freed;
        self.room.d.next = used <= (((1 << A) - (MAX_PAYLOAD >> B)) as u64);

        // address
        let addressing = self.state.q.val() == BuildState::Address;
        let found = self.addresses.read_data.val();
        let entropy = if answering {
            answer.entropy
        } else {
            request.entropy
        };
        if addressing {
            self.held_address.d.next = found;
            self.uplink.d.next = entropy_uplink(entropy, found.uplink_low, found.uplink_bits);
        }
        self.sending.d.next = addressing;

        // send
        let sending = self.sending.q.val();
        self.packet.valid.next = sending;
        self.packet_answers.next = answering;
        self.source.valid.next = sending & has_payload;
        self.source.record.next = PayloadSource {
            inline: request.inline,
            inline_data: if request.inline {
                request.inline_data
            } else {
                bit_cast::<512, 64>(request.segments.first_address) << (READ_ADDRESS as u64)
            },
        };
        if take_answer | take_request {
            self.state.d.next = BuildState::Peer;
        }
        if finding {
            self.state.d.next = BuildState::Address;
        }
        if addressing {
            self.state.d.next = BuildState::Take;
        }

        self.packet.record.next = frame_record(
            self.port_config.val(),
            self.held_peer.q.val(),
            self.held_address.q.val(),
            self.uplink.q.val(),
            answering,
            answer,
            request,
        );

        if self.reset.val() {
            self.state.d.next = BuildState::Take;
            self.sending.d.next = false;
            self.used.d.next = bits(0);
            self.room.d.next = false;
        }
    }
}
