//! The memory of entries, and how the lines of a read enter it.

use hdl_macros::{clock, hdl, hdl_fn};
use hdl_primitives::ram::UltraRam;
use hdl_primitives::FlowSnk;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::WqeFetched;
use stellar_wire::hw::wqe::REST_BITS;
use stellar_wire::hw::SqIndex;

use crate::entry::decode;
use crate::prefetch_state::PrefetchState;
use crate::records::{Block, Entry, Rest};

/// The first line of a read, or a pushed entry, with its place.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct FirstLine {
    pub line: WqeFetched,
    pub block: Block,
    pub slot: SqIndex,
    /// log2 of the path MTU.
    pub mtu_log2: Bits<4>,
    /// The entries have 128 bytes, which are two lines.
    pub long_entries: Bit,
}

/// Returns a line that arrives for a queue pair, in a block.
#[hdl_fn]
pub fn first_line(line: WqeFetched, block: Block, row: PrefetchState) -> FirstLine {
    FirstLine {
        line,
        block,
        slot: row.arriving,
        mtu_log2: row.mtu_log2,
        long_entries: row.long_entries,
    }
}

/// Holds 2^`E` entries, at the address block, low bits of the slot. A line enters the memory two cycles after it came: who sees it in its queue pair's row has not read it by then. LUT levels: 5 (check of the entry).
#[derive(LogicBlock, Default)]
pub struct EntryStore<const E: usize> {
    pub clock: Signal<In, Clock>,
    /// Lines that have not entered are lost.
    pub reset: Signal<In, Bit>,

    /// The first line of a read. If it is not valid, the read is dropped. It does not come while others do.
    pub first: FlowSnk<FirstLine>,
    /// One cycle: other lines of its read come from the next cycle on, one in a cycle.
    pub begins: Signal<In, Bit>,
    pub others_come: Signal<Out, Bit>,
    pub other: Signal<In, WqeFetched>,
    /// Block of the last first line, until the cycle after the last one of its read.
    pub block: Signal<Out, Block>,

    /// Entry that was addressed two cycles before.
    pub read_address: Signal<In, Bits<E>>,
    pub entry: Signal<Out, Entry>,
    pub rest: Signal<Out, Rest>,

    entries: UltraRam<Entry, E>,
    rests: UltraRam<Rest, E>,
    coming: DFF<Bit>,
    /// Those that come are stored.
    stores: DFF<Bit>,
    /// The line that may enter, and its place.
    line: DFF<FirstLine>,
    enters: DFF<Bit>,
    /// It is the second line of its entry.
    is_rest: DFF<Bit>,
}

impl<const E: usize> Logic for EntryStore<E> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, coming, stores, line, enters, is_rest);
        clock!(self, clock, entries, rests);
        let coming = self.coming.q.val();
        let line = self.line.q.val();
        let is_rest = self.is_rest.q.val();
        let first = self.first.record.val();
        let ends_entry = !line.long_entries | is_rest;
        let mut next = line;
        next.line = self.other.val();
        next.slot = if ends_entry { line.slot + 1 } else { line.slot };
        self.line.d.next = if coming { next } else { first };
        if coming {
            self.enters.d.next = self.stores.q.val();
            self.is_rest.d.next = !ends_entry;
            self.coming.d.next = self.other.val().behind.any();
        } else {
            self.enters.d.next = self.first.valid.val();
            self.is_rest.d.next = false;
            self.coming.d.next = self.begins.val();
            self.stores.d.next = self.first.valid.val();
        }
        self.others_come.next = coming;
        self.block.next = line.block;

        let place =
            (bit_cast::<E, 10>(line.block) << 3) | bit_cast::<E, 3>(line.slot.get_bits::<3>(0));
        let enters = self.enters.q.val();
        self.entries.write_enable.next = enters & !is_rest;
        self.entries.write_address.next = place;
        self.entries.write_data.next =
            decode(line.line, line.slot, line.mtu_log2, line.long_entries);
        self.rests.write_enable.next = enters & is_rest;
        self.rests.write_address.next = place;
        self.rests.write_data.next = line.line.line.get_bits::<REST_BITS>(0);
        self.entries.read_address.next = self.read_address.val();
        self.rests.read_address.next = self.read_address.val();
        self.entry.next = self.entries.read_data.val();
        self.rest.next = self.rests.read_data.val();
        if self.reset.val() {
            self.coming.d.next = false;
            self.enters.d.next = false;
        }
    }
}
