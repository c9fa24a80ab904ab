//! State change of an entropy value in its plane, and of the plane's backups.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{SprayPolicy, SprayRequest};

use crate::ev_update::{
    assigned, changed, classify, frees_or_needs, in_reserve, Change, ValueChange,
};
use crate::first_place::lowest_of_eight;
use crate::row::PlaneRow;

/// Changes the state of a value in steps. Each output depends on `row` of the previous cycle. So if the plane takes `changed` in cycle n, `assigned` is valid
/// from cycle n + 2 on.
///
/// LUT levels: 7; 5; 4 (backup in reserve); 3.
#[derive(LogicBlock, Default)]
pub struct EvChange {
    pub clock: Signal<In, Clock>,
    pub request: Signal<In, SprayRequest>,
    pub policy: Signal<In, SprayPolicy>,
    pub row: Signal<In, PlaneRow>,
    /// Number of active values of the plane.
    pub slots: Signal<In, Bits<7>>,
    /// Backups of the plane.
    pub backups: Signal<In, Bits<8>>,
    /// Valid one cycle later, with `changed`: slots are taken again.
    pub remembers: Signal<In, Bit>,
    /// The request names no value of the queue pair.
    pub unknown: Signal<In, Bit>,

    /// Combinational: the queue pair has the value of the request.
    pub exists: Signal<Out, Bit>,

    /// One cycle later: the plane after the change.
    pub changed: Signal<Out, PlaneRow>,
    /// Valid with `changed`: the value serves slot `served`, and is neither denied nor assumed bad.
    pub in_slot: Signal<Out, Bit>,
    pub served: Signal<Out, Bits<6>>,
    /// Valid with `changed`: the change may free a backup or need one.
    pub moves: Signal<Out, Bit>,

    /// A slot that no value serves.
    pub slot: Signal<In, Bits<6>>,
    /// The plane with a backup in `slot`, if one is in reserve.
    pub assigned: Signal<Out, PlaneRow>,

    value_change: DFF<ValueChange>,
    reserve: DFF<Bits<8>>,
}

impl Logic for EvChange {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, value_change, reserve);
        let row = self.row.val();
        let backups = self.backups.val();

        // classify
        let value_change = classify(
            self.request.val(),
            self.policy.val(),
            row,
            self.slots.val(),
            backups,
        );
        let exists = value_change.exists & !self.unknown.val();
        self.exists.next = exists;
        self.value_change.d.next = value_change;
        if !exists {
            self.value_change.d.next.change = Change::Nothing;
        }

        // change
        self.changed.next = changed(row, self.value_change.q.val(), self.remembers.val());
        let value = self.value_change.q.val();
        self.in_slot.next = value.exists & value.has_slot & !value.was_withdrawn;
        self.served.next = value.slot;
        self.moves.next = frees_or_needs(self.value_change.q.val().change);

        // assign a backup
        self.reserve.d.next = lowest_of_eight(in_reserve(row, backups));
        self.assigned.next = assigned(row, self.reserve.q.val(), self.slot.val());
    }
}
