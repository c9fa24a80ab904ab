//! The segments of a place command.

use hdl_macros::{bundle, clock_reset, hdl, join};
use hdl_pcie::records::{CommandEnd, PlaceSegment};
use hdl_pcie::segment_issue::{SegmentIssue, Turn};
use hdl_primitives::{Snk, Src};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::WHOLE_PAGE;
use stellar_wire::hw::dma::PlaceCommand;
use stellar_wire::mtu::{LENGTH_BITS, MAX_PAYLOAD};

/// log2 of the bytes of a beat of the packet buffer.
const BEAT: u64 = 7;

/// Registers of the block.
#[bundle]
pub struct IssueInsideSrc {
    pub held: Signal<Out, Bit>,
    pub current: Signal<Out, PlaceCommand>,
    pub has_payload: Signal<Out, Bit>,
    pub crosses: Signal<Out, Bit>,
    pub three: Signal<Out, Bit>,
    pub end_length: Signal<Out, Bits<LENGTH_BITS>>,
    pub payload_position: Signal<Out, Bits<19>>,
    pub third_position: Signal<Out, Bits<19>>,
    pub turn: Signal<Out, Turn>,
}

/// Properties of [`SegmentIssue`] with beats of 128 bytes, told for every command. The payload is cut here, piece by piece, as its address says: each piece begins where
/// the one before it ended, and none has more bytes than are left.
#[derive(LogicBlock, Default)]
pub struct SegmentIssueProof {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub command: Snk<PlaceCommand>,
    pub segment: Src<PlaceSegment>,
    /// Registers of the block.
    pub inner_issue: IssueInsideSnk,

    /// A payload that is placed has at most 8,192 bytes.
    pub given_length: Signal<Out, Bit>,

    /// Bytes are written only of a command that places its payload: not of a dropped packet, and not of a fence.
    pub holds_accepted: Signal<Out, Bit>,
    /// Each segment is the next piece of the payload, with the address and the address type that the command gives it, so all bytes leave once, and no others.
    pub holds_pieces: Signal<Out, Bit>,
    /// The bytes of a segment come from their place in the packet buffer.
    pub holds_position: Signal<Out, Bit>,
    /// The last segment of a command frees its part of the buffer, and no other one does. A fence is one segment, and frees nothing.
    pub holds_end: Signal<Out, Bit>,
    /// There are as many segments as pieces: one at least.
    pub holds_once: Signal<Out, Bit>,

    // What is in the registers, so that the properties are an invariant together.
    /// The block has the command, and what it computed of it when that was accepted.
    pub holds_command: Signal<Out, Bit>,
    /// It issues the piece that is next.
    pub holds_turn: Signal<Out, Bit>,

    /// A payload can have three segments.
    pub reaches_three: Signal<Out, Bit>,
    /// A dropped packet can free its buffer.
    pub reaches_dropped: Signal<Out, Bit>,

    issue: SegmentIssue<7>,
    /// A command is inside, and has pieces that were not issued.
    inside: DFF<Bit>,
    current: DFF<PlaceCommand>,
    /// It has bytes to write.
    places: DFF<Bit>,
    /// Pieces that were issued, bytes that were not, and the place of the first one of these.
    pieces: DFF<Bits<2>>,
    left: DFF<Bits<LENGTH_BITS>>,
    position: DFF<Bits<19>>,
    /// The piece that is offered.
    told_valid: DFF<Bit>,
    told: DFF<PlaceSegment>,
    /// It is the third of its command.
    third: DFF<Bit>,
}

