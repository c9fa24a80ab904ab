//! Page translation of the core pipeline: where the payload goes.

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::{TokenFlowSnk, TokenFlowSrc, ValidDelay};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{RegionToken, TokenKind, TranslatedToken};
use stellar_wire::hw::tables::EMTT_INDEX_BITS;

use crate::page_lookup::{self, PageLookup, PageRequest};

/// Cycles from `in_` to `out`.
pub const LATENCY: usize = page_lookup::LATENCY;

/// Translates the address range of each packet page by page, and adds the segments and the access verdict to the token.
///
/// `BANK`: address bits of each of the four banks of the table; 17 (524,288 entries) in a full-size lane. Stages and levels:
/// [`page_lookup`].
#[derive(LogicBlock, Default)]
pub struct EmttLookup<const BANK: usize> {
    pub clock: Signal<In, Clock>,
    /// Synchronous. It discards tokens in flight, but keeps the table and pending writes to it.
    pub reset: Signal<In, Bit>,
    pub in_: TokenFlowSnk<RegionToken>,
    /// [`LATENCY`] cycles after its input.
    pub out: TokenFlowSrc<TranslatedToken>,
    /// Table index of the first page, if the token's `access_reason` is `PageAbsent`.
    pub out_page: Signal<Out, Bits<EMTT_INDEX_BITS>>,
    passing: ValidDelay<RegionToken, LATENCY>,
    lookup: PageLookup<BANK>,
}

impl<const BANK: usize> Logic for EmttLookup<BANK> {
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, passing);
        clock!(self, clock, lookup);

        let incoming = self.in_.token.val();
        let length = incoming.token.headers.payload_length;
        self.passing.in_valid.next = self.in_.valid.val();
        self.passing.in_data.next = incoming;
        self.lookup.table_valid.next =
            self.in_.valid.val() & !self.reset.val() & (incoming.token.kind == TokenKind::Table);
        self.lookup.table.next = incoming.token.table;
        self.lookup.request.next = PageRequest {
            asks: (incoming.token.kind == TokenKind::Packet) & length.any(),
            reason: incoming.access_reason,
            va: incoming.va,
            length,
            page_size: incoming.page_size,
            base_va: incoming.base_va,
            first_emtt: incoming.first_emtt,
            on_demand: incoming.on_demand,
        };

        let packet = self.passing.out_data.val();
        let answer = self.lookup.answer.val();
        self.out.valid.next = self.passing.out_valid.val();
        self.out_page.next = answer.page;
        self.out.token.next = TranslatedToken {
            token: packet.token,
            qp: packet.qp,
            reason: packet.reason,
            access_reason: answer.reason,
            rc_class: packet.rc_class,
            rc_epsn: packet.rc_epsn,
            rc_msn: packet.rc_msn,
            segments: answer.segments,
            device: answer.device,
        };
    }
}
