//! The final decision about a packet.

mod inner;
mod passing;

use hdl_macros::{clock, hdl, join};
use hdl_primitives::TokenFlowSnk;
use hdl_reorder_buf::psn_answer::VerdictFlowSrc;
use hdl_reorder_buf::psn_stages::written_by;
use hdl_reorder_buf::psn_track::{LATENCY, SPACING};
use hdl_reorder_buf::tracked::is_packet_of;
use hdl_reorder_buf::PsnTrack;
use rust_hdl::prelude::*;
use stellar_wire::hw::ack::AckKind;
use stellar_wire::hw::core::TranslatedToken;

use inner::TrackInsideSnk;
use passing::{entering, error_after, has_decision, has_token, Passing};

/// Registers of the block before its decision: `looked_up`, `waited`, `compared`.
const UNDECIDED: usize = 3;

/// Properties of [`PsnTrack`] with 2 queue pairs and rings of 32 words.
#[derive(LogicBlock, Default)]
pub struct PsnTrackProof {
    pub clock: Signal<In, Clock>,
    pub in_: TokenFlowSnk<TranslatedToken>,
    pub out: VerdictFlowSrc,
    /// The queue pair whose error state is watched.
    pub watched: Signal<In, Bits<1>>,
    /// Registers of the block.
    pub inner_track: TrackInsideSnk,

    /// `watched` does not change.
    pub given_one_watched: Signal<Out, Bit>,
    /// A context is written at least [`SPACING`] cycles before or behind a packet of its queue pair.
    pub given_spacing: Signal<Out, Bit>,

    /// Payload is placed only of a packet in which no check found anything: neither that of the frame, nor those of queue pair, order, region and pages. It has payload.
    pub holds_checked: Signal<Out, Bit>,
    /// What is placed is the payload of that packet, at the addresses and with the address types that the translation gave it.
    pub holds_command: Signal<Out, Bit>,
    /// There is one command for each packet and for each fence, in their order. That of a packet frees its own part of the buffer.
    pub holds_one_each: Signal<Out, Bit>,
    /// A packet with payload is placed exactly if its outcome is that it was accepted.
    pub holds_outcome: Signal<Out, Bit>,
    /// Behind a packet that was answered with a fatal NAK or NACK, no packet of its queue pair is placed until the context is written.
    pub holds_in_error: Signal<Out, Bit>,

    // What is in the registers, so that the properties are an invariant together.
    /// Before the decision, each register has the token that entered so many cycles ago.
    pub holds_tokens: Signal<Out, Bit>,
    /// So it has behind it, with an acceptance only if the token is clean and its queue pair was not in error.
    pub holds_decisions: Signal<Out, Bit>,
    /// The block knows which of the two tokens before a packet are of its queue pair.
    pub holds_forwarding: Signal<Out, Bit>,
    /// What the block reads, and has read, of the error state of the watched queue pair is not older than the packets that it is not forwarded from.
    pub holds_errors: Signal<Out, Bit>,

    /// Payload in three pages can be placed.
    pub reaches_placed: Signal<Out, Bit>,
    /// A packet without a fault of its own can be dropped, because its queue pair is in error.
    pub reaches_in_error: Signal<Out, Bit>,

    track: PsnTrack<1, 5, 32, 6>,
    before: DFF<Bits<1>>,
    started: DFF<Bit>,
    /// A fatal answer for the watched queue pair left, and no context behind it.
    in_error: DFF<Bit>,
    passing: [DFF<Passing>; LATENCY],
}

