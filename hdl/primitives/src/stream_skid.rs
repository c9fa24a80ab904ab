//! Cuts the paths of a valid/ready stream in both directions without losing a cycle.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

use crate::stream::{DataOfferSnk, DataSrc};

/// A register stage for `T` with registered `in_ready`: one item per cycle, latency 1.
///
/// The second register (`spare`) takes the item that arrives in the cycle in which the receiver stalls, before the sender can know.
#[derive(LogicBlock, Default)]
pub struct StreamSkid<T: Synth> {
    pub clock: Signal<In, Clock>,
    /// Discards stored beats.
    pub reset: Signal<In, Bit>,

    pub in_: DataOfferSnk<T>,
    pub out: DataSrc<T>,

    front: DFF<T>,
    front_full: DFF<Bit>,
    spare: DFF<T>,
    spare_full: DFF<Bit>,
}

impl<T: Synth> Logic for StreamSkid<T> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, front, front_full, spare, spare_full);
        let front_moves = self.out.ready.val() | !self.front_full.q.val();
        // Data registers load freely; the `full` bits decide what counts. That keeps `out_ready` off the wide enable of `spare`.
        if !self.spare_full.q.val() {
            self.spare.d.next = self.in_.data.val();
        }
        if front_moves {
            if self.spare_full.q.val() {
                self.front.d.next = self.spare.q.val();
                self.front_full.d.next = true;
            } else {
                self.front.d.next = self.in_.data.val();
                self.front_full.d.next = self.in_.valid.val();
            }
            self.spare_full.d.next = false;
        } else if self.in_.valid.val() {
            self.spare_full.d.next = true;
        }
        self.in_.ready.next = !self.spare_full.q.val();
        self.out.valid.next = self.front_full.q.val();
        self.out.data.next = self.front.q.val();
        if self.reset.val() {
            self.front_full.d.next = false;
            self.spare_full.d.next = false;
        }
    }
}
