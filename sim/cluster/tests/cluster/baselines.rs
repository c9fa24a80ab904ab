//! Baselines choose what their rules say: sequences that are computed by hand, over four slots of plane 0.

use std::sync::Arc;

use sim_cluster::workload::permutation;
use sim_cluster::{Baseline, BaselineParams, ClusterPolicy, Settings};
use stellar_transport::rx::Psn;
use stellar_transport::spray::{
    EntropyProfile, EvIndex, Feedback, GeneratedEntropy, HeaderFields, PathAck, PlaneMask, Policy,
    SkipScope, Spray, SprayConfig,
};
use stellar_transport::time::Ticks;

use crate::common::{clos, run_both};

const PATHS: u8 = 8;
const MTU: u32 = 4096;
const NOW: Ticks = Ticks(0);

fn config() -> SprayConfig {
    let profile = GeneratedEntropy {
        base: 0xc000,
        stride_log2: 0,
        active: PATHS,
        backups: 0,
    };
    SprayConfig {
        policy: Policy::Obs,
        paths: PATHS,
        planes_up: PlaneMask::BOTH,
        seed: 1,
        profile: Arc::new(EntropyProfile::generated(profile, HeaderFields::SourcePort).unwrap()),
        rotation: 0,
        skip: SkipScope::default(),
        probe_interval: Ticks(1_000),
        base_rtt: Ticks(1_000),
        bend_after: 1,
    }
}

fn spray(baseline: Baseline) -> Spray {
    let params = BaselineParams {
        base_rtt: Ticks(1_000),
        gbps: 200,
        mtu: MTU,
        paths: PATHS,
        seed: 1,
        place: 0,
        telemetry: None,
    };
    Spray::with_policy(config(), baseline.policy(&params).unwrap()).unwrap()
}

fn ev(slot: u8) -> EvIndex {
    EvIndex::active(0, slot)
}

/// The slot of the next new packet on plane 0, if there is one with room.
fn next(spray: &mut Spray) -> Option<u8> {
    let path = spray.choose(None, PlaneMask::only(0))?;
    Some(path.index.place())
}

fn slots(spray: &mut Spray, count: usize) -> Vec<u8> {
    (0..count).filter_map(|_| next(spray)).collect()
}

/// An acknowledgement of one packet on a slot, with a round trip.
fn ack(spray: &Spray, slot: u8, round_trip: u16) -> PathAck {
    PathAck {
        entropy: spray.entropy(ev(slot)).unwrap().0,
        sampled: true,
        round_trip,
        packets: 1,
        next_psn: Psn::new(1_000),
        ..PathAck::default()
    }
}

fn sample(spray: &mut Spray, slot: u8, round_trip: u16) {
    let ack = ack(spray, slot, round_trip);
    spray.on_ack(&ack, NOW);
}

#[test]
fn round_robin_is_weighted_by_round_trips() {
    let mut spray = spray(Baseline::Dwrr);
    // Eight turns each.
    assert_eq!(slots(&mut spray, 32), [0, 1, 2, 3].repeat(8));
    // Weights 8, 4, 2, and 0 for a round trip that is more than sixteen times as long.
    for (slot, round_trip) in [(0, 1_000), (1, 2_000), (2, 4_000), (3, 16_001)] {
        sample(&mut spray, slot, round_trip);
    }
    let mut unweighted = spray.clone();
    assert_eq!(slots(&mut unweighted, 4), [0, 1, 2, 3], "the round is open");
    let ends = PathAck {
        una: Psn::new(1_000),
        sampled: false,
        ..ack(&spray, 0, 0)
    };
    spray.on_ack(&ends, NOW);
    let turns = [0, 1, 2, 0, 1, 2, 0, 1, 0, 1, 0, 0, 0, 0];
    assert_eq!(slots(&mut spray, 14), turns);
    // The next turns begin behind the last one.
    let turns = [1, 2, 0, 1, 2, 0, 1, 0, 1, 0, 0, 0, 0, 0];
    assert_eq!(slots(&mut spray, 14), turns);
    // The 64th packet tries the path that has no turns.
    assert_eq!(slots(&mut spray, 7), [1, 2, 0, 3, 0, 1, 2]);
}

#[test]
fn the_path_with_the_shortest_round_trip_is_taken_once_all_are_known() {
    let mut oblivious = Spray::new(config()).unwrap();
    let mut spray = spray(Baseline::BestRtt);
    assert_eq!(slots(&mut spray, 9), slots(&mut oblivious, 9));
    for (slot, round_trip) in [(0, 1_000), (1, 900), (2, 1_100)] {
        sample(&mut spray, slot, round_trip);
    }
    assert_eq!(slots(&mut spray, 3), [3, 3, 3]);
    sample(&mut spray, 3, 2_000);
    assert_eq!(slots(&mut spray, 3), [1, 1, 1]);
    // 7/8 of 900 and 1/8 of 2,600 are 1,112.5.
    sample(&mut spray, 1, 2_600);
    assert_eq!(slots(&mut spray, 3), [0, 0, 0]);
    spray.deny(ev(0));
    assert_eq!(slots(&mut spray, 3), [2, 2, 2]);
}

