//! Queue pairs of each tenant that are in a schedule, in the order of their turns.

use hdl_macros::{clock, hdl};
use hdl_primitives::BlockRam;
use rust_hdl::prelude::*;

/// Lists of queue pairs, as links in block RAM: one list for each of 2^`P` tenants. A list has its head at whoever has the tenant's turn (`QpSchedule`, `TenantWheel`), and its last queue pair here.
///
/// The tail of a tenant is valid only if the queue pair that it names is present and belongs to this tenant, so tails need no initialisation. Presence does: see `clears`. Reads take a cycle.
///
/// Levels: 1 behind a comparison of `Q` bits.
#[derive(LogicBlock, Default)]
pub struct TenantQueues<const Q: usize, const P: usize> {
    pub clock: Signal<In, Clock>,

    // Read: the queue pair `row`, the link behind `head`, and the tail of `tenant`.
    pub row: Signal<In, Bits<Q>>,
    pub head: Signal<In, Bits<Q>>,
    pub tenant: Signal<In, Bits<P>>,
    /// Tenant of the queue pair, if that is present.
    pub row_tenant: Signal<Out, Bits<P>>,
    /// The queue pair behind `head`. Valid unless the head is `alone`.
    pub behind_head: Signal<Out, Bits<Q>>,
    pub last: Signal<Out, Bits<Q>>,
    pub alone: Signal<Out, Bit>,

    /// Removes queue pair `cleared`, whatever it is.
    pub clears: Signal<In, Bit>,
    pub cleared: Signal<In, Bits<Q>>,
    // `head` has its turn. Its row and the tail of its tenant have been read. It moves behind the others of its tenant, or is removed.
    pub turns: Signal<In, Bit>,
    pub rotates: Signal<In, Bit>,
    pub removes: Signal<In, Bit>,
    // `woken` wakes up. First its row has been read, and the tail of its tenant (`looks`); then the row of that tail, and it is added (`adds`), unless it is `already_present`. With
    // `starts` it is the first of all, and nothing has been read.
    pub woken: Signal<In, Bits<Q>>,
    pub woken_tenant: Signal<In, Bits<P>>,
    pub looks: Signal<In, Bit>,
    pub adds: Signal<In, Bit>,
    pub starts: Signal<In, Bit>,
    pub already_present: Signal<Out, Bit>,
    /// The tail that was read is that of the tenant, which has others that are present.
    pub has_others: Signal<Out, Bit>,

    /// One bit per queue pair: it is in the schedule.
    present: BlockRam<Bit, Q>,
    /// Tenant of each queue pair that is in the schedule.
    tenants: BlockRam<Bits<P>, Q>,
    /// For each queue pair, the next queue pair of its tenant, if it is not the last.
    links: BlockRam<Bits<Q>, Q>,
    /// Last queue pair of each tenant that has queue pairs.
    tails: BlockRam<Bits<Q>, P>,
    present_held: DFF<Bit>,
    tail_held: DFF<Bits<Q>>,
}

impl<const Q: usize, const P: usize> Logic for TenantQueues<Q, P> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, present_held, tail_held);
        clock!(self, clock, present, tenants, links, tails);
        let head = self.head.val();
        let woken = self.woken.val();
        let turns = self.turns.val();
        let already_present = self.present_held.q.val();

        // read
        self.present.read_address.next = self.row.val();
        self.tenants.read_address.next = self.row.val();
        self.links.read_address.next = head;
        self.tails.read_address.next = self.tenant.val();
        let row_tenant = self.tenants.read_data.val();
        let last = self.tails.read_data.val();
        let has_others = self.present.read_data.val() & (row_tenant == self.woken_tenant.val());
        self.row_tenant.next = row_tenant;
        self.behind_head.next = self.links.read_data.val();
        self.last.next = last;
        self.alone.next = last == head;
        self.already_present.next = already_present;
        self.has_others.next = has_others;
        if self.looks.val() {
            self.present_held.d.next = self.present.read_data.val();
            self.tail_held.d.next = last;
        }

        // write
        let adds = (self.adds.val() & !already_present) | self.starts.val();
        self.present.write_enable.next = adds | self.removes.val() | self.clears.val();
        self.present.write_address.next = if self.clears.val() {
            self.cleared.val()
        } else if self.removes.val() {
            head
        } else {
            woken
        };
        self.present.write_data.next = adds;
        self.tenants.write_enable.next = adds;
        self.tenants.write_address.next = woken;
        self.tenants.write_data.next = self.woken_tenant.val();
        self.links.write_enable.next =
            self.rotates.val() | (self.adds.val() & !already_present & has_others);
        self.links.write_address.next = if turns { last } else { self.tail_held.q.val() };
        self.links.write_data.next = if turns { head } else { woken };
        self.tails.write_enable.next = self.rotates.val() | adds;
        self.tails.write_address.next = if turns {
            row_tenant
        } else {
            self.woken_tenant.val()
        };
        self.tails.write_data.next = if turns { head } else { woken };
    }
}
