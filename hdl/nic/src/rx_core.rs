//! The core pipeline: the tokens of two lanes pass QP check, RC tracking, region check, translation and PSN tracking in order.

use hdl_emtt::{emtt_lookup, mr_check, EmttLookup, FaultReport, MrCheck};
use hdl_macros::hdl;
use hdl_primitives::SyncFifo;
use hdl_reorder_buf::{psn_track, rc_track, PsnTrack, RcTrack};
use hdl_rx_pipeline::{core_issue, qp_fetch, CoreIssue, QpFetch};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::CoreToken;
use stellar_wire::hw::dma::PlaceCommand;
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::receive::RxOutcome;
use stellar_wire::hw::tables::TableWrite;
use stellar_wire::hw::Qpn;

use crate::table_bits::{EMTT_BANK_BITS, MR_BITS};

/// Entries of the FIFOs behind the core.
pub const DEPTH: usize = 64;
/// Fill level of a FIFO at which no more tokens are issued. All tokens in flight still fit: at most 24, the sum of the latencies of the stages.
pub const ISSUE_LIMIT: u64 = 36;

/// Turns tokens into place commands and outcomes, at most one of each per cycle.
///
/// Each lane has its own token stream and place command stream. The outcomes of both lanes leave in one stream, in the order of the tokens. A lane
/// whose FIFOs are full does not stall the other lane. A fence goes to the place commands of both lanes.
#[derive(LogicBlock, Default)]
pub struct RxCore {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub frame0_valid: Signal<In, Bit>,
    pub frame0_token: Signal<In, CoreToken>,
    pub frame0_ready: Signal<Out, Bit>,
    pub frame1_valid: Signal<In, Bit>,
    pub frame1_token: Signal<In, CoreToken>,
    pub frame1_ready: Signal<Out, Bit>,

    pub table_valid: Signal<In, Bit>,
    pub table_write: Signal<In, TableWrite>,
    pub table_ready: Signal<Out, Bit>,
    /// The context of a queue pair moves to state Error.
    pub error_valid: Signal<In, Bit>,
    pub error_qp: Signal<In, Qpn>,
    pub error_ready: Signal<Out, Bit>,
    pub fence_valid: Signal<In, Bit>,
    pub fence_ready: Signal<Out, Bit>,

    pub command0_valid: Signal<Out, Bit>,
    pub command0: Signal<Out, PlaceCommand>,
    pub command0_ready: Signal<In, Bit>,
    pub command1_valid: Signal<Out, Bit>,
    pub command1: Signal<Out, PlaceCommand>,
    pub command1_ready: Signal<In, Bit>,

    /// A packet that was accepted or must be acknowledged, without `ready`.
    pub outcome_valid: Signal<Out, Bit>,
    pub outcome: Signal<Out, RxOutcome>,
    /// In the same cycle: its lane has a place command with the payload of the packet.
    pub outcome_placed: Signal<Out, Bit>,
    /// For each lane: there is space for the outcomes of all tokens in flight and one more.
    pub outcome0_room: Signal<In, Bit>,
    pub outcome1_room: Signal<In, Bit>,

    /// The result of one packet, for the counters.
    pub verdict_valid: Signal<Out, Bit>,
    pub verdict_reason: Signal<Out, DropReason>,

    /// A packet needed a page of an on-demand region that has no translation.
    pub fault_valid: Signal<Out, Bit>,
    /// Index of the region.
    pub fault_region: Signal<Out, Bits<24>>,
    /// Address of the first byte of the packet.
    pub fault_va: Signal<Out, Bits<64>>,
    pub fault_ready: Signal<In, Bit>,

    core_issue: CoreIssue,
    qp_fetch: QpFetch,
    rc_track: RcTrack,
    mr_check: MrCheck<MR_BITS>,
    emtt_lookup: EmttLookup<EMTT_BANK_BITS>,
    psn_track: PsnTrack,
    fault_report: FaultReport,
    place0_fifo: SyncFifo<PlaceCommand, 6, 7>,
    place1_fifo: SyncFifo<PlaceCommand, 6, 7>,
}

