//! The tenants of a schedule that wait for their turn, and those that rest.

use hdl_macros::{clock, hdl};
use hdl_primitives::{BlockRam, LutRam};
use rust_hdl::prelude::*;

use crate::virtual_time::{first_from, BUCKET_BITS, TURN_BITS};

/// Lists of tenants, each named by the head of its queue: one for each of 32 buckets of virtual time, and one of those that have no tokens left. A list is in the order in
/// which the tenants came, as links in block RAM.
///
/// The next tenant is the first of the first bucket that is not empty, from the present bucket on. It leaves in three cycles: `find`, `take`, `pop`. Levels: 7 (the
/// first bucket from the present one on).
#[derive(LogicBlock, Default)]
pub struct TenantWheel<const Q: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // A tenant, by the head of its queue, comes to the bucket of `turn`, or to those that rest; or its turn becomes the present one. Pulses that exclude each other
    // and those below.
    pub enters: Signal<In, Bit>,
    pub rests: Signal<In, Bit>,
    pub keeps: Signal<In, Bit>,
    pub head: Signal<In, Bits<Q>>,
    pub turn: Signal<In, Bits<TURN_BITS>>,

    // The next tenant has its turn.
    pub find: Signal<In, Bit>,
    /// `first` has it.
    pub take: Signal<In, Bit>,
    pub pop: Signal<In, Bit>,
    /// Valid with `take`: the head of the next tenant's queue.
    pub first: Signal<Out, Bits<Q>>,

    // The first one that rests leaves. The last such pulse, and the last `rests`, were two cycles ago or more.
    pub wakes: Signal<In, Bit>,
    pub resting: Signal<Out, Bit>,
    pub rest_first: Signal<Out, Bits<Q>>,

    /// A bucket has tenants.
    pub any: Signal<Out, Bit>,
    /// Virtual time in buckets.
    pub now: Signal<Out, Bits<TURN_BITS>>,

    /// For each head of a tenant, the head of the next tenant of its list, if its own is not the last.
    tenant_next: BlockRam<Bits<Q>, Q>,
    /// Heads of the first and of the last tenant of each bucket that has tenants.
    firsts: LutRam<Bits<Q>, BUCKET_BITS>,
    lasts: LutRam<Bits<Q>, BUCKET_BITS>,
    /// Bit b: bucket b has tenants.
    occupied: DFF<Bits<32>>,
    present: DFF<Bits<TURN_BITS>>,
    found: DFF<Bits<TURN_BITS>>,
    was_last: DFF<Bit>,
    /// There are resting tenants; heads of the first and of the last one.
    some_rest: DFF<Bit>,
    first_resting: DFF<Bits<Q>>,
    last_resting: DFF<Bits<Q>>,
}

impl<const Q: usize> Logic for TenantWheel<Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            occupied,
            present,
            found,
            was_last,
            some_rest,
            first_resting,
            last_resting
        );
        clock!(self, clock, tenant_next, firsts, lasts);
        let occupied = self.occupied.q.val();
        let now = self.present.q.val();
        let some_rest = self.some_rest.q.val();
        let first_resting = self.first_resting.q.val();
        let last_resting = self.last_resting.q.val();
        let enters = self.enters.val();
        let rests = self.rests.val();
        let turn = self.turn.val();

        // read
        let bucket = if enters {
            turn.get_bits::<BUCKET_BITS>(0)
        } else {
            self.found.q.val().get_bits::<BUCKET_BITS>(0)
        };
        self.firsts.read_address.next = bucket;
        self.lasts.read_address.next = bucket;
        let bucket_first = self.firsts.read_data.val();
        let bucket_last = self.lasts.read_data.val();
        self.tenant_next.read_address.next = if self.take.val() {
            bucket_first
        } else {
            first_resting
        };
        let next_tenant = self.tenant_next.read_data.val();
        let is_occupied = occupied.get_bit(bucket.index());
        let was_last = self.was_last.q.val();

        // link
        self.tenant_next.write_enable.next = (rests & some_rest) | (enters & is_occupied);
        self.tenant_next.write_address.next = if rests { last_resting } else { bucket_last };
        self.tenant_next.write_data.next = self.head.val();
        self.firsts.write_enable.next = (enters & !is_occupied) | (self.pop.val() & !was_last);
        self.firsts.write_address.next = bucket;
        self.firsts.write_data.next = if enters { self.head.val() } else { next_tenant };
        self.lasts.write_enable.next = enters;
        self.lasts.write_address.next = bucket;
        self.lasts.write_data.next = self.head.val();

        // enter
        if enters {
            self.occupied.d.next = occupied.replace_bit(bucket.index(), true);
        }
        if self.keeps.val() {
            self.present.d.next = turn;
        }

        // leave
        if self.find.val() {
            self.found.d.next = first_from(occupied, now);
        }
        if self.take.val() {
            self.present.d.next = self.found.q.val();
            self.was_last.d.next = bucket_first == bucket_last;
        }
        if self.pop.val() & was_last {
            self.occupied.d.next = occupied.replace_bit(bucket.index(), false);
        }

        // rest
        if rests {
            self.some_rest.d.next = true;
            self.last_resting.d.next = self.head.val();
            if !some_rest {
                self.first_resting.d.next = self.head.val();
            }
        }
        if self.wakes.val() {
            self.first_resting.d.next = next_tenant;
            self.some_rest.d.next = first_resting != last_resting;
        }

        self.first.next = bucket_first;
        self.resting.next = some_rest;
        self.rest_first.next = first_resting;
        self.any.next = occupied.any();
        self.now.next = now;
        if self.reset.val() {
            self.occupied.d.next = bits::<32>(0);
            self.some_rest.d.next = false;
        }
    }
}
