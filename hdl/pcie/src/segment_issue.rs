//! Splits place commands into their one to three segments.

use hdl_macros::hdl;
use hdl_primitives::{Snk, Src};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::WHOLE_PAGE;
use stellar_wire::hw::dma::PlaceCommand;
use stellar_wire::mtu::LENGTH_BITS;

use crate::records::{CommandEnd, PlaceSegment};

/// The segment of a command that is issued next.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Turn {
    First,
    Second,
    Third,
}

/// Splits each place command into its one to three segments, of which it issues one per cycle. `B` is log2 of the bytes of a buffer beat, at most 7.
///
/// A command without payload, and a fence, become one segment without bytes. A first length greater than the payload is limited to it, and a
/// command has three segments only if bytes remain after the first two.
/// Levels: 3 to accept (two 14-bit sums, compare, position sum), 3 to issue (select).
#[derive(LogicBlock, Default)]
pub struct SegmentIssue<const B: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub command: Snk<PlaceCommand>,

    pub segment: Src<PlaceSegment>,

    held: DFF<Bit>,
    current: DFF<PlaceCommand>,
    has_payload: DFF<Bit>,
    /// The payload has a second segment, and a third one.
    crosses: DFF<Bit>,
    three: DFF<Bit>,
    /// Bytes after the first segment.
    end_length: DFF<Bits<LENGTH_BITS>>,
    /// Ring position of the payload.
    payload_position: DFF<Bits<19>>,
    /// Ring position of the third segment.
    third_position: DFF<Bits<19>>,
    turn: DFF<Turn>,

    issued: DFF<Bit>,
    issued_segment: DFF<PlaceSegment>,
}

impl<const B: usize> Logic for SegmentIssue<B> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            held,
            current,
            has_payload,
            crosses,
            three,
            end_length,
            payload_position,
            third_position,
            turn,
            issued,
            issued_segment
        );
        let room = !self.issued.q.val() | self.segment.ready.val();
        let issue = self.held.q.val() & room;
        let turn = self.turn.q.val();
        let last_segment = match turn {
            Turn::First => !self.crosses.q.val(),
            Turn::Second => !self.three.q.val(),
            Turn::Third => true,
        };
        let accept = !self.held.q.val() | (issue & last_segment);

        // accept_command
        let command = self.command.record.val();
        let payload = command.place & !command.fence & command.length.any();
        if accept {
            self.held.d.next = self.command.valid.val();
            self.current.d.next = command;
            self.has_payload.d.next = payload;
            let first_length = command.segments.first_length;
            let crosses = payload & (first_length < command.length);
            let before_third = first_length + (WHOLE_PAGE as u64);
            let three = crosses & command.segments.has_third & (before_third < command.length);
            self.crosses.d.next = crosses;
            self.three.d.next = three;
            self.end_length.d.next = if three {
                command.length - before_third
            } else {
                command.length - first_length
            };
            let position = (bit_cast::<19, 12>(command.span.start) << (B as u64))
                + bit_cast::<19, 8>(command.offset);
            self.payload_position.d.next = position;
            self.third_position.d.next = position + bit_cast::<19, LENGTH_BITS>(before_third);
            self.turn.d.next = Turn::First;
        } else if issue {
            self.turn.d.next = if turn == Turn::First {
                Turn::Second
            } else {
                Turn::Third
            };
        }

        // issue_segment
        let current = self.current.q.val();
        let segments = current.segments;
        // A command without payload must become exactly one chunk, whatever its length field is.
        let length = if !self.has_payload.q.val() {
            bits(0)
        } else if (turn == Turn::First) & self.crosses.q.val() {
            segments.first_length
        } else if turn == Turn::First {
            current.length
        } else if (turn == Turn::Second) & self.three.q.val() {
            bits(WHOLE_PAGE as u64)
        } else {
            self.end_length.q.val()
        };
        let payload_position = self.payload_position.q.val();
        let position = match turn {
            Turn::First => payload_position,
            Turn::Second => payload_position + bit_cast::<19, LENGTH_BITS>(segments.first_length),
            Turn::Third => self.third_position.q.val(),
        };
        let address = match turn {
            Turn::First => segments.first_address,
            Turn::Second => segments.second_address,
            Turn::Third => segments.third_address,
        };
        let translated = match turn {
            Turn::First => segments.first_translated,
            Turn::Second => segments.second_translated,
            Turn::Third => segments.third_translated,
        };
        if room {
            self.issued.d.next = self.held.q.val();
            self.issued_segment.d.next = PlaceSegment {
                place: self.has_payload.q.val() & length.any(),
                end: CommandEnd {
                    fence: current.fence,
                    free: last_segment & !current.fence,
                    free_beats: current.span.beats,
                },
                address: address,
                translated: translated,
                length: length,
                position: position,
                flush: current.flush,
                device: current.device,
            };
        }

        self.command.ready.next = accept;
        self.segment.valid.next = self.issued.q.val();
        self.segment.record.next = self.issued_segment.q.val();

        if self.reset.val() {
            self.held.d.next = false;
            self.issued.d.next = false;
        }
    }
}
