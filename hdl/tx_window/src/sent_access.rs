//! Which transmission records an operation reads and writes.

use hdl_macros::{clock, hdl, join};
use hdl_primitives::FlowSnk;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{
    Departure, PacketState, SentPacket, WindowOp, WindowRequest, WindowResponse,
};

use crate::blocks::Block;
use crate::result::is_newly_acked;
use crate::sack::first_psn;
use crate::sent_memory::{LengthSum, SentMemory};
use crate::sent_writer::SentWriter;
use crate::step::Step;

/// Transmission records, one for each slot of the 2^`B` blocks. Those of an `Allocate` are written as they arrive, in any step; an operation that changes a record waits meanwhile. One record is read, or four of the
/// packets that a SACK acknowledges.
///
/// Levels: 4.
#[derive(LogicBlock, Default)]
pub struct SentAccess<const B: usize, const S: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// Records of the last `Allocate`: see `SentWriter`.
    pub sent_packet: FlowSnk<SentPacket>,
    pub first_slot: Signal<In, Bits<5>>,
    pub first_block: Signal<In, Block>,
    pub second_block: Signal<In, Block>,
    /// Block of the record that comes in this cycle, if one does.
    pub coming_block: Signal<Out, Block>,

    /// Packets that depart now by port 0 and by port 1.
    pub departs: [FlowSnk<Departure>; 2],
    pub now: Signal<In, Bits<32>>,

    // Operation.
    pub step: Signal<In, Step>,
    pub asked: Signal<In, WindowRequest>,
    pub result: Signal<In, WindowResponse>,
    /// The answered packet is in the window; the SACK is accepted, and there is something that it may acknowledge.
    pub inside: Signal<In, Bit>,
    pub taken: Signal<In, Bit>,
    /// The operation may respond: its own record is written, if it has one.
    pub may_respond: Signal<Out, Bit>,

    // Blocks: see `BlockWalk` and `BlockVisit`.
    pub start: Signal<In, Block>,
    pub starts_there: Signal<In, Bit>,
    pub newest: Signal<In, Block>,
    pub jumps: Signal<In, Bit>,
    pub here: Signal<In, Block>,
    pub found_there: Signal<In, Bit>,
    pub found: Signal<In, Block>,
    pub visited: Signal<In, Block>,
    /// A visit begins. These slots are newly acknowledged, and these are lost.
    pub loads: Signal<In, Bit>,
    pub newly_acked: Signal<In, Bits<32>>,
    pub lost: Signal<In, Bits<32>>,
    pub reads_answered: Signal<In, Bit>,

    // Records of a visit: see `SentMemory`.
    pub last: Signal<Out, Bit>,
    pub walks: Signal<Out, Bit>,
    pub sum_valid: Signal<Out, Bit>,
    pub sum: Signal<Out, LengthSum>,
    /// Records have not come yet, or have not been added up.
    pub drains: Signal<Out, Bit>,
    /// A record was addressed in the last cycle; one that was addressed two cycles ago is `record`.
    pub comes_next: Signal<Out, Bit>,
    pub comes: Signal<Out, Bit>,
    pub record: Signal<Out, SentPacket>,
    pub departed: Signal<Out, Bits<32>>,

    memory: SentMemory<B, S>,
    writer: SentWriter,
    record_read: DFF<Bit>,
    record_comes: DFF<Bit>,
}

impl<const B: usize, const S: usize> Logic for SentAccess<B, S> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, record_read, record_comes);
        clock!(self, clock, memory, writer);
        let step = self.step.val();
        let asked = self.asked.val();
        let result = self.result.val();
        let is_sack = asked.op == WindowOp::Sack;
        let is_loss = asked.op == WindowOp::MarkLost;
        let early = self.record_read.q.val();
        let comes = self.record_comes.q.val();
        let taken = self.taken.val();

        // read
        self.memory.reset.next = self.reset.val() | ((step == Step::Visit) & is_sack & !taken);
        self.memory.read_block.next = if step == Step::Fetch {
            self.start.val()
        } else if self.jumps.val() {
            self.newest.val()
        } else if step == Step::ReadFound {
            self.visited.val()
        } else {
            self.here.val()
        };
        self.memory.read_slot.next = if step == Step::ReadFound {
            result.psn.get_bits::<5>(0)
        } else {
            first_psn(asked).get_bits::<5>(0)
        };
        let reads_found = self.found_there.val() & ((asked.op == WindowOp::Read) | is_loss);
        self.record_read.d.next = ((step == Step::Fetch) & self.starts_there.val())
            | self.jumps.val()
            | (reads_found & !early)
            | (step == Step::ReadFound)
            | self.reads_answered.val();
        self.record_comes.d.next = early;
        self.memory.counts.next =
            comes & is_sack & taken & self.inside.val() & is_newly_acked(result.state);
        self.memory.counts_lost.next = result.state == PacketState::Lost;
        // Records come after `busy` in the next cycle, and that of the answered packet two cycles after it was addressed.
        self.drains.next = self.memory.busy.val() | (is_sack & early);
        self.comes_next.next = early;
        self.comes.next = comes;
        join!(
            self,
            loads => memory.load,
            newly_acked => memory.slots,
            lost => memory.lost,
            visited => memory.block,
            memory.last => last,
            memory.walks => walks,
            memory.sum_valid => sum_valid,
            memory.sum => sum,
            memory.record => record,
            memory.departed => departed,
            departs[0] => memory.departs[0],
            departs[1] => memory.departs[1],
            now => memory.now,
        );

        // write
        let writes_sent = self.writer.write.val();
        let writes_own = (asked.op == WindowOp::MarkRetransmitted) | is_loss;
        let may_respond = !(writes_own & writes_sent);
        self.may_respond.next = may_respond;
        self.writer.begins.next = step == Step::Allocate;
        self.writer.goes_on.next = step == Step::AllocateEnd;
        join!(
            self,
            sent_packet => writer.sent_packet,
            first_slot => writer.first_slot,
            first_block => writer.first_block,
            second_block => writer.second_block,
            writer.coming_block => coming_block,
        );
        self.memory.write.next = writes_sent | ((step == Step::Respond) & writes_own);
        // The block of the packet: the operation has just found it.
        self.memory.write_block.next = if writes_sent {
            self.writer.block.val()
        } else {
            self.found.val()
        };
        self.memory.write_slot.next = if writes_sent {
            self.writer.slot.val()
        } else {
            result.psn.get_bits::<5>(0)
        };
        self.memory.write_data.next = if writes_sent {
            self.writer.record.val()
        } else {
            result.sent
        };
        if self.reset.val() {
            self.record_read.d.next = false;
        }
    }
}
