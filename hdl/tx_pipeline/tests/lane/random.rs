//! Packets of every kind at random paces.

use hdl_testkit::equivalence::TestRng;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use rand::{Rng, SeedableRng};

use crate::lane::bench::{Bench, Pace, WIDTHS};
use crate::lane::items::{Item, Packet};
use crate::lane::routes::Tables;

fn pace() -> impl Strategy<Value = Pace> {
    let percent = || prop_oneof![2 => Just(100u8), 1 => 5..100u8];
    (
        (percent(), percent(), percent()),
        (percent(), percent(), percent()),
        prop_oneof![Just(1u64), 1..400u64],
    )
        .prop_map(
            |((answers, requests, read), (payload, fault, mac), memory)| Pace {
                answers,
                requests,
                read,
                payload,
                fault,
                mac,
                memory,
            },
        )
}

/// Makes the payload of some requests unreadable, at most as many as there is space for fault reports. Returns their number.
fn spoil(items: &mut [Item], rng: &mut TestRng) -> usize {
    let mut spoiled = 0;
    for item in items {
        if let Packet::Request {
            request,
            payload,
            readable,
        } = &mut item.packet
        {
            if !payload.is_empty() && !request.inline && spoiled < 30 && rng.random_bool(0.2) {
                *readable = false;
                spoiled += 1;
            }
        }
    }
    spoiled
}

#[test]
fn frames_are_those_of_their_packets() {
    for width in WIDTHS {
        let mut runner = TestRunner::new(Config {
            cases: 40,
            failure_persistence: None,
            rng_seed: RngSeed::Fixed(width as u64),
            ..Config::default()
        });
        runner
            .run(
                &(any::<u64>(), 1..100usize, pace()),
                |(seed, count, pace)| {
                    let mut rng = TestRng::seed_from_u64(seed);
                    let tables = Tables::random(&mut rng);
                    let longest = if rng.random() { 8192 } else { 300 };
                    let mut items: Vec<Item> = (0..count)
                        .map(|_| {
                            if rng.random_bool(0.4) {
                                tables.answer(&mut rng)
                            } else {
                                tables.request(&mut rng, longest)
                            }
                        })
                        .collect();
                    let spoiled = spoil(&mut items, &mut rng);
                    let mut bench = Bench::new(width, &tables, seed);
                    bench.queue(items);
                    bench.run(pace, 200_000);
                    assert_eq!(bench.sent.len(), count - spoiled);
                    assert_eq!(bench.left_out, spoiled as u64);
                    assert_eq!(bench.faults_taken, spoiled);
                    assert_eq!(bench.faults_lost, 0);
                    Ok(())
                },
            )
            .expect("frames are those of the reference");
    }
}
