//! `AckOrderQueue` compared with its rules: order per queue pair, payload first, and no lane waits for the other without need.

use std::collections::VecDeque;

use hdl_nic::{AckOrderQueue, RxCore};
use hdl_testkit::Dut;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::FlushedBatch;
use stellar_wire::hw::pack::Record;
use stellar_wire::hw::receive::RxOutcome;

/// Tokens that still arrive after `room` became low: those in the core, and the one in its gate.
const IN_FLIGHT: usize = <RxCore>::LATENCY + 1;

#[derive(Clone, Copy, Debug)]
struct Event {
    qp: u32,
    lane: usize,
    placed: bool,
    /// Its payload is flushed.
    flush: bool,
    /// The flush fails.
    fails: bool,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let kinds = any::<[bool; 3]>();
    let event =
        (0..6_u32, 0..2_usize, kinds).prop_map(|(qp, lane, [placed, flush, fails])| Event {
            qp: 2 + 170 * qp,
            lane,
            placed,
            flush: placed && flush,
            fails: placed && flush && fails,
        });
    prop::collection::vec(event, 1..300)
}

/// Ports of a lane.
const LANE: [[&str; 4]; 2] = [
    ["sent0", "flushed0_valid", "flushed0", "flushed0_ready"],
    ["sent1", "flushed1_valid", "flushed1", "flushed1_ready"],
];

struct Bench {
    dut: Dut,
    /// Events of a lane whose payload has not left, or has not been flushed if it needs that, by index.
    unsent: [VecDeque<usize>; 2],
    unflushed: [VecDeque<usize>; 2],
    /// Number of events of the batch that is offered.
    offered: [usize; 2],
    sent: Vec<bool>,
    left: Vec<usize>,
    events: Vec<Event>,
    next: usize,
    late: [usize; 2],
    clock: u64,
}

impl Bench {
    fn new(events: Vec<Event>) -> Self {
        let mut bench = Self {
            dut: Dut::new::<AckOrderQueue>(),
            unsent: Default::default(),
            unflushed: Default::default(),
            offered: [0; 2],
            sent: events.iter().map(|event| !event.placed).collect(),
            left: vec![],
            events,
            next: 0,
            late: [0; 2],
            clock: 0,
        };
        bench.reset();
        bench
    }

    /// Runs a cycle of reset, which discards everything in progress.
    fn reset(&mut self) {
        self.dut.set("reset", 1);
        self.dut.set("in_valid", 0);
        for lane in 0..2 {
            self.dut.set(["flushed0_valid", "flushed1_valid"][lane], 0);
        }
        self.edge();
        self.dut.set("reset", 0);
        self.unsent = Default::default();
        self.unflushed = Default::default();
        self.offered = [0; 2];
    }

    fn edge(&mut self) {
        self.dut.clock();
        self.clock += 1;
    }

    /// Reports the oldest payload that needs no flush as sent, and offers a batch of up to three that need one, if the lane is `sending`.
    fn report(&mut self, lane: usize, sending: bool) {
        let leaves = self.unsent[lane].front().copied().filter(|_| sending);
        let [sent, valid, record, ready] = LANE[lane];
        self.dut.set(sent, leaves.is_some().into());
        if let Some(index) = leaves {
            self.unsent[lane].pop_front();
            self.sent[index] = true;
        }
        let waiting = &self.unflushed[lane];
        if self.offered[lane] == 0 && sending {
            let fails = |index: &usize| self.events[*index].fails;
            let alike = waiting
                .iter()
                .take_while(|i| fails(i) == fails(&waiting[0]));
            self.offered[lane] = alike.take(3).count();
        }
        let count = self.offered[lane];
        self.dut.set(valid, (count > 0).into());
        if count == 0 {
            return;
        }
        let batch = FlushedBatch {
            commands: (count as u64).to_bits(),
            failed: self.events[waiting[0]].fails,
        };
        self.dut.set_record(record, batch);
        self.dut.eval();
        if self.dut.is(ready) {
            for index in self.unflushed[lane].drain(..count) {
                self.sent[index] = true;
            }
            self.offered[lane] = 0;
        }
    }

    /// Runs one cycle. With `offer` it inputs the next event if there is space, reports payloads in each lane of `sending`, and takes an outcome if `ready`.
    fn step(&mut self, offer: bool, sending: [bool; 2], ready: bool) {
        self.dut.eval();
        let room = [self.dut.is("room0"), self.dut.is("room1")];
        for (late, room) in self.late.iter_mut().zip(room) {
            if room {
                *late = 0;
            }
        }
        let event = self
            .events
            .get(self.next)
            .copied()
            .filter(|event| offer && (room[event.lane] || self.late[event.lane] < IN_FLIGHT));
        self.dut.set("in_valid", event.is_some().into());
        if let Some(event) = event {
            let outcome = RxOutcome {
                qp: u64::from(event.qp).to_bits(),
                port: event.lane == 1,
                payload_length: 1_u64.to_bits(),
                accepted: true,
                immediate: (self.next as u64).to_bits(),
                ..RxOutcome::default()
            };
            self.dut.set_record("in_outcome", outcome);
            self.dut.set("in_placed", event.placed.into());
            self.dut.set("in_flush", event.flush.into());
            self.late[event.lane] += usize::from(!room[event.lane]);
        }
        for (lane, sending) in sending.into_iter().enumerate() {
            self.report(lane, sending);
        }
        if let Some(event) = event {
            if event.flush {
                self.unflushed[event.lane].push_back(self.next);
            } else if event.placed {
                self.unsent[event.lane].push_back(self.next);
            }
            self.next += 1;
        }
        self.dut.set("out_ready", ready.into());
        self.dut.eval();
        if ready && self.dut.is("out_valid") {
            let words = self.dut.words("outcome");
            let record = Record::<RxOutcome>::new(&words);
            let index = record.u64("immediate") as usize;
            let event = self.events[index];
            assert!(
                self.sent[index],
                "outcome {index} came before its payload had left"
            );
            assert_eq!(record.u64("qp"), u64::from(event.qp));
            assert_eq!(record.bool("lost"), event.fails);
            assert_eq!(record.bool("accepted"), !event.fails);
            let older = (0..index).filter(|&i| self.events[i].qp == event.qp);
            let all_left = older.into_iter().all(|i| self.left.contains(&i));
            assert!(all_left, "outcome {index} passed another of its queue pair");
            self.left.push(index);
        }
        self.edge();
    }

