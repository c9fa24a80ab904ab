//! For which of the queue pairs that share a set of counts by path it counts.

use hdl_macros::{clock, hdl};
use hdl_primitives::ram::BypassRam;
use rust_hdl::prelude::*;
use stellar_wire::hw::Qpn;

use crate::optional::Optional;

/// Keeps the owner of each of 2^`S` sets that 2^`Q` queue pairs share: the one that was read last, and at first that with the lowest number. `T` bits tell those of a set apart. If each has a set of its own (`S` = `Q`), there is nothing to
/// keep. LUT levels: 2 behind a block RAM.
#[derive(LogicBlock)]
pub struct PathOwners<const Q: usize, const S: usize, const T: usize> {
    pub clock: Signal<In, Clock>,

    /// The queue pair that comes in the next cycle.
    pub next_qp: Signal<In, Qpn>,
    /// The one of this cycle, and whether it is read.
    pub qp: Signal<In, Qpn>,
    pub reads: Signal<In, Bit>,
    /// What is done is done to the set: the queue pair is its owner, or becomes it.
    pub counts: Signal<Out, Bit>,
    /// It becomes the owner.
    pub claims: Signal<Out, Bit>,

    /// Upper bits of the owners' numbers.
    owners: Optional<BypassRam<Bits<T>, S>>,
}

impl<const Q: usize, const S: usize, const T: usize> Default for PathOwners<Q, S, T> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            next_qp: Default::default(),
            qp: Default::default(),
            reads: Default::default(),
            counts: Default::default(),
            claims: Default::default(),
            owners: Optional::new(S < Q),
        }
    }
}

impl<const Q: usize, const S: usize, const T: usize> Logic for PathOwners<Q, S, T> {
    #[hdl]
    fn update(&mut self) {
        if S < Q {
            clock!(self, clock, owners);
            let of_set = self.qp.val().get_bits::<T>(S);
            let is_owner = self.owners.read_data.val() == of_set;
            let claims = self.reads.val() & !is_owner;
            self.owners.read_address.next = self.next_qp.val().get_bits::<S>(0);
            self.owners.write_enable.next = claims;
            self.owners.write_address.next = self.qp.val().get_bits::<S>(0);
            self.owners.write_data.next = of_set;
            self.counts.next = is_owner | claims;
            self.claims.next = claims;
        } else {
            self.counts.next = true;
            self.claims.next = false;
        }
    }
}
