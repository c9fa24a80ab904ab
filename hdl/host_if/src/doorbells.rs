//! Doorbell pages: a write to a page takes effect only for the queue pairs that the page owns.

use hdl_macros::{clock, hdl};
use hdl_primitives::{BlockRam, BypassRam, Checked, DoorbellSrc, Parameters, UltraRam};
use rust_hdl::prelude::*;
use stellar_wire::host::{ConsumerIndex, Doorbell};
use stellar_wire::hw::QPN_BITS;

use crate::bundles::{
    ConsumerSrc, DoorbellPulsesSrc, DoorbellWriteSnk, OwnerSnk, RefusedDoorbellSrc,
};
use crate::queue_pairs::QueuePairs;

/// Cycles from one doorbell to the next.
pub const CLOCKS: usize = 3;

/// The block of 64 bytes of a page for pushed entries, and its words.
const PUSH_BLOCK: u64 = Doorbell::PUSH_OFFSET as u64 / 64;
const PUSH_WORDS: u64 = 8;
/// The parts of a page, in KiB, with the slots of doorbells and of consumer indices.
const SEND_SLOTS: u64 = Doorbell::SLOTS as u64 / 1024;
const CONSUMER_SLOTS: u64 = ConsumerIndex::SLOTS as u64 / 1024;

/// Owner of a queue pair.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Owner {
    present: Bit,
    page: Bits<16>,
}

/// A write to a page.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct PageWrite {
    page: Bits<16>,
    data: Bits<64>,
    /// The address is a place of a send doorbell; otherwise of a consumer index.
    sends: Bit,
    /// Word of a pushed entry.
    word: Bits<3>,
}

/// Accepts writes to doorbell pages in order, one per [`CLOCKS`] cycles. BAR2 has pages of 4 KiB; the page identifies the writer.
///
/// A page has places for doorbells ([`Doorbell::OFFSET`], and the slots [`Doorbell::SLOTS`]) and consumer indices ([`ConsumerIndex::OFFSET`],
/// [`ConsumerIndex::SLOTS`]). For a pushed send queue entry it has 64 bytes from [`Doorbell::PUSH_OFFSET`] on, with the entry's doorbell behind them
/// ([`Doorbell::PUSHED_OFFSET`]). Each of the first 2^`P` pages has its own space for one pushed entry, so no page changes the entry of another. Other
/// pages have none: the card reads their entries. Writes to other places, and writes of less than 64 bits, are dropped and counted. A write for a queue
/// pair that the page does not own is dropped, counted and reported. Reset clears all owners, which takes 2^`Q` cycles; no write is accepted in this time.
/// A doorbell is checked against the owners that were written in earlier cycles. An owner is written as soon as no write is in progress, and discards
/// what its page has pushed, which may be by another user of the page. Levels: 3 and a carry chain (page equality).
#[derive(LogicBlock, Default)]
pub struct Doorbells<const Q: usize = 10, const P: usize = { Doorbell::PUSH_PAGES_LOG2 }> {
    pub clock: Signal<In, Clock>,
    /// Discards owners and everything in progress.
    pub reset: Signal<In, Bit>,

    // From PCIe.
    pub write: DoorbellWriteSnk,

    // From software: who owns a queue pair.
    pub owner: OwnerSnk,

    // To the send side.
    pub doorbell: DoorbellSrc,
    // To completion_queues.
    pub consumer: ConsumerSrc,
    // To event_queues.
    pub refused: RefusedDoorbellSrc,

    pub pulses: DoorbellPulsesSrc,

