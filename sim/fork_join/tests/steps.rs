//! Steps on several threads: same results as on one, everything back in its place, also after a panic.

use std::collections::HashSet;
use std::panic::{self, AssertUnwindSafe};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use sim_fork_join::ForkJoin;

/// An item that computes for some microseconds in each step.
struct Item {
    state: u64,
    steps: u64,
    threads: HashSet<ThreadId>,
}

fn items(count: u64) -> Vec<Item> {
    let item = |state| Item {
        state,
        steps: 0,
        threads: HashSet::new(),
    };
    (1..=count).map(item).collect()
}

/// Mixes the state, for a time that depends on it.
fn mix(item: &mut Item, argument: u64) {
    for _ in 0..item.state % 4096 {
        item.state = item
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(argument);
        item.state ^= item.state >> 29;
    }
    item.steps += 1;
    item.threads.insert(thread::current().id());
}

fn run(count: u64, threads: usize, steps: u64) -> Vec<u64> {
    let mut items = items(count);
    let mut pool = ForkJoin::new(items.len(), threads, mix);
    for step in 0..steps {
        let first = (step % count) as usize;
        pool.step(&mut items, step, first, |item| mix(item, step));
    }
    assert!(items.iter().all(|item| item.steps == steps));
    items.iter().map(|item| item.state).collect()
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    for count in 1..=5 {
        let alone = run(count, 1, 500);
        for threads in 2..=4 {
            assert_eq!(run(count, threads, 500), alone, "{count} {threads}");
        }
    }
}

#[test]
fn the_caller_gets_what_its_own_step_returns() {
    let mut items = items(3);
    let mut pool = ForkJoin::new(3, 2, mix);
    let state = pool.step(&mut items, 1, 1, |item| item.state);
    assert_eq!((state, items[1].steps), (2, 0));
}

/// A helper takes part, also after it was without work for long enough to sleep.
#[test]
fn helpers_take_part_and_wake_again() {
    let mut items = items(2);
    let mut pool = ForkJoin::new(2, 2, mix);
    for _ in 0..2 {
        items[1].threads.clear();
        let end = Instant::now() + Duration::from_secs(60);
        while items[1].threads.len() < 2 {
            assert!(Instant::now() < end, "one thread does everything");
            // Longer than a helper takes to wake.
            pool.step(&mut items, 1, 0, |_| {
                thread::sleep(Duration::from_micros(300));
            });
            // Both threads are seen: sometimes the caller has to be faster.
            pool.step(&mut items, 1, 0, |_| {});
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn fail_at_two(state: &mut u32, _: ()) {
    assert!(*state != 2, "two");
    *state += 10;
}

#[test]
fn a_panic_arrives_when_all_steps_have_ended_and_nothing_is_lost() {
    for threads in 1..=3 {
        let mut pool = ForkJoin::new(4, threads, fail_at_two);
        let mut items: Vec<u32> = vec![1, 2, 3, 4];
        let step = AssertUnwindSafe(|| pool.step(&mut items, (), 0, |item| *item += 4));
        let panic = panic::catch_unwind(step).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"two"));
        assert_eq!(items, [5, 2, 13, 14]);
        // Its own step panics.
        items[1] = 5;
        let step = AssertUnwindSafe(|| pool.step(&mut items, (), 0, |_| panic!("own")));
        let panic = panic::catch_unwind(step).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"own"));
        // The pool works as before.
        let before = items.clone();
        pool.step(&mut items, (), 3, |_| ());
        let expected: Vec<u32> = before[..3].iter().map(|item| item + 10).collect();
        assert_eq!((&items[..3], items[3]), (&expected[..], before[3]));
    }
}

#[test]
#[should_panic(expected = "more items than the pool is for")]
fn more_items_than_the_pool_is_for_are_refused() {
    let mut pool = ForkJoin::new(2, 2, mix);
    pool.step(&mut items(3), 0, 0, |_| {});
}
