//! Index of an entropy value in a queue pair.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::EntropyProfileEntry;

use crate::entropy::{index_of, number_of, Indexed, Numbered};

/// Cycles from an entropy value to its index.
pub const LATENCY: usize = 2;

/// Computes the index of an entropy value. Profile and rotation must be stable meanwhile.
///
/// LUT levels: a subtraction; 7; 5.
#[derive(LogicBlock, Default)]
pub struct EntropyIndex {
    pub clock: Signal<In, Clock>,
    pub profile: Signal<In, EntropyProfileEntry>,
    pub rotation: Signal<In, Bits<6>>,
    pub entropy: Signal<In, Bits<32>>,
    pub indexed: Signal<Out, Indexed>,
    distance: DFF<Bits<32>>,
    numbered: DFF<Numbered>,
}

impl Logic for EntropyIndex {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, distance, numbered);
        let profile = self.profile.val();
        self.distance.d.next = self.entropy.val() - profile.base;
        self.numbered.d.next = number_of(profile, self.distance.q.val());
        self.indexed.next = index_of(profile, self.rotation.val(), self.numbered.q.val());
    }
}
