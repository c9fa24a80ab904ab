//! Takes place commands apart into their one or two pieces.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::PlaceCommand;

use crate::records::{CommandEnd, PlacePiece};

/// One piece per clock. `B` is log2 of the bytes of a buffer beat, at most 7.
///
/// A command without payload, and a fence, become one piece without bytes. A first length beyond the payload's is cut to it.
/// Levels: 3 to accept (13-bit compare, position sum), 3 to issue (subtract or add, select).
#[derive(LogicBlock, Default)]
pub struct PieceIssue<const B: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub command_valid: Signal<In, Bit>,
    pub command: Signal<In, PlaceCommand>,
    pub command_ready: Signal<Out, Bit>,

    pub piece_valid: Signal<Out, Bit>,
    pub piece: Signal<Out, PlacePiece>,
    pub piece_ready: Signal<In, Bit>,

    held: DFF<Bit>,
    current: DFF<PlaceCommand>,
    has_payload: DFF<Bit>,
    /// The payload lies in two pieces.
    crosses: DFF<Bit>,
    /// Ring position of the payload.
    payload_position: DFF<Bits<19>>,
    /// The first piece was issued.
    at_second: DFF<Bit>,

    issued: DFF<Bit>,
    issued_piece: DFF<PlacePiece>,
}

impl<const B: usize> Logic for PieceIssue<B> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            held,
            current,
            has_payload,
            crosses,
            payload_position,
            at_second,
            issued,
            issued_piece
        );
        let room = !self.issued.q.val() | self.piece_ready.val();
        let issue = self.held.q.val() & room;
        let last_piece = !self.crosses.q.val() | self.at_second.q.val();
        let accept = !self.held.q.val() | (issue & last_piece);

        // accept_command
        let command = self.command.val();
        let payload = command.place & !command.fence & command.length.any();
        if accept {
            self.held.d.next = self.command_valid.val();
            self.current.d.next = command;
            self.has_payload.d.next = payload;
            self.crosses.d.next = payload & (command.pieces.first_length < command.length);
            self.payload_position.d.next = (bit_cast::<19, 12>(command.span.start) << (B as u64))
                + bit_cast::<19, 8>(command.offset);
            self.at_second.d.next = false;
        } else if issue {
            self.at_second.d.next = true;
        }

        // issue_piece
        let current = self.current.q.val();
        let second = self.at_second.q.val();
        let pieces = current.pieces;
        // One chunk must come of what has no payload, however long it says it is.
        let length = if !self.has_payload.q.val() {
            bits(0)
        } else if second {
            current.length - pieces.first_length
        } else if self.crosses.q.val() {
            pieces.first_length
        } else {
            current.length
        };
        let skipped = if second { pieces.first_length } else { bits(0) };
        let address = if second {
            pieces.second_address
        } else {
            pieces.first_address
        };
        let translated = if second {
            pieces.second_translated
        } else {
            pieces.first_translated
        };
        if room {
            self.issued.d.next = self.held.q.val();
            self.issued_piece.d.next = PlacePiece {
                place: self.has_payload.q.val() & length.any(),
                end: CommandEnd {
                    fence: current.fence,
                    free: last_piece & !current.fence,
                    free_beats: current.span.beats,
                },
                address: address,
                translated: translated,
                length: length,
                position: self.payload_position.q.val() + bit_cast::<19, 13>(skipped),
            };
        }

        self.command_ready.next = accept;
        self.piece_valid.next = self.issued.q.val();
        self.piece.next = self.issued_piece.q.val();

        if self.reset.val() {
            self.held.d.next = false;
            self.issued.d.next = false;
        }
    }
}
