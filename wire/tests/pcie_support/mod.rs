//! Strategies for PCIe tests, and the deterministic runner that runs them.

pub mod descriptor;
pub mod tlp;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use stellar_wire::pcie::*;

/// A runner that tries the same cases every time.
pub fn runner() -> TestRunner {
    let config = Config {
        cases: 512,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

pub fn attributes() -> impl Strategy<Value = Attributes> {
    (0..8u8).prop_map(Attributes::from_bits)
}

pub fn status() -> impl Strategy<Value = CompletionStatus> {
    select(CompletionStatus::ALL)
}

pub fn address_type() -> impl Strategy<Value = AddressType> {
    select(AddressType::ALL)
}

/// Addresses on both sides of 4 GiB.
pub fn address() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u32>().prop_map(u64::from), any::<u64>()].prop_map(|address| address & !3)
}
