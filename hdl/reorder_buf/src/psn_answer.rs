//! The last stage of `psn_track`: it turns a decided token into its outputs.

use hdl_macros::{bundle, hdl};
use hdl_primitives::FlowSrc;
use rust_hdl::prelude::*;
use stellar_wire::hw::ack::AckRequest;
use stellar_wire::hw::core::TokenKind;
use stellar_wire::hw::dma::PlaceCommand;
use stellar_wire::hw::frame::{DropReason, Position};
use stellar_wire::hw::receive::{ReceiveCount, RxOutcome};
use stellar_wire::mtu::LENGTH_BITS;

use crate::psn_stages::{Count, Decision};
use crate::token_kind::is_packet;
use crate::verdict::{
    accepts, answer_kind, answer_syndrome, answers, concerns_qp, counted_reason, is_reason,
    refused_by_context, Verdict,
};

/// Cycles from `in_valid` to `out_valid`.
pub const LATENCY: usize = 1;

/// The driving end of the decisions about tokens.
#[bundle]
pub struct VerdictFlowSrc {
    /// There is a place command: one per frame and fence.
    pub valid: Signal<Out, Bit>,
    pub command: Signal<Out, PlaceCommand>,
    /// Lane of the frame.
    pub lane: Signal<Out, Bit>,
    /// The command belongs to a frame, which is counted under `reason`. It is used only with `valid`.
    pub counted: Signal<Out, Bit>,
    /// `None` if the packet was accepted.
    pub reason: Signal<Out, DropReason>,
    /// Payload bytes that will be placed, 0 for a dropped packet.
    pub payload_bytes: Signal<Out, Bits<LENGTH_BITS>>,
}

/// Makes the place command, the counter event and the outcome, one token per cycle. Levels planned: 4 (bitmap, PSNs, reason).
#[derive(LogicBlock, Default)]
pub struct PsnAnswer {
    pub clock: Signal<In, Clock>,
    pub in_valid: Signal<In, Bit>,
    pub in_decision: Signal<In, Decision>,
    pub out: VerdictFlowSrc,
    pub outcome: FlowSrc<RxOutcome>,
    /// What is counted for a queue pair, in the cycle of `out`.
    pub qp_count: FlowSrc<ReceiveCount>,

    command_valid: DFF<Bit>,
    command: DFF<PlaceCommand>,
    count: DFF<Count>,
    qp_count_is: DFF<Bit>,
    qp_counted: DFF<ReceiveCount>,
    outcome_is: DFF<Bit>,
    outcome_held: DFF<RxOutcome>,
}

