//! A value whose steps run on a thread of their own, behind what its owner does.

use std::panic;
use std::time::{Duration, Instant};

use crate::helpers::Helpers;
use crate::slot::Panic;

/// Steps before the first measurement, without the helper.
const FIRST: u32 = 1 << 12;
/// Steps between two measurements.
const PERIOD: u32 = 1 << 18;
/// Steps of a turn without the helper or with it. Turns alternate, because what the steps do changes meanwhile.
const TURN: u32 = 2_048;
/// Steps of a turn that are not counted: a core fetches code and data, which takes 500 us, and learns where the code branches.
const SETTLE: u32 = TURN / 2;
/// Turns of a measurement.
const TURNS: u32 = 4;

/// A value of type `T`. Its owner begins a step of it and goes on with something else; the step has ended when the owner gets the value.
///
/// The step runs on a helper's thread if there is one that has nothing else to do, else on the owner's, in [`Self::get`]. A helper moves what the value refers to between the caches of
/// two cores, and how long that takes differs between machines. So both ways are timed now and then, and the steps until the next time go the faster one.
pub struct Behind<T> {
    /// None while a step is under way.
    value: Option<T>,
    work: fn(&mut T, ()),
    /// None: steps run where they begin.
    helper: Option<Helpers<T, ()>>,
    trial: Trial,
}

/// Whether the helper helps.
struct Trial {
    /// Steps until the next measurement.
    left: u32,
    /// Steps of the present measurement.
    steps: u32,
    /// When the part of the turn began that is counted.
    began: Option<Instant>,
    /// How long the turns without the helper took, and those with it.
    took: [Duration; 2],
    helps: bool,
}

impl Trial {
    const fn new() -> Self {
        Self {
            left: FIRST,
            steps: 0,
            began: None,
            took: [Duration::ZERO; 2],
            helps: false,
        }
    }

    /// Whether the next step is the helper's.
    fn next(&mut self) -> bool {
        if self.left > 0 {
            self.left -= 1;
        } else {
            self.measure();
        }
        self.helps
    }

    fn measure(&mut self) {
        let turn = self.steps / TURN;
        match self.steps % TURN {
            0 => {
                if let Some(began) = self.began.take() {
                    self.took[usize::from(self.helps)] += began.elapsed();
                }
                self.helps = turn % 2 == 1;
            }
            SETTLE => self.began = Some(Instant::now()),
            _ => {}
        }
        self.steps += 1;
        if turn == TURNS {
            let [alone, helped] = self.took;
            *self = Self {
                left: PERIOD,
                helps: helped < alone,
                ..Self::new()
            };
        }
    }
}

impl<T: Send + 'static> Behind<T> {
    /// A value without a helper. A step of it is `work`.
    pub const fn new(value: T, work: fn(&mut T, ())) -> Self {
        Self {
            value: Some(value),
            work,
            helper: None,
            trial: Trial::new(),
        }
    }

    /// Steps run on a thread of their own from now on, or no longer.
    pub fn set_helper(&mut self, on: bool) {
        if on == self.helper.is_some() {
            return;
        }
        self.get();
        self.helper = on.then(|| Helpers::new(1, 1, self.work));
        self.trial = Trial::new();
    }

    /// Begins a step.
    ///
    /// # Panics
    /// As [`Self::get`], for the step before.
    pub fn step(&mut self) {
        self.get();
        let helper = self.helper.as_mut().filter(|_| self.trial.next());
        match (helper, self.value.take()) {
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
