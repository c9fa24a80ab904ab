//! The translation of addresses by the eMTT.

use hdl_emtt::page_lookup::{PageRequest, LATENCY};
use hdl_emtt::page_math::{page_number, PAGE_NUMBER_BITS};
use hdl_emtt::PageLookup;
use hdl_macros::{clock, hdl};
use rust_hdl::prelude::*;
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::tables::{EmttEntry, Owner, TableSelect, TableWrite, EMTT_INDEX_BITS};
use stellar_wire::hw::FromBits;

/// What the watched entry was when a request entered.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Passing {
    /// The request passed the region check.
    wanted: Bit,
    /// The watched entry was written.
    written: Bit,
    /// The first page of the range is the watched entry, or the page before it, or the one before that.
    is_first: Bit,
    is_second: Bit,
    is_third: Bit,
    /// The watched entry is valid, and belongs to a GPU.
    valid: Bit,
    gpu: Bit,
}

/// Properties of [`PageLookup`] with a table of 8 entries, told for one entry that the solver chooses, once it was written.
#[derive(LogicBlock, Default)]
pub struct PageLookupProof {
    pub clock: Signal<In, Clock>,
    pub table_valid: Signal<In, Bit>,
    pub table: Signal<In, TableWrite>,
    pub request: Signal<In, PageRequest>,
    /// The entry that is watched.
    pub watched: Signal<In, Bits<3>>,

    /// `watched` does not change.
    pub given_one_watched: Signal<Out, Bit>,

    /// The first segment has AT = 10 only if the entry of its page is valid and owned by a GPU.
    pub holds_first_of_gpu: Signal<Out, Bit>,
    /// So has the second.
    pub holds_second_of_gpu: Signal<Out, Bit>,
    /// So has the third.
    pub holds_third_of_gpu: Signal<Out, Bit>,
    /// No segment has AT = 10 for a request that failed the region check.
    pub holds_checked: Signal<Out, Bit>,
    /// A first segment in host memory never has AT = 10, and one in the GPU's always has.
    pub holds_gpu_translated: Signal<Out, Bit>,
    /// The first segment can have AT = 10 for the watched entry.
    pub reaches_first: Signal<Out, Bit>,
    /// The second can.
    pub reaches_second: Signal<Out, Bit>,
    /// The third can.
    pub reaches_third: Signal<Out, Bit>,

    lookup: PageLookup<1>,
    before: DFF<Bits<3>>,
    started: DFF<Bit>,
    /// The watched entry.
    entry: DFF<EmttEntry>,
    written: DFF<Bit>,
    pages: DFF<Bits<PAGE_NUMBER_BITS>>,
    first_emtt: DFF<Bits<EMTT_INDEX_BITS>>,
    first: DFF<Bits<38>>,
    passing: [DFF<Passing>; LATENCY],
}

impl Logic for PageLookupProof {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, before, started, entry, written, pages, first_emtt, first);
        clock!(self, clock, lookup);
        self.lookup.table_valid.next = self.table_valid.val();
        self.lookup.table.next = self.table.val();
        self.lookup.request.next = self.request.val();

        let watched = self.watched.val();
        self.before.d.next = watched;
        self.started.d.next = true;
        self.given_one_watched.next = !self.started.q.val() | (watched == self.before.q.val());

        let table = self.table.val();
        let writes = self.table_valid.val() & (table.select == TableSelect::Emtt);
        if writes & (bit_cast::<38, EMTT_INDEX_BITS>(table.index) == bit_cast::<38, 3>(watched)) {
            self.entry.d.next = EmttEntry::from_bits(table.entry);
            self.written.d.next = true;
        }

        // The page's index is computed in the steps of the block, which lets the solver see that both are equal.
        let request = self.request.val();
        self.pages.d.next = page_number(request.va, request.page_size)
            - page_number(request.base_va, request.page_size);
        self.first_emtt.d.next = request.first_emtt;
        let first = bit_cast::<38, EMTT_INDEX_BITS>(self.first_emtt.q.val())
            + bit_cast::<38, PAGE_NUMBER_BITS>(self.pages.q.val());
        self.first.d.next = first;
        let first = self.first.q.val();
        let index = bit_cast::<38, 3>(watched);
        let entry = self.entry.q.val();
        let incoming = Passing {
            wanted: request.asks & (request.reason == DropReason::None),
            written: self.written.q.val(),
            valid: entry.valid,
            gpu: entry.owner == Owner::Gpu,
            is_first: false,
            is_second: false,
            is_third: false,
        };
        let located = self.passing[1].q.val();
        let located = Passing {
            wanted: located.wanted,
            written: located.written,
            valid: located.valid,
            gpu: located.gpu,
            is_first: located.written & (first == index),
            is_second: located.written & ((first + 1) == index),
            is_third: located.written & ((first + 2) == index),
        };
        for i in 0..LATENCY {
            self.passing[i].clock.next = self.clock.val();
            self.passing[i].d.next = if i == 0 {
                incoming
            } else if i == 2 {
                located
            } else {
                self.passing[i - 1].q.val()
            };
        }

        let was = self.passing[LATENCY - 1].q.val();
        let answer = self.lookup.answer.val();
        let segments = answer.segments;
        let of_gpu = was.valid & was.gpu;
        let one = segments.first_translated;
        let two = segments.second_translated;
        let three = segments.third_translated;
        self.holds_first_of_gpu.next = !(one & was.is_first) | of_gpu;
        self.holds_second_of_gpu.next = !(two & was.is_second) | of_gpu;
        self.holds_third_of_gpu.next = !(three & was.is_third) | of_gpu;
        self.holds_checked.next = !(one | two | three) | was.wanted;
        // An answer without a reason has translated its first page.
        let translates = was.wanted & (answer.reason == DropReason::None);
        self.holds_gpu_translated.next = !(translates & was.is_first) | (one == was.gpu);
        self.reaches_first.next = one & was.is_first;
        self.reaches_second.next = two & was.is_second;
        self.reaches_third.next = three & was.is_third;
    }
}
