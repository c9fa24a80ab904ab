//! Path policies: what distinguishes them, and one file for each mechanism (`docs/policies.md`).

pub mod ev_state;
pub mod flow_bender;
pub mod hopper;
pub mod hp3;
pub mod recycled;
pub mod turns;

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::SprayPolicy;
use stellar_wire::rows::PolicyTraits;

/// A trait of the table of policies.
type Trait = fn(&PolicyTraits) -> bool;

const TRAITS: [Trait; 10] = [
    |traits| traits.one_path,
    |traits| traits.permuted,
    |traits| traits.states,
    |traits| traits.counts,
    |traits| traits.recycles,
    |traits| traits.bends,
    PolicyTraits::hears_all,
    PolicyTraits::probes_paths,
    PolicyTraits::probes,
    |traits| traits.drains,
];

/// Returns the policies with trait `number` of [`TRAITS`].
fn policies_with(number: usize) -> impl Iterator<Item = SprayPolicy> {
    SprayPolicy::ALL
        .into_iter()
        .filter(move |policy| TRAITS[number](&policy.traits()))
}

/// Returns whether a policy has trait `number` of [`TRAITS`]. A function of the four bits of the policy.
#[hdl_fn]
fn has_trait(policy: SprayPolicy, number: usize) -> Bit {
    let mut found = bits::<1>(0);
    for other in policies_with(number) {
        let this = policy == other;
        found = found | bit_cast::<1, 1>(this.into());
    }
    found.any()
}

/// Returns [`PolicyTraits::one_path`].
#[hdl_fn]
pub fn has_one_path(policy: SprayPolicy) -> Bit {
    has_trait(policy, 0)
}

/// Returns [`PolicyTraits::permuted`].
#[hdl_fn]
pub fn is_permuted(policy: SprayPolicy) -> Bit {
    has_trait(policy, 1)
}

/// Returns [`PolicyTraits::states`].
#[hdl_fn]
pub fn has_states(policy: SprayPolicy) -> Bit {
    has_trait(policy, 2)
}

/// Returns [`PolicyTraits::counts`].
#[hdl_fn]
pub fn counts_turns(policy: SprayPolicy) -> Bit {
    has_trait(policy, 3)
}

/// Returns [`PolicyTraits::recycles`].
#[hdl_fn]
pub fn recycles(policy: SprayPolicy) -> Bit {
    has_trait(policy, 4)
}

/// Returns [`PolicyTraits::bends`].
#[hdl_fn]
pub fn bends(policy: SprayPolicy) -> Bit {
    has_trait(policy, 5)
}

/// Returns [`PolicyTraits::hears_all`].
#[hdl_fn]
pub fn hears_all(policy: SprayPolicy) -> Bit {
    has_trait(policy, 6)
}

/// Returns [`PolicyTraits::probes_paths`].
#[hdl_fn]
pub fn probes_paths(policy: SprayPolicy) -> Bit {
    has_trait(policy, 7)
}

/// Returns [`PolicyTraits::probes`].
#[hdl_fn]
pub fn probes(policy: SprayPolicy) -> Bit {
    has_trait(policy, 8)
}

/// Returns [`PolicyTraits::drains`].
#[hdl_fn]
pub fn drains(policy: SprayPolicy) -> Bit {
    has_trait(policy, 9)
}
