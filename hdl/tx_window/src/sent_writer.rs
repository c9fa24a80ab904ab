//! Where the records of the packets of an `Allocate` are written.

use hdl_macros::hdl;
use hdl_primitives::FlowSnk;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::SentPacket;

use crate::blocks::Block;

/// Follows the last `Allocate`: its records come in the order of their PSNs, and lie in one block or in two. Each is written a cycle after it came.
///
/// Levels: 2.
#[derive(LogicBlock, Default)]
pub struct SentWriter {
    pub clock: Signal<In, Clock>,

    pub sent_packet: FlowSnk<SentPacket>,
    /// High for one cycle: an `Allocate` begins at this slot of this block.
    pub begins: Signal<In, Bit>,
    pub first_slot: Signal<In, Bits<5>>,
    pub first_block: Signal<In, Block>,
    /// High for one cycle, the next one: it goes on in another block.
    pub goes_on: Signal<In, Bit>,
    pub second_block: Signal<In, Block>,

    /// Writes this record.
    pub write: Signal<Out, Bit>,
    pub block: Signal<Out, Block>,
    pub slot: Signal<Out, Bits<5>>,
    pub record: Signal<Out, SentPacket>,
    /// Block of the record that comes in this cycle, if one does.
    pub coming_block: Signal<Out, Block>,

    valid: DFF<Bit>,
    held: DFF<SentPacket>,
    next_slot: DFF<Bits<5>>,
    next_block: DFF<Block>,
    /// Second block of the burst.
    second: DFF<Block>,
}

impl Logic for SentWriter {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, held, next_slot, next_block, second);
        let writes = self.valid.q.val();
        let slot = self.next_slot.q.val();
        self.valid.d.next = self.sent_packet.valid.val();
        self.held.d.next = self.sent_packet.record.val();
        let goes_on = writes & slot.all();
        let coming_block = if self.begins.val() {
            self.first_block.val()
        } else if goes_on & self.goes_on.val() {
            self.second_block.val()
        } else if goes_on {
            self.second.q.val()
        } else {
            self.next_block.q.val()
        };
        self.coming_block.next = coming_block;
        self.next_block.d.next = coming_block;
        if writes {
            self.next_slot.d.next = slot + 1;
        }
        if self.begins.val() {
            self.next_slot.d.next = self.first_slot.val();
        }
        if self.goes_on.val() {
            self.second.d.next = self.second_block.val();
        }
        self.write.next = writes;
        self.block.next = self.next_block.q.val();
        self.slot.next = slot;
        self.record.next = self.held.q.val();
    }
}
