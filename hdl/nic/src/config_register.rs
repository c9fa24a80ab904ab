//! A register between the admin queue and the tables.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{Snk, Src, StreamSkid};
use rust_hdl::prelude::*;
use stellar_wire::hw::config::ConfigWrite;

/// Holds rows until their tables accept them, so that no path leads through admin queue and tables in one cycle, in either direction.
///
/// A row is accepted in the cycle after that in which its table has accepted it, so who writes it still knows that it is there. That takes 2 cycles more. A
/// row of a list (`posted`) is accepted when it enters, one per cycle; `pending` tells the admin queue when the last one has left. Levels: 2.
#[derive(LogicBlock, Default)]
pub struct ConfigRegister {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// Stable until ready.
    pub in_: Snk<ConfigWrite>,
    /// The row is one of a list. Valid with it.
    pub posted: Signal<In, Bit>,
    /// A table has not accepted its row yet.
    pub pending: Signal<Out, Bit>,
    pub out: Src<ConfigWrite>,

    rows: StreamSkid<ConfigWrite>,
    /// A row that is not posted is in `rows`, alone.
    waits: DFF<Bit>,
    /// Its table accepted it in the last cycle.
    done: DFF<Bit>,
}

impl Logic for ConfigRegister {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, waits, done);
        clock_reset!(self, rows);
        let posted = self.posted.val();
        let waits = self.waits.q.val();
        let done = self.done.q.val();
        let pending = self.rows.out.valid.val();
        join!(self, in_.record => rows.in_.data, rows.out => out);
        let enters_alone = self.in_.valid.val() & !posted & !pending & !done;
        self.rows.in_.valid.next = (self.in_.valid.val() & posted) | enters_alone;
        self.in_.ready.next = if posted {
            self.rows.in_.ready.val()
        } else {
            done
        };
        let leaves_alone = waits & self.out.ready.val();
        self.done.d.next = leaves_alone;
        self.waits.d.next = enters_alone | (waits & !leaves_alone);
        self.pending.next = pending;
        if self.reset.val() {
            self.waits.d.next = false;
            self.done.d.next = false;
        }
    }
}
