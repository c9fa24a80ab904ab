//! A step of several items on several threads.

use std::panic::{self, AssertUnwindSafe};

use crate::helpers::Helpers;

/// Steps of `T`s with an argument `A`, on several threads. Its threads end with it.
pub struct ForkJoin<T, A> {
    helpers: Helpers<T, A>,
}

impl<T: Send + 'static, A: Copy + Send + 'static> ForkJoin<T, A> {
    /// For steps of up to `items` items on `threads` threads, the caller's included. A step of an item is `work`.
    pub fn new(items: usize, threads: usize, work: fn(&mut T, A)) -> Self {
        let helpers = threads.min(items).saturating_sub(1);
        Self {
            helpers: Helpers::new(items, helpers, work),
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
        let slots = &self.helpers.shared.slots;
        assert!(count <= slots.len(), "more items than the pool is for");
        let work = self.helpers.shared.work;
        let mut kept = None;
        for (at, (item, slot)) in items.drain(..).zip(slots).enumerate() {
            if at == first {
                kept = Some(item);
            } else {
                slot.offer(item, argument);
            }
        }
        self.helpers.wake();
        let result = panic::catch_unwind(AssertUnwindSafe(|| kept.as_mut().map(own)));
        let mut failed = None;
        for (at, slot) in self.helpers.shared.slots.iter().take(count).enumerate() {
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
}
