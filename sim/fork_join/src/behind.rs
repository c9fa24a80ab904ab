//! A value whose steps run on a thread of their own, behind what its owner does.

use std::panic;

use crate::helpers::Helpers;
use crate::slot::Panic;

/// A value of type `T`. Its owner begins a step of it and goes on with something else; the step has ended when the owner gets the value.
///
/// The step runs on a helper's thread if there is one that has nothing else to do, else on the owner's, in [`Self::get`].
pub struct Behind<T> {
    /// None while a step is under way.
    value: Option<T>,
    work: fn(&mut T, ()),
    /// None: steps run where they begin.
    helper: Option<Helpers<T, ()>>,
}

impl<T: Send + 'static> Behind<T> {
    /// A value without a helper. A step of it is `work`.
    pub const fn new(value: T, work: fn(&mut T, ())) -> Self {
        Self {
            value: Some(value),
            work,
            helper: None,
        }
    }

    /// Steps run on a thread of their own from now on, or no longer.
    pub fn set_helper(&mut self, on: bool) {
        if on == self.helper.is_some() {
            return;
        }
        self.get();
        self.helper = on.then(|| Helpers::new(1, 1, self.work));
    }

    /// Begins a step.
    ///
    /// # Panics
    /// As [`Self::get`], for the step before.
    pub fn step(&mut self) {
        self.get();
        match (&mut self.helper, self.value.take()) {
            (Some(helper), Some(value)) => {
                helper.shared.slots[0].offer(value, ());
                helper.wake();
            }
            (_, value) => {
                self.value = value;
                (self.work)(self.get(), ());
            }
        }
    }

    /// The value, when its step has ended.
    ///
    /// # Panics
    /// With what the step panicked with; the next time it returns the value.
    pub fn get(&mut self) -> &mut T {
        if let Some(Err(panic)) = self.join() {
            panic::resume_unwind(panic);
        }
        self.value.as_mut().expect("no step is under way")
    }
}

impl<T> Behind<T> {
    /// Waits for the step that is under way, and returns how it ended.
    fn join(&mut self) -> Option<Result<(), Panic>> {
        let helper = self.helper.as_ref().filter(|_| self.value.is_none())?;
        let (value, ended) = helper.shared.slots[0].join(self.work)?;
        self.value = Some(value);
        Some(ended)
    }
}

impl<T> Drop for Behind<T> {
    fn drop(&mut self) {
        // What is dropped is the value after its step, on whichever thread it ran.
        let _ = self.join();
    }
}
