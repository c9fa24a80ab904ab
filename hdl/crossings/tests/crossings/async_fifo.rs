//! The FIFO against a queue: clocks of all ratios, stalls, resets and metastability.
use std::collections::VecDeque;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::LazyLock;

use hdl_crossings::async_fifo::LATENCY;
use hdl_crossings::{BlockAsyncFifo, LutAsyncFifo};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use sim_models::DesignModels;
use sim_verilated::Library;

use crate::bench::{Bench, Stalls, DEPTH};
use crate::clocks::{design, instance, metastable, Periods, RATIOS};

type Lut = LutAsyncFifo<Bits<48>, 4, 5>;
type Block = BlockAsyncFifo<Bits<48>, 4, 5>;

static LUT: LazyLock<Library> = LazyLock::new(metastable::<Lut>);
static BLOCK: LazyLock<Library> = LazyLock::new(metastable::<Block>);

/// Runs phases of random stalls, with resets at random if `resets`. Returns how often the FIFO was full and empty.
///
/// # Errors
/// What the FIFO did wrong.
fn follows_a_queue(
    library: &Library,
    periods: Periods,
    resets: bool,
    seed: u64,
) -> Result<[usize; 2], String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut bench = Bench::new(instance(library, seed + 1), periods, &mut rng);
    for _ in 0..12 {
        let stalls = Stalls {
            offer: rng.random_range(0..=8),
            take: rng.random_range(0..=8),
        };
        bench.run(rng.random_range(1..300), stalls, &mut rng)?;
        if resets && rng.random_ratio(1, 2) {
            bench.reset(stalls, &mut rng)?;
        }
    }
    bench.drain(&mut rng)?;
    Ok(bench.was)
}

#[test]
fn entries_leave_in_order_and_none_is_lost() {
    for library in [&*LUT, &*BLOCK] {
        for periods in RATIOS {
            let mut was = [0; 2];
            for seed in 0..12 {
                let [full, empty] = follows_a_queue(library, periods, seed % 2 == 1, seed)
                    .unwrap_or_else(|e| panic!("periods {periods:?} fs, seed {seed}: {e}"));
                was = [was[0] + full, was[1] + empty];
            }
            assert!(was[0] > 30 && was[1] > 30, "full and empty: {was:?}");
        }
    }
}

/// The hardware's own text, without metastability.
#[test]
fn the_model_without_metastability_follows_a_queue_too() {
    for periods in RATIOS {
        for seed in 0..4 {
            follows_a_queue(hdl_testkit::library::<Lut>(), periods, true, seed).unwrap();
        }
    }
}

/// The FIFO's text with binary numbers in the place of gray code, both ways.
fn with_binary_pointers(text: String) -> String {
    let changes = [
        (
            "gray_of = write_next ^ (write_next >> 1);",
            "gray_of = write_next;",
        ),
        (
            "gray_of_1 = read_next ^ (read_next >> 1);",
            "gray_of_1 = read_next;",
        ),
        (
            "read_pointer_seen <= binary_4;",
            "read_pointer_seen <= read_gray_seen_synchronised;",
        ),
        (
            "write_pointer_seen <= binary_9;",
            "write_pointer_seen <= write_gray_seen_synchronised;",
        ),
    ];
    changes.iter().fold(text, |text, (from, to)| {
        assert_eq!(text.matches(from).count(), 1, "{from} in {text}");
        text.replace(from, to)
    })
}

/// What these tests are worth: they find pointers that are not in gray code, at every ratio, and only because of the metastability in the model.
#[test]
fn binary_pointers_fail() {
    let design = design::<Lut>();
    let build = |text| {
        let mut spec = design.model().for_short_run();
        spec.verilog = with_binary_pointers(text);
        spec.build_exactly().unwrap()
    };
    let library = build(design.metastable_text());
    for periods in RATIOS {
        let failed = (0..6)
            .filter(|seed| {
                // The model may stop first: a word is read before it is written.
                let run = || follows_a_queue(&library, periods, false, *seed);
                catch_unwind(AssertUnwindSafe(run)).map_or(true, |result| result.is_err())
            })
            .count();
        assert!(
            failed > 0,
            "periods {periods:?} fs: none of 6 runs found it"
        );
    }
    let plain = build(design.model_text());
    for seed in 0..6 {
        follows_a_queue(&plain, RATIOS[0], false, seed).expect("a simulation without it is blind");
    }
}

/// Without stalls, every edge of the slower clock moves an entry; of equal clocks, every edge of both.
#[test]
fn the_slower_clock_moves_an_entry_in_every_cycle() {
    let full = Stalls { offer: 8, take: 8 };
    for library in [&*LUT, &*BLOCK] {
        for periods in RATIOS {
            for seed in 0..6 {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let mut bench = Bench::new(instance(library, seed + 1), periods, &mut rng);
                bench.run(200, full, &mut rng).unwrap();
                let before = (bench.edges, bench.moved);
                bench.run(4000, full, &mut rng).unwrap();
                for side in 0..2 {
                    if periods[side] >= periods[1 - side] {
                        let edges = bench.edges[side] - before.0[side];
                        let moved = bench.moved[side] - before.1[side];
                        assert_eq!(moved, edges, "periods {periods:?} fs, side {side}");
                        assert!(moved >= 500);
                    }
                }
            }
        }
    }
}

#[test]
fn an_entry_is_offered_after_the_latency() {
    let mut seen = [false; 2];
    for library in [&*LUT, &*BLOCK] {
        for periods in RATIOS {
            for seed in 0..20 {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let mut bench = Bench::new(instance(library, seed + 1), periods, &mut rng);
                let edges = bench.edges_until_offered(&mut rng);
                assert!((LATENCY..=LATENCY + 1).contains(&edges), "{edges} edges");
                seen[edges - LATENCY] = true;
            }
        }
    }
    assert_eq!(seen, [true; 2], "both are met");
}

#[test]
fn a_writer_that_stops_at_the_count_never_meets_a_full_fifo() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for periods in RATIOS {
        let mut bench = Bench::new(instance(&LUT, 9), periods, &mut rng);
        let mut due = VecDeque::new();
        for word in 0..3000 {
            let writes = bench.count() <= DEPTH - 2 && rng.random_ratio(7, 8);
            bench.offer(writes.then_some(word), rng.random_ratio(3, 8));
            let (taken, left) = bench.edge();
            if let Some(taken) = taken {
                due.push_back(taken);
            }
            assert!(!bench.refused(), "periods {periods:?} fs");
            if let Some(left) = left {
                assert_eq!(due.pop_front(), Some(left));
            }
        }
    }
}
