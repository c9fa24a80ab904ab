//! Queues the acknowledgements of a port, and never holds up the responder.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{BlockFifo, Snk, Src, StreamSkid};
use rust_hdl::prelude::*;
use stellar_wire::hw::requester::TxAnswer;

/// As many packets of 256 bytes as the packet buffers of both receive lanes hold: so much may arrive while a port sends nothing.
const ADDRESS: usize = 9;
const COUNT: usize = ADDRESS + 1;

/// Queues the acknowledgements of one port. A port that cannot send does not stall the sender of acknowledgements, which serves both ports:
/// - while the queue is full, each new acknowledgement replaces the oldest one: SACKs and ACKs are cumulative, so the newest one says most;
/// - while the link is down, acknowledgements are dropped.
///
/// Latency 3. LUT levels: 2.
#[derive(LogicBlock, Default)]
pub struct AnswerQueue {
    pub clock: Signal<In, Clock>,
    /// Empties the queue.
    pub reset: Signal<In, Bit>,
    /// The link of the port is up.
    pub port_up: Signal<In, Bit>,

    pub in_: Snk<TxAnswer>,
    pub out: Src<TxAnswer>,

    /// High for one cycle: an acknowledgement was dropped.
    pub dropped: Signal<Out, Bit>,

    waiting: BlockFifo<TxAnswer, ADDRESS, COUNT>,
    /// An acknowledgement that is on offer stays.
    offered: StreamSkid<TxAnswer>,
}

impl Logic for AnswerQueue {
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, waiting, offered);
        join!(self, in_ => waiting.in_, offered.out => out);
        let full = self.in_.valid.val() & !self.waiting.in_.ready.val();
        let drops = full | !self.port_up.val();
        let oldest = self.waiting.out.valid.val();
        self.offered.in_.valid.next = oldest & !drops;
        self.offered.in_.data.next = self.waiting.out.data.val();
        self.waiting.out.ready.next = self.offered.in_.ready.val() | drops;
        self.dropped.next = oldest & drops;
    }
}
