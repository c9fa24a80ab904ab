//! Where the time of a gated model goes.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_void, CStr};
use std::ptr;
use std::time::{Duration, Instant};

use crate::model::Model;

/// Of so many clocks, one is timed as a whole and another one by blocks: a number that packets do not have in step.
const EVERY: u64 = 61;
const WHOLE: u64 = 0;
const BLOCKS: u64 = 30;

/// The functions of profile.cpp, which a gated model has.
pub(crate) struct ProfileInterface {
    pub switch: unsafe extern "C" fn(*mut c_void, c_int),
    pub blocks:
        unsafe extern "C" fn(*mut c_void, *mut *const *const c_char, *mut *const u64) -> u64,
}

/// Where the time of evaluations went, on the wall, from a sample of the clocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Mean time of evaluating the model for a clock.
    pub clock: Duration,
    /// Share of each block of the design in that, by its path of instances down to three levels; the top module has none. The order of
    /// evaluation, and looking at inputs, are in none.
    pub blocks: BTreeMap<String, f64>,
}

/// What was timed so far.
#[derive(Default)]
pub(crate) struct Sample {
    on: bool,
    /// Halves of clocks that were timed as a whole.
    halves: u32,
    time: Duration,
}

impl Model {
    /// Takes a profile from now on, which costs about a percent of the speed. Nothing for models without gating.
    pub fn start_profile(&mut self) {
        self.sample.on = self.library.interface.profile.is_some();
    }

    /// The profile so far; `None` if none was taken, or the model does not know its blocks.
    pub fn profile(&self) -> Option<Profile> {
        let profile = self.library.interface.profile.as_ref()?;
        let (mut names, mut times) = (ptr::null(), ptr::null());
        // SAFETY: a live instance, and the addresses of two variables of the types that it wants.
        let count = unsafe { (profile.blocks)(self.handle.as_ptr(), &mut names, &mut times) };
        let count = usize::try_from(count).unwrap_or(0);
        if self.sample.halves == 0 || count == 0 {
            return None;
        }
        // SAFETY: the function returned the length of both arrays, which live as long as the instance.
        let (names, times) = unsafe {
            (
                std::slice::from_raw_parts(names, count),
                std::slice::from_raw_parts(times, count),
            )
        };
        let all = times.iter().sum::<u64>().max(1) as f64;
        let blocks = names.iter().zip(times).map(|(&name, &time)| {
            // SAFETY: names are constants of the library.
            let name = unsafe { CStr::from_ptr(name) };
            (name.to_string_lossy().into_owned(), time as f64 / all)
        });
        Some(Profile {
            clock: 2 * self.sample.time / self.sample.halves,
            blocks: blocks.collect(),
        })
    }

    /// Runs `evaluate`, half of a clock, with what the profile wants.
    pub(crate) fn profiled(&mut self, evaluate: impl FnOnce(&mut Self)) {
        match (self.sample.on, self.cycles() % EVERY) {
            (true, WHOLE) => {
                let before = Instant::now();
                evaluate(self);
                self.sample.time += before.elapsed();
                self.sample.halves += 1;
            }
            (true, BLOCKS) => {
                self.switch_profile(true);
                evaluate(self);
                self.switch_profile(false);
            }
            _ => evaluate(self),
        }
    }

    fn switch_profile(&self, on: bool) {
        if let Some(profile) = &self.library.interface.profile {
            // SAFETY: a live instance.
            unsafe { (profile.switch)(self.handle.as_ptr(), on.into()) };
        }
    }
}
