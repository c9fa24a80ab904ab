//! Doorbells that wait for the requester.

use hdl_macros::{clock, clock_reset, hdl, join};
use hdl_primitives::bundles::{DoorbellSnk, DoorbellSrc};
use hdl_primitives::{BlockFifo, BlockRam, BypassRam, Checked, Parameters, RowRam};
use rust_hdl::prelude::*;
use stellar_wire::hw::QPN_BITS;
use stellar_wire::hw::{Qpn, SqIndex};

use crate::bundles::{ConfigureSnk, ConfigureSrc};
use crate::records::ConfigureKind;

/// The row of a queue pair whose doorbell waits.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Rung {
    producer: SqIndex,
    pushed: Bit,
}

/// A doorbell with all that it brings.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Doorbell {
    qp: Qpn,
    rung: Rung,
    entry: Bits<512>,
}

/// Accepts the doorbells of 2^`Q` = `K` queue pairs (`C` = `Q` + 1), and offers one for each queue pair in the order in which they began to wait.
///
/// Of a queue pair whose doorbell waits, the last producer index counts, and none of the entries that were pushed: the requester reads them together. So
/// the doorbells of a queue pair cost one operation for each turn, however many they are, and do not keep those of others, which come behind them on
/// PCIe. Behind 2^`P` doorbells that wait, an entry that was pushed does not count either, because there is no place for it. A doorbell that finds the queue empty passes without delay. The next one is accepted after at most one cycle. The rows of the next doorbell are read in the cycle after
/// the last one left: that one leaves late in a cycle.
///
/// A queue pair is configured when none of its doorbells waits, because a producer index of its past may be one of its future. Its paths are denied and allowed
/// whether doorbells wait or not, because it is at work then, and other rows must not wait for a moment in which it does not ring. It is accepted in the cycle after
/// the requester has accepted it, so that no path leads from the end of an operation to the rows that wait.
///
/// After reset it takes `K` cycles to clear the memories that say who waits; a doorbell is accepted when that is done. Levels: 8 (block RAM 4, word written meanwhile 1, FIFO 3).
#[derive(LogicBlock, Default)]
pub struct DoorbellQueue<const Q: usize, const C: usize, const K: usize, const P: usize = 9> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Discards all doorbells.
    pub reset: Signal<In, Bit>,

    pub in_: DoorbellSnk,
    pub out: DoorbellSrc,

    // Configuration passes when no doorbell of the queue pair waits, and a change of one path at once.
    pub configure: ConfigureSnk,
    pub configured: ConfigureSrc,

    /// A doorbell that must wait has come, and takes its place next.
    comes: DFF<Bit>,
    came: DFF<Doorbell>,
    order: BlockFifo<Bits<Q>, Q, C>,
    rungs: BlockRam<Rung, Q>,
    /// Entries that were pushed, in the order of their queue pairs.
    entries: RowRam<Bits<512>, P>,
    /// Place of the next entry that comes, and of the next one that is read.
    place: DFF<Bits<P>>,
    first_place: DFF<Bits<P>>,
    /// A bit for each queue pair in `order`, twice: for the doorbell that comes, and for the configuration. At most one bit changes in a cycle.
    waiting: BypassRam<Bit, Q>,
    waiting_to_configure: BypassRam<Bit, Q>,
    /// The next queue pair whose bit is cleared after reset; the top bit says that there is none.
    cleared: DFF<Bits<C>>,
    /// The rows of this queue pair are read.
    reading: DFF<Bit>,
    reading_qp: DFF<Bits<Q>>,
    offers: DFF<Bit>,
    offer: DFF<Doorbell>,
    /// The configuration was there in the last cycle, too, so it has been read whether a doorbell of its queue pair waits.
    asked: DFF<Bit>,
    /// None of the doorbells of the queue pair to configure waits, or they do not matter.
    clear: DFF<Bit>,
    /// The requester accepted the configuration in the last cycle.
    configures: DFF<Bit>,
}

impl<const Q: usize, const C: usize, const K: usize, const P: usize> Parameters
    for DoorbellQueue<Q, C, K, P>
{
    fn check() {
        assert!(
            (2..=QPN_BITS).contains(&Q) && C == Q + 1 && K == 1 << Q && P >= 1,
            "DoorbellQueue<{Q}, {C}, {K}, {P}>: use Q of 2 to {QPN_BITS}, C = Q + 1, K = 2^Q and P of at least 1"
        );
    }
}

