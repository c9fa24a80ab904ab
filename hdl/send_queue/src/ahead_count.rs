//! How many entries an engine has read ahead.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

use crate::prefetch_state::{Ahead, ALL_AHEAD};

/// Counts the entries of all queue pairs that were read and not taken. What changes in a cycle counts two cycles later. Levels: 5.
#[derive(LogicBlock, Default)]
pub struct AheadCount {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// Entries that are read, and that were taken.
    pub more: Signal<In, Ahead>,
    pub fewer: Signal<In, Ahead>,
    /// There are fewer than [`ALL_AHEAD`].
    pub few: Signal<Out, Bit>,

    more_held: DFF<Ahead>,
    fewer_held: DFF<Ahead>,
    count: DFF<Ahead>,
    few_held: DFF<Bit>,
}

impl Logic for AheadCount {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, more_held, fewer_held, count, few_held);
        self.more_held.d.next = self.more.val();
        self.fewer_held.d.next = self.fewer.val();
        let count = self.count.q.val();
        self.count.d.next = count + self.more_held.q.val() - self.fewer_held.q.val();
        self.few_held.d.next = count < ALL_AHEAD;
        self.few.next = self.few_held.q.val();
        if self.reset.val() {
            self.more_held.d.next = bits(0);
            self.fewer_held.d.next = bits(0);
            self.count.d.next = bits(0);
        }
    }
}
