//! FIFOs against a queue, with random gaps on both sides.
use std::collections::VecDeque;

use hdl_primitives::{BlockFifo, CutThroughFifo, SyncFifo};
use hdl_testkit::equivalence::{check, check_gated, Random};
use hdl_testkit::{library, Dut};
use proptest::prelude::*;
use rust_hdl::prelude::*;
use sim_verilated::Library;

struct Fifo(Dut);

impl Fifo {
    fn new(library: &Library) -> Self {
        Fifo(Dut::of(library))
    }

    /// Runs one cycle. Returns the output, and whether `data` was accepted.
    fn step(&mut self, data: Option<u64>, ready: bool) -> (Option<u64>, bool) {
        let dut = &mut self.0;
        dut.set("in_valid", data.is_some().into());
        dut.set("in_data", data.unwrap_or(0xDEAD));
        dut.set("out_ready", ready.into());
        dut.settle();
        let taken = data.is_some() && dut.get("in_ready") == 1;
        let out = (ready && dut.get("out_valid") == 1).then(|| dut.get("out_data"));
        dut.clock();
        (out, taken)
    }
}

fn shallow() -> &'static Library {
    library::<SyncFifo<Bits<48>, 3, 4>>()
}

fn deep() -> &'static Library {
    library::<BlockFifo<Bits<48>, 3, 4>>()
}

fn cut_through() -> &'static Library {
    library::<CutThroughFifo<Bits<48>, 3, 4>>()
}

/// Runs `moves` of (offer, take) against a queue of 8.
///
/// Up to `beside` entries are not in the memory, and are not counted.
fn follows_a_queue(library: &Library, beside: usize, moves: &[(bool, bool)]) {
    let mut fifo = Fifo::new(library);
    let mut queue = VecDeque::new();
    let mut sent = 0;
    let drain = std::iter::repeat_n(&(false, true), 14);
    for &(offer, take) in moves.iter().chain(drain) {
        let count = fifo.0.get("count") as usize;
        assert!((queue.len().saturating_sub(beside)..=queue.len()).contains(&count));
        let room = count < 8;
        let (out, taken) = fifo.step(offer.then_some(sent), take);
        assert_eq!(taken, offer && room, "taken exactly when there is room");
        if let Some(out) = out {
            assert_eq!(Some(out), queue.pop_front());
        }
        if taken {
            queue.push_back(sent);
            sent += 1;
        }
    }
    assert!(queue.is_empty(), "{} entries never came out", queue.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn entries_leave_in_order_and_none_is_lost(
        moves in prop::collection::vec((prop::bool::weighted(0.6), prop::bool::weighted(0.5)), 0..300)
    ) {
        follows_a_queue(shallow(), 0, &moves);
        follows_a_queue(deep(), 0, &moves);
        follows_a_queue(cut_through(), 2, &moves);
    }
}

#[test]
fn both_sides_move_every_clock() {
    for (library, latency) in [(shallow(), 1), (deep(), 2), (cut_through(), 1)] {
        let mut fifo = Fifo::new(library);
        for i in 0..100 {
            let (out, taken) = fifo.step(Some(i), true);
            assert!(taken);
            assert_eq!(out, i.checked_sub(latency));
        }
    }
}

#[test]
fn reset_empties() {
    for library in [shallow(), deep(), cut_through()] {
        let mut fifo = Fifo::new(library);
        // Both pointers have moved.
        for i in 0..5 {
            fifo.step(Some(i), i > 2);
        }
        fifo.0.set("reset", 1);
        fifo.step(None, false);
        fifo.0.set("reset", 0);
        assert_eq!(fifo.0.get("count"), 0);
        fifo.step(Some(77), true);
        let out = (0..3).find_map(|_| fifo.step(None, true).0);
        assert_eq!(out, Some(77));
    }
}

macro_rules! agrees {
    ($test:ident, $block:ty) => {
        #[test]
        fn $test() {
            let drive = |uut: &mut $block, rng: &mut _| {
                uut.reset.next = Bits::<6>::random(rng) == 7;
                uut.in_.valid.next = bool::random(rng);
                uut.in_.data.next = Bits::random(rng);
                uut.out.ready.next = bool::random(rng) & bool::random(rng);
            };
            check(<$block>::default, Some(|u| &mut u.clock), drive, 500, 3).unwrap();
            check_gated(<$block>::default, |u| &mut u.clock, drive, 2000, 4).unwrap();
        }
    };
}

agrees!(
    sync_fifo_agrees_with_its_simulation,
    SyncFifo<Bits<40>, 2, 3>
);
agrees!(
    block_fifo_agrees_with_its_simulation,
    BlockFifo<Bits<40>, 2, 3>
);
agrees!(
    cut_through_fifo_agrees_with_its_simulation,
    CutThroughFifo<Bits<40>, 2, 3>
);

/// Behind what waits in the memory, an entry takes its turn, and then one leaves per cycle again.
#[test]
fn entries_pass_an_empty_memory_only() {
    let mut fifo = Fifo::new(cut_through());
    for i in 0..6 {
        fifo.step(Some(i), false);
    }
    assert_eq!(fifo.0.get("count"), 4, "two in the registers");
    let mut left = vec![];
    for i in 6..30 {
        left.extend(fifo.step(Some(i), true).0);
    }
    assert_eq!(left, (0..24).collect::<Vec<_>>());
}

#[test]
#[should_panic(expected = "SyncFifo<T, 4, 4>: the count needs C = A + 1 = 5 bits")]
fn a_count_of_wrong_width_is_refused() {
    let _ = SyncFifo::<Bits<8>, 4, 4>::default();
}

#[test]
#[should_panic(expected = "SyncFifo with A = 9: use 1 to 6")]
fn a_deep_fifo_in_luts_is_refused() {
    let _ = SyncFifo::<Bits<8>, 9, 10>::default();
}
