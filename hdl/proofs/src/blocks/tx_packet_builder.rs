//! The reads of payload that is sent.

use hdl_macros::{bundle, clock_reset, hdl, join};
use hdl_primitives::{AddressFlowSnk, QpRowFlowSnk, Snk, Src};
use hdl_tx_pipeline::tx_packet_builder::{BuildState, TxPacketBuilder};
use rust_hdl::prelude::*;
use stellar_wire::hw::address::PortConfig;
use stellar_wire::hw::control::QpPeer;
use stellar_wire::hw::read::ReadCommand;
use stellar_wire::hw::requester::{TxAnswer, TxRequest};

/// Registers of the block, and the read that enters its FIFO.
#[bundle]
pub struct BuilderInsideSrc {
    pub state: Signal<Out, BuildState>,
    pub answering: Signal<Out, Bit>,
    pub held_request: Signal<Out, TxRequest>,
    pub reads_held: Signal<Out, Bits<2>>,
    pub reads_write_pointer: Signal<Out, Bits<1>>,
    pub reads_read_pointer: Signal<Out, Bits<1>>,
    pub reads_in_valid: Signal<Out, Bit>,
    pub reads_in_data: Signal<Out, ReadCommand>,
    pub reads_in_ready: Signal<Out, Bit>,
}

/// Properties of [`TxPacketBuilder`] with 2 queue pairs, beats of 128 bytes and a payload buffer of 128 beats, told of reads that enter the FIFO in front of the DMA.
/// The FIFO is a `SyncFifo`, which has properties of its own.
#[derive(LogicBlock, Default)]
pub struct TxPacketBuilderProof {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub port_config: Signal<In, PortConfig>,
    pub peer: QpRowFlowSnk<QpPeer>,
    pub address: AddressFlowSnk,
    pub answer: Snk<TxAnswer>,
    pub request: Snk<TxRequest>,
    pub request_freed: Signal<In, Bit>,
    pub answer_freed: Signal<In, Bit>,
    pub payload_freed: Signal<In, Bits<8>>,
    pub read: Src<ReadCommand>,
    /// Registers of the block.
    pub inner_builder: BuilderInsideSnk,

    /// A read is made exactly for a request that was accepted in the cycle before, if it has payload that is not inline: none for an acknowledgement, and one for each such request.
    pub holds_requested: Signal<Out, Bit>,
    /// It has the length and the location of that request's payload.
    pub holds_location: Signal<Out, Bit>,
    /// It finds room in the FIFO.
    pub holds_room: Signal<Out, Bit>,

    // What is in the registers, so that the properties are an invariant together.
    /// The block finds the peer of a request in the cycle after it was accepted.
    pub holds_state: Signal<Out, Bit>,
    /// The FIFO has as many entries as its pointers are apart.
    pub holds_fifo: Signal<Out, Bit>,

    /// A read of three segments can leave.
    pub reaches_read: Signal<Out, Bit>,

    builder: TxPacketBuilder<1, 7, 7>,
    /// A request was accepted in the last cycle.
    accepted: DFF<Bit>,
    asked: DFF<TxRequest>,
}

impl Logic for TxPacketBuilderProof {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, accepted, asked);
        clock_reset!(self, builder);
        join!(
            self,
            port_config => builder.port_config,
            peer => builder.peer,
            address => builder.address,
            answer => builder.answer,
            request => builder.request,
            request_freed => builder.request_freed,
            answer_freed => builder.answer_freed,
            payload_freed => builder.payload_freed,
            builder.read => read,
        );
        let reset = self.reset.val();
        self.accepted.d.next = self.request.valid.val() & self.builder.request.ready.val() & !reset;
        self.asked.d.next = self.request.record.val();
        let accepted = self.accepted.q.val();
        let asked = self.asked.q.val();
        let wants = accepted & asked.length.any() & !asked.inline;

        let reads = self.inner_builder.reads_in_valid.val();
        let command = self.inner_builder.reads_in_data.val();
        self.holds_requested.next = reads == wants;
        self.holds_location.next =
            !reads | ((command.length == asked.length) & (command.segments == asked.segments));
        self.holds_room.next = !reads | self.inner_builder.reads_in_ready.val();

        let finds_peer = (self.inner_builder.state.val() == BuildState::Peer)
            & !self.inner_builder.answering.val();
        let held = self.inner_builder.reads_held.val();
        self.holds_state.next = (finds_peer == accepted)
            & (!accepted | ((self.inner_builder.held_request.val() == asked) & (held <= 1)));
        let apart = self.inner_builder.reads_write_pointer.val()
            - self.inner_builder.reads_read_pointer.val();
        self.holds_fifo.next = (held <= 2) & (bit_cast::<2, 1>(apart) == (held & 1));

        self.reaches_read.next =
            self.builder.read.valid.val() & self.builder.read.record.val().segments.has_third;
    }
}
