//! Each block's rust-hdl simulation against its Verilated Verilog, on the traffic the functional test uses.

use std::iter::Cycle;
use std::vec::IntoIter;

use hdl_emtt::{EmttBanks, EmttLookup, MrCheck};
use hdl_testkit::equivalence::{check, Random, TestRng};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use rust_hdl::prelude::*;
use stellar_wire::hw::tables::{EmttEntry, Owner, EMTT_INDEX_BITS};

use crate::translation::reference::{Step, World};
use crate::translation::traffic::traffic;
use crate::translation::BANK_BITS;

const CLOCKS: u64 = 120;
/// A small region table: Yosys takes minutes over the initial contents of a block RAM of 4,096 words.
const FEW_REGION_BITS: usize = 6;

/// Random traffic that is the same on every run. It starts with the set-up of the tables.
fn steps() -> Cycle<IntoIter<Option<Step>>> {
    let tree = traffic(150)
        .new_tree(&mut TestRunner::deterministic())
        .unwrap();
    World::run(&tree.current()).into_iter().cycle()
}

#[test]
fn mr_check_is_its_verilog() {
    let mut steps = steps();
    check(
        MrCheck::<FEW_REGION_BITS>::default,
        Some(|uut| &mut uut.clock),
        |uut, rng| {
            let step = steps.next().unwrap();
            uut.reset.next = one_in(rng, 40);
            uut.in_.valid.next = step.is_some();
            uut.in_.token.next = step.map_or_else(Default::default, |s| s.input);
        },
        CLOCKS,
        1,
    )
    .unwrap();
}

#[test]
fn emtt_lookup_is_its_verilog() {
    let mut steps = steps();
    check(
        EmttLookup::<BANK_BITS>::default,
        Some(|uut| &mut uut.clock),
        |uut, rng| {
            let step = steps.next().unwrap();
            uut.reset.next = one_in(rng, 40);
            uut.in_.valid.next = step.is_some();
            uut.in_.token.next = step.map_or_else(Default::default, |s| s.region);
        },
        CLOCKS,
        2,
    )
    .unwrap();
}

/// A small table, so that writes and reads meet, and indices beyond it are common.
#[test]
fn emtt_banks_are_their_verilog() {
    check(
        EmttBanks::<2>::default,
        Some(|uut| &mut uut.clock),
        |uut, rng| {
            uut.write_enable.next = bool::random(rng);
            uut.write_index.next = small::<EMTT_INDEX_BITS>(rng);
            uut.write_entry.next = EmttEntry {
                valid: bool::random(rng),
                owner: if bool::random(rng) {
                    Owner::Gpu
                } else {
                    Owner::Host
                },
                device: Bits::random(rng),
                frame: Bits::random(rng),
            };
            uut.page_index.next = small::<38>(rng);
        },
        600,
        3,
    )
    .unwrap();
}

/// Mostly 0 to 15, sometimes anything.
fn small<const N: usize>(rng: &mut TestRng) -> Bits<N> {
    let any = Bits::<N>::random(rng);
    if one_in(rng, 8) {
        any
    } else {
        any & 0xf
    }
}

fn one_in(rng: &mut TestRng, n: u64) -> bool {
    u64::from(Bits::<32>::random(rng)) % n == 0
}
