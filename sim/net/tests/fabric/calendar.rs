//! The calendar returns events in the order of a binary heap over time and number.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use sim_net::calendar::Calendar;
use sim_net::Time;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Pushes an event this much after the present.
    Push(Time),
    /// Takes events until this much after the present.
    Run(Time),
}

/// Times from a bucket of the calendar (4 ns) to far beyond all of them (2 us), often equal ones.
fn span() -> impl Strategy<Value = Time> {
    prop_oneof![
        Just(0),
        0..8_000u64,
        (0..4u64).prop_map(|n| n * 4_096),
        0..3_000_000u64,
        (510..515u64).prop_map(|n| n * 4_096),
        0..1_000_000_000u64,
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![3 => span().prop_map(Step::Push), 1 => span().prop_map(Step::Run)]
}

/// A calendar and a heap with the same events, which are numbered in the order of the pushes.
#[derive(Default)]
struct Both {
    calendar: Calendar<u64>,
    heap: BinaryHeap<Reverse<(Time, u64)>>,
    pushed: u64,
}

impl Both {
    fn push(&mut self, time: Time) {
        self.calendar.push(time, self.pushed);
        self.heap.push(Reverse((time, self.pushed)));
        self.pushed += 1;
    }

    fn pop_until(&mut self, limit: Time) -> Option<(Time, u64)> {
        let announced = self.calendar.next_events(3).next().copied();
        let (time, event) = self.calendar.pop_until(limit)?;
        assert!(announced.is_none_or(|announced| announced == event));
        assert_eq!(self.heap.pop(), Some(Reverse((time, event))));
        Some((time, event))
    }
}

/// Runs `steps` on both, and compares every event and every time of a next event.
fn compare(steps: &[Step]) {
    let mut both = Both::default();
    let mut now = 0;
    for &step in steps {
        match step {
            Step::Push(after) => both.push(now + after),
            Step::Run(span) => {
                let limit = now + span;
                while let Some((time, event)) = both.pop_until(limit) {
                    // An event causes another one, as in a simulation.
                    if event % 3 == 0 {
                        both.push(time + event * 97 % 9_000);
                    }
                }
                now = limit;
            }
        }
        let next = both.heap.peek().map(|Reverse((time, _))| *time);
        assert_eq!(both.calendar.next_time(), next);
    }
    while both.pop_until(Time::MAX).is_some() {}
    assert!(both.heap.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, rng_seed: RngSeed::Fixed(2026), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn events_come_in_the_order_of_a_heap(steps in proptest::collection::vec(step(), 1..200)) {
        compare(&steps);
    }
}

#[test]
fn an_event_before_the_bucket_whose_turn_it_is_comes_first() {
    let mut calendar = Calendar::default();
    calendar.push(1_000_000, 'b');
    assert_eq!(calendar.pop_until(999_999), None);
    calendar.push(500_000, 'a');
    assert_eq!(calendar.pop_until(Time::MAX), Some((500_000, 'a')));
    assert_eq!(calendar.pop_until(Time::MAX), Some((1_000_000, 'b')));
    // The turn is that of 1,000,000 now, and this is before it.
    calendar.push(7, 'c');
    assert_eq!(calendar.next_time(), Some(7));
    assert_eq!(calendar.pop_until(7), Some((7, 'c')));
    assert_eq!(calendar.pop_until(Time::MAX), None);
}

#[test]
fn a_million_events_of_a_bucket_keep_their_order() {
    let mut calendar = Calendar::default();
    let count = (1 << 20) + 1000;
    for number in 0..count {
        calendar.push(40_960 + (number * 7) % 4_096, number);
    }
    let mut last = (0, 0);
    for _ in 0..count {
        let next = calendar
            .pop_until(Time::MAX)
            .expect("as many as were pushed");
        assert!(next > last, "{next:?} after {last:?}");
        last = next;
    }
    assert_eq!(calendar.pop_until(Time::MAX), None);
}
