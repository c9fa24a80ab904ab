//! One DMA read engine for send queue entries and for the payload of two ports.

use hdl_macros::{clock_reset, hdl, hdl_fn, join};
use hdl_primitives::{
    Credit, OfferSnk, ReadDataSnk, ReadDataSrc, RoundRobin, Snk, Src, StreamSkid, SyncFifo,
};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::DmaSegments;
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};
use stellar_wire::hw::payload::read_user;
use stellar_wire::hw::read::{ReadBeat, ReadCommand};
use stellar_wire::mtu::LENGTH_BITS;

/// log2 of the bytes of a send queue entry: a beat has one or two.
const ENTRY_LOG2: u64 = 6;
/// Outstanding reads of entries, of at most 8 entries each.
const FETCHES: usize = 8;
const FETCHES_BITS: usize = 4;
/// Space for their beats: 8 each in a lane of 512 bits.
const BEAT_ADDRESS: usize = 6;
const BEAT_COUNT: usize = BEAT_ADDRESS + 1;
/// The clients: fetches, payload of port 0, payload of port 1.
const READERS: usize = 3;

/// A payload read, marked with its port.
#[hdl_fn]
fn of_port(command: ReadCommand, port: u64) -> ReadCommand {
    let cleared = command.user & bits::<32>(!(0b11 << read_user::PORT) & 0xffff_ffff);
    ReadCommand {
        length: command.length,
        segments: command.segments,
        user: cleared | bits::<32>(port << read_user::PORT),
    }
}

/// Whether a beat of this number of bits has two entries.
#[hdl_fn]
fn two_a_beat(width: u64) -> Bit {
    width == 1024
}

/// Arbiter around one [`DmaRead`](crate::read::DmaRead), whose lane has `W` bits, 512 or 1,024.
///
/// Clients take turns. The engine returns data in order, so a client that does not accept its data stalls the others:
/// - entries are requested only if there is space for them in this block, so they never stall, however late they are accepted;
/// - payload must not stall: request it only if there is space for it (`docs/tx_lane.md`, payload).
///
/// LUT levels: 4 (turn, command); back 3 (user, ready).
#[derive(LogicBlock)]
pub struct ReadArbiter<const W: usize> {
    pub clock: Signal<In, Clock>,
    /// Discards commands and entries. Assert it together with the engine's reset.
    pub reset: Signal<In, Bit>,

    // Send queue entries.
    /// The address is a multiple of 64.
    pub fetch: OfferSnk<WqeFetch>,
    /// Each entry, in the order of the fetches. If a read failed, all of its entries did.
    pub fetched: Src<WqeFetched>,

    // Payload of port 0 and of port 1. The port in `user` is set here.
    pub read: [Snk<ReadCommand>; 2],

    // What came back, for each port in the order of its reads.
    pub payload: [ReadDataSrc<W>; 2],

    // To and from the engine.
    pub command: Src<ReadCommand>,
    pub in_: ReadDataSnk<W>,

    turns: RoundRobin<READERS, 2>,
    commands: StreamSkid<ReadCommand>,
    fetch_credit: Credit<FETCHES_BITS>,
    beats: SyncFifo<Bits<W>, BEAT_ADDRESS, BEAT_COUNT>,
    of_beats: SyncFifo<ReadBeat, BEAT_ADDRESS, BEAT_COUNT>,
    /// Number of entries of the oldest read that were passed on.
    given: DFF<Bits<4>>,
}

impl<const W: usize> Default for ReadArbiter<W> {
    fn default() -> Self {
        assert!(
            W == 512 || W == 1024,
            "ReadArbiter<{W}>: a beat has one or two send queue entries, use 512 or 1024"
        );
        Self {
            clock: Default::default(),
            reset: Default::default(),
            fetch: Default::default(),
            fetched: Default::default(),
            read: Default::default(),
            payload: Default::default(),
            command: Default::default(),
            in_: Default::default(),
            turns: Default::default(),
            commands: Default::default(),
            fetch_credit: Credit::new(FETCHES),
            beats: Default::default(),
            of_beats: Default::default(),
            given: Default::default(),
        }
    }
}

