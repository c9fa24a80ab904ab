//! How far `NextMessage` and `TakeMessages` have come.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::Psn;

use crate::operation::Operation;
use crate::records::{Left, Taken};
use crate::take::are_enough;

/// Counts what an operation takes, message by message. Levels: a carry chain and 1.
#[derive(LogicBlock, Default)]
pub struct Taking {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub op: Signal<In, Operation>,
    /// One cycle: the operation begins.
    pub start: Signal<In, Bit>,
    /// From the next cycle on: packets that the last message started has left.
    pub packets_left: Signal<In, Bits<24>>,
    /// A message was read, the last one of its block if it `crosses`. With `takes`, this was decided on it.
    pub reads: Signal<In, Bit>,
    pub crosses: Signal<In, Bit>,
    pub takes: Signal<In, Bit>,
    pub taken: Signal<In, Taken>,

    /// Packets that are left to find, and the PSN of the first of them.
    pub want: Signal<Out, Bits<6>>,
    pub psn: Signal<Out, Psn>,
    /// What the last message started has left.
    pub left: Signal<Out, Left>,
    /// NOPs have started, with this message.
    pub nops: Signal<Out, Bit>,
    /// A message was read in the cycle before, and the last one of a block since the operation began: if it has ended, the prefetch is told what it has taken.
    pub tells: Signal<Out, Bit>,

    want_held: DFF<Bits<6>>,
    psn_held: DFF<Psn>,
    left_fills: DFF<Bit>,
    nops_held: DFF<Bit>,
    crossed: DFF<Bit>,
    tells_held: DFF<Bit>,
}

impl Logic for Taking {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, want_held, psn_held, left_fills, nops_held, crossed, tells_held);
        let op = self.op.val();
        let taken = self.taken.val();
        let want = self.want_held.q.val();
        let psn = self.psn_held.q.val();
        let left = self.packets_left.val();
        let nops = self.nops_held.q.val() | taken.starts_nop;
        // A read has a block at most, so there is nothing to tell before one is passed.
        let crosses = self.reads.val() & self.crosses.val();
        if self.start.val() {
            self.want_held.d.next = if op.is_take {
                op.request.count
            } else {
                bits::<6>(1)
            };
            self.psn_held.d.next = op.request.psn;
            self.nops_held.d.next = false;
            self.crossed.d.next = false;
        }
        if self.takes.val() {
            self.want_held.d.next = want - taken.here;
            self.psn_held.d.next = psn + taken.packets;
            self.nops_held.d.next = nops;
        }
        if crosses {
            self.crossed.d.next = true;
        }
        self.tells_held.d.next = self.reads.val() & (self.crossed.q.val() | self.crosses.val());
        // It is the first message if at all, so what is wanted has not changed since the operation began.
        self.left_fills.d.next = are_enough(left, want);

        self.want.next = want;
        self.psn.next = psn;
        self.left.next = Left {
            packets: left,
            fills: self.left_fills.q.val(),
        };
        self.nops.next = nops;
        self.tells.next = self.tells_held.q.val();
        if self.reset.val() {
            self.tells_held.d.next = false;
        }
    }
}
