//! The newest entropy values of good paths to the peer (reference: `ReversePaths`).

use hdl_macros::hdl;
use hdl_primitives::{QuickBypassRam, ReverseEvSnk};
use rust_hdl::prelude::*;
use stellar_wire::time::CONTROL_PATH_EPOCH_LOG2;

use crate::records::{Epoch, FoundPath, GoodPath};

/// Stores the newest good entropy value of each of 2^`Q` queue pairs and each plane. A write is visible from the next cycle on. A value lives in the epoch in
/// which it was noted, and in the next one.
/// Levels: 4 (behind the memory: bypass 1, plane 1, epoch 2).
#[derive(LogicBlock, Default)]
pub struct GoodPaths<const Q: usize> {
    pub clock: Signal<In, Clock>,
    /// Ticks of 8 ns.
    pub now: Signal<In, Bits<32>>,

    /// A good value.
    pub good: ReverseEvSnk,

    /// Clears both values of a queue pair. Only in a cycle without `good.valid`.
    pub forget: Signal<In, Bit>,
    pub forget_row: Signal<In, Bits<Q>>,

    pub read_row: Signal<In, Bits<Q>>,
    /// Plane of the row read in the cycle before.
    pub plane: Signal<In, Bit>,
    pub path: Signal<Out, FoundPath>,

    plane_0: QuickBypassRam<GoodPath, Q>,
    plane_1: QuickBypassRam<GoodPath, Q>,
    /// This epoch and the one before, one cycle late.
    epoch: DFF<Epoch>,
    epoch_before: DFF<Epoch>,
}

impl<const Q: usize> Logic for GoodPaths<Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, epoch, epoch_before);
        clock!(self, clock, plane_0, plane_1);
        let epoch = self.now.val().get_bits::<16>(CONTROL_PATH_EPOCH_LOG2);
        self.epoch.d.next = epoch;
        self.epoch_before.d.next = epoch - 1;
        let sacked = self.good.valid.val();
        let plane = self.good.plane.val();
        let forget = self.forget.val();
        let path = GoodPath {
            known: sacked,
            entropy: self.good.entropy.val(),
            epoch: self.epoch.q.val(),
        };
        let row = if sacked {
            self.good.qp.val().get_bits::<Q>(0)
        } else {
            self.forget_row.val()
        };
        self.plane_0.write_enable.next = forget | (sacked & !plane);
        self.plane_0.write_address.next = row;
        self.plane_0.write_data.next = path;
        self.plane_0.read_address.next = self.read_row.val();
        self.plane_1.write_enable.next = forget | (sacked & plane);
        self.plane_1.write_address.next = row;
        self.plane_1.write_data.next = path;
        self.plane_1.read_address.next = self.read_row.val();
        let noted = if self.plane.val() {
            self.plane_1.read_data.val()
        } else {
            self.plane_0.read_data.val()
        };
        self.path.next = FoundPath {
            known: noted.known,
            of_this_epoch: noted.epoch == self.epoch.q.val(),
            of_epoch_before: noted.epoch == self.epoch_before.q.val(),
            entropy: noted.entropy,
        };
    }
}
