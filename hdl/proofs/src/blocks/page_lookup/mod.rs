//! The translation of addresses by the eMTT.

mod inner;
mod passing;

use hdl_emtt::page_lookup::{PageRequest, LATENCY};
use hdl_emtt::page_math::{bytes_to_page_end, near_page_end, page_number, PAGE_NUMBER_BITS};
use hdl_emtt::PageLookup;
use hdl_macros::{clock, hdl};
use rust_hdl::prelude::*;
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::tables::{EmttEntry, Owner, TableSelect, TableWrite, EMTT_INDEX_BITS};
use stellar_wire::hw::FromBits;
use stellar_wire::mtu::MAX_PAYLOAD;

use inner::{LookupInsideSnk, OfBanks};
use passing::{
    comes_after, cut, in_bank_of, is_cut, is_entry, is_ordered, page_address, reads_watched,
    within_page, Passing,
};

/// The greatest index of a first page: 2^37 - 1 pages behind the last entry that a region can begin with.
const LAST_INDEX: u64 = (1 << PAGE_NUMBER_BITS) - 1 + (1 << EMTT_INDEX_BITS) - 1;

/// Properties of [`PageLookup`] with a table of 8 entries, told for one entry that the solver chooses, once it was written.
#[derive(LogicBlock, Default)]
pub struct PageLookupProof {
    pub clock: Signal<In, Clock>,
    pub table_valid: Signal<In, Bit>,
    pub table: Signal<In, TableWrite>,
    pub request: Signal<In, PageRequest>,
    /// The entry that is watched.
    pub watched: Signal<In, Bits<3>>,
    /// Registers of the block.
    pub inner_lookup: LookupInsideSnk,

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

    /// Of a range of at most 8,192 bytes: the first segment begins at the address of the first byte in the page of its entry, and ends with that page or the range.
    pub holds_first_inside: Signal<Out, Bit>,
    /// The second one begins with the page of its entry. There is a third one exactly if the range does not end there.
    pub holds_second_inside: Signal<Out, Bit>,
    /// So does the third one.
    pub holds_third_inside: Signal<Out, Bit>,

