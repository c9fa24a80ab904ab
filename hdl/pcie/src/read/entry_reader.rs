//! Reads send queue entries through a DMA read engine.

use hdl_macros::{clock_reset, hdl, hdl_fn, join};
use hdl_primitives::{
    BlockFifo, Credit, CutThroughFifo, OfferSnk, ReadDataSnk, Src, StreamSkid, SyncFifo,
};
use rust_hdl::prelude::*;
use stellar_wire::host::EventKind;
use stellar_wire::hw::core::DmaSegments;
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};
use stellar_wire::hw::payload::read_user;
use stellar_wire::hw::read::{FailedRead, ReadBeat, ReadCommand};
use stellar_wire::hw::QPN_BITS;
use stellar_wire::mtu::LENGTH_BITS;

use super::records::{ENTRY_TAGS, FLUSH_TAGS};

/// log2 of the bytes of a line of a send queue entry: a beat has one or two.
const LINE_LOG2: u64 = 6;
/// Outstanding reads of entries, of at most 8 lines each: 256 entries of 64 bytes are 100 million a second for 2.5 us. There is a tag for each.
pub const FETCHES: usize = FLUSH_TAGS - ENTRY_TAGS;
const FETCHES_LOG2: usize = 5;
const FETCHES_BITS: usize = FETCHES_LOG2 + 1;
const _: () = assert!(FETCHES <= 1 << FETCHES_LOG2);
/// Space for their beats: 8 each in a lane of 512 bits.
const BEAT_ADDRESS: usize = 8;
const _: () = assert!(FETCHES << 3 <= 1 << BEAT_ADDRESS);
const BEAT_COUNT: usize = BEAT_ADDRESS + 1;

/// Whether a beat of this number of bits has two lines.
#[hdl_fn]
fn two_a_beat(width: u64) -> Bit {
    width == 1024
}

/// Makes reads of send queue entries commands of one [`DmaRead`](crate::read::DmaRead), whose lane has `W` bits, 512 or 1,024, and cuts what it returns into
/// lines of 64 bytes. They are requested only if there is space for them in this block, so the engine never waits, however late they are accepted.
/// The lines of a read are offered when the last one is here, so they follow each other without a gap.
///
/// Latency 1 for a request, and 2 for its lines, from its last beat. LUT levels: 3.
#[derive(LogicBlock)]
pub struct EntryReader<const W: usize> {
    pub clock: Signal<In, Clock>,
    /// Discards commands and entries. Assert it together with the engine's reset.
    pub reset: Signal<In, Bit>,

    // Send queue entries.
    /// The address is a multiple of 64.
    pub fetch: OfferSnk<WqeFetch>,
    /// Each line, in the order of the fetches. If a read failed, all of its lines did. When the first line of a read is accepted, the others can be accepted in the next cycles.
    pub fetched: Src<WqeFetched>,
    /// A read that failed, with the address of its first line. Its lines follow when this was accepted.
    pub fault: Src<FailedRead>,

    // To and from the engine.
    pub command: Src<ReadCommand>,
    pub in_: ReadDataSnk<W>,

    commands: StreamSkid<ReadCommand>,
    fetch_credit: Credit<FETCHES_BITS>,
    beats: BlockFifo<Bits<W>, BEAT_ADDRESS, BEAT_COUNT>,
    /// What the engine says of each beat. Its head is a register, because much follows from it; the data come from the memory.
    of_beats: CutThroughFifo<ReadBeat, BEAT_ADDRESS, BEAT_COUNT>,
    /// Addresses of the outstanding reads.
    addresses: SyncFifo<Bits<64>, FETCHES_LOG2, FETCHES_BITS>,
    /// Reads of which all beats are here, and not all lines were passed on.
    whole: DFF<Bits<FETCHES_BITS>>,
    /// One more is here, as soon as `beats` shows its last beat.
    comes_whole: DFF<Bit>,
    /// The failure of the oldest read was reported.
    reported: DFF<Bit>,
    /// Number of lines of the oldest read that were passed on.
    given: DFF<Bits<4>>,
}

impl<const W: usize> Default for EntryReader<W> {
    fn default() -> Self {
        assert!(
            W == 512 || W == 1024,
            "EntryReader<{W}>: a beat has one or two lines of send queue entries, use 512 or 1024"
        );
        Self {
            clock: Default::default(),
            reset: Default::default(),
            fetch: Default::default(),
            fetched: Default::default(),
            fault: Default::default(),
            command: Default::default(),
            in_: Default::default(),
            commands: Default::default(),
            fetch_credit: Credit::new(FETCHES),
            beats: Default::default(),
            of_beats: Default::default(),
            addresses: Default::default(),
            whole: Default::default(),
            comes_whole: Default::default(),
            reported: Default::default(),
            given: Default::default(),
        }
    }
}

