//! Queue of frames for the core, and the number of frames lost between them.

use hdl_macros::{clock_reset, hdl, hdl_fn};
use hdl_primitives::{BlockFifo, TokenSrc};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{BufferSpan, CoreToken, TokenKind};
use stellar_wire::hw::frame::{DropReason, PacketHeaders};
use stellar_wire::hw::tables::TableWrite;

use crate::frame_verdict::JudgedFrame;

/// log2 of the entries: 512, the depth of one block RAM.
const DEPTH_BITS: usize = 9;
const COUNT_BITS: usize = DEPTH_BITS + 1;
/// Frames that may still arrive after `room` is low: one per cycle for the latency of the front end (11 cycles after the packet buffer), the
/// register of `room`, and the register of the count of the FIFO. 32 is the next power of two.
pub const MARGIN: usize = 32;

/// A frame with its verdict, and the number of frames lost before it.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct QueuedFrame {
    drops_before: Bits<32>,
    frame: JudgedFrame,
}

/// Returns the headers of a frame that was lost. The core keeps no distance between MRC packets with the same PSN, so such tokens pass one per cycle; of their queue pair nothing is known.
#[hdl_fn]
pub fn lost_frame() -> PacketHeaders {
    PacketHeaders {
        reason: DropReason::BufferFull,
        mrc: true,
        ..PacketHeaders::default()
    }
}

/// A FIFO that never overflows: a frame that begins while `room` is low is not stored, and is reported by `in_lost`. Lost frames need no entry,
/// because the next entry carries their number. Each of them becomes a `BufferFull` token with an empty span, at its position in the order
/// of frames. Up to 2^32 - 1 frames may be lost in a row (17 s of one-beat frames).
/// The output comes from registers alone. LUT levels: 32-bit counts up or down 6 (fewer with carry chains), choice of the next token 3; whether a count is zero is a register.
#[derive(LogicBlock, Default)]
pub struct TokenQueue {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub in_valid: Signal<In, Bit>,
    pub in_frame: Signal<In, JudgedFrame>,
    /// A frame was lost. Never together with `in_valid`.
    pub in_lost: Signal<In, Bit>,
    /// There is space for the token of a frame that begins now.
    pub room: Signal<Out, Bit>,

    pub out: TokenSrc<CoreToken>,

    queue: BlockFifo<QueuedFrame, DEPTH_BITS, COUNT_BITS>,
    has_room: DFF<Bit>,
    /// Frames lost after the newest entry and not reported yet; and whether there are any.
    lost: DFF<Bits<32>>,
    any_lost: DFF<Bit>,
    /// The next frame, and the number of frames lost before it that must be reported first; `drop_reports_pending` if that is not 0. Those lost behind the last frame have no
    /// frame behind them.
    head_valid: DFF<Bit>,
    head: DFF<JudgedFrame>,
    drop_reports_left: DFF<Bits<32>>,
    drop_reports_pending: DFF<Bit>,
}

impl Logic for TokenQueue {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, has_room, lost, any_lost);
        dff_setup!(
            self,
            clock,
            head_valid,
            head,
            drop_reports_left,
            drop_reports_pending
        );
        clock_reset!(self, queue);
        assert!(
            self.queue.in_.ready.val() || !self.in_valid.val(),
            "TokenQueue overflow: MARGIN is too small"
        );

        let limit = ((1 << DEPTH_BITS) - MARGIN) as u64;
        self.has_room.d.next = self.queue.count.val() < limit;
        self.room.next = self.has_room.q.val();

        // Frames lost before the head are reported first. If there is no frame, those lost since the last one are reported.
        let head_valid = self.head_valid.q.val();
        let reports = self.drop_reports_pending.q.val();
        let taken = self.out.ready.val();
        let is_empty = !head_valid & !reports & !self.queue.count.val().any();
        let reports_at_end = is_empty & self.any_lost.q.val();
        let lost = self.lost.q.val();
        let refill = !reports & (!head_valid | taken);
        let queued = self.queue.out.data.val();
        self.queue.out.ready.next = refill;
        if refill {
            self.head_valid.d.next = self.queue.out.valid.val();
            self.head.d.next = queued.frame;
            self.drop_reports_left.d.next = if reports_at_end {
                lost
            } else {
                queued.drops_before
            };
            self.drop_reports_pending.d.next =
                reports_at_end | (self.queue.out.valid.val() & queued.drops_before.any());
        } else if reports & taken {
            self.drop_reports_left.d.next = self.drop_reports_left.q.val() - 1;
            self.drop_reports_pending.d.next = self.drop_reports_left.q.val() != 1;
        }

        self.queue.in_.valid.next = self.in_valid.val();
        self.queue.in_.data.next = QueuedFrame {
            drops_before: if reports_at_end { bits::<32>(0) } else { lost },
            frame: self.in_frame.val(),
        };
        if self.in_valid.val() | reports_at_end {
            let newest = self.in_lost.val();
            self.lost.d.next = bit_cast::<32, 1>(newest.into());
            self.any_lost.d.next = newest;
        } else if self.in_lost.val() {
            self.lost.d.next = lost + 1;
            self.any_lost.d.next = true;
        }

        let offer = if reports {
            JudgedFrame {
                span: BufferSpan::default(),
                headers: lost_frame(),
            }
        } else {
            self.head.q.val()
        };
        self.out.valid.next = head_valid | reports;
        self.out.token.next = CoreToken {
            kind: TokenKind::Packet,
            lane: false,
            span: offer.span,
            headers: offer.headers,
            table: TableWrite::default(),
        };
        if self.reset.val() {
            self.has_room.d.next = false;
            self.lost.d.next = bits(0);
            self.any_lost.d.next = false;
            self.head_valid.d.next = false;
            self.drop_reports_pending.d.next = false;
        }
    }
}
