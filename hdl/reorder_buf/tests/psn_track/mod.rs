//! `psn_track` against the reference, token by token.

mod expect;
mod output;
mod scenario;
mod steps;

use hdl_reorder_buf::PsnTrack;
use hdl_testkit::equivalence::{check, Random};
use proptest::prelude::*;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use scenario::Scenario;
use stellar_transport::rx::{Psn, RECEIVE_WINDOW};
use stellar_wire::hw::core::{self, DmaSegments, TranslatedToken};
use stellar_wire::hw::frame::DropReason;
use steps::Number;

use crate::common::{self, one_of};

/// Four queue pairs: the tools need minutes for the words of 1,024.
type SmallPsnTrack = PsnTrack<2, 7, 128, 9>;

/// A window of 1,024 packets, and the smallest one, of 256.
type NarrowPsnTrack = PsnTrack<10, 5, 32, 15>;
type SmallestPsnTrack = PsnTrack<10, 3, 8, 13>;

#[test]
fn verilog_agrees_with_rust_hdl() {
    let mut after_probe = false;
    let drive = |block: &mut SmallPsnTrack, rng: &mut _| {
        block.in_.valid.next = bool::random(rng) && !after_probe;
        let classes = [
            core::RcClass::NotRc,
            core::RcClass::Expected,
            core::RcClass::Duplicate,
            core::RcClass::Gap,
            core::RcClass::GapAgain,
        ];
        let reasons = [
            DropReason::None,
            DropReason::None,
            DropReason::BadSequence,
            DropReason::UnknownQp,
        ];
        block.in_.token.next = TranslatedToken {
            token: common::random_token(rng),
            qp: common::random_context(rng),
            reason: one_of(rng, &reasons),
            access_reason: one_of(
                rng,
                &[
                    DropReason::None,
                    DropReason::None,
                    DropReason::None,
                    DropReason::BadKey,
                ],
            ),
            rc_class: one_of(rng, &classes),
            rc_epsn: Bits::random(rng),
            rc_msn: Bits::random(rng),
            device: Bits::random(rng),
            segments: DmaSegments {
                first_translated: Bit::random(rng),
                ..DmaSegments::default()
            },
        };
        after_probe = block.in_.valid.next && block.in_.token.next.token.headers.probe;
    };
    check(
        SmallPsnTrack::default,
        Some(|b| &mut b.clock),
        drive,
        500,
        1,
    )
    .unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_streams_agree_with_the_reference(
        initial in prop::array::uniform4(common::psn()),
        // Mostly one queue pair, so that its packets follow each other at once.
        steps in prop::collection::vec((prop_oneof![2 => Just(0), 1 => 0..4_usize], prop_oneof![6 => Just(0_usize), 1 => 1..4_usize], steps::step()), 1..400),
    ) {
        let mut scenario = Scenario::new(initial);
        for (at, gap, step) in &steps {
            scenario.step(*at, *gap, step);
        }
        scenario.compare();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_streams_agree_with_the_reference_in_smaller_windows(
        initial in prop::array::uniform4(common::psn()),
        steps in prop::collection::vec((prop_oneof![2 => Just(0), 1 => 0..4_usize], prop_oneof![6 => Just(0_usize), 1 => 1..4_usize], steps::step()), 1..400),
    ) {
        for window in [1024, 256] {
            let mut scenario = Scenario::with_window(initial, window);
            for (at, gap, step) in &steps {
                scenario.step(*at, *gap, step);
            }
            match window {
                256 => scenario.compare_with::<SmallestPsnTrack>(),
                _ => scenario.compare_with::<NarrowPsnTrack>(),
            }
        }
    }
}

#[test]
#[should_panic(
    expected = "PsnTrack<10, 5, 64, 15>: give QP_BITS of 1 to 16, RING_BITS of 3 to 7, RING = 2^RING_BITS"
)]
fn parameters_that_do_not_fit_are_refused() {
    let _ = PsnTrack::<10, 5, 64, 15>::default();
}

#[test]
fn a_window_whose_first_packet_comes_last_moves_at_once() {
    for initial in [0, 63, 0xff_f001] {
        moves_at_once::<PsnTrack>(initial, RECEIVE_WINDOW);
    }
    for initial in [1, 64, 0x1_0007c0, 0xff_fc01, 0xff_ffff] {
        moves_at_once::<NarrowPsnTrack>(initial, 1024);
        moves_at_once::<SmallestPsnTrack>(initial, 256);
    }
}

fn moves_at_once<B: Block + Default + 'static>(initial: u32, window: u32) {
    let initial = initial & 0xff_ffff;
    let mut scenario = Scenario::with_window([initial; 4], window);
    for ahead in (1..window as i32).rev() {
        scenario.good(0, Number::Ahead(ahead));
    }
    assert_eq!(scenario.epsn(0), initial);
    scenario.good(0, Number::Ahead(0));
    assert_eq!(scenario.epsn(0), (initial + window) & 0xff_ffff);
    // The ring is clean again: the next window lies on the same words.
    scenario.good(0, Number::Ahead(0));
    scenario.good(0, Number::Ahead(window as i32 - 1));
    scenario.compare_with::<B>();
}

#[test]
fn interleaved_queue_pairs_at_one_token_per_clock_take_permuted_arrivals_over_many_windows() {
    // More than a whole ring of 2 x 4,096 packets, and of 2 x 1,024.
    take_permuted_arrivals::<PsnTrack>(1, 9000, RECEIVE_WINDOW);
    take_permuted_arrivals::<PsnTrack>(3, 1500, RECEIVE_WINDOW);
    take_permuted_arrivals::<NarrowPsnTrack>(3, 2500, 1024);
    take_permuted_arrivals::<NarrowPsnTrack>(2, 2500, 1024);
    take_permuted_arrivals::<SmallestPsnTrack>(3, 1500, 256);
    take_permuted_arrivals::<SmallestPsnTrack>(2, 1500, 256);
}

/// Sends tokens of the queue pairs in turn, one per cycle, in an order that differs from the order of PSNs.
fn take_permuted_arrivals<B: Block + Default + 'static>(
    queue_pairs: usize,
    packets: u32,
    window: u32,
) {
    let initial = [0xff_f700, 5, 0x7f_fc3f, 0];
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
    // Each packet is late by less than the window: sort by sending time plus a random delay.
    let mut order = || {
        let mut psns: Vec<(u32, u32)> = (0..packets)
            .map(|n| (n + rng.random_range(0..window - 1), n))
            .collect();
        psns.shuffle(&mut rng);
        psns.sort_by_key(|p| p.0);
        psns
    };
    let orders = [order(), order(), order()];
    let mut scenario = Scenario::with_window(initial, window);
    for n in 0..packets as usize {
        for (at, order) in orders[..queue_pairs].iter().enumerate() {
            let psn = Psn::new(initial[at] + order[n].1);
            let ahead = psn.distance_from(scenario.pairs[at].track.epsn());
            scenario.good(at, Number::Ahead(ahead as i32));
        }
    }
    for (at, first) in initial[..queue_pairs].iter().enumerate() {
        assert_eq!(scenario.epsn(at), (first + packets) & 0xff_ffff);
    }
    // Full rate: no cycle between the first and the last token is empty.
    let clocks = |i: usize| scenario.schedule.tokens[i].0;
    assert_eq!(
        clocks(scenario.expected.len() - 1) - clocks(4),
        scenario.expected.len() - 5
    );
    scenario.compare_with::<B>();
}
