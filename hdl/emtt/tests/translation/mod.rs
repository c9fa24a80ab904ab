//! Region check and page translation, Verilated at full size, one behind the other, against the reference transport.

mod equivalence;
mod locate;
mod reference;
mod stage;
mod traffic;

use std::collections::BTreeMap;

use hdl_emtt::{emtt_lookup, mr_check, EmttLookup, MrCheck};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use reference::{clear_region, Step, World};
use stage::{assert_fields, Stage};
use stellar_wire::hw::core::{RegionToken, TranslatedToken};
use stellar_wire::hw::pack::to_words;
use traffic::traffic;

/// Address bits of the region table under test: the full size.
const REGION_BITS: usize = 12;
/// Address bits of an eMTT bank under test: the full size.
const BANK_BITS: usize = 17;

fn mr_check_stage() -> Stage {
    Stage::new::<MrCheck<REGION_BITS>>(mr_check::LATENCY)
}

fn emtt_lookup_stage() -> Stage {
    Stage::new::<EmttLookup<BANK_BITS>>(emtt_lookup::LATENCY)
}

/// Sends the steps through both stages and compares every field of every token of each.
fn check(steps: &[Option<Step>]) {
    let pack = |step: &Option<Step>| step.as_ref().map(|s| to_words(s.input));
    let input: Vec<_> = steps.iter().map(pack).collect();
    // In an idle cycle the input repeats the last token, or has a table write. Only `in_valid` shows that there is no token.
    let last = input.iter().flatten().last().cloned();
    let garbage = last
        .filter(|_| input.len() % 2 == 0)
        .unwrap_or_else(|| to_words(clear_region()));
    let regions = mr_check_stage().run(&input, &garbage);
    for (n, (step, actual)) in steps.iter().zip(&regions).enumerate() {
        assert_eq!(
            actual.is_some(),
            step.is_some(),
            "token at clock {n}, after mr_check"
        );
        if let (Some(step), Some(actual)) = (step, actual) {
            let unused: &[&str] = if step.has_region {
                &[]
            } else {
                &["page_size", "base_va", "first_emtt", "on_demand"]
            };
            let what = format!("token {n} after mr_check");
            assert_fields::<RegionToken>(actual, &to_words(step.region), unused, &what);
        }
    }
    let garbage = regions.iter().flatten().last().cloned().unwrap_or_default();
    let translated = emtt_lookup_stage().run(&regions, &garbage);
    for (n, (step, actual)) in steps.iter().zip(&translated).enumerate() {
        assert_eq!(
            actual.is_some(),
            step.is_some(),
            "token at clock {n}, after emtt_lookup"
        );
        if let (Some(step), Some(actual)) = (step, actual) {
            let what = format!("token {n} after emtt_lookup");
            // Nobody reads the device of a payload that lies in host memory.
            let segments = step.translated.segments;
            let to_peer = segments.first_translated
                || segments.second_translated
                || segments.third_translated;
            let unread: &[&str] = if to_peer { &[] } else { &["device"] };
            assert_fields::<TranslatedToken>(actual, &to_words(step.translated), unread, &what);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_token_is_decided_as_the_reference_decides(ops in traffic(200)) {
        check(&World::run(&ops));
    }
}

/// Counts how often the traffic, with a fixed seed, ends in each access reason and each shape of segments.
fn outcomes() -> BTreeMap<String, usize> {
    let mut runner = TestRunner::deterministic();
    let mut counts = BTreeMap::new();
    for _ in 0..90 {
        let ops = traffic(200).new_tree(&mut runner).unwrap().current();
        for step in World::run(&ops).into_iter().flatten() {
            let t = step.translated;
            let segments = t.segments;
            let outcome = if segments.first_length == 0 {
                format!("{:?}", t.access_reason)
            } else if segments.first_length < t.token.headers.payload_length {
                format!(
                    "two pages {} {}",
                    segments.first_translated, segments.second_translated
                )
            } else {
                format!("one page {}", segments.first_translated)
            };
            *counts.entry(outcome).or_default() += 1;
        }
    }
    counts
}

#[test]
fn the_traffic_reaches_every_verdict_often() {
    let counts = outcomes();
    let wanted = [
        "None",
        "BadKey",
        "WrongPd",
        "NoWriteRight",
        "OutOfBounds",
        "InvalidPage",
        "PageAbsent",
        "one page false",
        "one page true",
        "two pages false false",
        "two pages false true",
        "two pages true false",
        "two pages true true",
    ];
    for outcome in wanted {
        let count = counts.get(outcome).copied().unwrap_or(0);
        assert!(count >= 20, "{outcome} only {count} times in {counts:?}");
    }
}

#[test]
fn a_reset_forgets_tokens_in_flight() {
    for (mut stage, latency) in [
        (mr_check_stage(), mr_check::LATENCY),
        (emtt_lookup_stage(), emtt_lookup::LATENCY),
    ] {
        for _ in 0..latency - 1 {
            assert!(!stage.offer(Some(&[0])));
        }
        stage.reset();
        for _ in 0..2 * latency {
            assert!(!stage.offer(None));
        }
    }
}