impl Logic for PsnAnswer {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            command_valid,
            command,
            count,
            qp_count_is,
            qp_counted,
            outcome_is,
            outcome_held
        );
        let decision = self.in_decision.val();
        let tracked = decision.tracked;
        let verdict = decision.verdict;
        let accepted = accepts(verdict);
        let is_fence = tracked.kind == TokenKind::Fence;
        let counted = self.in_valid.val() & is_packet(tracked.kind);
        let reason = counted_reason(verdict, tracked.reason, tracked.access_reason);
        // A packet behind the expected PSN may lie outside the stored window: its word is known without the memory. In the
        // word half way round, bits below the expected PSN's are not behind it but ahead.
        // A probe of an RC queue pair: it has no window. What has arrived is what is before the expected PSN.
        let rc_probe = tracked.probe & !tracked.mrc;
        let epsn = if rc_probe {
            tracked.rc_epsn
        } else {
            decision.epsn
        };
        let below_epsn = !(Bits::<64>::mask() << epsn.get_bits::<6>(0));
        let bitmap = if rc_probe {
            below_epsn
        } else if !decision.behind | decision.in_epsn_word {
            decision.word
        } else if decision.in_opposite_word {
            !below_epsn
        } else {
            Bits::<64>::mask()
        };
        // The PSN of the packet itself, except in acknowledgements about the expected PSN.
        let answer_psn = match verdict {
            Verdict::RcGap => tracked.rc_epsn,
            Verdict::RcDuplicate => tracked.rc_epsn - 1,
            Verdict::Probe => epsn - 1,
            _ => tracked.psn,
        };
        let ends = (tracked.position == Position::Last) | (tracked.position == Position::Only);
        // `rc_track` counted a message that the region or page check then refused: it is not completed.
        let uncounted = (verdict == Verdict::RcAccess) & ends;
        let completed = if uncounted {
            tracked.rc_msn - 1
        } else {
            tracked.rc_msn
        };
        let placed_bytes = if accepted {
            tracked.payload_length
        } else {
            bits::<LENGTH_BITS>(0)
        };
        self.count.d.next = Count {
            counted,
            lane: tracked.lane,
            reason,
            payload_bytes: placed_bytes,
        };
        let invalid = (verdict == Verdict::RcInvalid)
            | ((verdict == Verdict::MrcInvalid) & is_reason(tracked.reason));
        let no_access = (verdict == Verdict::RcAccess)
            | ((verdict == Verdict::MrcInvalid) & !is_reason(tracked.reason));
        let wrong_state = (verdict == Verdict::InError)
            | ((verdict == Verdict::Refused) & (tracked.reason == DropReason::WrongState));
        let refused = (verdict == Verdict::Refused) & refused_by_context(tracked.reason);
        let concerns = concerns_qp(verdict);
        self.qp_count_is.d.next =
            self.in_valid.val() & (tracked.starts_qp | concerns | wrong_state | refused);
        self.qp_counted.d.next = ReceiveCount {
            qp: tracked.row,
            restarts: tracked.starts_qp,
            accepted,
            bytes: placed_bytes,
            marked: concerns & tracked.ecn_ce,
            duplicate: (verdict == Verdict::RcDuplicate) | (verdict == Verdict::MrcDuplicate),
            gap: (verdict == Verdict::RcGap) | (verdict == Verdict::RcGapAgain),
            outside_window: verdict == Verdict::MrcOutside,
            invalid,
            no_access,
            page_absent: verdict == Verdict::MrcAbsent,
            probe: verdict == Verdict::Probe,
            wrong_state,
            refused,
        };
        let answered = answers(verdict, tracked.ack_req);
        // Completions leave by endpoint 0, to host memory. So do payloads of an RC queue pair of port 0, and PCIe keeps the order. Acknowledgements leave by
        // Ethernet, and a queue pair over MRC uses both endpoints.
        let segments = tracked.segments;
        let to_peer =
            segments.first_translated | segments.second_translated | segments.third_translated;
        self.command.d.next = PlaceCommand {
            fence: is_fence,
            place: placed_bytes.any(),
            span: tracked.span,
            offset: tracked.payload_offset,
            length: tracked.payload_length,
            segments,
            flush: placed_bytes.any() & (tracked.mrc | tracked.lane | to_peer | answered),
            device: tracked.device,
        };
        let named_psn = if tracked.probe { epsn } else { tracked.psn };
        let ack = AckRequest {
            kind: answer_kind(verdict),
            reason,
            qp: tracked.row,
            psn: answer_psn,
            msn: completed,
            syndrome: answer_syndrome(verdict),
            cack_psn: epsn - 1,
            bitmap_base: (named_psn >> 6) << 6,
            bitmap,
            ecn_ce: tracked.ecn_ce,
            entropy: tracked.entropy,
            has_timestamp: tracked.has_timestamp,
            timestamp: tracked.timestamp,
        };
        self.outcome_is.d.next = self.in_valid.val() & (accepted | answered);
        self.outcome_held.d.next = RxOutcome {
            qp: tracked.row,
            port: tracked.lane,
            accepted,
            mrc: tracked.mrc,
            position: tracked.position,
            psn: tracked.psn,
            ack_req: tracked.ack_req,
            epsn: if tracked.mrc {
                decision.epsn
            } else {
                tracked.rc_epsn
            },
            has_immediate: tracked.has_immediate,
            immediate: tracked.immediate,
            msn: tracked.msn,
            rqmsn: tracked.rqmsn,
            dma_length: tracked.dma_length,
            payload_length: tracked.payload_length,
            ack_valid: answered,
            ack,
            probe: verdict == Verdict::Probe,
            probe_id: tracked.msn,
            lost: false,
        };
        self.command_valid.d.next = counted | self.in_valid.val() & is_fence;
        self.out.valid.next = self.command_valid.q.val();
        self.out.command.next = self.command.q.val();
        let count = self.count.q.val();
        self.out.lane.next = count.lane;
        self.out.counted.next = count.counted;
        self.out.reason.next = count.reason;
        self.out.payload_bytes.next = count.payload_bytes;
        self.qp_count.valid.next = self.qp_count_is.q.val();
        self.qp_count.record.next = self.qp_counted.q.val();
        self.outcome.valid.next = self.outcome_is.q.val();
        self.outcome.record.next = self.outcome_held.q.val();
    }
}