#[test]
fn acknowledgements_clock_packets_out_on_their_paths_and_marks_decrease_the_window() {
    let mut spray = spray(Baseline::MpRdma);
    // 1.5 times 200 Gb/s in 8 us, in whole packets.
    assert_eq!(spray.window(), Some(73 * MTU));
    for (psn, slot) in [(0, 3), (1, 1), (2, 2)] {
        spray.on_sent(Psn::new(psn), ev(slot), MTU as u16);
    }
    for slot in [1, 3, 2] {
        sample(&mut spray, slot, 1_000);
    }
    assert_eq!(slots(&mut spray, 3), [1, 3, 2]);
    // Three times 1/73 packet, in 256ths, and then half a packet less.
    assert_eq!(spray.window(), Some((73 * 256 + 3 * 3) * MTU / 256));
    let marked = PathAck {
        hint: Feedback::Skip,
        ..ack(&spray, 0, 1_000)
    };
    spray.on_ack(&marked, NOW);
    assert_eq!(spray.window(), Some((73 * 256 + 9 - 128) * MTU / 256));
    spray.on_feedback(ev(0), Feedback::Timeout, NOW);
    assert_eq!(spray.window(), Some((73 * 256 + 9 - 256) * MTU / 256));
}

#[test]
fn a_path_whose_packet_comes_far_behind_others_is_left() {
    for (behind, stays) in [(31, true), (32, false)] {
        let mut spray = spray(Baseline::MpRdma);
        spray.on_sent(Psn::new(0), ev(0), MTU as u16);
        for psn in 1..=behind {
            spray.on_sent(Psn::new(psn), ev(1), MTU as u16);
        }
        for _ in 0..behind {
            sample(&mut spray, 1, 1_000);
        }
        sample(&mut spray, 0, 1_000);
        let clocked = slots(&mut spray, behind as usize);
        assert!(clocked.iter().all(|&slot| slot == 1), "{clocked:?}");
        if stays {
            assert_eq!(next(&mut spray), Some(0));
        }
        let drawn = slots(&mut spray, 100);
        assert!((0..4).all(|slot| drawn.contains(&slot)), "{drawn:?}");
    }
}

#[test]
fn every_path_has_a_window_of_its_own() {
    let mut spray = spray(Baseline::PerPath);
    let mut taken = [0; 4];
    let mut psn = 0;
    let mut send = |spray: &mut Spray| {
        let slot = next(spray)?;
        spray.on_sent(Psn::new(psn), ev(slot), MTU as u16);
        psn += 1;
        Some(slot)
    };
    while let Some(slot) = send(&mut spray) {
        taken[usize::from(slot)] += 1;
    }
    // An eighth of 200 Gb/s in 8 us, times 1.5: 37,500 bytes.
    assert_eq!(taken, [9; 4]);
    // What is sent again finds a path.
    assert!(spray.choose(Some(ev(1)), PlaneMask::only(0)).is_some());
    sample(&mut spray, 2, 1_000);
    assert_eq!(send(&mut spray), Some(2));
    assert_eq!(send(&mut spray), None);
    // Two more have arrived, by the first PSN that has not: the first on each of two paths.
    let passed = PathAck {
        una: Psn::new(2),
        sampled: false,
        entropy: 0,
        ..ack(&spray, 0, 0)
    };
    spray.on_ack(&passed, NOW);
    assert!(send(&mut spray).is_some());
}

#[test]
fn clusters_run_them_with_records_and_with_bytes() {
    let marks = "ecn = { min_bytes = 20_000, max_bytes = 60_000, max_probability = 0.8 }";
    let topology = clos(
        1,
        4,
        &format!("[[overrides]]\nplane = 0\nset = {{ {marks}, loss = 0.001 }}"),
    );
    for baseline in Baseline::ALL {
        let flows = permutation(&topology, None, 800_000, 3).unwrap();
        let settings = Settings {
            policy: ClusterPolicy::from_name(baseline.name()).unwrap(),
            paths: PATHS,
            early_loss: 128,
            ..Settings::default()
        };
        let report = run_both(&topology, &flows, &settings);
        assert_eq!(report.flows.finished, 8, "{baseline:?}");
        assert!(report.packets.retransmitted > 0, "{baseline:?}");
    }
}
