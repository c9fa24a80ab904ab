//! Index of an entropy value in a queue pair.

use hdl_macros::{clock, hdl};
use hdl_primitives::ram::BlockRam;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{
    EntropyBucket, EntropyProfileEntry, EXPLICIT_ROW_BITS, PROFILE_BITS,
};

use crate::entropy::{
    bucket_of, compared, explicit_row, index_of, number_in, number_of, Compared, Indexed, Numbered,
};
use crate::profile::ExplicitSnk;

/// Cycles from an entropy value to its index.
pub const LATENCY: usize = 2;

/// Computes the index of an entropy value. Profile and rotation must be stable meanwhile. In an explicit profile it looks the value up in its bucket.
///
/// LUT levels: a subtraction, or 4 to the memory; 7; 6.
#[derive(LogicBlock, Default)]
pub struct EntropyIndex {
    pub clock: Signal<In, Clock>,
    /// Writes explicit values.
    pub values: ExplicitSnk,
    pub profile: Signal<In, EntropyProfileEntry>,
    pub profile_number: Signal<In, Bits<PROFILE_BITS>>,
    pub rotation: Signal<In, Bits<6>>,
    pub entropy: Signal<In, Bits<32>>,
    pub indexed: Signal<Out, Indexed>,
    buckets: BlockRam<EntropyBucket, EXPLICIT_ROW_BITS>,
    distance: DFF<Bits<32>>,
    /// Of a generated profile.
    numbered: DFF<Numbered>,
    /// Of an explicit profile.
    bucket: DFF<Compared>,
}

impl Logic for EntropyIndex {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, distance, numbered, bucket);
        clock!(self, clock, buckets);
        let profile = self.profile.val();
        let entropy = self.entropy.val();
        self.buckets.write_enable.next = self.values.valid.val();
        self.buckets.write_address.next = self.values.row.val();
        self.buckets.write_data.next = self.values.record.val().bucket;

        // subtract the base, read the bucket
        let bucket = bucket_of(entropy, profile.base);
        self.buckets.read_address.next = explicit_row(self.profile_number.val(), bucket);
        self.distance.d.next = entropy - profile.base;

        // compute the number
        self.numbered.d.next = number_of(profile, self.distance.q.val());
        self.bucket.d.next = compared(self.buckets.read_data.val(), entropy);

        // compute the index
        let numbered = if profile.explicit {
            number_in(self.bucket.q.val())
        } else {
            self.numbered.q.val()
        };
        self.indexed.next = index_of(profile, self.rotation.val(), numbered);
    }
}