impl Logic for SegmentIssueProof {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, inside, current, places, pieces, left, position);
        dff_setup!(self, clock, told_valid, told, third);
        clock_reset!(self, issue);
        join!(self, command => issue.command, issue.segment => segment);

        let command = self.command.record.val();
        let enters = self.command.valid.val() & self.issue.command.ready.val();
        self.given_length.next = !self.command.valid.val()
            | !command.place
            | command.fence
            | (command.length <= (MAX_PAYLOAD as u64));

        // The next piece.
        let current = self.current.q.val();
        let segments = current.segments;
        let places = self.places.q.val();
        let pieces = self.pieces.q.val();
        let left = self.left.q.val();
        let position = self.position.q.val();
        let piece = if (pieces == 0) & (segments.first_length < left) {
            segments.first_length
        } else if (pieces == 1) & segments.has_third & (left > (WHOLE_PAGE as u64)) {
            bits(WHOLE_PAGE as u64)
        } else {
            left
        };
        let rest = left - piece;
        let address = match pieces.to_u8() {
            0 => segments.first_address,
            1 => segments.second_address,
            _ => segments.third_address,
        };
        let translated = match pieces.to_u8() {
            0 => segments.first_translated,
            1 => segments.second_translated,
            _ => segments.third_translated,
        };
        let offered = self.issue.segment.valid.val();
        let room = !offered | self.segment.ready.val();
        let inside = self.inside.q.val();
        if room {
            self.told_valid.d.next = inside;
            self.told.d.next = PlaceSegment {
                place: places & piece.any(),
                end: CommandEnd {
                    fence: current.fence,
                    free: !rest.any() & !current.fence,
                    free_beats: current.span.beats,
                },
                address,
                translated,
                length: piece,
                position,
                flush: current.flush,
                device: current.device,
            };
            self.third.d.next = pieces == 2;
            self.pieces.d.next = pieces + 1;
            self.left.d.next = rest;
            self.position.d.next = position + bit_cast::<19, LENGTH_BITS>(piece);
            self.inside.d.next = inside & rest.any();
        }
        let start =
            (bit_cast::<19, 12>(command.span.start) << BEAT) + bit_cast::<19, 8>(command.offset);
        let will_place = command.place & !command.fence & command.length.any();
        if enters {
            self.inside.d.next = true;
            self.current.d.next = command;
            self.places.d.next = will_place;
            self.pieces.d.next = bits(0);
            self.left.d.next = if will_place { command.length } else { bits(0) };
            self.position.d.next = start;
        }

        let segment = self.issue.segment.record.val();
        let told = self.told.q.val();
        self.holds_once.next = offered == self.told_valid.q.val();
        self.holds_accepted.next = !offered | (segment.place == told.place);
        self.holds_pieces.next = !offered
            | !segment.place
            | ((segment.length == told.length)
                & (segment.address == told.address)
                & (segment.translated == told.translated)
                & (segment.flush == told.flush)
                & (segment.device == told.device));
        self.holds_position.next = !offered | !segment.place | (segment.position == told.position);
        self.holds_end.next = !offered | (segment.end == told.end);

        // What is in the registers. The sums are those of the block.
        let has_payload = self.inner_issue.has_payload.val();
        let crosses = self.inner_issue.crosses.val();
        let three = self.inner_issue.three.val();
        let before_third = segments.first_length + (WHOLE_PAGE as u64);
        let end_length = if three {
            current.length - before_third
        } else {
            current.length - segments.first_length
        };
        let start =
            (bit_cast::<19, 12>(current.span.start) << BEAT) + bit_cast::<19, 8>(current.offset);
        self.holds_command.next = (self.inner_issue.held.val() == inside)
            & (!inside
                | ((self.inner_issue.current.val() == current)
                    & (!places | (current.length <= (MAX_PAYLOAD as u64)))
                    & (has_payload == places)
                    & (places == (current.place & !current.fence & current.length.any()))
                    & (crosses == (places & (segments.first_length < current.length)))
                    & (three == (crosses & segments.has_third & (before_third < current.length)))
                    & (self.inner_issue.end_length.val() == end_length)
                    & (self.inner_issue.payload_position.val() == start)
                    & (self.inner_issue.third_position.val()
                        == start + bit_cast::<19, LENGTH_BITS>(before_third))));
        let payload = if places {
            current.length
        } else {
            bits::<LENGTH_BITS>(0)
        };
        let is_turn = match self.inner_issue.turn.val() {
            Turn::First => (pieces == 0) & (left == payload) & (position == start),
            Turn::Second => {
                crosses
                    & (pieces == 1)
                    & (left == current.length - segments.first_length)
                    & (position == start + bit_cast::<19, LENGTH_BITS>(segments.first_length))
            }
            Turn::Third => {
                three
                    & (pieces == 2)
                    & (left == current.length - before_third)
                    & (position == start + bit_cast::<19, LENGTH_BITS>(before_third))
            }
        };
        self.holds_turn.next = !inside | is_turn;

        self.reaches_three.next = offered & self.third.q.val() & told.place & told.length.any();
        self.reaches_dropped.next = offered & !told.place & told.end.free;
        if self.reset.val() {
            self.inside.d.next = false;
            self.told_valid.d.next = false;
        }
    }
}
