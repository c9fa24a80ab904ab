//! Two transmit lanes: they turn decided packets, and payload from memory, into the MAC frames of two ports.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{MacTxSrc, QpRowFlowSnk, ReadDataSnk, ReadFaultSrc, Snk, Src};
use hdl_tx_pipeline::TxLane1024;
use rust_hdl::prelude::*;
use stellar_wire::hw::address::{FrameAddress, PortConfig};
use stellar_wire::hw::read::ReadCommand;
use stellar_wire::hw::requester::{TxAnswer, TxRequest};

/// A lane of 1,024 bits for each of two 200G ports; index p is port p. An acknowledgement names its port.
#[derive(LogicBlock, Default)]
pub struct TxDualLane {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Configuration.
    pub port_config: [Signal<In, PortConfig>; 2],
    pub address: [QpRowFlowSnk<FrameAddress>; 2],

    // What to send.
    pub answer: Snk<TxAnswer>,
    pub request: [Snk<TxRequest>; 2],

    // To the DMA read engines, and what they return, in order.
    pub read: [Src<ReadCommand>; 2],
    pub payload: [ReadDataSnk<1024>; 2],

    /// Payload that could not be read.
    pub fault: [ReadFaultSrc; 2],

    pub mac: [MacTxSrc<1024>; 2],

    /// A lane received a payload of another length than it requested. A correct card never raises it.
    pub payload_mismatch: Signal<Out, Bit>,

    lanes: [TxLane1024; 2],
}

impl Logic for TxDualLane {
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, lanes[..]);
        let answer = self.answer.record.val();
        for p in 0..2 {
            let to_port = answer.port == (p == 1);
            self.lanes[p].answer.valid.next = self.answer.valid.val() & to_port;
            self.lanes[p].answer.record.next = answer;
            join!(
                self,
                port_config[p] => lanes[p].port_config,
                address[p] => lanes[p].address,
                request[p] => lanes[p].request,
                lanes[p].read => read[p],
                payload[p] => lanes[p].payload,
                lanes[p].fault => fault[p],
                lanes[p].mac => mac[p],
            );
        }
        self.answer.ready.next = if answer.port {
            self.lanes[1].answer.ready.val()
        } else {
            self.lanes[0].answer.ready.val()
        };
        self.payload_mismatch.next =
            self.lanes[0].payload_mismatch.val() | self.lanes[1].payload_mismatch.val();
    }
}
