//! Memory region check of the core pipeline.

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::{TokenFlowSnk, TokenFlowSrc, ValidDelay};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{AddressedToken, RegionToken, TokenKind};
use stellar_wire::hw::frame::Position;
use stellar_wire::mtu::LENGTH_BITS;

use crate::region_check::{self, RegionCheck, RegionRequest};

/// Cycles from `in_` to `out`.
pub const LATENCY: usize = region_check::LATENCY;

/// Checks each packet against the memory region of its R_Key, and adds the verdict to the token.
///
/// `A`: address bits of the region table; 12 (4,096 regions) in every full-size lane. Stages and levels: [`region_check`].
#[derive(LogicBlock, Default)]
pub struct MrCheck<const A: usize> {
    pub clock: Signal<In, Clock>,
    /// Synchronous. It discards tokens in flight, but keeps the table.
    pub reset: Signal<In, Bit>,
    pub in_: TokenFlowSnk<AddressedToken>,
    /// [`LATENCY`] cycles after its input.
    pub out: TokenFlowSrc<RegionToken>,
    passing: ValidDelay<AddressedToken, LATENCY>,
    check: RegionCheck<A>,
}

impl<const A: usize> Logic for MrCheck<A> {
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, passing);
        clock!(self, clock, check);

        let incoming = self.in_.token.val();
        let headers = incoming.token.headers;
        let payload = headers.payload_length;
        let starts = (headers.position == Position::First) | (headers.position == Position::Only);
        // The first packet of a message is checked with the length of the whole message (IBTA volume 1, 9.7.4.1.5): if the message does not fit,
        // none of it is placed. So is the last packet of an MRC message, because a completion reports the length that it gives.
        let own = bit_cast::<32, LENGTH_BITS>(payload);
        let length = if starts { headers.dma_length } else { own };
        let ends_mrc = headers.mrc & (headers.position == Position::Last);
        let before = if ends_mrc & (headers.dma_length > own) {
            headers.dma_length - own
        } else {
            bits::<32>(0)
        };
        self.passing.in_valid.next = self.in_.valid.val();
        self.passing.in_data.next = incoming;
        self.check.table_valid.next =
            self.in_.valid.val() & (incoming.token.kind == TokenKind::Table);
        self.check.table.next = incoming.token.table;
        self.check.request.next = RegionRequest {
            asks: (incoming.token.kind == TokenKind::Packet) & payload.any(),
            key: incoming.rkey,
            pd: incoming.qp.pd,
            va: incoming.va,
            length,
            before,
            remote_write: true,
            qp_allows: incoming.qp.remote_write,
        };

        let packet = self.passing.out_data.val();
        let verdict = self.check.verdict.val();
        self.out.valid.next = self.passing.out_valid.val();
        self.out.token.next = RegionToken {
            token: packet.token,
            qp: packet.qp,
            reason: packet.reason,
            access_reason: verdict.reason,
            rc_class: packet.rc_class,
            rc_epsn: packet.rc_epsn,
            rc_msn: packet.rc_msn,
            va: packet.va,
            page_size: verdict.page_size,
            base_va: verdict.base_va,
            first_emtt: verdict.first_emtt,
            on_demand: verdict.on_demand,
        };
    }
}