impl<const W: usize> Logic for EntryReader<W> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, given, reported, whole, comes_whole);
        clock_reset!(self, commands, fetch_credit, beats, of_beats, addresses);

        // command
        let may_fetch = self.fetch_credit.room.val();
        let fetches = self.fetch.valid.val() & may_fetch & self.commands.in_.ready.val();
        self.fetch.ready.next = may_fetch & self.commands.in_.ready.val();
        self.fetch_credit.take.next = fetches;
        let fetch = self.fetch.record.val();
        let fetched_bytes = bit_cast::<LENGTH_BITS, 4>(fetch.lines) << LINE_LOG2;
        self.commands.in_.valid.next = self.fetch.valid.val() & may_fetch;
        self.commands.in_.data.next = ReadCommand {
            length: fetched_bytes,
            segments: DmaSegments {
                first_length: fetched_bytes,
                first_address: fetch.address,
                first_translated: false,
                ..DmaSegments::default()
            },
            user: (bit_cast::<{ read_user::BITS }, QPN_BITS>(fetch.qp) << (read_user::QP as u64))
                | (bit_cast::<{ read_user::BITS }, 1>(fetch.epoch.into())
                    << (read_user::EPOCH as u64))
                | bit_cast::<{ read_user::BITS }, 4>(fetch.lines),
        };
        join!(self, commands.out => command);
        self.addresses.in_.valid.next = fetches;
        self.addresses.in_.data.next = fetch.address;
        assert!(
            !fetches | self.addresses.in_.ready.val(),
            "an address without a place"
        );

        // return
        let returned = self.in_.valid.val();
        self.in_.ready.next = true;
        self.beats.in_.valid.next = returned;
        self.beats.in_.data.next = self.in_.data.val();
        self.of_beats.in_.valid.next = returned;
        self.of_beats.in_.data.next = self.in_.beat.val();
        assert!(
            !returned | self.beats.in_.ready.val(),
            "a line without a place"
        );

        // report
        let front = self.of_beats.out.data.val();
        let qp = front.user.get_bits::<QPN_BITS>(read_user::QP);
        let waits = self.of_beats.out.valid.val() & self.beats.out.valid.val();
        let fails = waits & front.error;
        let reported = self.reported.q.val();
        self.fault.valid.next = fails & !reported;
        self.fault.record.next = FailedRead {
            kind: bits::<8>(EventKind::EntryReadFailed.code().into()),
            source: bit_cast::<24, QPN_BITS>(qp),
            address: self.addresses.out.data.val(),
        };

        // give_on: a failed read has one beat, whatever its length.
        let whole = self.whole.q.val();
        let offers = waits & whole.any() & (!fails | reported);
        let given = self.given.q.val();
        let behind = front.user.get_bits::<4>(read_user::LINES) - given - 1;
        let is_last = !behind.any();
        let is_second = given.get_bit(0) & two_a_beat(W as u64) & !front.error;
        let beat_ends = is_last | (!front.error & (is_second | !two_a_beat(W as u64)));
        let taken = offers & self.fetched.ready.val();
        let ends = taken & is_last;
        self.addresses.out.ready.next = ends;
        self.reported.d.next = !ends & (reported | (fails & self.fault.ready.val()));
        if taken {
            self.given.d.next = if is_last { bits(0) } else { given + 1 };
        }
        self.comes_whole.d.next = returned & self.in_.beat.val().last;
        let comes_whole = self.comes_whole.q.val();
        if comes_whole & !ends {
            self.whole.d.next = whole + 1;
        } else if ends & !comes_whole {
            self.whole.d.next = whole - 1;
        }
        self.fetch_credit.give.next = ends;
        self.beats.out.ready.next = taken & beat_ends;
        self.of_beats.out.ready.next = taken & beat_ends;
        let lines = self.beats.out.data.val();
        self.fetched.valid.next = offers;
        self.fetched.record.next = WqeFetched {
            qp,
            error: front.error,
            behind: behind.get_bits::<3>(0),
            line: if is_second {
                (lines >> (W as u64 / 2)).get_bits::<512>(0)
            } else {
                lines.get_bits::<512>(0)
            },
        };

        if self.reset.val() {
            self.given.d.next = bits(0);
            self.whole.d.next = bits(0);
            self.comes_whole.d.next = false;
            self.reported.d.next = false;
        }
    }
}
