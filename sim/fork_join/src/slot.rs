//! The place of one item of a step: who works on it, and the item while a helper may.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// For so long a helper without work looks for it, before it sleeps. Software of a simulated host takes less between two steps.
pub const PATIENCE: Duration = Duration::from_micros(100);
/// Looks between two looks at the clock, or at how the operating system runs threads.
const LOOKS: u32 = 256;

/// Nothing is here.
const EMPTY: u8 = 0;
/// An item waits for whoever claims it first.
const OFFERED: u8 = 1;
/// A thread works on the item.
const CLAIMED: u8 = 2;
/// The step of the item is done.
const DONE: u8 = 3;

/// What a panic said.
pub type Panic = Box<dyn Any + Send>;

/// An item, what its step needs, and how the step ended.
struct Job<T, A> {
    item: T,
    argument: A,
    ended: Result<(), Panic>,
}

/// The place of one item.
pub struct Slot<T, A> {
    state: AtomicU8,
    /// Only the thread that the state names locks it, so nobody waits for this lock.
    job: Mutex<Option<Job<T, A>>>,
}

impl<T, A: Copy> Slot<T, A> {
    pub const fn new() -> Self {
        Self {
            state: AtomicU8::new(EMPTY),
            job: Mutex::new(None),
        }
    }

    fn job<R>(&self, look: impl FnOnce(&mut Option<Job<T, A>>) -> R) -> R {
        look(&mut self.job.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lets whoever comes first work on `item`.
    pub fn offer(&self, item: T, argument: A) {
        self.job(|job| {
            *job = Some(Job {
                item,
                argument,
                ended: Ok(()),
            });
        });
        self.state.store(OFFERED, Ordering::Release);
    }

    /// Does `work` on an item that waits; `false` if none does.
    pub fn work(&self, work: fn(&mut T, A)) -> bool {
        let claimed = self.state.load(Ordering::Relaxed) == OFFERED
            && self
                .state
                .compare_exchange(OFFERED, CLAIMED, Ordering::Acquire, Ordering::Relaxed)
                .is_ok();
        if claimed {
            self.job(|job| {
                if let Some(job) = job {
                    let step = AssertUnwindSafe(|| work(&mut job.item, job.argument));
                    job.ended = panic::catch_unwind(step);
                }
            });
            self.state.store(DONE, Ordering::Release);
        }
        claimed
    }

    /// Takes the item back when its step is done, which this thread does if no other has begun.
    pub fn join(&self, work: fn(&mut T, A)) -> Option<(T, Result<(), Panic>)> {
        self.work(work);
        let mut looks = 0_u32;
        while self.state.load(Ordering::Acquire) == CLAIMED {
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS) {
                // The thread that works on it may not be on a processor.
                thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
        self.state.store(EMPTY, Ordering::Relaxed);
        self.job(Option::take).map(|job| (job.item, job.ended))
    }
}

/// What a helper does: works on what is offered in `slots`, the last first, until there is nothing for [`PATIENCE`]; then says so in `asleep`.
pub fn help<T, A: Copy>(slots: &[Slot<T, A>], work: fn(&mut T, A), asleep: &AtomicBool) {
    let mut since = Instant::now();
    let mut looks = 0_u32;
    loop {
        if slots.iter().rev().any(|slot| slot.work(work)) {
            since = Instant::now();
        }
        looks = looks.wrapping_add(1);
        if looks.is_multiple_of(LOOKS) && since.elapsed() > PATIENCE {
            asleep.store(true, Ordering::Relaxed);
            return;
        }
        std::hint::spin_loop();
    }
}
