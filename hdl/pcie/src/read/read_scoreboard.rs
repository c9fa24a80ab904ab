//! Gives read commands their space in the ring, and tracks which requests they still wait for and which command is returned next.

use hdl_macros::{hdl, hdl_fn};
use hdl_primitives::{Checked, LutRam, Parameters, Snk, Src};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::BufferSpan;
use stellar_wire::hw::dma::PlaceCommand;
use stellar_wire::hw::payload::read_user;
use stellar_wire::hw::read::ReadCommand;
use stellar_wire::mtu::{LENGTH_BITS, MAX_PAYLOAD};

use super::command_counts::CommandCounts;
use super::records::{
    granules, CommandHead, CommandReport, CommandRequest, COMMAND_BITS, COMMAND_GRANULE_BITS,
    GRANULE_BITS, MOST_GRANULES,
};

/// Maximum number of requests of one command: 8,192 bytes are 64 of the smallest size, and each of three segments may add a shorter one at both ends.
const MOST_REQUESTS: usize = 70;
/// Bits of a number of granules of the ring.
const USED_BITS: usize = GRANULE_BITS + 1;
/// Bits of the count of all commands, which goes round the numbers: the number, and the lap above it.
const TURN_BITS: usize = COMMAND_BITS + 1;

/// Data of a command in progress.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct HeldCommand {
    /// Bytes in the ring.
    length: Bits<LENGTH_BITS>,
    user: Bits<{ read_user::BITS }>,
    /// It is longer than a command may be, and asked for nothing.
    refused: Bit,
}

/// Lap of the command of number `command`, which is in progress: that of the oldest command, or the next one.
#[hdl_fn]
fn lap_of(command: Bits<COMMAND_BITS>, oldest: Bits<COMMAND_BITS>, oldest_lap: Bit) -> Bit {
    oldest_lap ^ (command < oldest)
}

/// Tracks what each read command still lacks, and gives it space in the ring. Up to 2^`S` commands are in progress, numbered in a ring. The bytes of a command
/// take consecutive granules of another ring, which has 2^`G`. Both are given and freed in the order of commands.
///
/// **Reserve before request:** a command is accepted only if there is space for the longest one. The register `room` says so; for the cycle after a command it
/// supposes that this one was the longest too. So every requested byte has its place, and completions never wait. A command is complete when it is
/// closed (all of its requests have left) and all of these requests have finished. The two counts are stored by command, modulo 128, and compared for the
/// oldest one only. They are cleared while the tag pool sweeps after a reset. No command is accepted or returned in that time, so none meets a table by command
/// or by tag that is being cleared. One command enters and one leaves per cycle. Levels: 5.
#[derive(LogicBlock, Default)]
pub struct ReadScoreboard<const S: usize, const G: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// The tag pool sweeps, in at least 2^`S` cycles.
    pub sweeping: Signal<In, Bit>,
    pub sweep_tag: Signal<In, Bits<8>>,

    pub command: Snk<ReadCommand>,

    /// To the blocks that cut it into requests. The start of the buffer span is the command's first granule, and its number of beats is the command's number.
    pub place: Src<PlaceCommand>,

    pub request: Signal<In, CommandRequest>,
    pub report: Signal<In, CommandReport>,

    pub head: Src<CommandHead>,
    /// Granules of the oldest command handed to `head`, which may be used again.
    pub freed: Signal<In, Bits<COMMAND_GRANULE_BITS>>,

    commands: LutRam<HeldCommand, S>,
    /// Commands that were accepted, and that were handed to `head`.
    accepted: DFF<Bits<TURN_BITS>>,
    returned: DFF<Bits<TURN_BITS>>,
    /// Granule of the next command that is accepted, and of the next one that is returned.
    tail: DFF<Bits<GRANULE_BITS>>,
    head_place: DFF<Bits<GRANULE_BITS>>,
    /// Number of granules in use.
    used: DFF<Bits<USED_BITS>>,
    /// There is space for the longest command.
    room: DFF<Bit>,
    /// Requests that have left; the mark: no more follow.
    asked: CommandCounts<S>,
    /// Requests that have finished; the mark: the command has failed.
    finished: CommandCounts<S>,
    out_valid: DFF<Bit>,
    out: DFF<CommandHead>,
}

impl<const S: usize, const G: usize> Parameters for ReadScoreboard<S, G> {
    fn check() {
        assert!(
            (2..=COMMAND_BITS).contains(&S),
            "ReadScoreboard<{S}, {G}>: use S = 2 (4 commands) to {COMMAND_BITS} (256 commands)"
        );
        assert!(
            (2 * MOST_GRANULES).ilog2() as usize <= G && G <= GRANULE_BITS,
            "ReadScoreboard<{S}, {G}>: use G = 7 (16 KiB, two of the longest commands) to {GRANULE_BITS} (256 KiB)"
        );
    }
}