impl RxCore {
    /// Cycles from the issue of a token to the place FIFO.
    pub const LATENCY: usize = qp_fetch::LATENCY
        + rc_track::LATENCY
        + mr_check::LATENCY
        + emtt_lookup::LATENCY
        + psn_track::LATENCY;
    // Besides the tokens in the stages: two registers in `core_issue`, one before the FIFO of outcomes, one for the count of the FIFO.
    const FITS: () = assert!(ISSUE_LIMIT as usize + Self::LATENCY + 4 <= DEPTH);
    /// `core_issue` keeps tokens of one queue pair as far apart as the tracking blocks need.
    const SPACED: () = assert!(
        core_issue::SPACING >= psn_track::SPACING
            && core_issue::SPACING >= rc_track::SPACING
            && core_issue::RC_SPACING >= psn_track::RC_SPACING
            && core_issue::RC_SPACING >= rc_track::SPACING
            && core_issue::NEAR <= psn_track::NEAR
    );
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
            fault_report,
            place0_fifo,
            place1_fifo
        );
        self.core_issue.reset.next = self.reset.val();
        self.mr_check.reset.next = self.reset.val();
        self.emtt_lookup.reset.next = self.reset.val();
        self.fault_report.reset.next = self.reset.val();
        self.place0_fifo.reset.next = self.reset.val();
        self.place1_fifo.reset.next = self.reset.val();

        self.core_issue.packet0_valid.next = self.frame0_valid.val();
        self.core_issue.packet0_token.next = self.frame0_token.val();
        self.frame0_ready.next = self.core_issue.packet0_ready.val();
        self.core_issue.packet1_valid.next = self.frame1_valid.val();
        self.core_issue.packet1_token.next = self.frame1_token.val();
        self.frame1_ready.next = self.core_issue.packet1_ready.val();
        self.core_issue.error_valid.next = self.error_valid.val();
        self.core_issue.error_qp.next = self.error_qp.val();
        self.error_ready.next = self.core_issue.error_ready.val();
        self.core_issue.table_valid.next = self.table_valid.val();
        self.core_issue.table_write.next = self.table_write.val();
        self.table_ready.next = self.core_issue.table_ready.val();
        self.core_issue.fence_valid.next = self.fence_valid.val();
        self.fence_ready.next = self.core_issue.fence_ready.val();
        let place0_room = self.place0_fifo.count.val() < ISSUE_LIMIT;
        let place1_room = self.place1_fifo.count.val() < ISSUE_LIMIT;
        self.core_issue.room0.next = place0_room & self.outcome0_room.val();
        self.core_issue.room1.next = place1_room & self.outcome1_room.val();

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
        self.fault_report.in_valid.next = self.emtt_lookup.out_valid.val();
        self.fault_report.in_token.next = self.emtt_lookup.out_token.val();
        self.fault_report.in_page.next = self.emtt_lookup.out_page.val();
        self.fault_valid.next = self.fault_report.fault_valid.val();
        self.fault_region.next = self.fault_report.fault_region.val();
        self.fault_va.next = self.fault_report.fault_va.val();
        self.fault_report.fault_ready.next = self.fault_ready.val();

        let command = self.psn_track.out_command.val();
        let has_command = self.psn_track.out_valid.val();
        let lane1 = self.psn_track.out_lane.val();
        self.place0_fifo.in_valid.next = has_command & (command.fence | !lane1);
        self.place0_fifo.in_data.next = command;
        self.command0_valid.next = self.place0_fifo.out_valid.val();
        self.command0.next = self.place0_fifo.out_data.val();
        self.place0_fifo.out_ready.next = self.command0_ready.val();
        self.place1_fifo.in_valid.next = has_command & (command.fence | lane1);
        self.place1_fifo.in_data.next = command;
        self.command1_valid.next = self.place1_fifo.out_valid.val();
        self.command1.next = self.place1_fifo.out_data.val();
        self.place1_fifo.out_ready.next = self.command1_ready.val();

        self.outcome_valid.next = self.psn_track.outcome_valid.val();
        self.outcome.next = self.psn_track.outcome.val();
        self.outcome_placed.next = command.place;

        self.verdict_valid.next = self.psn_track.out_counted.val();
        self.verdict_reason.next = self.psn_track.out_reason.val();
    }
}

const _: () = RxCore::FITS;
const _: () = RxCore::SPACED;
