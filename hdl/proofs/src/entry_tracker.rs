//! Follows one entry through a queue.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

/// Counts the entries of a queue, and follows one of them, of `W` bits, from its entrance to its exit.
///
/// The solver picks the entry with the free input `pick`. What holds for a picked entry therefore holds for every entry.
#[derive(LogicBlock, Default)]
pub struct EntryTracker<const W: usize, const C: usize> {
    /// The clock.
    pub clock: Signal<In, Clock>,
    /// Empties the queue.
    pub reset: Signal<In, Bit>,
    /// The entry that enters in this cycle is followed.
    pub pick: Signal<In, Bit>,

    /// An entry enters the queue.
    pub push: Signal<In, Bit>,
    /// That entry.
    pub pushed: Signal<In, Bits<W>>,
    /// The queue offers its oldest entry.
    pub offered: Signal<In, Bit>,
    /// That entry.
    pub head: Signal<In, Bits<W>>,
    /// The entry that is offered leaves.
    pub pop: Signal<In, Bit>,

    /// Entries inside: those that entered less those that left.
    pub held: Signal<Out, Bits<C>>,
    /// No entry is offered that did not enter, and the followed entry is offered unchanged, behind those that entered before it.
    pub in_order: Signal<Out, Bit>,
    /// There is an entry inside, and none was offered in the last cycle: one has to be offered now.
    pub due: Signal<Out, Bit>,
    /// The followed entry leaves.
    pub leaves: Signal<Out, Bit>,

    inside: DFF<Bits<C>>,
    waited: DFF<Bit>,
    follows: DFF<Bit>,
    ahead: DFF<Bits<C>>,
    value: DFF<Bits<W>>,
}

impl<const W: usize, const C: usize> Logic for EntryTracker<W, C> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, inside, waited, follows, ahead, value);
        let inside = self.inside.q.val();
        let left = if self.pop.val() { inside - 1 } else { inside };
        self.inside.d.next = if self.push.val() { left + 1 } else { left };
        self.waited.d.next = inside.any() & !self.offered.val();

        let follows = self.follows.q.val();
        let first = follows & !self.ahead.q.val().any();
        if follows & self.pop.val() {
            self.ahead.d.next = self.ahead.q.val() - 1;
        }
        if first & self.pop.val() {
            self.follows.d.next = false;
        }
        if self.push.val() & self.pick.val() & !follows {
            self.follows.d.next = true;
            self.ahead.d.next = left;
            self.value.d.next = self.pushed.val();
        }

        self.held.next = inside;
        self.in_order.next = !self.offered.val()
            | (inside.any() & (!first | (self.head.val() == self.value.q.val())));
        self.due.next = self.waited.q.val() & inside.any();
        self.leaves.next = first & self.pop.val();

        if self.reset.val() {
            self.inside.d.next = bits(0);
            self.waited.d.next = false;
            self.follows.d.next = false;
        }
    }
}
