//! Page translation: from a virtual address range to bus addresses and their address types (STELLAR, section 6).
//!
//! Stages, with planned LUT6 levels (a CARRY8 chain of 38 bits counts as 2):
//! 1. `count_pages`: number of the page in its region (page size mux 1, subtraction 1 + carry); bytes to the end of the page (select 1,
//!    carry); all-ones test of the page offset (4).
//! 2. `split_page`: table index `first_emtt + pages` (1 + carry); whether the range reaches into the next page and the one after it (compare 2,
//!    select 1).
//! 3. to 6. `EmttBanks`: this entry and the next two.
//! 7. `compose_addresses`: page address and offset are joined; zero unless all pages are valid (3).

use hdl_macros::hdl;
use hdl_primitives::Delay;
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{DmaSegments, WHOLE_PAGE};
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::tables::{
    EmttEntry, Owner, PageSize, TableSelect, TableWrite, EMTT_INDEX_BITS,
};
use stellar_wire::hw::FromBits;
use stellar_wire::mtu::LENGTH_BITS;

use crate::emtt_banks::{self, EmttBanks};
use crate::page_math::{
    bus_address, bytes_to_page_end, near_page_end, page_number, PAGE_NUMBER_BITS,
};

/// Cycles from `request` to its `answer`.
pub const LATENCY: usize = ENTRY_STAGE + 1;

/// Cycles from `request` to the memory's `page_index`.
const LOOKUP_STAGE: usize = 2;

/// Cycles from `request` to the entries read.
const ENTRY_STAGE: usize = LOOKUP_STAGE + emtt_banks::LATENCY;

/// The address range of one packet in a region.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PageRequest {
    /// The range is translated. A range without bytes is not.
    pub asks: Bit,
    /// Drop reason of the region check.
    pub reason: DropReason,
    /// Address of the first byte.
    pub va: Bits<64>,
    /// Length in bytes, 0 to 8,192.
    pub length: Bits<LENGTH_BITS>,
    /// Fields of the region.
    pub page_size: PageSize,
    pub base_va: Bits<64>,
    pub first_emtt: Bits<EMTT_INDEX_BITS>,
    pub on_demand: Bit,
}

/// The result of the translation. The segments are zero unless the range is not empty and every check passed, so an unchecked address never has the
/// address type "translated".
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PageAnswer {
    /// Reason of the request, or `InvalidPage`, or `PageAbsent` in an on-demand region.
    pub reason: DropReason,
    /// With `PageAbsent`: table index of the first page.
    pub page: Bits<EMTT_INDEX_BITS>,
    pub segments: DmaSegments,
    /// Device that owns the GPU's pages among them, if there are any. Those of a region belong to one GPU.
    pub device: Bits<10>,
}

/// Results of the stage `count_pages`, before the table is read.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PageCount {
    /// Number of pages from the page that contains the base of the region to the page that contains the first byte.
    pub pages: Bits<PAGE_NUMBER_BITS>,
    /// Bytes to the end of the page, if `near_end`.
    pub to_end: Bits<LENGTH_BITS>,
    pub near_end: Bit,
}

/// How the range is distributed over pages.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PageSplit {
    /// The range is not empty, and the region check passed.
    pub wanted: Bit,
    /// The range reaches into the next page.
    pub crosses: Bit,
    /// The range reaches into the page after the next.
    pub three: Bit,
    /// Bytes in the first page.
    pub first_length: Bits<LENGTH_BITS>,
}

/// A table write in the pipeline.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PageWrite {
    pub enable: Bit,
    pub index: Bits<EMTT_INDEX_BITS>,
    pub entry: EmttEntry,
}

/// Stores the extended memory translation table (eMTT), and translates one request per cycle to bus addresses.
///
/// `BANK`: address bits of each of the four banks of the table; 17 (524,288 entries) at full size. Pages whose entries would lie beyond
/// the table are invalid, and table writes beyond it are ignored.
#[derive(LogicBlock, Default)]
pub struct PageLookup<const BANK: usize> {
    pub clock: Signal<In, Clock>,
    /// A write to the table, if it selects `Emtt`. It applies to requests of later cycles, and to no earlier ones.
    pub table_valid: Signal<In, Bit>,
    pub table: Signal<In, TableWrite>,
    pub request: Signal<In, PageRequest>,
    /// [`LATENCY`] cycles after the request.
    pub answer: Signal<Out, PageAnswer>,
    writing: [DFF<PageWrite>; LOOKUP_STAGE],
    /// Requests in the pipeline.
    passing: [DFF<PageRequest>; ENTRY_STAGE],
    count: DFF<PageCount>,
    page_index: DFF<Bits<38>>,
    /// The index, delayed by the latency of the memory.
    page: Delay<Bits<EMTT_INDEX_BITS>, { emtt_banks::LATENCY }>,
    split: [DFF<PageSplit>; 1 + emtt_banks::LATENCY],
    banks: EmttBanks<BANK>,
    translated: DFF<PageAnswer>,
}