impl<const S: usize, const G: usize> Logic for ReadScoreboard<S, G> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, accepted, returned, tail, head_place, used, room, out_valid, out);
        clock!(self, clock, commands, asked, finished);

        // take_space
        let command = self.command.record.val();
        let accepted = self.accepted.q.val();
        let returned = self.returned.q.val();
        let number = accepted.get_bits::<S>(0);
        let in_progress = accepted - returned;
        let sweeping = self.sweeping.val();
        let room = self.room.q.val() & !in_progress.get_bit(S) & !sweeping;
        let take = self.command.valid.val() & room & self.place.ready.val();
        let too_long = command.length > (MAX_PAYLOAD as u64);
        let length = if too_long {
            bits::<LENGTH_BITS>(0)
        } else {
            command.length
        };
        let needs = granules(length);
        let taken = if take {
            needs
        } else {
            bits::<COMMAND_GRANULE_BITS>(0)
        };
        if take {
            self.accepted.d.next = accepted + 1;
        }
        self.tail.d.next =
            self.tail.q.val() + bit_cast::<GRANULE_BITS, COMMAND_GRANULE_BITS>(taken);
        let used = self.used.q.val();
        assert!(used.index() <= 1 << G, "the ring is overfull");
        self.used.d.next = used + bit_cast::<USED_BITS, COMMAND_GRANULE_BITS>(taken)
            - bit_cast::<USED_BITS, COMMAND_GRANULE_BITS>(self.freed.val());
        self.room.d.next = if take {
            used <= (((1 << G) - 2 * MOST_GRANULES) as u64)
        } else {
            used <= (((1 << G) - MOST_GRANULES) as u64)
        };
        self.command.ready.next = room & self.place.ready.val();
        self.place.valid.next = self.command.valid.val() & room;
        self.place.record.next = PlaceCommand {
            fence: false,
            place: !too_long,
            span: BufferSpan {
                start: bit_cast::<12, GRANULE_BITS>(self.tail.q.val()),
                // A read frees no beats: its last request closes this command instead.
                beats: bit_cast::<8, S>(number),
            },
            offset: bits(0),
            length: command.length,
            segments: command.segments,
            flush: false,
            device: bits(0),
        };
        self.commands.write_enable.next = take;
        self.commands.write_address.next = number;
        self.commands.write_data.next = HeldCommand {
            length: length,
            user: command.user,
            refused: too_long,
        };

        // choose_head
        let head = returned.get_bits::<S>(0);
        // The first lap is true, because cleared tables are of lap false.
        let head_lap = !returned.get_bit(S);
        let out_room = !self.out_valid.q.val() | self.head.ready.val();
        self.asked.head.next = head;
        self.finished.head.next = head;
        let asked = self.asked.of_head.val();
        let finished = self.finished.of_head.val();
        let closed = asked.mark & (asked.lap == head_lap);
        assert!(
            sweeping | !closed | ((asked.count - finished.count).index() <= MOST_REQUESTS),
            "command {}: more requests finished than left",
            head.index()
        );
        let complete = closed & (asked.count == finished.count);
        let return_command = out_room & complete & !sweeping;
        self.commands.read_address.next = head;
        let held = self.commands.read_data.val();
        // A command without bytes has no requests, so its mark may be older.
        let failed = finished.mark & (finished.lap == head_lap) & held.length.any();
        if return_command {
            self.returned.d.next = returned + 1;
            self.head_place.d.next = self.head_place.q.val()
                + bit_cast::<GRANULE_BITS, COMMAND_GRANULE_BITS>(granules(held.length));
        }
        if out_room {
            self.out_valid.d.next = return_command;
            self.out.d.next = CommandHead {
                place: self.head_place.q.val(),
                length: held.length,
                user: held.user,
                failed: held.refused | failed,
            };
        }
        self.head.valid.next = self.out_valid.q.val();
        self.head.record.next = self.out.q.val();

        // follow_requests
        let request = self.request.val();
        let report = self.report.val();
        let oldest = bit_cast::<COMMAND_BITS, S>(head);
        let sweep_command = bit_cast::<S, 8>(self.sweep_tag.val());
        self.asked.add.next = request.asks;
        self.asked.mark.next = request.closes;
        self.asked.command.next = bit_cast::<S, COMMAND_BITS>(request.command);
        self.asked.lap.next = lap_of(request.command, oldest, head_lap);
        self.asked.clear.next = sweeping;
        self.asked.clear_command.next = sweep_command;
        self.finished.add.next = report.finished;
        self.finished.mark.next = report.failed;
        self.finished.command.next = bit_cast::<S, COMMAND_BITS>(report.command);
        self.finished.lap.next = lap_of(report.command, oldest, head_lap);
        self.finished.clear.next = sweeping;
        self.finished.clear_command.next = sweep_command;

        if self.reset.val() {
            self.accepted.d.next = bits(0);
            self.returned.d.next = bits(0);
            self.tail.d.next = bits(0);
            self.head_place.d.next = bits(0);
            self.used.d.next = bits(0);
            self.room.d.next = false;
            self.out_valid.d.next = false;
        }
    }
}
