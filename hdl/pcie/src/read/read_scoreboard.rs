//! Tracks which slots of the buffer are in use, which requests they still wait for, and which slot is returned next.

use hdl_macros::{hdl, hdl_fn};
use hdl_primitives::{Checked, LutRam, Parameters, Snk, Src};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::BufferSpan;
use stellar_wire::hw::dma::PlaceCommand;
use stellar_wire::hw::read::ReadCommand;
use stellar_wire::mtu::{LENGTH_BITS, MAX_PAYLOAD};

use super::records::{SlotHead, SlotReport, SlotRequest, SLOT_BYTES};
use super::slot_counts::SlotCounts;

/// log2 of the bytes of a beat in `segment_issue` of this engine. That block counts places in the buffer in these beats.
pub const SPAN_BEAT_BITS: usize = 7;
/// log2 of the number of these beats in a slot.
const SPAN_SLOT_BITS: usize = 12 - SPAN_BEAT_BITS;

/// Maximum number of requests of one command: 8,192 bytes are 64 of the smallest size, and each of three segments may add a shorter one at both ends.
const MOST_REQUESTS: usize = 70;

/// Whether a command of this number of bytes takes two slots.
#[hdl_fn]
pub fn takes_two(length: Bits<LENGTH_BITS>) -> Bit {
    length > (SLOT_BYTES as u64)
}

/// Data of a slot's command.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct SlotCommand {
    length: Bits<LENGTH_BITS>,
    user: Bits<32>,
}

/// Tracks what each read command still lacks, and allocates its slots. There are `K` = 2^`S` slots, used and freed in the order of commands. The slots form a ring. A command that needs more than one slot takes two
/// neighbouring ones, and has the number of the first.
///
/// **Reserve before request:** a command is accepted only if there are free slots for all of it. So every requested byte has its place, and
/// completions never wait. A command is complete when it is closed (all of its requests have left) and all of these requests have finished. The two
/// counts are stored per slot, modulo 128, and compared for the head only. They are cleared while the tag pool sweeps after a reset. No command is
/// accepted in that time, so no request meets a table by slot or by tag that is being cleared. One command enters and one leaves per cycle. Levels: 6
/// (the head: its counts, their comparison, ready, and the closed slots of the next cycle).
#[derive(LogicBlock, Default)]
pub struct ReadScoreboard<const S: usize, const K: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// The tag pool sweeps, in at least `K` cycles.
    pub sweeping: Signal<In, Bit>,
    pub sweep_tag: Signal<In, Bits<8>>,

    pub command: Snk<ReadCommand>,

    /// To the blocks that cut it into requests; the buffer span is the slot.
    pub place: Src<PlaceCommand>,

    pub request: Signal<In, SlotRequest>,
    pub report: Signal<In, SlotReport>,

    pub head: Src<SlotHead>,
    /// The slots of the oldest command handed to `head` may be taken again: one, or two.
    pub freed: Signal<In, Bits<2>>,

    commands: LutRam<SlotCommand, S>,
    tail: DFF<Bits<S>>,
    next_head: DFF<Bits<S>>,
    /// Number of slots in use.
    used: DFF<Bits<7>>,
    /// Number of requests that have left.
    asked: SlotCounts<S>,
    /// Number of requests that have finished.
    finished: SlotCounts<S>,
    closed: DFF<Bits<K>>,
    failed: DFF<Bits<K>>,
    out_valid: DFF<Bit>,
    out: DFF<SlotHead>,
}

impl<const S: usize, const K: usize> Parameters for ReadScoreboard<S, K> {
    fn check() {
        assert!(
            (2..=6).contains(&S) && K == 1 << S,
            "ReadScoreboard<{S}, {K}>: use S = 2 (4 slots of 4 KiB) to 6 (64 slots), and K = 2^S"
        );
    }
}