impl<const BANK: usize> Logic for PageLookup<BANK> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, count, page_index, translated);
        clock!(self, clock, banks, page);
        for i in 0..ENTRY_STAGE {
            self.passing[i].clock.next = self.clock.val();
            self.passing[i].d.next = if i == 0 {
                self.request.val()
            } else {
                self.passing[i - 1].q.val()
            };
        }

        // count_pages
        let incoming = self.request.val();
        let size = incoming.page_size;
        self.count.d.next = PageCount {
            pages: page_number(incoming.va, size) - page_number(incoming.base_va, size),
            to_end: bytes_to_page_end(incoming.va, size),
            near_end: near_page_end(incoming.va, size),
        };

        // split_page
        let request = self.passing[LOOKUP_STAGE - 2].q.val();
        let count = self.count.q.val();
        self.page_index.d.next = bit_cast::<38, EMTT_INDEX_BITS>(request.first_emtt)
            + bit_cast::<38, PAGE_NUMBER_BITS>(count.pages);
        let crosses = count.near_end & (request.length > count.to_end);
        let fills_second = request.length > (count.to_end + (WHOLE_PAGE as u64));
        let split = PageSplit {
            wanted: request.asks & (request.reason == DropReason::None),
            crosses,
            three: crosses & (request.page_size == PageSize::Size4K) & fills_second,
            first_length: if crosses {
                count.to_end
            } else {
                request.length
            },
        };
        for i in 0..self.split.len() {
            self.split[i].clock.next = self.clock.val();
            self.split[i].d.next = if i == 0 {
                split
            } else {
                self.split[i - 1].q.val()
            };
        }

        // A write reaches the memory in order with the requests.
        let table = self.table.val();
        let write = PageWrite {
            enable: self.table_valid.val() & (table.select == TableSelect::Emtt),
            index: table.index,
            entry: EmttEntry::from_bits(table.entry),
        };
        for i in 0..LOOKUP_STAGE {
            self.writing[i].clock.next = self.clock.val();
            self.writing[i].d.next = if i == 0 {
                write
            } else {
                self.writing[i - 1].q.val()
            };
        }
        let written = self.writing[LOOKUP_STAGE - 1].q.val();
        self.banks.write_enable.next = written.enable;
        self.banks.write_index.next = written.index;
        self.banks.write_entry.next = written.entry;
        self.banks.page_index.next = self.page_index.q.val();
        self.page.data.next = self.page_index.q.val().get_bits::<EMTT_INDEX_BITS>(0);

        // compose_addresses
        let placed = self.passing[ENTRY_STAGE - 1].q.val();
        let span = self.split[emtt_banks::LATENCY].q.val();
        let first = self.banks.first.val();
        let second = self.banks.second.val();
        let third = self.banks.third.val();
        let pages_valid =
            first.valid & (second.valid | !span.crosses) & (third.valid | !span.three);
        let free = span.wanted & pages_valid;
        let continues = free & span.crosses;
        let ends_in_third = free & span.three;
        let first_address = bus_address(first.frame, placed.va, placed.page_size);
        // The other segments start at the start of their pages.
        let second_address = bus_address(second.frame, bits::<64>(0), placed.page_size);
        let third_address = bus_address(third.frame, bits::<64>(0), placed.page_size);
        let segments = if free {
            DmaSegments {
                first_length: span.first_length,
                first_address,
                first_translated: first.owner == Owner::Gpu,
                second_address: if continues {
                    second_address
                } else {
                    bits::<64>(0)
                },
                second_translated: continues & (second.owner == Owner::Gpu),
                has_third: ends_in_third,
                third_address: if ends_in_third {
                    third_address
                } else {
                    bits::<64>(0)
                },
                third_translated: ends_in_third & (third.owner == Owner::Gpu),
            }
        } else {
            DmaSegments::default()
        };
        self.translated.d.next = PageAnswer {
            reason: if span.wanted & !pages_valid & placed.on_demand {
                DropReason::PageAbsent
            } else if span.wanted & !pages_valid {
                DropReason::InvalidPage
            } else {
                placed.reason
            },
            page: self.page.delayed.val(),
            segments,
            device: if first.owner == Owner::Gpu {
                first.device
            } else if second.owner == Owner::Gpu {
                second.device
            } else {
                third.device
            },
        };
        self.answer.next = self.translated.q.val();
    }
}
