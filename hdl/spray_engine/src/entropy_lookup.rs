//! Lookup of reflected entropy values, in parallel with the operations of the engine.

use hdl_macros::{hdl, join};
use hdl_primitives::ram::{BlockRam, LutRam};
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{EntropyProfileEntry, PROFILE_BITS};
use stellar_wire::hw::Qpn;

use crate::entropy_index::{self, EntropyIndex};
use crate::profile::{ExplicitSnk, ProfileSnk};
use crate::row::{backups_of, has_index, slots_of};

/// Cycles from a request to its response: the row, its register, the index.
pub const LATENCY: usize = 2 + entropy_index::LATENCY;

/// Registers that define the entropy values of a queue pair.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Identity {
    pub paths: Bits<8>,
    pub profile: Bits<PROFILE_BITS>,
    pub rotation: Bits<6>,
}

/// A reflected entropy value.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Reflected {
    pub qp: Qpn,
    pub entropy: Bits<32>,
    /// It is reflected with a congestion mark.
    pub marked: Bit,
}

/// Looks up an entropy value among those of a queue pair. Feedback that a path is good changes no state, so it needs no operation of the engine. Nor does the count of
/// what is reflected with a mark.
///
/// A request takes [`LATENCY`] cycles. A request that arrives earlier replaces the one in progress, which must not be a marked one.
///
/// LUT levels: 5 (profile 1, bucket 4), or 1 and a carry chain; 8; 5; 4.
#[derive(LogicBlock, Default)]
pub struct EntropyLookup<const Q: usize = 10> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// Writes the registers of a queue pair.
    pub configure: Signal<In, Bit>,
    pub configure_qp: Signal<In, Qpn>,
    pub identity: Signal<In, Identity>,
    /// Writes an entropy profile.
    pub profile: ProfileSnk,
    /// Writes explicit values.
    pub values: ExplicitSnk,

    pub asked_valid: Signal<In, Bit>,
    pub asked: Signal<In, Reflected>,
    /// High for one cycle if the queue pair has the value.
    pub found: Signal<Out, Bit>,
    /// Valid with `found`: the value, and its index. Bit 0 is its plane.
    pub value: Signal<Out, Reflected>,
    pub number: Signal<Out, Bits<8>>,

    identities: BlockRam<Identity, Q>,
    profiles: LutRam<EntropyProfileEntry, PROFILE_BITS>,
    index: EntropyIndex,
    held: DFF<Reflected>,
    owner: DFF<Identity>,
    /// Bit n: the response is due in n cycles.
    due: DFF<Bits<LATENCY>>,
}

impl<const Q: usize> Logic for EntropyLookup<Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, held, owner, due);
        clock!(self, clock, identities, profiles, index);
        self.identities.write_enable.next = self.configure.val();
        self.identities.write_address.next = self.configure_qp.val().get_bits::<Q>(0);
        self.identities.write_data.next = self.identity.val();
        self.profiles.write_enable.next = self.profile.valid.val();
        self.profiles.write_address.next = self.profile.index.val();
        self.profiles.write_data.next = self.profile.record.val();

        // read
        self.identities.read_address.next = self.asked.val().qp.get_bits::<Q>(0);
        if self.asked_valid.val() {
            self.held.d.next = self.asked.val();
            self.due.d.next = bits::<LATENCY>(1 << (LATENCY - 1));
        } else {
            self.due.d.next = self.due.q.val() >> 1;
        }
        if self.due.q.val().get_bit(LATENCY - 1) {
            self.owner.d.next = self.identities.read_data.val();
        }

        // compute the number
        let owner = self.owner.q.val();
        let held = self.held.q.val();
        self.profiles.read_address.next = owner.profile;
        let profile = self.profiles.read_data.val();
        join!(self, values => index.values);
        self.index.profile.next = profile;
        self.index.profile_number.next = owner.profile;
        self.index.rotation.next = owner.rotation;
        self.index.entropy.next = held.entropy;

        // compute the index
        let indexed = self.index.indexed.val();
        let plane = indexed.index.get_bit(0);
        let backups = backups_of(profile.backups);
        let has = has_index(indexed.index, slots_of(owner.paths, plane), backups);
        self.found.next = self.due.q.val().get_bit(0) & indexed.known & has;
        self.value.next = held;
        self.number.next = indexed.index;

        if self.reset.val() {
            self.due.d.next = bits::<LATENCY>(0);
        }
    }
}
