//! Two sources of reads of queue entries share a reader.

use hdl_macros::{clock_reset, hdl, join};
use hdl_pcie::read::entry_reader::FETCHES;
use hdl_primitives::{OfferSnk, OfferSrc, Snk, Src, SyncFifo};
use rust_hdl::prelude::*;
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};
use stellar_wire::hw::read::FailedRead;

/// log2 of the reads that the reader has outstanding.
const READS_LOG2: usize = 5;
const _: () = assert!(FETCHES <= 1 << READS_LOG2);
const READS_BITS: usize = READS_LOG2 + 1;
/// log2 of the lines that are kept for the admin queue: two of the longest reads, so one may arrive while rows of the other are written.
const LINES_LOG2: usize = 4;
const LINES_BITS: usize = LINES_LOG2 + 1;
/// Lines that may be reserved when the admin queue asks for up to 8 more.
const RESERVED_LIMIT: u64 = (1 << LINES_LOG2) - 8;

/// Shares an [`EntryReader`](hdl_pcie::read::EntryReader) between the requester and the admin queue. A card with two endpoints has it at endpoint 1, where the entries of
/// odd queue pairs are read, and a card with one endpoint has it there.
///
/// They take turns. The reader returns entries in the order of the reads. Lines of the admin queue have a reserved place here, so an admin queue that waits for a
/// table holds up no send queue entries. A fence counts only reads of the requester. LUT levels: 4 (room, turn, select).
#[derive(LogicBlock, Default)]
pub struct FetchShare {
    pub clock: Signal<In, Clock>,
    /// Forgets all reads. Reset the reader at the same time.
    pub reset: Signal<In, Bit>,

    // Reads of the requester and of the admin queue, and both to the reader.
    pub engine: OfferSnk<WqeFetch>,
    pub admin: OfferSnk<WqeFetch>,
    pub fetch: OfferSrc<WqeFetch>,

    // What the reader returns, and for whom it is.
    pub fetched: Snk<WqeFetched>,
    pub to_engine: Src<WqeFetched>,
    pub to_admin: Src<WqeFetched>,

    /// Reads that failed: those of the requester are reported. The admin queue itself tells software what it could not read.
    pub fault: Snk<FailedRead>,
    pub engine_fault: Src<FailedRead>,

    /// A read is complete, and a read of the requester is.
    pub ended: Signal<In, EpochEnd>,
    pub engine_ended: Signal<Out, EpochEnd>,

    /// The last read was one of the admin queue.
    went_admin: DFF<Bit>,
    /// Whose the reads are that are not complete: the admin queue's if high.
    reading: SyncFifo<Bit, READS_LOG2, READS_BITS>,
    /// Whose the reads are whose entries were not all taken.
    coming: SyncFifo<Bit, READS_LOG2, READS_BITS>,
    /// Lines for the admin queue, and places that are reserved or in use.
    lines: SyncFifo<WqeFetched, LINES_LOG2, LINES_BITS>,
    reserved: DFF<Bits<LINES_BITS>>,
}

impl Logic for FetchShare {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, went_admin, reserved);
        clock_reset!(self, reading, coming, lines);

        // ask
        let reserved = self.reserved.q.val();
        let admin_may = self.admin.valid.val() & (reserved <= RESERVED_LIMIT);
        let engine_asks = self.engine.valid.val();
        let of_admin = admin_may & !(engine_asks & self.went_admin.q.val());
        let asks = admin_may | engine_asks;
        let asked = asks & self.fetch.ready.val();
        let read = if of_admin {
            self.admin.record.val()
        } else {
            self.engine.record.val()
        };
        self.fetch.valid.next = asks;
        self.fetch.record.next = read;
        self.admin.ready.next = self.fetch.ready.val() & of_admin;
        self.engine.ready.next = self.fetch.ready.val() & !of_admin;
        if asked {
            self.went_admin.d.next = of_admin;
        }
        self.reading.in_.valid.next = asked;
        self.reading.in_.data.next = of_admin;
        self.coming.in_.valid.next = asked;
        self.coming.in_.data.next = of_admin;
        assert!(
            !asked | (self.reading.in_.ready.val() & self.coming.in_.ready.val()),
            "the reader has more reads outstanding than places here"
        );

        // complete
        let ended = self.ended.val();
        let ends_admin = self.reading.out.data.val();
        self.reading.out.ready.next = ended.valid;
        self.engine_ended.next = EpochEnd {
            valid: ended.valid & !ends_admin,
            epoch: ended.epoch,
        };

        // report
        let comes_for_admin = self.coming.out.data.val();
        let is_there = self.coming.out.valid.val();
        join!(self, fault.record => engine_fault.record);
        self.engine_fault.valid.next = self.fault.valid.val() & is_there & !comes_for_admin;
        self.fault.ready.next = is_there & (comes_for_admin | self.engine_fault.ready.val());

        // give_on
        let comes = self.fetched.valid.val() & is_there;
        let to_engine = comes & !comes_for_admin;
        let to_admin = comes & comes_for_admin;
        join!(
            self,
            fetched.record => to_engine.record,
            fetched.record => lines.in_.data,
            lines.out.valid => to_admin.valid,
            lines.out.data => to_admin.record,
            to_admin.ready => lines.out.ready,
        );
        self.to_engine.valid.next = to_engine;
        self.lines.in_.valid.next = to_admin;
        assert!(
            !to_admin | self.lines.in_.ready.val(),
            "a line without a place"
        );
        let taken = to_admin | (to_engine & self.to_engine.ready.val());
        self.fetched.ready.next = is_there & (comes_for_admin | self.to_engine.ready.val());
        self.coming.out.ready.next = taken & !self.fetched.record.val().behind.any();

        // reserve
        let more = if asked & of_admin {
            reserved + bit_cast::<LINES_BITS, 4>(read.lines)
        } else {
            reserved
        };
        let leaves = self.lines.out.valid.val() & self.to_admin.ready.val();
        self.reserved.d.next = if leaves { more - 1 } else { more };

        if self.reset.val() {
            self.went_admin.d.next = false;
            self.reserved.d.next = bits(0);
        }
    }
}
