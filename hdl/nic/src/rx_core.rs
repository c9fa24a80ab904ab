//! The core pipeline: the tokens of two lanes pass QP check, RC tracking, region check, translation and PSN tracking in order.

use hdl_emtt::{emtt_lookup, mr_check, EmttLookup, FaultReport, MrCheck};
use hdl_macros::{clock, clock_reset, hdl, join};
use hdl_primitives::receive::TokenSnk;
use hdl_primitives::{
    FenceSnk, FlowSrc, PageFaultSrc, QpSnk, Src, SyncFifo, TableWriteSnk, VerdictSrc,
};
use hdl_reorder_buf::{psn_track, rc_track, PsnTrack, RcTrack};
use hdl_rx_pipeline::{core_issue, qp_fetch, CoreIssue, QpFetch};
use rust_hdl::prelude::*;
use stellar_wire::config::{RECEIVE_RING, RECEIVE_RING_BITS};
use stellar_wire::hw::core::CoreToken;
use stellar_wire::hw::dma::PlaceCommand;
use stellar_wire::hw::receive::{ReceiveCount, RxOutcome};
use stellar_wire::hw::tables::TableWrite;

use crate::table_bits::{EMTT_BANK_BITS, MR_BITS};

/// Entries of the FIFOs behind the core.
pub const DEPTH: usize = 64;
/// Fill level of a FIFO at which no more tokens are issued. All tokens in flight still fit: at most 26, the sum of the latencies of the stages.
pub const ISSUE_LIMIT: u64 = DEPTH as u64 - IN_FLIGHT;
/// Tokens that still arrive at a FIFO behind the core after its limit is reached, and some to spare.
pub const IN_FLIGHT: u64 = 31;

/// Turns tokens into place commands and outcomes, at most one of each per cycle.
///
/// Each lane has its own token stream and place command stream. The outcomes of both lanes leave in one stream, in the order of the tokens. A lane
/// whose FIFOs are full does not stall the other lane. A fence goes to the place commands of both lanes.
///
/// There are 2^`Q` queue pairs. Their windows have 2^`RW` words of 64 packets, which lie in rings of twice as many: 2^`RB` = `RN` words, 2^`R` for all queue pairs together. Each of the four banks of translations has 2^`EB`.
#[derive(LogicBlock, Default)]
pub struct RxCore<
    const Q: usize = 10,
    const RW: usize = { RECEIVE_RING_BITS - 1 },
    const RB: usize = RECEIVE_RING_BITS,
    const RN: usize = RECEIVE_RING,
    const R: usize = { 10 + RECEIVE_RING_BITS },
    const EB: usize = EMTT_BANK_BITS,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub frame: [TokenSnk<CoreToken>; 2],

    pub table: TableWriteSnk,
    pub error: QpSnk,
    pub fence: FenceSnk,

    pub command: [Src<PlaceCommand>; 2],

    /// A packet that was accepted or must be acknowledged.
    pub outcome: FlowSrc<RxOutcome>,
    /// In the same cycle: its lane has a place command with the payload of the packet.
    pub outcome_placed: Signal<Out, Bit>,
    /// With `outcome_placed`: the payload has to be flushed.
    pub outcome_flush: Signal<Out, Bit>,
    /// For each lane: there is space for the outcomes of all tokens in flight and one more.
    pub outcome0_room: Signal<In, Bit>,
    pub outcome1_room: Signal<In, Bit>,

    /// The result of each packet.
    pub verdict: VerdictSrc,

    /// What is counted for a queue pair.
    pub qp_count: FlowSrc<ReceiveCount>,
    /// No token is issued while this is high: the counters need a cycle without one.
    pub pause: Signal<In, Bit>,

    /// A packet needed a page of an on-demand region that has no translation.
    pub fault: PageFaultSrc,

    /// Rows that wait for their turn, so that no path leads from the configuration through the choice of a token, in either direction. A row takes a cycle more,
    /// and a list still one cycle for each row, or two if it is the context of a queue pair. A fence that comes after an accepted row finds it here, and stays behind it. That a row
    /// goes is decided late in a cycle, so this moves a pointer and enables no wide register.
    rows: SyncFifo<TableWrite, 1, 2>,
    core_issue: CoreIssue<RW, Q>,
    qp_fetch: QpFetch<Q>,
    rc_track: RcTrack<Q>,
    mr_check: MrCheck<MR_BITS>,
    emtt_lookup: EmttLookup<EB>,
    psn_track: PsnTrack<Q, RB, RN, R>,
    fault_report: FaultReport,
    place_fifo: [SyncFifo<PlaceCommand, 6, 7>; 2],
    /// The lane has space for every token in flight. A register, because the counts of the FIFOs are behind long paths.
    has_room: [DFF<Bit>; 2],
}

