//! Steps behind what their owner does: the same results with and without a helper, nothing lost after a panic.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use sim_fork_join::Behind;

/// A number, and who counted last.
struct Counter {
    count: u64,
    thread: ThreadId,
}

impl Counter {
    fn new() -> Self {
        Self {
            count: 0,
            thread: thread::current().id(),
        }
    }

    fn step(&mut self, (): ()) {
        assert!(self.count != 7, "seven");
        self.count += 1;
        self.thread = thread::current().id();
    }
}

#[test]
fn every_step_has_ended_when_the_owner_looks() {
    for helper in [false, true, false] {
        let mut counter = Behind::new(Counter::new(), |counter, ()| {
            counter.count = counter.count.wrapping_mul(5).wrapping_add(3);
        });
        counter.set_helper(helper);
        let mut expected = 0_u64;
        for step in 0..20_000_u64 {
            counter.step();
            expected = expected.wrapping_mul(5).wrapping_add(3);
            // Now and then two steps follow each other, and the owner changes the value between steps.
            if step % 3 != 0 {
                assert_eq!(counter.get().count, expected);
                counter.get().count ^= step;
                expected ^= step;
            }
        }
        assert_eq!(counter.get().count, expected);
    }
}

fn spin(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        std::hint::spin_loop();
    }
}

#[test]
fn a_helper_works_beside_its_owner_and_wakes_again() {
    let here = thread::current().id();
    let mut counter = Behind::new(Counter::new(), |counter, ()| {
        counter.thread = thread::current().id();
        spin(Duration::from_micros(20));
    });
    counter.step();
    assert_eq!(counter.get().thread, here, "there is no helper yet");
    counter.set_helper(true);
    for _ in 0..2 {
        let end = Instant::now() + Duration::from_secs(60);
        while counter.get().thread == here {
            assert!(Instant::now() < end, "the owner does everything");
            counter.step();
            spin(Duration::from_micros(20));
        }
        // Longer than a helper looks for work.
        thread::sleep(Duration::from_millis(5));
        counter.get().thread = here;
    }
    counter.set_helper(false);
    counter.step();
    assert_eq!(counter.get().thread, here);
}

/// Steps that wait for each other are faster on one thread: after most measurements all run on the owner's. A measurement in which this thread is interrupted may err.
#[test]
fn a_helper_that_does_not_help_is_not_used() {
    // Of a measurement, and between two.
    const MEASURES: u32 = 4 * 2_048;
    const RESTS: u32 = 1 << 18;
    let here = thread::current().id();
    let mut counter = Behind::new(Counter::new(), |counter, ()| {
        counter.thread = thread::current().id();
    });
    counter.set_helper(true);
    let mut step = || {
        counter.step();
        counter.get().thread != here
    };
    for _ in 0..4_096 {
        assert!(!step(), "before the first measurement");
    }
    let mut used = 0;
    for _ in 0..5 {
        for _ in 0..=MEASURES {
            step();
        }
        let helped = (0..RESTS).filter(|_| step()).count();
        used += u32::from(helped > 0);
    }
    assert!(used <= 2, "used after {used} of 5 measurements");
}

#[test]
fn a_panic_arrives_with_the_value_and_the_value_stays() {
    for helper in [false, true] {
        let mut counter = Behind::new(Counter::new(), Counter::step);
        counter.set_helper(helper);
        let steps = AssertUnwindSafe(|| {
            for _ in 0..8 {
                counter.step();
            }
            counter.get();
        });
        let panic = panic::catch_unwind(steps).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"seven"));
        assert_eq!(counter.get().count, 7);
        counter.get().count = 8;
        counter.step();
        assert_eq!(counter.get().count, 9);
    }
}

/// Adds one when it is dropped.
struct Dropped(Arc<AtomicU64>, u64);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(self.1, Ordering::Relaxed);
    }
}

#[test]
fn what_is_dropped_has_had_its_last_step() {
    let sum = Arc::new(AtomicU64::new(0));
    for helper in [false, true] {
        let mut value = Behind::new(Dropped(Arc::clone(&sum), 1), |value, ()| value.1 *= 10);
        value.set_helper(helper);
        value.step();
    }
    assert_eq!(sum.load(Ordering::Relaxed), 20);
}
