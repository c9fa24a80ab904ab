//! Profiles: the share of each block in the evaluation time of a gated model.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_void, CStr};
use std::ptr;
use std::time::{Duration, Instant};

use crate::model::Model;

/// Among this many cycles, one is timed as a whole and another one block by block. The number is prime, so that samples do not stay in step with
/// periodic traffic.
const EVERY: u64 = 251;
const WHOLE: u64 = 0;
const BLOCKS: u64 = 125;

/// The functions of profile.cpp, which a gated model has.
pub(crate) struct ProfileInterface {
    pub switch: unsafe extern "C" fn(*mut c_void, c_int),
    pub blocks:
        unsafe extern "C" fn(*mut c_void, *mut *const *const c_char, *mut *const u64) -> u64,
}

/// Wall-clock times of evaluations, from a sample of the cycles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Mean time of evaluating the model for one clock cycle.
    pub clock: Duration,
    /// Share of each block in that time. A block is named by its path of instances, down to three levels; the name of the top module is empty. The
    /// time to check the inputs and to find the functions that run belongs to no block.
    pub blocks: BTreeMap<String, f64>,
}

/// The measurements so far.
#[derive(Default)]
pub(crate) struct Sample {
    on: bool,
    /// Number of half cycles that were timed as a whole.
    halves: u32,
    time: Duration,
}

impl Model {
    /// Starts a profile, which reduces the speed by about one percent. It has no effect on models without gating.
    pub fn start_profile(&mut self) {
        self.sample.on = self.library.interface.profile.is_some();
    }

    /// Returns the profile so far. Returns `None` if none was started, or if the model does not know its blocks.
    pub fn profile(&self) -> Option<Profile> {
        let profile = self.library.interface.profile.as_ref()?;
        let (mut names, mut times) = (ptr::null(), ptr::null());
        // SAFETY: the instance is live, and both addresses are those of variables of the expected types.
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
            // SAFETY: the names are constants of the library.
            let name = unsafe { CStr::from_ptr(name) };
            (name.to_string_lossy().into_owned(), time as f64 / all)
        });
        Some(Profile {
            clock: 2 * self.sample.time / self.sample.halves,
            blocks: blocks.collect(),
        })
    }

    /// Runs `evaluate`, which is half of a clock cycle, and takes the measurements of the profile.
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
            // SAFETY: the instance is live.
            unsafe { (profile.switch)(self.handle.as_ptr(), on.into()) };
        }
    }
}
