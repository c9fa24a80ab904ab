//! Frames that wait for the core, in order, and the count of those that could not wait.

use hdl_macros::hdl;
use hdl_primitives::BlockFifo;
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{BufferSpan, CoreToken, TokenKind};
use stellar_wire::hw::frame::{DropReason, PacketHeaders};
use stellar_wire::hw::tables::TableWrite;

use crate::frame_verdict::JudgedFrame;

/// log2 of the frames that wait: as deep as one block RAM is anyhow, 512.
const DEPTH_BITS: usize = 9;
const COUNT_BITS: usize = DEPTH_BITS + 1;
/// Frames that may still come after `room` went away: one per clock for the latency of the front end (11 clocks behind the packet buffer),
/// the register of `room`, and the register of the FIFO's count; 32 is the next power of two.
pub const MARGIN: usize = 32;

/// A judged frame, and how many frames before it were lost.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct QueuedFrame {
    lost_before: Bits<32>,
    frame: JudgedFrame,
}

/// A FIFO that never overflows: a frame that begins while `room` is false is not stored and comes as `in_lost`. Lost frames take no place
/// here, only a count beside the next frame that does; each still becomes a `BufferFull` token with an empty span, where it stood in the
/// order of frames. Up to 2^32 - 1 may be lost in a row (17 s of one-beat frames).
/// LUT levels: comparison of 32-bit counts 3, choice of the next token 2.
#[derive(LogicBlock, Default)]
pub struct TokenQueue {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub in_valid: Signal<In, Bit>,
    pub in_frame: Signal<In, JudgedFrame>,
    /// A lost frame; never with `in_valid`.
    pub in_lost: Signal<In, Bit>,
    /// A frame that begins now may have a token.
    pub room: Signal<Out, Bit>,

    /// Stays, with its token, until `out_ready`.
    pub out_valid: Signal<Out, Bit>,
    pub out_token: Signal<Out, CoreToken>,
    pub out_ready: Signal<In, Bit>,

    queue: BlockFifo<QueuedFrame, DEPTH_BITS, COUNT_BITS>,
    has_room: DFF<Bit>,
    /// Frames lost since the last one that was queued, not yet reported.
    lost: DFF<Bits<32>>,
    /// Of the frames lost before the head of the queue: reported.
    reported: DFF<Bits<32>>,
    offered: DFF<Bit>,
    offer: DFF<JudgedFrame>,
}

impl Logic for TokenQueue {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, has_room, lost, reported, offered, offer);
        clock!(self, clock, queue);
        self.queue.reset.next = self.reset.val();
        assert!(
            self.queue.in_ready.val() || !self.in_valid.val(),
            "TokenQueue overflow: MARGIN is too small"
        );

        let limit = ((1 << DEPTH_BITS) - MARGIN) as u64;
        self.has_room.d.next = self.queue.count.val() < limit;
        self.room.next = self.has_room.q.val();

        // Before the head come the frames lost before it; behind an empty queue those lost since.
        let head = self.queue.out_data.val();
        let head_valid = self.queue.out_valid.val();
        let owes_before_head = head_valid & (self.reported.q.val() != head.lost_before);
        let owes_at_end = !self.queue.count.val().any() & self.lost.q.val().any();
        let load = !self.offered.q.val() | self.out_ready.val();
        let take_head = load & head_valid & !owes_before_head;
        let report_at_end = load & owes_at_end;

        self.queue.out_ready.next = take_head;
        if take_head {
            self.reported.d.next = bits(0);
        } else if load & owes_before_head {
            self.reported.d.next = self.reported.q.val() + 1;
        }
        let mut lost_headers = PacketHeaders::default();
        lost_headers.reason = DropReason::BufferFull;
        if load {
            self.offered.d.next = head_valid | owes_at_end;
            self.offer.d.next = if take_head {
                head.frame
            } else {
                JudgedFrame {
                    span: BufferSpan::default(),
                    headers: lost_headers,
                }
            };
        }

        let unreported = if report_at_end {
            self.lost.q.val() - 1
        } else {
            self.lost.q.val()
        };
        self.queue.in_valid.next = self.in_valid.val();
        self.queue.in_data.next = QueuedFrame {
            lost_before: unreported,
            frame: self.in_frame.val(),
        };
        self.lost.d.next = if self.in_valid.val() {
            bits::<32>(0)
        } else if self.in_lost.val() {
            unreported + 1
        } else {
            unreported
        };

        let offer = self.offer.q.val();
        self.out_valid.next = self.offered.q.val();
        self.out_token.next = CoreToken {
            kind: TokenKind::Packet,
            span: offer.span,
            headers: offer.headers,
            table: TableWrite::default(),
        };
        if self.reset.val() {
            self.has_room.d.next = false;
            self.lost.d.next = bits(0);
            self.reported.d.next = bits(0);
            self.offered.d.next = false;
        }
    }
}