impl<const Q: usize, const C: usize, const K: usize, const P: usize> Logic
    for DoorbellQueue<Q, C, K, P>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, cleared, reading, reading_qp, offers, offer);
        dff_setup!(self, clock, clear, configures, place, first_place);
        dff_setup!(self, clock, comes, came, asked);
        clock!(self, clock, rungs, entries, waiting, waiting_to_configure);
        clock_reset!(self, order);
        let cleared = self.cleared.q.val();
        let clearing = !cleared.get_bit(Q);
        let offers = self.offers.q.val();
        let reading = self.reading.q.val();

        // pass: nothing waits
        let comes = self.comes.q.val();
        let came = self.came.q.val();
        let rings = self.in_.valid.val() & !clearing;
        let rung = Rung {
            producer: self.in_.producer.val(),
            pushed: self.in_.pushed.val(),
        };
        let doorbell = Doorbell {
            qp: self.in_.qp.val(),
            rung,
            entry: self.in_.entry.val(),
        };
        let idle = !offers & !reading & !comes & !self.order.count.val().any();
        let passes = rings & idle;

        // read: the first in order. A doorbell that takes its place in this cycle would be missed.
        let first = self.order.out.data.val();
        let reads = self.order.out.valid.val() & !reading & !offers;
        self.order.out.ready.next = reads;
        self.rungs.read_address.next = first;
        self.entries.read_address.next = self.first_place.q.val();
        if reads {
            self.first_place.d.next = self.first_place.q.val() + 1;
        }
        self.reading.d.next = reads;
        self.reading_qp.d.next = first;

        // come
        let stays = comes & reads;
        self.in_.ready.next = !stays & !clearing;
        self.comes.d.next = stays | (rings & !idle);
        let coming = if stays { came } else { doorbell };
        self.came.d.next = coming;
        self.waiting.read_address.next = coming.qp.get_bits::<Q>(0);

        // wait
        let waits = comes & !reads;
        let qp = came.qp.get_bits::<Q>(0);
        let merges = self.waiting.read_data.val();
        let begins = waits & !merges;
        let has_place = if P < Q {
            !(self.order.count.val() >> P as u64).any()
        } else {
            true
        };
        self.order.in_.valid.next = begins;
        self.order.in_.data.next = qp;
        self.rungs.write_enable.next = waits;
        self.rungs.write_address.next = qp;
        self.rungs.write_data.next = Rung {
            producer: came.rung.producer,
            pushed: came.rung.pushed & !merges & has_place,
        };
        self.entries.write_enable.next = begins & has_place;
        self.entries.write_address.next = self.place.q.val();
        self.entries.write_data.next = came.entry;
        if begins {
            self.place.d.next = self.place.q.val() + 1;
        }
        let changed = if clearing {
            cleared.get_bits::<Q>(0)
        } else if reads {
            first
        } else {
            qp
        };
        let changes = clearing | reads | begins;
        self.waiting.write_enable.next = changes;
        self.waiting.write_address.next = changed;
        self.waiting.write_data.next = begins;
        self.waiting_to_configure.write_enable.next = changes;
        self.waiting_to_configure.write_address.next = changed;
        self.waiting_to_configure.write_data.next = begins;
        if clearing {
            self.cleared.d.next = cleared + 1;
        }

        // offer
        let offer = self.offer.q.val();
        let offered = if offers { offer } else { doorbell };
        self.out.valid.next = offers | passes;
        self.out.qp.next = offered.qp;
        self.out.producer.next = offered.rung.producer;
        self.out.pushed.next = offered.rung.pushed;
        self.out.entry.next = offered.entry;
        self.offers.d.next = reading | ((offers | passes) & !self.out.ready.val());
        self.offer.d.next = if reading {
            Doorbell {
                qp: bit_cast::<QPN_BITS, Q>(self.reading_qp.q.val()),
                rung: self.rungs.read_data.val(),
                entry: self.entries.read_data.val(),
            }
        } else if passes {
            doorbell
        } else {
            offer
        };

        // configure
        join!(
            self,
            configure.record => configured.record,
            configure.qp => configured.qp,
        );
        let to_configure = self.configure.qp.val();
        let is_read = reading & (bit_cast::<QPN_BITS, Q>(self.reading_qp.q.val()) == to_configure);
        let is_offered = offers & (offer.qp == to_configure);
        self.waiting_to_configure.read_address.next = to_configure.get_bits::<Q>(0);
        let is_waiting = self.waiting_to_configure.read_data.val() & !clearing;
        let is_coming = comes & (came.qp == to_configure);
        let waits_for_none = self.asked.q.val() & !is_read & !is_offered & !is_coming & !is_waiting;
        let changes_path = self.configure.record.val() == ConfigureKind::PathUse;
        let clear = self.clear.q.val();
        let passes_on = clear & self.configured.ready.val();
        // A configuration stays until it is accepted, so the register says it, too.
        self.configured.valid.next = clear;
        assert!(
            !clear | self.configure.valid.val(),
            "a configuration was taken back"
        );
        let configures = self.configures.q.val();
        self.configures.d.next = passes_on;
        self.configure.ready.next = configures;
        let asks = self.configure.valid.val() & !passes_on & !configures;
        self.asked.d.next = asks;
        self.clear.d.next = asks & (clear | changes_path | waits_for_none);

        if self.reset.val() {
            self.cleared.d.next = bits(0);
            self.place.d.next = bits(0);
            self.first_place.d.next = bits(0);
            self.comes.d.next = false;
            self.asked.d.next = false;
            self.reading.d.next = false;
            self.offers.d.next = false;
            self.clear.d.next = false;
            self.configures.d.next = false;
        }
    }
}
