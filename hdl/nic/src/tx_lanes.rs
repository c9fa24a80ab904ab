//! Transmit lanes: they turn decided packets, and payload from memory, into the MAC frames of one or two ports.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{
    AddressFlowSnk, Checked, FlowSrc, MacTxSrc, Parameters, PayloadFaultSrc, QpRowFlowSnk,
    ReadDataSnk, Snk, Src,
};
use hdl_tx_pipeline::{AnswerQueue, LinkFilter, TxLane};
use rust_hdl::prelude::*;
use stellar_wire::hw::address::PortConfig;
use stellar_wire::hw::control::QpPeer;
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::read::ReadCommand;
use stellar_wire::hw::requester::{TxAnswer, TxRequest};
use stellar_wire::hw::window::Departure;

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

/// A lane for each of `P` ports, one or two; index p is port p. An acknowledgement names its port. A beat has `W` bits, `N` = W / 8 = 2^`B`; the payload buffer of
/// a lane has 512 beats. There are 2^`Q` queue pairs.
#[derive(LogicBlock)]
pub struct TxLanes<const P: usize, const W: usize, const N: usize, const B: usize, const Q: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Bit p: the link of port p is up.
    pub port_up: Signal<In, Bits<2>>,
    /// A fence waits for what is before the ports, and the time after which a port that does not send is stuck: see [`StuckPort`].
    pub fence_waits: Signal<In, Bit>,
    pub stuck_timeout: Signal<In, Bits<31>>,

    // Configuration.
    pub port_config: [Signal<In, PortConfig>; P],
    pub peer: QpRowFlowSnk<QpPeer>,
    pub address: [AddressFlowSnk; P],

    // What to send.
    pub answer: Snk<TxAnswer>,
    pub request: [Snk<TxRequest>; P],

    // To the DMA read engines, and what they return, in order.
    pub read: [Src<ReadCommand>; P],
    pub payload: [ReadDataSnk<W>; P],
    /// A request without payload in memory passed.
    pub passed: [Signal<Out, EpochEnd>; P],
    /// An MRC data packet departs.
    pub departs: [FlowSrc<Departure>; P],

    /// Payload that could not be read.
    pub fault: [PayloadFaultSrc; P],

    pub mac: [MacTxSrc<W>; P],

    /// What the lane of each port counts.
    pub events: [Signal<Out, TxEvents>; P],
    /// A lane received a payload of another length than it requested. A correct card never raises it.
    pub payload_mismatch: Signal<Out, Bit>,

    answers: [AnswerQueue; P],
    lanes: [TxLane<Q, W, N, B, 9, 10>; P],
    filters: [LinkFilter<W>; P],
    stuck: [StuckPort; P],
}

impl<const P: usize, const W: usize, const N: usize, const B: usize, const Q: usize> Parameters
    for TxLanes<P, W, N, B, Q>
{
    fn check() {
        assert!(
            P == 1 || P == 2,
            "TxLanes<{P}, ...>: a packet names one of two ports, use 1 or 2"
        );
    }
}

impl<const P: usize, const W: usize, const N: usize, const B: usize, const Q: usize> Default
    for TxLanes<P, W, N, B, Q>
{
    fn default() -> Self {
        Self {
            _parameters: Default::default(),
            clock: Default::default(),
            reset: Default::default(),
            port_up: Default::default(),
            fence_waits: Default::default(),
            stuck_timeout: Default::default(),
            port_config: std::array::from_fn(|_| Default::default()),
            peer: Default::default(),
            address: std::array::from_fn(|_| Default::default()),
            answer: Default::default(),
            request: std::array::from_fn(|_| Default::default()),
            read: std::array::from_fn(|_| Default::default()),
            payload: std::array::from_fn(|_| Default::default()),
            passed: std::array::from_fn(|_| Default::default()),
            departs: std::array::from_fn(|_| Default::default()),
            fault: std::array::from_fn(|_| Default::default()),
            mac: std::array::from_fn(|_| Default::default()),
            events: std::array::from_fn(|_| Default::default()),
            payload_mismatch: Default::default(),
            answers: std::array::from_fn(|_| Default::default()),
            lanes: std::array::from_fn(|_| Default::default()),
            filters: std::array::from_fn(|_| Default::default()),
            stuck: std::array::from_fn(|_| Default::default()),
        }
    }
}

impl<const P: usize, const W: usize, const N: usize, const B: usize, const Q: usize> Logic
    for TxLanes<P, W, N, B, Q>
{
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, answers[..], lanes[..], filters[..], stuck[..]);
        let answer = self.answer.record.val();
        for p in 0..P {
            // The only port gets every acknowledgement, and drops it while its link is down.
            let to_port = (answer.port == (p == 1)) | (P == 1);
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
                peer => lanes[p].peer,
                address[p] => lanes[p].address,
                request[p] => lanes[p].request,
                lanes[p].read => read[p],
                lanes[p].passed => passed[p],
                lanes[p].departs => departs[p],
                payload[p] => lanes[p].payload,
                lanes[p].fault => fault[p],
                lanes[p].mac => filters[p].in_,
                filters[p].mac => mac[p],
                stuck_timeout => stuck[p].timeout,
                fence_waits => stuck[p].fence_waits,
            );
        }
        self.answer.ready.next = if answer.port {
            self.answers[P - 1].in_.ready.val()
        } else {
            self.answers[0].in_.ready.val()
        };
        self.payload_mismatch.next =
            self.lanes[0].payload_mismatch.val() | self.lanes[P - 1].payload_mismatch.val();
    }
}
