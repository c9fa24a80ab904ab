//! One DMA read engine for send queue entries and for the payload of two ports.

use hdl_macros::{hdl, hdl_fn};
use hdl_primitives::{Credit, RoundRobin, StreamSkid, SyncFifo};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::Pieces;
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};
use stellar_wire::hw::payload::read_user;
use stellar_wire::hw::read::{ReadBeat, ReadCommand};

/// Bytes of a send queue entry: one beat of either lane width.
const ENTRY_BYTES: u64 = 64;
/// Places for entries that were asked for.
const ENTRY_ADDRESS: usize = 3;
const ENTRY_COUNT: usize = ENTRY_ADDRESS + 1;
/// Fetches, payload of port 0, payload of port 1.
const READERS: usize = 3;

/// A payload read, marked with its port.
#[hdl_fn]
fn of_port(command: ReadCommand, port: u64) -> ReadCommand {
    let cleared = command.user & bits::<32>(!(0b11 << read_user::PORT) & 0xffff_ffff);
    ReadCommand {
        length: command.length,
        pieces: command.pieces,
        user: cleared | bits::<32>(port << read_user::PORT),
    }
}

/// In front of and behind one [`DmaRead`](crate::read::DmaRead), whose lane has `W` bits, 512 or 1,024.
///
/// Readers take turns. The engine returns in order, so whoever does not take what comes back holds up the others:
/// - an entry is asked for only with a place for it here, so entries never do, whenever they are taken;
/// - payload must not: ask for it only with room for it (`docs/tx_lane.md`, payload).
///
/// LUT levels: 4 (turn, command); back 3 (user, ready).
#[derive(LogicBlock)]
pub struct ReadShare<const W: usize> {
    pub clock: Signal<In, Clock>,
    /// Forgets commands and entries. To be given together with that of the engine.
    pub reset: Signal<In, Bit>,

    // Send queue entries.
    pub fetch_valid: Signal<In, Bit>,
    /// Address of an entry, a multiple of 64.
    pub fetch: Signal<In, WqeFetch>,
    pub fetch_ready: Signal<Out, Bit>,
    /// In the order of the fetches.
    pub fetched_valid: Signal<Out, Bit>,
    pub fetched: Signal<Out, WqeFetched>,
    pub fetched_ready: Signal<In, Bit>,

    // Payload of port 0 and of port 1. The port in `user` is set here.
    pub read0_valid: Signal<In, Bit>,
    pub read0: Signal<In, ReadCommand>,
    pub read0_ready: Signal<Out, Bit>,
    pub read1_valid: Signal<In, Bit>,
    pub read1: Signal<In, ReadCommand>,
    pub read1_ready: Signal<Out, Bit>,

    // What came back, for each port in the order of its reads.
    pub payload0_valid: Signal<Out, Bit>,
    pub payload0_ready: Signal<In, Bit>,
    pub payload1_valid: Signal<Out, Bit>,
    pub payload1_ready: Signal<In, Bit>,
    /// Of the port that has `valid`.
    pub payload_data: Signal<Out, Bits<W>>,
    pub payload_beat: Signal<Out, ReadBeat>,

    // To and from the engine.
    pub command_valid: Signal<Out, Bit>,
    pub command: Signal<Out, ReadCommand>,
    pub command_ready: Signal<In, Bit>,
    pub in_valid: Signal<In, Bit>,
    pub in_data: Signal<In, Bits<W>>,
    pub in_beat: Signal<In, ReadBeat>,
    pub in_ready: Signal<Out, Bit>,

    turns: RoundRobin<READERS, 2>,
    commands: StreamSkid<ReadCommand>,
    entry_credit: Credit<ENTRY_COUNT>,
    entries: SyncFifo<WqeFetched, ENTRY_ADDRESS, ENTRY_COUNT>,
}

