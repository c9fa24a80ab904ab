//! Which packets depart from a transmit lane.

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::{BlockFifo, FlowSnk, FlowSrc};
use rust_hdl::prelude::*;
use stellar_wire::hw::requester::TxRequest;
use stellar_wire::hw::window::Departure;
use stellar_wire::ExtKind;

use crate::opcode::has;
use crate::tx_frame_builder::{REQUEST_ADDRESS, REQUEST_COUNT};

/// A request in a lane.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Waiting {
    /// It is an MRC data packet, so a transmit window has its record.
    recorded: Bit,
    departure: Departure,
}

/// Remembers the requests that a lane has accepted, and tells which one departs. They depart in order. A frame that is left out, because its payload cannot be read, departs, too.
///
/// Levels: 1 behind a block RAM.
#[derive(LogicBlock, Default)]
pub struct Departures {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// The lane accepts a request.
    pub accepted: FlowSnk<TxRequest>,
    /// The frame of the oldest request begins.
    pub begins: Signal<In, Bit>,
    /// High for one cycle: an MRC data packet departed in the last cycle.
    pub departs: FlowSrc<Departure>,

    waiting: BlockFifo<Waiting, REQUEST_ADDRESS, REQUEST_COUNT>,
    // Registers: a frame begins late in a cycle, and its departure is told to the other end of the card.
    leaves: DFF<Bit>,
    leaving: DFF<Departure>,
}

impl Logic for Departures {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, leaves, leaving);
        clock_reset!(self, waiting);
        let request = self.accepted.record.val();
        self.waiting.in_.valid.next = self.accepted.valid.val();
        self.waiting.in_.data.next = Waiting {
            // MRC data packets are those with a METH.
            recorded: has(request.opcode, ExtKind::Meth as usize),
            departure: Departure {
                odd: request.qp.get_bit(0),
                block: request.block,
                slot: request.psn.get_bits::<5>(0),
            },
        };
        assert!(
            !self.accepted.valid.val() | self.waiting.in_.ready.val(),
            "more requests in the lane than headers"
        );
        self.waiting.out.ready.next = self.begins.val();
        let oldest = self.waiting.out.data.val();
        self.leaves.d.next = self.begins.val() & oldest.recorded & !self.reset.val();
        self.leaving.d.next = oldest.departure;
        self.departs.valid.next = self.leaves.q.val();
        self.departs.record.next = self.leaving.q.val();
    }
}