    _checked: QueuePairs<Q>,
    _parameters: Checked<Self>,
    owners: BlockRam<Owner, Q>,
    /// Number of owners cleared; bit `Q` is set when all are.
    swept: DFF<Bits<{ QPN_BITS + 1 }>>,
    checking: DFF<Bit>,
    page_write: DFF<PageWrite>,
    /// The write is a word of a pushed entry, or the doorbell behind one.
    pushing: DFF<Bit>,
    pushing_ends: DFF<Bit>,
    /// Words of each page's entry. Word 0 begins an entry.
    words: [UltraRam<Bits<64>, P>; 8],
    /// How many words of each page's entry have come, in order.
    counts: BypassRam<Bits<4>, P>,
    /// The entry belongs to the doorbell at the output.
    pushed: DFF<Bit>,
    doorbell_waits: DFF<Bit>,
    consumer_waits: DFF<Bit>,
    refused_waits: DFF<Bit>,
    counts_refused: DFF<Bit>,
    counts_short: DFF<Bit>,
    counts_wrong: DFF<Bit>,
}

impl<const Q: usize, const P: usize> Parameters for Doorbells<Q, P> {
    fn check() {
        assert!(
            (1..=15).contains(&P),
            "2^{P} pages that push: use P of 1 to 15 (2 to 32,768 pages)"
        );
    }
}