impl Logic for PsnTrackProof {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, before, started, in_error);
        clock!(self, clock, track, passing[..]);
        join!(self, in_ => track.in_, track.out => out);

        let watched = self.watched.val();
        self.before.d.next = watched;
        self.started.d.next = true;
        self.given_one_watched.next = !self.started.q.val() | (watched == self.before.q.val());

        let enters = entering(self.in_.valid.val(), self.in_.token.val(), watched);
        for i in 0..LATENCY {
            self.passing[i].d.next = if i == 0 {
                enters
            } else {
                self.passing[i - 1].q.val()
            };
        }
        let mut packets = enters.valid & enters.watched;
        let mut writes = enters.valid & enters.writes;
        for i in 0..SPACING - 1 {
            let was = self.passing[i].q.val();
            packets = packets | (was.valid & was.watched);
            writes = writes | (was.valid & was.writes);
        }
        self.given_spacing.next = !(packets & writes);

        let was = self.passing[LATENCY - 1].q.val();
        let command = self.track.out.command.val();
        let commands = self.track.out.valid.val();
        let places = commands & command.place;
        let outcome = self.track.outcome.record.val();
        let answer = outcome.ack;
        let fatal = match answer.kind {
            AckKind::Nak => (answer.syndrome == 0x61) | (answer.syndrome == 0x62),
            AckKind::Nack => answer.syndrome == 25,
            _ => false,
        };
        let answers = self.track.outcome.valid.val() & outcome.ack_valid;
        let fails = answers & fatal & (answer.qp.get_bits::<1>(0) == watched);
        let in_error = self.in_error.q.val();
        let error_behind = if was.valid & was.writes {
            false
        } else {
            in_error | fails
        };
        self.in_error.d.next = error_behind;

        let has_bytes = was.length.any();
        self.holds_checked.next = !places | (was.valid & was.clean & has_bytes);
        self.holds_command.next = !places
            | ((command.offset == was.offset)
                & (command.length == was.length)
                & (command.segments == was.segments)
                & (command.device == was.device));
        self.holds_one_each.next = (commands == (was.valid & (was.packet | was.fence)))
            & (!commands
                | ((command.fence == was.fence)
                    & (was.fence
                        | ((command.span == was.span) & (self.track.out.lane.val() == was.lane)))));
        let accepted = self.track.outcome.valid.val() & outcome.accepted;
        self.holds_outcome.next = places == (accepted & has_bytes);
        self.holds_in_error.next = !(places & was.watched & in_error);

        // What is in the registers.
        let looked_up_valid = self.inner_track.looked_up_valid.val();
        let looked_up = self.inner_track.looked_up.val();
        let waited_valid = self.inner_track.waited_valid.val();
        let waited = self.inner_track.waited.val();
        let compared_valid = self.inner_track.compared_valid.val();
        let compared = self.inner_track.compared.val();
        let decided_valid = self.inner_track.decided_valid.val();
        let decided = self.inner_track.decided.val();
        self.holds_tokens.next =
            has_token(looked_up_valid, looked_up, self.passing[0].q.val(), watched)
                & has_token(
                    waited_valid,
                    waited.tracked,
                    self.passing[1].q.val(),
                    watched,
                )
                & has_token(
                    compared_valid,
                    compared.tracked,
                    self.passing[2].q.val(),
                    watched,
                );

        // From the oldest token to the youngest, with the error state of the watched queue pair before each.
        let committed = self.inner_track.advance_committed.val();
        let asked = self.inner_track.advance_asked.val().decision;
        let located = self.inner_track.advance_located.val().decision;
        let updated = self.inner_track.advance_updated.val().decision;
        let counted = self.inner_track.advance_counted.val().decision;
        let at_committed = self.passing[UNDECIDED + 5].q.val();
        let at_asked = self.passing[UNDECIDED + 4].q.val();
        let at_located = self.passing[UNDECIDED + 3].q.val();
        let at_updated = self.passing[UNDECIDED + 2].q.val();
        let at_counted = self.passing[UNDECIDED + 1].q.val();
        let at_decided = self.passing[UNDECIDED].q.val();
        let after_committed = error_after(at_committed, committed, error_behind);
        let after_asked = error_after(at_asked, asked, after_committed);
        let after_located = error_after(at_located, located, after_asked);
        let after_updated = error_after(at_updated, updated, after_located);
        let after_counted = error_after(at_counted, counted, after_updated);
        self.holds_decisions.next = has_decision(
            self.inner_track.advance_committed_valid.val(),
            committed,
            at_committed,
            watched,
            error_behind,
        ) & has_decision(
            self.inner_track.advance_asked_valid.val(),
            asked,
            at_asked,
            watched,
            after_committed,
        ) & has_decision(
            self.inner_track.advance_located_valid.val(),
            located,
            at_located,
            watched,
            after_asked,
        ) & has_decision(
            self.inner_track.advance_updated_valid.val(),
            updated,
            at_updated,
            watched,
            after_located,
        ) & has_decision(
            self.inner_track.advance_counted_valid.val(),
            counted,
            at_counted,
            watched,
            after_updated,
        ) & has_decision(
            decided_valid,
            decided.decision,
            at_decided,
            watched,
            after_counted,
        );

        // Of an invalid register nothing is used.
        let own = self.inner_track.forwarding.val();
        let behind_looked_up = (own.same_qp_1
            == (waited_valid & is_packet_of(waited.tracked, looked_up.row)))
            & (own.same_qp_2 == (compared_valid & is_packet_of(compared.tracked, looked_up.row)));
        let own = waited.forwarding;
        let row = waited.tracked.row;
        let behind_waited = (own.same_qp_1
            == (compared_valid & is_packet_of(compared.tracked, row)))
            & (own.same_qp_2 == (decided_valid & is_packet_of(decided.decision.tracked, row)));
        let row = compared.tracked.row;
        let behind_compared = compared.forwarding.same_qp_1
            == (decided_valid & is_packet_of(decided.decision.tracked, row));
        let mut packets = false;
        let mut writes = false;
        for i in 0..SPACING {
            let was = self.passing[i].q.val();
            packets = packets | (was.valid & was.watched);
            writes = writes | (was.valid & was.writes);
        }
        self.holds_forwarding.next = !(packets & writes)
            & (!looked_up_valid | behind_looked_up)
            & (!waited_valid | behind_waited)
            & (!compared_valid | behind_compared);

        let stored = if watched.any() {
            self.inner_track.errors_memory[1].val()
        } else {
            self.inner_track.errors_memory[0].val()
        };
        self.holds_errors.next = (!after_counted | stored)
            & (!(waited_valid & self.passing[1].q.val().watched)
                | (self.inner_track.errors_read_data.val() == stored))
            & (!(compared_valid & self.passing[2].q.val().watched & after_counted)
                | compared.error)
            & (!(decided_valid & at_decided.watched & after_counted) | written_by(decided).error);

        self.reaches_placed.next = places & was.watched & command.segments.has_third;
        self.reaches_in_error.next =
            commands & was.watched & was.clean & in_error & has_bytes & !places;
    }
}
