//! What a request does to a plane's values, and to its backups.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{SprayPolicy, SprayRequest};

use crate::ev_update::*;
use crate::first_place::*;
use crate::row::*;

/// A value's change, step by step: each output follows from the plane of the clock before, so a plane that takes `changed` in one clock offers
/// `assigned` from the next but one on.
///
/// LUT levels: 7; 5; 4 (backup in reserve); 3.
#[derive(LogicBlock, Default)]
pub struct EvChange {
    pub clock: Signal<In, Clock>,
    pub request: Signal<In, SprayRequest>,
    pub policy: Signal<In, SprayPolicy>,
    pub row: Signal<In, PlaneRow>,
    /// Active values of the plane.
    pub slots: Signal<In, Bits<7>>,
    /// Its backups.
    pub backups: Signal<In, Bits<8>>,
    /// The request names no value.
    pub unknown: Signal<In, Bit>,

    /// In the same clock: the queue pair has the value that the request names.
    pub exists: Signal<Out, Bit>,

    /// A clock later: the plane with the value changed.
    pub changed: Signal<Out, PlaneRow>,
    /// With it: this can free a backup or need one.
    pub moves: Signal<Out, Bit>,

    /// A slot that nothing serves.
    pub slot: Signal<In, Bits<6>>,
    /// The plane with a backup in `slot`, if one is in reserve.
    pub assigned: Signal<Out, PlaneRow>,

    judged: DFF<Judged>,
    reserve: DFF<Bits<8>>,
}

impl Logic for EvChange {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, judged, reserve);
        let row = self.row.val();
        let backups = self.backups.val();

        // judge
        let judged = judge(
            self.request.val(),
            self.policy.val(),
            row,
            self.slots.val(),
            backups,
        );
        let exists = judged.exists & !self.unknown.val();
        self.exists.next = exists;
        self.judged.d.next = judged;
        if !exists {
            self.judged.d.next.change = Change::Nothing;
        }

        // change
        self.changed.next = changed(row, self.judged.q.val());
        self.moves.next = frees_or_needs(self.judged.q.val().change);

        // assign
        self.reserve.d.next = lowest_of_eight(in_reserve(row, backups));
        self.assigned.next = assigned(row, self.reserve.q.val(), self.slot.val());
    }
}