impl<const Q: usize, const P: usize> Logic for Doorbells<Q, P> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, swept, checking, page_write);
        dff_setup!(self, clock, pushing, pushing_ends, pushed);
        dff_setup!(self, clock, doorbell_waits, consumer_waits, refused_waits);
        dff_setup!(self, clock, counts_refused, counts_short, counts_wrong);
        clock!(self, clock, owners, words[..], counts);

        let write = self.page_write.q.val();

        // sweep
        let sweeping = !self.swept.q.val().get_bit(Q);
        if sweeping {
            self.swept.d.next = self.swept.q.val() + 1;
        }
        let in_progress = self.checking.q.val() | self.pushing.q.val() | self.pushing_ends.q.val();
        let owner_ready = !sweeping & !in_progress;
        let changes = owner_ready & self.owner.valid.val();
        self.owner.ready.next = owner_ready;
        self.owners.write_enable.next = sweeping | changes;
        self.owners.write_address.next = if sweeping {
            self.swept.q.val().get_bits::<Q>(0)
        } else {
            self.owner.qp.val().get_bits::<Q>(0)
        };
        self.owners.write_data.next = Owner {
            present: self.owner.present.val() & !sweeping,
            page: self.owner.page.val(),
        };

        // take_write
        let waits =
            self.doorbell_waits.q.val() | self.consumer_waits.q.val() | self.refused_waits.q.val();
        let busy = self.checking.q.val() | waits;
        let ready = !sweeping & !busy & !self.owner.valid.val();
        let takes = ready & self.write.valid.val();
        let offset = self.write.offset.val();
        let aligned = !offset.get_bits::<3>(0).any();
        let kilobyte = offset.get_bits::<2>(10);
        let ends_push = offset == u64::from(Doorbell::PUSHED_OFFSET);
        let sends = (offset == u64::from(Doorbell::OFFSET))
            | ends_push
            | ((kilobyte == SEND_SLOTS) & aligned);
        let consumes =
            (offset == u64::from(ConsumerIndex::OFFSET)) | ((kilobyte == CONSUMER_SLOTS) & aligned);
        let pushes = (offset.get_bits::<6>(6) == PUSH_BLOCK) & aligned;
        let in_place = sends | consumes | pushes;
        let whole = self.write.enable.val().all();
        self.write.ready.next = ready;
        self.owners.read_address.next = self.write.data.val().get_bits::<Q>(Doorbell::QP_BIT);
        self.checking.d.next = takes & (sends | consumes) & whole;
        if takes {
            self.page_write.d.next = PageWrite {
                page: self.write.page.val(),
                data: self.write.data.val(),
                sends,
                word: offset.get_bits::<3>(3),
            };
        }
        self.counts_wrong.d.next = takes & !in_place;
        self.counts_short.d.next = takes & in_place & !whole;
        self.pulses.wrong_offset.next = self.counts_wrong.q.val();
        self.pulses.short_write.next = self.counts_short.q.val();

        // push: a word may replace one of its page at once, because an entry is complete only if all its words have come after its first
        let has_share = !(self.write.page.val() >> (P as u64)).any();
        let stores = takes & pushes & whole & has_share;
        self.pushing.d.next = stores;
        self.pushing_ends.d.next = takes & ends_push & has_share;
        let page = if busy {
            write.page.get_bits::<P>(0)
        } else {
            self.write.page.val().get_bits::<P>(0)
        };
        let mut entry = bits::<512>(0);
        for word in 0..8 {
            self.words[word].write_enable.next = stores & (offset.get_bits::<3>(3) == word as u64);
            self.words[word].write_address.next = self.write.page.val().get_bits::<P>(0);
            self.words[word].write_data.next = self.write.data.val();
            self.words[word].read_address.next = page;
            entry = entry
                | (bit_cast::<512, 64>(self.words[word].read_data.val()) << (64 * word as u64));
        }

        // count_words: words in any other order than theirs are no entry
        let count = self.counts.read_data.val();
        let ends = self.pushing_ends.q.val();
        let stored = self.pushing.q.val();
        let owner_page = self.owner.page.val();
        let owner_shares = !(owner_page >> (P as u64)).any();
        self.counts.read_address.next = page;
        self.counts.write_enable.next =
            stored | ends | (changes & self.owner.present.val() & owner_shares);
        self.counts.write_address.next = if changes {
            owner_page.get_bits::<P>(0)
        } else {
            write.page.get_bits::<P>(0)
        };
        self.counts.write_data.next = if stored & !write.word.any() {
            bits::<4>(1)
        } else if stored & (count == bit_cast::<4, 3>(write.word)) {
            count + 1
        } else {
            bits::<4>(0)
        };
        if self.checking.q.val() {
            self.pushed.d.next = ends & (count == PUSH_WORDS);
        }

        // check_owner
        let number = write.data.get_bits::<24>(Doorbell::QP_BIT);
        let owner = self.owners.read_data.val();
        let exists = !(number >> (Q as u64)).any();
        let owned = exists & owner.present & (owner.page == write.page);
        let checks = self.checking.q.val();
        let refuses = checks & !owned;
        self.counts_refused.d.next = refuses;
        self.pulses.not_owned.next = self.counts_refused.q.val();

        // offer
        self.doorbell_waits.d.next = (checks & owned & write.sends)
            | (self.doorbell_waits.q.val() & !self.doorbell.ready.val());
        self.consumer_waits.d.next = (checks & owned & !write.sends)
            | (self.consumer_waits.q.val() & !self.consumer.ready.val());
        self.refused_waits.d.next =
            refuses | (self.refused_waits.q.val() & !self.refused.ready.val());
        self.doorbell.valid.next = self.doorbell_waits.q.val();
        self.doorbell.qp.next = bit_cast::<QPN_BITS, Q>(number.get_bits::<Q>(0));
        self.doorbell.producer.next = write.data.get_bits::<16>(Doorbell::PRODUCER_BIT);
        self.doorbell.pushed.next = self.pushed.q.val();
        self.doorbell.entry.next = entry;
        self.consumer.valid.next = self.consumer_waits.q.val();
        self.consumer.qp.next = bit_cast::<QPN_BITS, Q>(number.get_bits::<Q>(0));
        self.consumer.index.next = write.data.get_bits::<24>(ConsumerIndex::INDEX_BIT);
        self.consumer.arm.next = write.data.get_bit(ConsumerIndex::ARM_BIT);
        self.refused.valid.next = self.refused_waits.q.val();
        self.refused.page.next = write.page;
        self.refused.qp.next = number;

        if self.reset.val() {
            self.swept.d.next = bits(0);
            self.checking.d.next = false;
            self.pushing.d.next = false;
            self.pushing_ends.d.next = false;
            self.doorbell_waits.d.next = false;
            self.consumer_waits.d.next = false;
            self.refused_waits.d.next = false;
        }
    }
}