    // What is in the registers, so that the properties are an invariant together.
    /// The memory has the watched entry as the request that reads next met it. Each write on its way to the memory makes of it what the request behind it met.
    pub holds_writes: Signal<Out, Bit>,
    /// The block's index of the first page is the one that is computed here.
    pub holds_index: Signal<Out, Bit>,
    /// A request whose pages include that of the watched entry reads it from its bank and row.
    pub holds_rows: Signal<Out, Bit>,
    /// It gets the entry as it was when the request entered.
    pub holds_read: Signal<Out, Bit>,
    /// It takes the entry for that of its first, second or third page.
    pub holds_ordered: Signal<Out, Bit>,
    /// The block knows of each request whether it passed the region check.
    pub holds_wanted: Signal<Out, Bit>,
    /// It knows the range of each request, and where that is cut.
    pub holds_cut: Signal<Out, Bit>,

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
    requests: [DFF<PageRequest>; LATENCY],
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
            frame: entry.frame,
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
            frame: located.frame,
            is_first: located.written & (first == index),
            is_second: located.written & ((first + 1) == index),
            is_third: located.written & ((first + 2) == index),
        };
        for i in 0..LATENCY {
            self.passing[i].clock.next = self.clock.val();
            self.requests[i].clock.next = self.clock.val();
            self.requests[i].d.next = if i == 0 {
                request
            } else {
                self.requests[i - 1].q.val()
            };
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

        let range = self.requests[LATENCY - 1].q.val();
        let size = range.page_size;
        let at = cut(range);
        let page = page_address(was.frame, size);
        // The parser drops longer payloads.
        let placeable = translates & (range.length <= (MAX_PAYLOAD as u64));
        self.holds_first_inside.next = !(placeable & was.is_first)
            | ((segments.first_address == (page | (range.va & within_page(size))))
                & (segments.first_length == at.first_length));
        self.holds_second_inside.next = !placeable
            | ((segments.has_third == at.three)
                & (!(was.is_second & at.crosses) | (segments.second_address == page)));
        self.holds_third_inside.next =
            !(placeable & was.is_third & at.three) | (segments.third_address == page);

        // What is in the registers.
        let start = self.passing[0].q.val();
        let second = self.passing[1].q.val();
        let third = self.passing[2].q.val();
        let fourth = self.passing[3].q.val();
        let fifth = self.passing[4].q.val();
        let sixth = self.passing[5].q.val();
        let bank = watched.get_bits::<2>(0);
        let row = watched.get_bits::<1>(2);
        let entering = self.inner_lookup.writing[0].val();
        let behind = self.inner_lookup.writing[1].val();
        let at = bit_cast::<EMTT_INDEX_BITS, 3>(watched);
        let stores = self
            .inner_lookup
            .banks_write_banks
            .val()
            .get_bit(bank.index())
            & (self.inner_lookup.banks_write_row.val() == row);
        let low = OfBanks {
            zero: self.inner_lookup.banks_banks_0_memory[0].val(),
            one: self.inner_lookup.banks_banks_1_memory[0].val(),
            two: self.inner_lookup.banks_banks_2_memory[0].val(),
            three: self.inner_lookup.banks_banks_3_memory[0].val(),
        };
        let high = OfBanks {
            zero: self.inner_lookup.banks_banks_0_memory[1].val(),
            one: self.inner_lookup.banks_banks_1_memory[1].val(),
            two: self.inner_lookup.banks_banks_2_memory[1].val(),
            three: self.inner_lookup.banks_banks_3_memory[1].val(),
        };
        let word = if row.any() {
            in_bank_of(watched, high)
        } else {
            in_bank_of(watched, low)
        };
        let in_entering = entering.enable & (entering.index == at);
        let in_behind = behind.enable & (behind.index == at);
        self.holds_writes.next = comes_after(incoming, start, in_entering, entering.entry)
            & comes_after(start, second, in_behind, behind.entry)
            & comes_after(second, third, stores, self.inner_lookup.banks_writing.val())
            & (!third.written | is_entry(third, word));

        self.holds_index.next = (self.inner_lookup.count.val().pages == self.pages.q.val())
            & (self.inner_lookup.passing[0].val().first_emtt == self.first_emtt.q.val())
            & (self.inner_lookup.page_index.val() == first)
            & (first <= LAST_INDEX);

        let rows_0 = self.inner_lookup.banks_rows[0].val();
        let rows_1 = self.inner_lookup.banks_rows[1].val();
        let rows_2 = self.inner_lookup.banks_rows[2].val();
        let rows_3 = self.inner_lookup.banks_rows[3].val();
        let read_row = match bank.to_u8() {
            0 => rows_0,
            1 => rows_1,
            2 => rows_2,
            _ => rows_3,
        };
        self.holds_rows.next = is_ordered(third, self.inner_lookup.banks_order[0].val(), watched)
            & (!reads_watched(third) | (third.written & (read_row == row)));

        let read = OfBanks {
            zero: self.inner_lookup.banks_banks_0_read.val(),
            one: self.inner_lookup.banks_banks_1_read.val(),
            two: self.inner_lookup.banks_banks_2_read.val(),
            three: self.inner_lookup.banks_banks_3_read.val(),
        };
        let read_data = OfBanks {
            zero: self.inner_lookup.banks_banks_0_read_data.val(),
            one: self.inner_lookup.banks_banks_1_read_data.val(),
            two: self.inner_lookup.banks_banks_2_read_data.val(),
            three: self.inner_lookup.banks_banks_3_read_data.val(),
        };
        self.holds_read.next = is_ordered(fourth, self.inner_lookup.banks_order[1].val(), watched)
            & is_ordered(fifth, self.inner_lookup.banks_order[2].val(), watched)
            & (!reads_watched(fourth) | is_entry(fourth, in_bank_of(watched, read)))
            & (!reads_watched(fifth) | is_entry(fifth, in_bank_of(watched, read_data)));

        self.holds_ordered.next = (!sixth.is_first
            | is_entry(sixth, self.inner_lookup.banks_first_read.val()))
            & (!sixth.is_second | is_entry(sixth, self.inner_lookup.banks_second_read.val()))
            & (!sixth.is_third | is_entry(sixth, self.inner_lookup.banks_third_read.val()));

        let counted = self.inner_lookup.passing[0].val();
        let mut wanted = start.wanted == (counted.asks & (counted.reason == DropReason::None));
        for i in 0..5 {
            wanted = wanted
                & (self.inner_lookup.split[i].val().wanted == self.passing[i + 1].q.val().wanted);
        }
        self.holds_wanted.next = wanted;

        let mut known = true;
        for i in 0..LATENCY - 1 {
            known = known & (self.inner_lookup.passing[i].val() == self.requests[i].q.val());
        }
        for i in 0..5 {
            known = known
                & is_cut(
                    self.requests[i + 1].q.val(),
                    self.inner_lookup.split[i].val(),
                );
        }
        let counted = self.requests[0].q.val();
        let pages = self.inner_lookup.count.val();
        // The first value of these registers is of no request.
        let measured = !self.started.q.val()
            | ((pages.near_end == near_page_end(counted.va, counted.page_size))
                & (pages.to_end == bytes_to_page_end(counted.va, counted.page_size)));
        self.holds_cut.next = known & measured;

        self.reaches_first.next = one & was.is_first;
        self.reaches_second.next = two & was.is_second;
        self.reaches_third.next = three & was.is_third;
    }
}