impl<const W: usize> Default for ReadShare<W> {
    fn default() -> Self {
        assert!(
            W == 512 || W == 1024,
            "ReadShare<{W}>: a send queue entry is one beat, use 512 or 1024"
        );
        Self {
            clock: Default::default(),
            reset: Default::default(),
            fetch_valid: Default::default(),
            fetch: Default::default(),
            fetch_ready: Default::default(),
            fetched_valid: Default::default(),
            fetched: Default::default(),
            fetched_ready: Default::default(),
            read0_valid: Default::default(),
            read0: Default::default(),
            read0_ready: Default::default(),
            read1_valid: Default::default(),
            read1: Default::default(),
            read1_ready: Default::default(),
            payload0_valid: Default::default(),
            payload0_ready: Default::default(),
            payload1_valid: Default::default(),
            payload1_ready: Default::default(),
            payload_data: Default::default(),
            payload_beat: Default::default(),
            command_valid: Default::default(),
            command: Default::default(),
            command_ready: Default::default(),
            in_valid: Default::default(),
            in_data: Default::default(),
            in_beat: Default::default(),
            in_ready: Default::default(),
            turns: Default::default(),
            commands: Default::default(),
            entry_credit: Credit::new(1 << ENTRY_ADDRESS),
            entries: Default::default(),
        }
    }
}

impl<const W: usize> Logic for ReadShare<W> {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, turns, commands, entry_credit, entries);
        self.turns.reset.next = self.reset.val();
        self.commands.reset.next = self.reset.val();
        self.entry_credit.reset.next = self.reset.val();
        self.entries.reset.next = self.reset.val();

        // take_turns
        let may_fetch = self.fetch_valid.val() & self.entry_credit.room.val();
        self.turns.request.next = bits::<READERS>(0)
            .replace_bit(0, may_fetch)
            .replace_bit(1, self.read0_valid.val())
            .replace_bit(2, self.read1_valid.val());
        let room = self.commands.in_ready.val();
        let grant = self.turns.grant.val();
        self.turns.accept.next = room;
        let fetches = grant.get_bit(0) & room;
        self.fetch_ready.next = fetches;
        self.read0_ready.next = grant.get_bit(1) & room;
        self.read1_ready.next = grant.get_bit(2) & room;
        self.entry_credit.take.next = fetches;
        let fetch = self.fetch.val();
        let of_entry = ReadCommand {
            length: bits::<13>(ENTRY_BYTES),
            pieces: Pieces {
                first_length: bits::<13>(ENTRY_BYTES),
                first_address: fetch.address,
                first_translated: false,
                second_address: bits(0),
                second_translated: false,
            },
            user: (bit_cast::<32, 10>(fetch.qp) << (read_user::QP as u64))
                | bits::<32>(1 << read_user::FETCH),
        };
        self.commands.in_valid.next = self.turns.valid.val();
        self.commands.in_data.next = if grant.get_bit(0) {
            of_entry
        } else if grant.get_bit(1) {
            of_port(self.read0.val(), 0)
        } else {
            of_port(self.read1.val(), 1)
        };
        self.command_valid.next = self.commands.out_valid.val();
        self.command.next = self.commands.out_data.val();
        self.commands.out_ready.next = self.command_ready.val();

        // return
        let beat = self.in_beat.val();
        let is_entry = beat.user.get_bit(read_user::FETCH);
        let port = beat.user.get_bit(read_user::PORT);
        let returned = self.in_valid.val();
        self.payload0_valid.next = returned & !is_entry & !port;
        self.payload1_valid.next = returned & !is_entry & port;
        self.payload_data.next = self.in_data.val();
        self.payload_beat.next = beat;
        self.in_ready.next = if is_entry {
            true
        } else if port {
            self.payload1_ready.val()
        } else {
            self.payload0_ready.val()
        };
        self.entries.in_valid.next = returned & is_entry;
        self.entries.in_data.next = WqeFetched {
            qp: beat.user.get_bits::<10>(read_user::QP),
            error: beat.error,
            entry: self.in_data.val().get_bits::<512>(0),
        };
        assert!(
            !(returned & is_entry) | self.entries.in_ready.val(),
            "an entry without a place"
        );
        let taken = self.entries.out_valid.val() & self.fetched_ready.val();
        self.entry_credit.give.next = taken;
        self.entries.out_ready.next = self.fetched_ready.val();
        self.fetched_valid.next = self.entries.out_valid.val();
        self.fetched.next = self.entries.out_data.val();
    }
}
