//! The threads, and a step on them.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crate::slot::{help, Slot};

/// Steps between two attempts to wake a helper: one takes some microseconds, and helpers that come late are no help.
const WAKE_STRIDE: u32 = 64;

struct Shared<T, A> {
    slots: Vec<Slot<T, A>>,
    work: fn(&mut T, A),
    closed: AtomicBool,
}

/// A thread beside the one that forks.
struct Helper {
    thread: JoinHandle<()>,
    asleep: Arc<AtomicBool>,
}

/// Steps of `T`s with an argument `A`, on several threads. Its threads end with it.
pub struct ForkJoin<T, A> {
    shared: Arc<Shared<T, A>>,
    helpers: Vec<Helper>,
    steps: u32,
}

impl<T: Send + 'static, A: Copy + Send + 'static> ForkJoin<T, A> {
    /// For steps of up to `items` items on `threads` threads, the caller's included. A step of an item is `work`.
    pub fn new(items: usize, threads: usize, work: fn(&mut T, A)) -> Self {
        let shared = Arc::new(Shared {
            slots: (0..items).map(|_| Slot::new()).collect(),
            work,
            closed: AtomicBool::new(false),
        });
        let helpers = threads.min(items).saturating_sub(1);
        Self {
            helpers: (0..helpers).map(|_| Helper::new(&shared)).collect(),
            shared,
            steps: 0,
        }
    }

    /// Does a step of every item: `own` of the one at `first`, on this thread, and the work of this pool with `argument` of all others. Returns what `own` returned.
    ///
    /// # Panics
    /// If there are more items than the pool is for, or none at `first`. With what a step panicked with, when all steps have ended, and all items are back.
    pub fn step<R>(
        &mut self,
        items: &mut Vec<T>,
        argument: A,
        first: usize,
        own: impl FnOnce(&mut T) -> R,
    ) -> R {
        let count = items.len();
        assert!(first < count, "no item at {first} of {count}");
        assert!(
            count <= self.shared.slots.len(),
            "more items than the pool is for"
        );
        let work = self.shared.work;
        let mut kept = None;
        for (at, (item, slot)) in items.drain(..).zip(&self.shared.slots).enumerate() {
            if at == first {
                kept = Some(item);
            } else {
                slot.offer(item, argument);
            }
        }
        self.wake();
        let result = panic::catch_unwind(AssertUnwindSafe(|| kept.as_mut().map(own)));
        let mut failed = None;
        for (at, slot) in self.shared.slots.iter().take(count).enumerate() {
            if at == first {
                items.extend(kept.take());
            } else if let Some((item, ended)) = slot.join(work) {
                items.push(item);
                failed = failed.or(ended.err());
            }
        }
        match (result, failed) {
            (Ok(Some(result)), None) => result,
            (Err(panic), _) | (_, Some(panic)) => panic::resume_unwind(panic),
            (Ok(None), None) => unreachable!("the item at `first` was kept"),
        }
    }

    /// Wakes helpers that sleep, now and then.
    fn wake(&mut self) {
        self.steps = self.steps.wrapping_add(1);
        if !self.steps.is_multiple_of(WAKE_STRIDE) {
            return;
        }
        for helper in &self.helpers {
            if helper.asleep.swap(false, Ordering::Relaxed) {
                helper.thread.thread().unpark();
            }
        }
    }
}

impl Helper {
    fn new<T: Send + 'static, A: Copy + Send + 'static>(shared: &Arc<Shared<T, A>>) -> Self {
        let asleep = Arc::new(AtomicBool::new(false));
        let (shared, says) = (Arc::clone(shared), Arc::clone(&asleep));
        let thread = thread::spawn(move || {
            while !shared.closed.load(Ordering::Relaxed) {
                help(&shared.slots, shared.work, &says);
                thread::park();
            }
        });
        Self { thread, asleep }
    }
}

impl<T, A> Drop for ForkJoin<T, A> {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Relaxed);
        for helper in self.helpers.drain(..) {
            helper.thread.thread().unpark();
            // A helper catches the panics of steps, so it has nothing to tell.
            let _ = helper.thread.join();
        }
    }
}
