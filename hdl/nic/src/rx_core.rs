//! The core pipeline: tokens in order through QP check, RC tracking, region check, translation and PSN tracking.

use hdl_emtt::{emtt_lookup, mr_check, EmttLookup, MrCheck};
use hdl_macros::hdl;
use hdl_primitives::SyncFifo;
use hdl_reorder_buf::{psn_track, rc_track, PsnTrack, RcTrack};
use hdl_rx_pipeline::{qp_fetch, CoreIssue, QpFetch};
use rust_hdl::prelude::*;
use stellar_wire::hw::ack::AckRequest;
use stellar_wire::hw::core::CoreToken;
use stellar_wire::hw::dma::PlaceCommand;
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::tables::TableWrite;

/// Entries of the FIFOs behind the core.
const DEPTH: usize = 64;
/// Tokens stop being issued at this fill: every token already in flight (the sum of the stages' latencies, 24 at most) still fits.
const ISSUE_LIMIT: u64 = 36;

/// 4,096 memory regions.
const MR_BITS: usize = 12;
/// Two banks of 131,072 pages.
const EMTT_BANK_BITS: usize = 17;

/// From tokens to place commands and acknowledgement requests, at most one of each per clock.
#[derive(LogicBlock, Default)]
pub struct RxCore {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub frame_valid: Signal<In, Bit>,
    pub frame_token: Signal<In, CoreToken>,
    pub frame_ready: Signal<Out, Bit>,

    pub table_valid: Signal<In, Bit>,
    pub table_write: Signal<In, TableWrite>,
    pub table_ready: Signal<Out, Bit>,
    pub fence_valid: Signal<In, Bit>,
    pub fence_ready: Signal<Out, Bit>,

    pub command_valid: Signal<Out, Bit>,
    pub command: Signal<Out, PlaceCommand>,
    pub command_ready: Signal<In, Bit>,

    pub ack_valid: Signal<Out, Bit>,
    pub ack_request: Signal<Out, AckRequest>,
    pub ack_ready: Signal<In, Bit>,

    /// The fate of one packet, for the counters.
    pub verdict_valid: Signal<Out, Bit>,
    pub verdict_reason: Signal<Out, DropReason>,

    core_issue: CoreIssue,
    qp_fetch: QpFetch,
    rc_track: RcTrack,
    mr_check: MrCheck<MR_BITS>,
    emtt_lookup: EmttLookup<EMTT_BANK_BITS>,
    psn_track: PsnTrack,
    place_fifo: SyncFifo<PlaceCommand, 6, 7>,
    ack_fifo: SyncFifo<AckRequest, 6, 7>,
}

impl RxCore {
    /// Clocks from issue to the place FIFO.
    pub const LATENCY: usize = qp_fetch::LATENCY
        + rc_track::LATENCY
        + mr_check::LATENCY
        + emtt_lookup::LATENCY
        + psn_track::LATENCY;
    // Two registers in `core_issue` and one count of the FIFO behind the tokens in the stages.
    const FITS: () = assert!(ISSUE_LIMIT as usize + Self::LATENCY + 3 <= DEPTH);
}

impl Logic for RxCore {
    #[hdl]
    fn update(&mut self) {
        clock!(
            self,
            clock,
            core_issue,
            qp_fetch,
            rc_track,
            mr_check,
            emtt_lookup,
            psn_track,
            place_fifo,
            ack_fifo
        );
        self.core_issue.reset.next = self.reset.val();
        self.mr_check.reset.next = self.reset.val();
        self.emtt_lookup.reset.next = self.reset.val();
        self.place_fifo.reset.next = self.reset.val();
        self.ack_fifo.reset.next = self.reset.val();

        self.core_issue.packet_valid.next = self.frame_valid.val();
        self.core_issue.packet_token.next = self.frame_token.val();
        self.frame_ready.next = self.core_issue.packet_ready.val();
        self.core_issue.table_valid.next = self.table_valid.val();
        self.core_issue.table_write.next = self.table_write.val();
        self.table_ready.next = self.core_issue.table_ready.val();
        self.core_issue.fence_valid.next = self.fence_valid.val();
        self.fence_ready.next = self.core_issue.fence_ready.val();
        self.core_issue.place_room.next = self.place_fifo.count.val() < ISSUE_LIMIT;
        self.core_issue.ack_room.next = self.ack_fifo.count.val() < ISSUE_LIMIT;

        self.qp_fetch.in_valid.next = self.core_issue.out_valid.val();
        self.qp_fetch.in_token.next = self.core_issue.out_token.val();
        self.rc_track.in_valid.next = self.qp_fetch.out_valid.val();
        self.rc_track.in_token.next = self.qp_fetch.out_token.val();
        self.mr_check.in_valid.next = self.rc_track.out_valid.val();
        self.mr_check.in_token.next = self.rc_track.out_token.val();
        self.emtt_lookup.in_valid.next = self.mr_check.out_valid.val();
        self.emtt_lookup.in_token.next = self.mr_check.out_token.val();
        self.psn_track.in_valid.next = self.emtt_lookup.out_valid.val();
        self.psn_track.in_token.next = self.emtt_lookup.out_token.val();

        self.place_fifo.in_valid.next = self.psn_track.out_valid.val();
        self.place_fifo.in_data.next = self.psn_track.out_command.val();
        self.command_valid.next = self.place_fifo.out_valid.val();
        self.command.next = self.place_fifo.out_data.val();
        self.place_fifo.out_ready.next = self.command_ready.val();

        self.ack_fifo.in_valid.next = self.psn_track.ack_valid.val();
        self.ack_fifo.in_data.next = self.psn_track.ack.val();
        self.ack_valid.next = self.ack_fifo.out_valid.val();
        self.ack_request.next = self.ack_fifo.out_data.val();
        self.ack_fifo.out_ready.next = self.ack_ready.val();

        self.verdict_valid.next = self.psn_track.out_counted.val();
        self.verdict_reason.next = self.psn_track.out_reason.val();
    }
}

const _: () = RxCore::FITS;