    fn finish(&mut self) {
        for _ in 0..4 * self.events.len() + 200 {
            self.step(true, [true; 2], true);
        }
        let mut left = self.left.clone();
        left.sort_unstable();
        assert_eq!(
            left,
            (0..self.events.len()).collect::<Vec<_>>(),
            "each leaves once"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_outcome_leaves_once_in_order_after_its_payload(
        events in events(),
        seed in any::<u64>(),
        (offer, send0, send1, ready) in (0.2..1.0, 0.05..1.0, 0.05..1.0, 0.2..1.0),
    ) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut bench = Bench::new(events);
        for _ in 0..400 {
            bench.step(
                rng.random_bool(offer),
                [rng.random_bool(send0), rng.random_bool(send1)],
                rng.random_bool(ready),
            );
        }
        bench.finish();
    }
}

/// Lane 1 sends nothing. Lane 0 continues forever with queue pairs that did not use lane 1.
#[test]
fn a_stalled_lane_holds_up_only_queue_pairs_that_used_it() {
    let stuck = (0..20).map(|n| Event {
        qp: 100 + n % 3,
        lane: 1,
        placed: true,
        flush: n % 2 == 0,
        fails: false,
    });
    let both = Event {
        qp: 101,
        lane: 0,
        placed: false,
        flush: false,
        fails: false,
    };
    let free = (0..400).map(|n| Event {
        qp: 200 + n % 5,
        lane: 0,
        placed: n % 2 == 0,
        flush: n % 4 == 0,
        fails: false,
    });
    let events: Vec<_> = stuck
        .chain(free.clone())
        .chain([both])
        .chain(free)
        .collect();
    let mut bench = Bench::new(events.clone());
    for _ in 0..1000 {
        bench.step(true, [true, false], true);
    }
    assert_eq!(bench.left.len(), 400, "all before the one that must wait");
    bench.finish();
}

/// The outcomes of both lanes wait before the first one is taken.
#[test]
fn lanes_take_turns_when_both_have_outcomes() {
    let events: Vec<_> = (0..80)
        .map(|n| Event {
            qp: 2 + n / 40,
            lane: (n / 40) as usize,
            placed: false,
            flush: false,
            fails: false,
        })
        .collect();
    let mut bench = Bench::new(events.clone());
    for _ in 0..100 {
        bench.step(true, [true; 2], false);
    }
    for _ in 0..100 {
        bench.step(true, [true; 2], true);
    }
    // What left the queues while only lane 0 had outcomes is ahead.
    let lanes: Vec<_> = bench.left[4..76].iter().map(|&i| events[i].lane).collect();
    assert!(
        lanes.windows(2).all(|two| two[0] != two[1]),
        "{:?}",
        bench.left
    );
    bench.finish();
}

/// The contents of the memory from before a reset change no order and stop nothing.
#[test]
fn a_reset_forgets_what_waits_but_not_how_to_count() {
    let events: Vec<_> = (0..200)
        .map(|n| Event {
            qp: 2 + n % 4,
            lane: (n % 3 % 2) as usize,
            placed: n % 2 == 0,
            flush: n % 4 == 0,
            fails: false,
        })
        .collect();
    let mut bench = Bench::new(events.clone());
    for _ in 0..300 {
        bench.step(true, [true; 2], true);
    }
    bench.reset();
    let fresh = Bench::new(events);
    let dut = std::mem::replace(&mut bench.dut, Dut::new::<AckOrderQueue>());
    let mut again = Bench { dut, ..fresh };
    again.clock = bench.clock + 10;
    for _ in 0..10 {
        again.edge();
    }
    again.finish();
}

/// At full rate no cycle is lost if payloads leave at once. This holds for several queue pairs in turn, and for one queue pair that uses both lanes
/// in turn.
#[test]
fn one_outcome_leaves_per_clock() {
    [5, 1].into_iter().for_each(leave_at_full_rate);
}

fn leave_at_full_rate(queue_pairs: u32) {
    let events: Vec<_> = (0..300)
        .map(|n| Event {
            qp: 2 + n % queue_pairs,
            lane: (n % 2) as usize,
            placed: n % 3 == 0,
            flush: n % 6 == 0,
            fails: false,
        })
        .collect();
    let mut bench = Bench::new(events);
    for _ in 0..310 {
        bench.step(true, [true; 2], true);
    }
    assert!(
        bench.left.len() >= 300,
        "{} of 300 in 310 clocks",
        bench.left.len()
    );
}
