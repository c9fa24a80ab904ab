//! The doorbell pages.

use hdl_host_if::{ConsumerSrc, DoorbellWriteSnk, Doorbells, OwnerSnk, RefusedDoorbellSrc};
use hdl_macros::{clock_reset, hdl, join};
use rust_hdl::prelude::*;
use stellar_wire::host::Doorbell;
use stellar_wire::hw::QPN_BITS;

/// Properties of [`Doorbells`] with 4 queue pairs and 2 pages that push, told for one queue pair that the solver chooses.
#[derive(LogicBlock, Default)]
pub struct DoorbellsProof {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub write: DoorbellWriteSnk,
    pub owner: OwnerSnk,
    pub doorbell_ready: Signal<In, Bit>,
    pub consumer: ConsumerSrc,
    pub refused: RefusedDoorbellSrc,
    /// The queue pair that is watched.
    pub watched: Signal<In, Bits<2>>,

    /// `watched` does not change.
    pub given_one_watched: Signal<Out, Bit>,
    /// There are 4 pages, which keeps the proof small.
    pub given_few_pages: Signal<Out, Bit>,

    /// A doorbell leaves only for a queue pair that the page of its write owned.
    pub holds_doorbell_of_owner: Signal<Out, Bit>,
    /// So does a consumer index.
    pub holds_consumer_of_owner: Signal<Out, Bit>,
    /// A refusal leaves only for a queue pair that the page did not own.
    pub holds_refused_of_other: Signal<Out, Bit>,
    /// At most one of them is offered.
    pub holds_one_outcome: Signal<Out, Bit>,
    /// What leaves has the queue pair that was written.
    pub holds_queue_pair: Signal<Out, Bit>,
    /// The owner of the watched queue pair can ring its doorbell.
    pub reaches_doorbell: Signal<Out, Bit>,
    /// Another can try to.
    pub reaches_refused: Signal<Out, Bit>,

    doorbells: Doorbells<2, 1>,
    before: DFF<Bits<2>>,
    started: DFF<Bit>,
    /// The row of the watched queue pair.
    present: DFF<Bit>,
    page: DFF<Bits<16>>,
    /// The write that was accepted last.
    written_qp: DFF<Bits<24>>,
    /// Its page owned the watched queue pair.
    owned: DFF<Bit>,
}

impl Logic for DoorbellsProof {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, before, started, present, page, written_qp, owned);
        clock_reset!(self, doorbells);
        join!(self, write => doorbells.write, owner => doorbells.owner);
        self.doorbells.doorbell.ready.next = self.doorbell_ready.val();
        join!(self, doorbells.consumer => consumer, doorbells.refused => refused);

        let watched = self.watched.val();
        self.before.d.next = watched;
        self.started.d.next = true;
        self.given_one_watched.next = !self.started.q.val() | (watched == self.before.q.val());

        self.given_few_pages.next =
            !(self.write.page.val() >> 2).any() & !(self.owner.page.val() >> 2).any();

        let row = self.owner.qp.val().get_bits::<2>(0);
        if self.owner.valid.val() & self.doorbells.owner.ready.val() & (row == watched) {
            self.present.d.next = self.owner.present.val();
            self.page.d.next = self.owner.page.val();
        }
        if self.write.valid.val() & self.doorbells.write.ready.val() {
            self.written_qp.d.next = self.write.data.val().get_bits::<24>(Doorbell::QP_BIT);
            self.owned.d.next = self.present.q.val() & (self.page.q.val() == self.write.page.val());
        }

        let rings = self.doorbells.doorbell.valid.val();
        let consumes = self.doorbells.consumer.valid.val();
        let refuses = self.doorbells.refused.valid.val();
        let written = self.written_qp.q.val();
        let of_watched = written == bit_cast::<24, 2>(watched);
        let owned = self.owned.q.val();
        self.holds_doorbell_of_owner.next = !(rings & of_watched) | owned;
        self.holds_consumer_of_owner.next = !(consumes & of_watched) | owned;
        self.holds_refused_of_other.next = !(refuses & of_watched) | !owned;
        self.holds_one_outcome.next =
            !(rings & consumes) & !(rings & refuses) & !(consumes & refuses);
        let qp = bit_cast::<24, QPN_BITS>(self.doorbells.doorbell.qp.val());
        let consumer_qp = bit_cast::<24, QPN_BITS>(self.doorbells.consumer.qp.val());
        self.holds_queue_pair.next = (!rings | (qp == written))
            & (!consumes | (consumer_qp == written))
            & (!refuses | (self.doorbells.refused.qp.val() == written));
        self.reaches_doorbell.next = rings & of_watched;
        self.reaches_refused.next = refuses & of_watched;
        if self.reset.val() {
            self.present.d.next = false;
        }
    }
}
