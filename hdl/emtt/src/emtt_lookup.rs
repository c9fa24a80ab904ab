//! Page translation: where in the bus address space the payload goes, and with which address type (STELLAR, section 6).
//!
//! Stages, with planned LUT6 levels (a CARRY8 chain of 38 bits counts as 2):
//! 1. `count_pages`: pages from the region's first to this one (page size mux 1, subtraction 1 + carry); bytes to the 4 KiB boundary;
//!    all-ones test of the page offset (4).
//! 2. `split_page`: table index `first_emtt + pages` (1 + carry); does the payload cross into the next page (compare 2, select 1).
//! 3. to 6. `EmttBanks`: this entry and the next.
//! 7. `compose_addresses`: page and offset joined, blanked unless every page touched is valid (3).

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{Pieces, RegionToken, TokenKind, TranslatedToken};
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::tables::{Owner, TableSelect};

use crate::emtt_banks::{self, EmttBanks};
use crate::page_math::{
    bus_address, bus_address__hdl, bytes_to_4k, bytes_to_4k__hdl, in_last_4k, in_last_4k__hdl,
    page_number, page_number__hdl, PAGE_NUMBER_BITS,
};
use crate::table_entry::{emtt_entry, emtt_entry__hdl, writes_table, writes_table__hdl};

/// Clocks from `in_token` to its `out_token`.
pub const LATENCY: usize = LOOKUP_STAGE + emtt_banks::LATENCY + 1;

/// Clocks from `in_token` to the memory's `page_index`.
const LOOKUP_STAGE: usize = 2;

/// Clocks from `in_token` to the entries read.
const ENTRY_STAGE: usize = LOOKUP_STAGE + emtt_banks::LATENCY;

/// What the address says before the table is asked.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct PageCount {
    /// Pages from the one that holds the region's base to the one that holds the payload's first byte.
    pages: Bits<PAGE_NUMBER_BITS>,
    to_4k: Bits<13>,
    in_last_4k: Bit,
}

/// How the payload lies over its pages.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct PageSplit {
    /// The packet has payload, and the region checks let it pass.
    wanted: Bit,
    /// It reaches into the next page.
    crosses: Bit,
    /// Bytes in the first page.
    first_length: Bits<13>,
}

/// Translates each packet's address range page by page, and adds the pieces and the access verdict to the token.
///
/// `BANK`: address bits of each of the two banks of the table; 17 (262,144 entries) in a full-size lane. Pages whose entries would lie beyond
/// the table are invalid, and table writes beyond it are ignored. The pieces are all zero unless there is payload and its way is free,
/// so an address type of "translated" never stands beside an address that was not checked.
#[derive(LogicBlock, Default)]
pub struct EmttLookup<const BANK: usize> {
    pub clock: Signal<In, Clock>,
    /// Synchronous; forgets tokens in flight, keeps the table.
    pub reset: Signal<In, Bit>,
    pub in_valid: Signal<In, Bit>,
    pub in_token: Signal<In, RegionToken>,
    pub out_valid: Signal<Out, Bit>,
    /// [`LATENCY`] clocks after the token it was made from.
    pub out_token: Signal<Out, TranslatedToken>,
    valid: [DFF<Bit>; LATENCY],
    /// Tokens on their way beside the arithmetic and the memory.
    passing: [DFF<RegionToken>; ENTRY_STAGE],
    count: DFF<PageCount>,
    page_index: DFF<Bits<38>>,
    split: [DFF<PageSplit>; 1 + emtt_banks::LATENCY],
    banks: EmttBanks<BANK>,
    translated: DFF<TranslatedToken>,
}

impl<const BANK: usize> Logic for EmttLookup<BANK> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, count, page_index, translated);
        self.banks.clock.next = self.clock.val();
        for i in 0..LATENCY {
            self.valid[i].clock.next = self.clock.val();
            self.valid[i].d.next = if i == 0 {
                self.in_valid.val()
            } else {
                self.valid[i - 1].q.val()
            };
        }
        for i in 0..ENTRY_STAGE {
            self.passing[i].clock.next = self.clock.val();
            self.passing[i].d.next = if i == 0 {
                self.in_token.val()
            } else {
                self.passing[i - 1].q.val()
            };
        }

        // count_pages
        let incoming = self.in_token.val();
        let size = incoming.page_size;
        self.count.d.next = PageCount {
            pages: page_number(incoming.va, size) - page_number(incoming.base_va, size),
            to_4k: bytes_to_4k(incoming.va),
            in_last_4k: in_last_4k(incoming.va, size),
        };

        // split_page
        let packet = self.passing[LOOKUP_STAGE - 2].q.val();
        let count = self.count.q.val();
        self.page_index.d.next =
            bit_cast::<38, 18>(packet.first_emtt) + bit_cast::<38, PAGE_NUMBER_BITS>(count.pages);
        let length = packet.token.headers.payload_length;
        let crosses = count.in_last_4k & (length > count.to_4k);
        let asks_memory = (packet.token.kind == TokenKind::Packet) & length.any();
        let split = PageSplit {
            wanted: asks_memory & (packet.access_reason == DropReason::None),
            crosses,
            first_length: if crosses { count.to_4k } else { length },
        };
        for i in 0..self.split.len() {
            self.split[i].clock.next = self.clock.val();
            self.split[i].d.next = if i == 0 {
                split
            } else {
                self.split[i - 1].q.val()
            };
        }

        let writer = self.passing[LOOKUP_STAGE - 1].q.val().token;
        self.banks.write_enable.next =
            self.valid[LOOKUP_STAGE - 1].q.val() & writes_table(writer, TableSelect::Emtt);
        self.banks.write_index.next = writer.table.index;
        self.banks.write_entry.next = emtt_entry(writer.table.entry);
        self.banks.page_index.next = self.page_index.q.val();

        // compose_addresses
        let placed = self.passing[ENTRY_STAGE - 1].q.val();
        let span = self.split[emtt_banks::LATENCY].q.val();
        let first = self.banks.first.val();
        let second = self.banks.second.val();
        let pages_valid = first.valid & (second.valid | !span.crosses);
        let access_reason = if span.wanted & !pages_valid {
            DropReason::InvalidPage
        } else {
            placed.access_reason
        };
        let free = span.wanted & pages_valid;
        let continues = free & span.crosses;
        let first_address = bus_address(first.frame, placed.va, placed.page_size);
        // The second piece starts where its page starts.
        let second_address = bus_address(second.frame, bits::<64>(0), placed.page_size);
        let pieces = if free {
            Pieces {
                first_length: span.first_length,
                first_address,
                first_translated: first.owner == Owner::Gpu,
                second_address: if continues {
                    second_address
                } else {
                    bits::<64>(0)
                },
                second_translated: continues & (second.owner == Owner::Gpu),
            }
        } else {
            Pieces::default()
        };
        self.translated.d.next = TranslatedToken {
            token: placed.token,
            qp: placed.qp,
            reason: placed.reason,
            access_reason,
            rc_class: placed.rc_class,
            rc_epsn: placed.rc_epsn,
            rc_msn: placed.rc_msn,
            pieces,
        };

        self.out_valid.next = self.valid[LATENCY - 1].q.val();
        self.out_token.next = self.translated.q.val();

        if self.reset.val() {
            for i in 0..LATENCY {
                self.valid[i].d.next = false;
            }
        }
    }
}