impl<const S: usize, const K: usize> Logic for ReadScoreboard<S, K> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, tail, next_head, used, closed, failed, out_valid, out);
        clock!(self, clock, commands, asked, finished);

        // take_slot
        let command = self.command.record.val();
        let tail = self.tail.q.val();
        let two = takes_two(command.length);
        let needs = if two { bits::<7>(2) } else { bits::<7>(1) };
        let sweeping = self.sweeping.val();
        let room = ((self.used.q.val() + needs) <= (K as u64)) & !sweeping;
        let take = self.command.valid.val() & room & self.place.ready.val();
        let too_long = command.length > (MAX_PAYLOAD as u64);
        if take {
            self.tail.d.next = if two { tail + 2 } else { tail + 1 };
        }
        let taken = if take { needs } else { bits::<7>(0) };
        self.used.d.next = self.used.q.val() + taken - bit_cast::<7, 2>(self.freed.val());
        self.command.ready.next = room & self.place.ready.val();
        self.place.valid.next = self.command.valid.val() & room;
        self.place.record.next = PlaceCommand {
            fence: false,
            place: !too_long,
            span: BufferSpan {
                start: bit_cast::<12, S>(tail) << (SPAN_SLOT_BITS as u64),
                // A read frees no beats: its last request closes this slot instead.
                beats: bit_cast::<8, S>(tail),
            },
            offset: bits(0),
            length: command.length,
            segments: command.segments,
            flush: false,
            device: bits(0),
        };
        self.commands.write_enable.next = take;
        self.commands.write_address.next = tail;
        self.commands.write_data.next = SlotCommand {
            length: command.length,
            user: command.user,
        };

        // choose_head
        let head = self.next_head.q.val();
        let out_room = !self.out_valid.q.val() | self.head.ready.val();
        self.asked.head.next = head;
        self.finished.head.next = head;
        let asked = self.asked.of_head.val();
        let finished = self.finished.of_head.val();
        let closed = self.closed.q.val().get_bit(head.index());
        assert!(
            !closed | ((asked - finished).index() <= MOST_REQUESTS),
            "slot {}: more requests finished than left",
            head.index()
        );
        let return_slot = out_room & closed & (asked == finished);
        self.commands.read_address.next = head;
        let returned = self.commands.read_data.val();
        if return_slot {
            self.next_head.d.next = if takes_two(returned.length) {
                head + 2
            } else {
                head + 1
            };
        }
        if out_room {
            self.out_valid.d.next = return_slot;
            self.out.d.next = SlotHead {
                slot: bit_cast::<6, S>(head),
                length: returned.length,
                user: returned.user,
                failed: self.failed.q.val().get_bit(head.index()),
            };
        }
        self.head.valid.next = self.out_valid.q.val();
        self.head.record.next = self.out.q.val();

        // follow_requests
        let request = self.request.val();
        let report = self.report.val();
        let sweep_slot = bit_cast::<S, 8>(self.sweep_tag.val());
        self.asked.add.next = request.asks;
        self.asked.slot.next = bit_cast::<S, 6>(request.slot);
        self.asked.clear.next = sweeping;
        self.asked.clear_slot.next = sweep_slot;
        self.finished.add.next = report.finished;
        self.finished.slot.next = bit_cast::<S, 6>(report.slot);
        self.finished.clear.next = sweeping;
        self.finished.clear_slot.next = sweep_slot;

        // follow_slots
        let one = bits::<K>(1);
        let none = bits::<K>(0);
        let requested = one << request.slot;
        let reported = one << report.slot;
        let closes = if request.closes { requested } else { none };
        let fails = if report.failed { reported } else { none };
        let leaves = if return_slot { one << head } else { none };
        let takes = if take { one << tail } else { none };
        let refused = if too_long { takes } else { none };
        self.closed.d.next = (self.closed.q.val() | closes) & !leaves;
        self.failed.d.next = ((self.failed.q.val() | fails) & !takes) | refused;

        if self.reset.val() {
            self.tail.d.next = bits(0);
            self.next_head.d.next = bits(0);
            self.used.d.next = bits(0);
            self.closed.d.next = bits(0);
            self.out_valid.d.next = false;
        }
    }
}