impl<const W: usize> Logic for ReadArbiter<W> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, given);
        clock_reset!(self, turns, commands, fetch_credit, beats, of_beats);

        // take_turns
        let may_fetch = self.fetch.valid.val() & self.fetch_credit.room.val();
        self.turns.request.next = bits::<READERS>(0)
            .replace_bit(0, may_fetch)
            .replace_bit(1, self.read[0].valid.val())
            .replace_bit(2, self.read[1].valid.val());
        let room = self.commands.in_.ready.val();
        let grant = self.turns.grant.val();
        self.turns.accept.next = room;
        let fetches = grant.get_bit(0) & room;
        self.fetch.ready.next = fetches;
        self.read[0].ready.next = grant.get_bit(1) & room;
        self.read[1].ready.next = grant.get_bit(2) & room;
        self.fetch_credit.take.next = fetches;
        let fetch = self.fetch.record.val();
        let fetched_bytes = bit_cast::<LENGTH_BITS, 4>(fetch.entries) << ENTRY_LOG2;
        let of_entries = ReadCommand {
            length: fetched_bytes,
            segments: DmaSegments {
                first_length: fetched_bytes,
                first_address: fetch.address,
                first_translated: false,
                ..DmaSegments::default()
            },
            user: (bit_cast::<32, 10>(fetch.qp) << (read_user::QP as u64))
                | bit_cast::<32, 4>(fetch.entries)
                | bits::<32>(1 << read_user::FETCH),
        };
        self.commands.in_.valid.next = self.turns.valid.val();
        self.commands.in_.data.next = if grant.get_bit(0) {
            of_entries
        } else if grant.get_bit(1) {
            of_port(self.read[0].record.val(), 0)
        } else {
            of_port(self.read[1].record.val(), 1)
        };
        join!(self, commands.out => command);

        // return
        let beat = self.in_.beat.val();
        let is_entry = beat.user.get_bit(read_user::FETCH);
        let port = beat.user.get_bit(read_user::PORT);
        let returned = self.in_.valid.val();
        for p in 0..2 {
            let to_port = port == (p == 1);
            self.payload[p].valid.next = returned & !is_entry & to_port;
            self.payload[p].data.next = self.in_.data.val();
            self.payload[p].beat.next = beat;
        }
        self.in_.ready.next = if is_entry {
            true
        } else if port {
            self.payload[1].ready.val()
        } else {
            self.payload[0].ready.val()
        };
        self.beats.in_.valid.next = returned & is_entry;
        self.beats.in_.data.next = self.in_.data.val();
        self.of_beats.in_.valid.next = returned & is_entry;
        self.of_beats.in_.data.next = beat;
        assert!(
            !(returned & is_entry) | self.beats.in_.ready.val(),
            "an entry without a place"
        );

        // give_on: a failed read has one beat, whatever its length.
        let front = self.of_beats.out.data.val();
        let given = self.given.q.val();
        let is_last = (given + 1) == front.user.get_bits::<4>(read_user::ENTRIES);
        let is_second = given.get_bit(0) & two_a_beat(W as u64) & !front.error;
        let beat_ends = is_last | (!front.error & (is_second | !two_a_beat(W as u64)));
        let taken = self.of_beats.out.valid.val() & self.fetched.ready.val();
        if taken {
            self.given.d.next = if is_last { bits(0) } else { given + 1 };
        }
        self.fetch_credit.give.next = taken & is_last;
        self.beats.out.ready.next = taken & beat_ends;
        self.of_beats.out.ready.next = taken & beat_ends;
        let entries = self.beats.out.data.val();
        self.fetched.valid.next = self.of_beats.out.valid.val();
        self.fetched.record.next = WqeFetched {
            qp: front.user.get_bits::<10>(read_user::QP),
            error: front.error,
            entry: if is_second {
                (entries >> (W as u64 / 2)).get_bits::<512>(0)
            } else {
                entries.get_bits::<512>(0)
            },
        };

        if self.reset.val() {
            self.given.d.next = bits(0);
        }
    }
}