impl<
        const Q: usize,
        const RW: usize,
        const RB: usize,
        const RN: usize,
        const R: usize,
        const EB: usize,
    > RxCore<Q, RW, RB, RN, R, EB>
{
    /// Cycles from the issue of a token to the place FIFO.
    pub const LATENCY: usize = qp_fetch::LATENCY
        + rc_track::LATENCY
        + mr_check::LATENCY
        + emtt_lookup::LATENCY
        + psn_track::LATENCY;
    // Besides the tokens in the stages: two registers in `core_issue`, one before the FIFO of outcomes, one for the count of the FIFO, one for `has_room`.
    const FITS: () = assert!(ISSUE_LIMIT as usize + Self::LATENCY + 5 <= DEPTH);
    /// `core_issue` keeps tokens of one queue pair as far apart as the tracking blocks need.
    const SPACED: () = assert!(
        core_issue::SPACING >= psn_track::SPACING
            && core_issue::SPACING >= rc_track::SPACING
            && core_issue::RC_SPACING >= psn_track::RC_SPACING
            && core_issue::RC_SPACING >= rc_track::SPACING
            && core_issue::near(RW) <= psn_track::window(RB)
    );
}

impl<
        const Q: usize,
        const RW: usize,
        const RB: usize,
        const RN: usize,
        const R: usize,
        const EB: usize,
    > Logic for RxCore<Q, RW, RB, RN, R, EB>
{
    #[hdl]
    fn update(&mut self) {
        clock_reset!(
            self,
            rows,
            core_issue,
            qp_fetch,
            mr_check,
            emtt_lookup,
            fault_report,
            place_fifo[..]
        );
        clock!(self, clock, rc_track, psn_track, has_room[..]);

        join!(
            self,
            table.write => rows.in_.data,
            rows.out.data => core_issue.table.write,
            rows.out.valid => core_issue.table.valid,
            core_issue.table.ready => rows.out.ready,
            error => core_issue.error,
            fence => core_issue.fence,

            core_issue.out => qp_fetch.in_,
            qp_fetch.out => rc_track.in_,
            rc_track.out => mr_check.in_,
            mr_check.out => emtt_lookup.in_,
            emtt_lookup.out => psn_track.in_,
            psn_track.outcome => outcome,
            psn_track.qp_count => qp_count,
            psn_track.out.counted => verdict.valid,
            psn_track.out.reason => verdict.reason,

            emtt_lookup.out => fault_report.in_,
            emtt_lookup.out_page => fault_report.in_page,
            fault_report.fault => fault,
        );

        // Tables are not written while contexts are cleared.
        let clearing = self.qp_fetch.clearing.val();
        self.rows.in_.valid.next = self.table.valid.val() & !clearing;
        self.table.ready.next = self.rows.in_.ready.val() & !clearing;

        let command = self.psn_track.out.command.val();
        let lane1 = self.psn_track.out.lane.val();
        self.outcome_placed.next = command.place;
        self.outcome_flush.next = command.flush;
        for i in 0..2 {
            let of_lane = lane1 == (i == 1);
            self.place_fifo[i].in_.valid.next =
                self.psn_track.out.valid.val() & (command.fence | of_lane);
            self.place_fifo[i].in_.data.next = command;
            let place_room = self.place_fifo[i].count.val() < ISSUE_LIMIT;
            let outcome_room = if i == 0 {
                self.outcome0_room.val()
            } else {
                self.outcome1_room.val()
            };
            self.has_room[i].d.next = place_room & outcome_room & !self.pause.val();
            self.core_issue.room[i].next = self.has_room[i].q.val();
            join!(
                self,
                frame[i] => core_issue.packet[i],
                place_fifo[i].out => command[i],
            );
        }
    }
}

const _: () = <RxCore>::FITS;
const _: () = <RxCore>::SPACED;
