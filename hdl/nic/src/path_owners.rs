//! Which queue pairs the counts of paths belong to.

use hdl_macros::{clock, hdl};
use hdl_primitives::ram::BypassRam;
use rust_hdl::prelude::*;
use stellar_wire::hw::Qpn;

use crate::path_accesses::{Access, AccessKind};

/// Queue pairs whose numbers are equal modulo 2^`S` share a set of counts. It counts for one of them, its owner: the one that was read last, and at first that with the lowest number. `T` is the width of what tells them apart. A reset keeps the
/// owners. Levels: 3.
#[derive(LogicBlock, Default)]
pub struct PathOwners<const S: usize, const T: usize> {
    pub clock: Signal<In, Clock>,

    /// Queue pair of the next access.
    pub next_qp: Signal<In, Qpn>,
    pub access: Signal<In, Access>,
    /// The access is a read by another queue pair than the owner, which becomes the owner.
    pub claims: Signal<Out, Bit>,
    /// The queue pair is the owner, or becomes it.
    pub owns: Signal<Out, Bit>,

    /// Upper bits of the number of each set's owner.
    owners: BypassRam<Bits<T>, S>,
}

impl<const S: usize, const T: usize> Logic for PathOwners<S, T> {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, owners);
        let access = self.access.val();
        let qp = access.path.qp.get_bits::<T>(S);
        let is_owner = self.owners.read_data.val() == qp;
        let claims = (access.kind == AccessKind::Read) & !is_owner;
        self.owners.read_address.next = self.next_qp.val().get_bits::<S>(0);
        self.owners.write_enable.next = claims;
        self.owners.write_address.next = access.path.qp.get_bits::<S>(0);
        self.owners.write_data.next = qp;
        self.claims.next = claims;
        self.owns.next = is_owner | claims;
    }
}
