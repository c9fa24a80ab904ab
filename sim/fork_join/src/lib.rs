//! Runs one step of several simulated cards on several threads, and waits for all of them.
//!
//! A cycle of a card takes some ten microseconds of wall time, and cards meet only at the end of each cycle, where frames go from one to another. So a
//! world forks and joins 100,000 times per second. Pools of threads such as rayon's wake a thread for each call from outside, which takes as long as a
//! cycle. Here, helpers look for work for 100 us before they sleep, and **nobody waits for a helper that has not begun**: the thread
//! that forks takes back what no helper has claimed. So on a machine with other work a step takes about as long as on one thread, and with a core of
//! its own a helper halves the time of two cards.
//!
//! Results do not depend on the number of threads: a step of an item reads and writes only this item.
#![forbid(unsafe_code)]

mod behind;
mod helpers;
mod pool;
mod slot;
mod threads;

pub use behind::Behind;
pub use pool::ForkJoin;
pub use threads::{are_two_each, choose_threads, threads, ThreadsError, VARIABLE};
