//! Progress messages, on standard error.

mod clock;

pub use clock::Clock;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sim_net::Time;
use sim_world::pair::RECEIVER;
use sim_world::{Nic, World};

/// Moments of a world between two reads of the wall clock.
const MOMENTS: u32 = 256;
/// If standard error is not a terminal, a line is written for every tenth.
const TENTHS: u64 = 10;

/// A model that takes longer than this is not in the cache, so it is being built.
const CACHED: Duration = Duration::from_secs(15);

static QUIET: AtomicBool = AtomicBool::new(false);

/// Prints no progress from now on.
pub fn set_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints a line of progress for logs. A terminal shows a bar instead.
pub fn say(line: &str) {
    if !is_quiet() {
        eprintln!("{line}");
    }
}

/// A bar that is hidden in quiet mode.
fn shown(bar: ProgressBar) -> ProgressBar {
    if is_quiet() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar
}

/// Prepares the model of `what`. It comes from the cache in seconds, or is built in minutes, which is announced.
pub fn building<T>(what: &str, build: impl FnOnce() -> T) -> T {
    let spinner = spinner(format!("preparing the model of {what}"));
    let (done, is_done) = mpsc::channel::<()>();
    let late = spinner.clone();
    let message =
        format!("building the model of {what}: this takes minutes, and only the first time");
    thread::scope(|scope| {
        scope.spawn(move || {
            if is_done.recv_timeout(CACHED) == Err(RecvTimeoutError::Timeout) {
                if late.is_hidden() {
                    say(&message);
                }
                late.set_message(message);
            }
        });
        let built = build();
        drop(done);
        spinner.finish_and_clear();
        built
    })
}

/// Runs the measurement of `what` with a spinner.
pub fn measuring<T>(what: &str, measure: impl FnOnce() -> T) -> T {
    spinning(&format!("measuring {what}"), measure)
}

fn spinning<T>(message: &str, work: impl FnOnce() -> T) -> T {
    let spinner = spinner(message.to_string());
    let done = work();
    spinner.finish_and_clear();
    done
}

fn spinner(message: String) -> ProgressBar {
    let spinner = shown(ProgressBar::new_spinner());
    if spinner.is_hidden() {
        say(&message);
    }
    spinner.set_message(message);
    spinner.enable_steady_tick(Duration::from_millis(120));
    spinner
}

/// Progress of a transfer: bytes in the receiver's memory.
pub struct Transfer {
    bar: ProgressBar,
    total: u64,
    started: Cell<Option<Instant>>,
    moments: Cell<u32>,
    tenths: Cell<u64>,
}

impl Transfer {
    /// A transfer of `total` bytes.
    pub fn new(total: u64) -> Self {
        let style = "{bar:40} {bytes}/{total_bytes}  {msg}";
        let style = ProgressStyle::with_template(style).expect("a constant template");
        Self {
            bar: shown(ProgressBar::new(total)).with_style(style),
            total,
            started: Cell::new(None),
            moments: Cell::new(0),
            tenths: Cell::new(0),
        }
    }

    /// Reports the progress of `world`: the bytes in the receiver's memory, and the simulated time.
    pub fn see<N: Nic>(&self, world: &World<N>) {
        self.look(|| (world.host(RECEIVER).nic().memory().written(), world.now()));
    }

    /// Reports progress in every [`MOMENTS`]th call. `state` returns the bytes in the receiver's memory, and the simulated time in picoseconds.
    pub fn look(&self, state: impl FnOnce() -> (u64, Time)) {
        let started = self.started.get().unwrap_or_else(Instant::now);
        self.started.set(Some(started));
        let moments = self.moments.get() + 1;
        self.moments.set(moments % MOMENTS);
        if moments < MOMENTS {
            return;
        }
        let (placed, now) = state();
        let simulated = now as f64 / 1e6;
        let wall = started.elapsed().as_secs_f64();
        let message = format!("{simulated:.1} us simulated in {wall:.0} s");
        let tenths = placed * TENTHS / self.total;
        if self.bar.is_hidden() && tenths > self.tenths.get() {
            say(&format!("{placed} of {} bytes, {message}", self.total));
        }
        self.tenths.set(tenths);
        self.bar.set_position(placed.min(self.total));
        self.bar.set_message(message);
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Progress of a cluster: flows that are done.
pub struct Flows {
    bar: ProgressBar,
    total: u64,
    tenths: Cell<u64>,
}

impl Flows {
    /// A run of `total` flows.
    pub fn new(total: usize) -> Self {
        let style = "{bar:40} {pos}/{len} flows  {msg}";
        let style = ProgressStyle::with_template(style).expect("a constant template");
        let total = total as u64;
        Self {
            bar: shown(ProgressBar::new(total)).with_style(style),
            total,
            tenths: Cell::new(0),
        }
    }

    /// Reports flows that are done, and the simulated time in picoseconds.
    pub fn look(&self, done: usize, now: Time) {
        let done = done as u64;
        let message = format!("{:.1} us simulated", now as f64 / 1e6);
        let tenths = done * TENTHS / self.total.max(1);
        if self.bar.is_hidden() && tenths > self.tenths.get() {
            say(&format!("{done} of {} flows, {message}", self.total));
        }
        self.tenths.set(tenths);
        self.bar.set_position(done);
        self.bar.set_message(message);
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
