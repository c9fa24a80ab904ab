//! The threads beside the one that forks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crate::slot::{help, Slot};

/// Steps between two attempts to wake a helper: one takes some microseconds, and helpers that come late are no help.
const WAKE_STRIDE: u32 = 64;

/// What the threads share.
pub struct Shared<T, A> {
    pub slots: Vec<Slot<T, A>>,
    pub work: fn(&mut T, A),
    closed: AtomicBool,
}

struct Helper {
    thread: JoinHandle<()>,
    asleep: Arc<AtomicBool>,
}

/// Threads that work on what is offered in the slots. They end with it.
pub struct Helpers<T, A> {
    pub shared: Arc<Shared<T, A>>,
    helpers: Vec<Helper>,
    steps: u32,
}

impl<T: Send + 'static, A: Copy + Send + 'static> Helpers<T, A> {
    /// `threads` of them, for `slots` items at once.
    pub fn new(slots: usize, threads: usize, work: fn(&mut T, A)) -> Self {
        let shared = Arc::new(Shared {
            slots: (0..slots).map(|_| Slot::new()).collect(),
            work,
            closed: AtomicBool::new(false),
        });
        Self {
            helpers: (0..threads).map(|_| Helper::new(&shared)).collect(),
            shared,
            steps: 0,
        }
    }

    /// Wakes helpers that sleep, now and then. Call it once per step, when its items are on offer.
    pub fn wake(&mut self) {
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

impl<T, A> Drop for Helpers<T, A> {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Relaxed);
        for helper in self.helpers.drain(..) {
            helper.thread.thread().unpark();
            // A helper catches the panics of steps, so it has nothing to tell.
            let _ = helper.thread.join();
        }
    }
}
