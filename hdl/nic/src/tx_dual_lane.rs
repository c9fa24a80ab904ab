//! Two transmit lanes: they turn decided packets, and payload from memory, into the MAC frames of two ports.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{MacTxSrc, PayloadFaultSrc, QpRowFlowSnk, ReadDataSnk, Snk, Src};
use hdl_tx_pipeline::{AnswerQueue, LinkFilter, TxLane1024};
use rust_hdl::prelude::*;
use stellar_wire::hw::address::{FrameAddress, PortConfig};
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::read::ReadCommand;
use stellar_wire::hw::requester::{TxAnswer, TxRequest};

use crate::stuck_port::StuckPort;

/// What a transmit lane counts, each bit for one event in this cycle.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxEvents {
    /// An acknowledgement was dropped.
    pub answer_dropped: Bit,
    /// A frame was dropped or cut, because the link was down, or the port was stuck while a fence waited.
    pub frame_dropped: Bit,
    /// A frame was not sent, because its payload could not be read.
    pub left_out: Bit,
    /// The report of a failed read was dropped.
    pub fault_lost: Bit,
}

/// A lane of 1,024 bits for each of two 200G ports; index p is port p. An acknowledgement names its port.
#[derive(LogicBlock, Default)]
pub struct TxDualLane {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Bit p: the link of port p is up.
    pub port_up: Signal<In, Bits<2>>,
    /// A fence waits for what is before the ports, and the time after which a port that does not send is stuck: see [`StuckPort`].
    pub fence_waits: Signal<In, Bit>,
    pub stuck_timeout: Signal<In, Bits<31>>,

    // Configuration.
    pub port_config: [Signal<In, PortConfig>; 2],
    pub address: [QpRowFlowSnk<FrameAddress>; 2],

    // What to send.
    pub answer: Snk<TxAnswer>,
    pub request: [Snk<TxRequest>; 2],

    // To the DMA read engines, and what they return, in order.
    pub read: [Src<ReadCommand>; 2],
    pub payload: [ReadDataSnk<1024>; 2],
    /// A request without payload in memory passed.
    pub passed: [Signal<Out, EpochEnd>; 2],

    /// Payload that could not be read.
    pub fault: [PayloadFaultSrc; 2],

    pub mac: [MacTxSrc<1024>; 2],

    /// What the lane of each port counts.
    pub events: [Signal<Out, TxEvents>; 2],
    /// A lane received a payload of another length than it requested. A correct card never raises it.
    pub payload_mismatch: Signal<Out, Bit>,

    answers: [AnswerQueue; 2],
    lanes: [TxLane1024; 2],
    filters: [LinkFilter<1024>; 2],
    stuck: [StuckPort; 2],
}

impl Logic for TxDualLane {
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, answers[..], lanes[..], filters[..], stuck[..]);
        let answer = self.answer.record.val();
        for p in 0..2 {
            let to_port = answer.port == (p == 1);
            self.answers[p].in_.valid.next = self.answer.valid.val() & to_port;
            self.answers[p].in_.record.next = answer;
            self.answers[p].port_up.next = self.port_up.val().get_bit(p);
            self.filters[p].port_up.next =
                self.port_up.val().get_bit(p) & !self.stuck[p].drops.val();
            self.stuck[p].offers.next = self.filters[p].mac.valid.val();
            self.stuck[p].takes.next = self.mac[p].ready.val();
            self.events[p].next = TxEvents {
                answer_dropped: self.answers[p].dropped.val(),
                frame_dropped: self.filters[p].dropped.val(),
                left_out: self.lanes[p].left_out.val(),
                fault_lost: self.lanes[p].fault_lost.val(),
            };
            join!(
                self,
                answers[p].out => lanes[p].answer,
                port_config[p] => lanes[p].port_config,
                address[p] => lanes[p].address,
                request[p] => lanes[p].request,
                lanes[p].read => read[p],
                lanes[p].passed => passed[p],
                payload[p] => lanes[p].payload,
                lanes[p].fault => fault[p],
                lanes[p].mac => filters[p].in_,
                filters[p].mac => mac[p],
                stuck_timeout => stuck[p].timeout,
                fence_waits => stuck[p].fence_waits,
            );
        }
        self.answer.ready.next = if answer.port {
            self.answers[1].in_.ready.val()
        } else {
            self.answers[0].in_.ready.val()
        };
        self.payload_mismatch.next =
            self.lanes[0].payload_mismatch.val() | self.lanes[1].payload_mismatch.val();
    }
}
