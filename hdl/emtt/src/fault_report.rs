//! Page faults of the receive side, for the event queue.

use hdl_macros::hdl;
use hdl_primitives::{PageFaultSrc, TokenFlowSnk};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{TokenKind, TranslatedToken};
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::tables::EMTT_INDEX_BITS;

/// log2 of the cycles after which a page is reported again: 66 us at 250 MHz, less than the time to a retransmission.
pub const AGAIN_BITS: usize = 14;

/// Reports the page of an on-demand region that an MRC packet needed and that has no translation, once for many packets.
///
/// The page reported last is not reported again until a table is written or 2^[`AGAIN_BITS`] cycles have passed. A fault that occurs while another
/// report waits for the event queue is not reported: its packet counts as lost, and will be retransmitted. Levels: 4 (20-bit equality 3, gates 1).
#[derive(LogicBlock, Default)]
pub struct FaultReport {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// From `emtt_lookup`.
    pub in_: TokenFlowSnk<TranslatedToken>,
    /// Table index of the missing page of the token.
    pub in_page: Signal<In, Bits<EMTT_INDEX_BITS>>,

    /// To the event queue.
    pub fault: PageFaultSrc,

    waits: DFF<Bit>,
    region: DFF<Bits<24>>,
    va: DFF<Bits<64>>,
    /// `page` is the page reported last.
    reported: DFF<Bit>,
    page: DFF<Bits<EMTT_INDEX_BITS>>,
    age: DFF<Bits<AGAIN_BITS>>,
}

impl Logic for FaultReport {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, waits, region, va, reported, page, age);
        let token = self.in_.token.val();
        let headers = token.token.headers;
        let absent = (token.access_reason == DropReason::PageAbsent)
            & (token.reason == DropReason::None)
            & headers.mrc;
        let faults = self.in_.valid.val() & (token.token.kind == TokenKind::Packet) & absent;
        let known = self.reported.q.val() & (self.page.q.val() == self.in_page.val());
        let reports = faults & !self.waits.q.val() & !known;
        let changes = self.in_.valid.val() & (token.token.kind == TokenKind::Table);
        let ages = self.age.q.val().all();

        self.age.d.next = self.age.q.val() + 1;
        if self.fault.ready.val() {
            self.waits.d.next = false;
        }
        if changes | ages {
            self.reported.d.next = false;
        }
        if reports {
            self.waits.d.next = true;
            self.region.d.next = bit_cast::<24, 32>(headers.rkey >> 8);
            self.va.d.next = headers.va;
            self.reported.d.next = true;
            self.page.d.next = self.in_page.val();
        }
        self.fault.valid.next = self.waits.q.val();
        self.fault.region.next = self.region.q.val();
        self.fault.va.next = self.va.q.val();

        if self.reset.val() {
            self.waits.d.next = false;
            self.reported.d.next = false;
        }
    }
}
