//! Checks and translates the address of a payload that the requester will read.

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::{Delay, FlowSrc, Snk, ValidDelay};
use rust_hdl::prelude::*;
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::requester::{TranslateRequest, TranslateResponse};
use stellar_wire::hw::tables::TableWrite;
use stellar_wire::hw::Qpn;
use stellar_wire::mtu::LENGTH_BITS;

use crate::page_lookup::{self, PageLookup, PageRequest};
use crate::region_check::{self, RegionCheck, RegionRequest};

/// Cycles from a request to its response.
pub const LATENCY: usize = region_check::LATENCY + page_lookup::LATENCY;

/// What a response returns of its request.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Asker {
    qp: Qpn,
    epoch: Bit,
}

/// The range of the packet, while the message is checked.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct PacketSpan {
    va: Bits<64>,
    length: Bits<LENGTH_BITS>,
}

/// Checks key, protection domain and the bounds of the whole message, then translates the pages of the packet. It accepts one request per cycle.
///
/// It has its own tables, which receive the same writes as those of the receive lane: `R` address bits of the region table (12: 4,096
/// regions), `BANK` address bits of each bank of the eMTT (17: 524,288 pages). [`region_check`] and [`page_lookup`] describe the
/// stages and their levels. A sum of 64 bits (a carry chain) computes the address of the packet during the first stage of the check.
#[derive(LogicBlock, Default)]
pub struct LocalTranslate<const R: usize, const BANK: usize> {
    pub clock: Signal<In, Clock>,
    /// Discards requests in flight, but keeps the tables and pending writes to them.
    pub reset: Signal<In, Bit>,

    /// `ready` is always high.
    pub request: Snk<TranslateRequest>,
    /// Epoch of the requests in this cycle, which their responses return.
    pub epoch: Signal<In, Bit>,

    /// [`LATENCY`] cycles after the request. A fault has no segments.
    pub response: FlowSrc<TranslateResponse>,
    /// The response in this cycle is a fault: no location was given.
    pub refused: Signal<Out, EpochEnd>,

    /// A write to `Mr` or `Emtt`, always accepted; others are ignored. It applies to requests of later cycles, and to no earlier ones.
    pub table_valid: Signal<In, Bit>,
    pub table_write: Signal<In, TableWrite>,

    asker: ValidDelay<Asker, LATENCY>,
    check: RegionCheck<R>,
    span: DFF<PacketSpan>,
    span_wait: Delay<PacketSpan, { region_check::LATENCY - 1 }>,
    lookup: PageLookup<BANK>,
    write_valid: Delay<Bit, { region_check::LATENCY }>,
    write: Delay<TableWrite, { region_check::LATENCY }>,
}

impl<const R: usize, const BANK: usize> Logic for LocalTranslate<R, BANK> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, span);
        clock_reset!(self, asker);
        clock!(self, clock, check, span_wait, lookup, write_valid, write);
        self.request.ready.next = true;

        // check_message
        let request = self.request.record.val();
        self.asker.in_valid.next = self.request.valid.val();
        self.asker.in_data.next = Asker {
            qp: request.qp,
            epoch: self.epoch.val(),
        };
        self.check.table_valid.next = self.table_valid.val();
        self.check.table.next = self.table_write.val();
        self.check.request.next = RegionRequest {
            asks: true,
            key: request.lkey,
            pd: request.pd,
            va: request.va,
            length: request.message_length,
            before: bits::<32>(0),
            remote_write: false,
            qp_allows: false,
        };
        self.span.d.next = PacketSpan {
            va: request.va + bit_cast::<64, 32>(request.offset),
            length: request.length,
        };
        self.span_wait.data.next = self.span.q.val();

        // locate_packet: table writes are delayed as much as requests.
        let verdict = self.check.verdict.val();
        let span = self.span_wait.delayed.val();
        self.write_valid.data.next = self.table_valid.val();
        self.write.data.next = self.table_write.val();
        self.lookup.table_valid.next = self.write_valid.delayed.val();
        self.lookup.table.next = self.write.delayed.val();
        self.lookup.request.next = PageRequest {
            asks: true,
            reason: verdict.reason,
            va: span.va,
            length: span.length,
            page_size: verdict.page_size,
            base_va: verdict.base_va,
            first_emtt: verdict.first_emtt,
            on_demand: verdict.on_demand,
        };

        let answer = self.lookup.answer.val();
        let asker = self.asker.out_data.val();
        let fault = answer.reason != DropReason::None;
        self.response.valid.next = self.asker.out_valid.val();
        self.response.record.next = TranslateResponse {
            qp: asker.qp,
            fault,
            segments: answer.segments,
            epoch: asker.epoch,
        };
        self.refused.next = EpochEnd {
            valid: self.asker.out_valid.val() & fault,
            epoch: asker.epoch,
        };
    }
}
