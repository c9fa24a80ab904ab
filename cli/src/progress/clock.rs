//! Progress of a world while it runs.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

/// Time between two updates.
const REFRESH: Duration = Duration::from_millis(200);
/// Picoseconds per microsecond.
const US: f64 = 1e6;

/// A line with name, wall time and time of the world. It is erased when this value is dropped.
pub struct Clock {
    bar: ProgressBar,
    time: Arc<AtomicU64>,
}

impl Clock {
    /// Shows the line, if standard error is a terminal.
    pub fn show(name: &str) -> anyhow::Result<Self> {
        let time = Arc::new(AtomicU64::new(0));
        let world = Arc::clone(&time);
        let simulated = move |_: &ProgressState, line: &mut dyn Write| {
            let now = world.load(Ordering::Relaxed) as f64 / US;
            // A failed write of the line is ignored.
            let _ = write!(line, "{now:.1} us simulated");
        };
        let style = ProgressStyle::with_template("{spinner} {msg}: {elapsed}, {simulated}")?
            .with_key("simulated", simulated);
        let bar = super::shown(ProgressBar::new_spinner())
            .with_style(style)
            .with_message(name.to_owned());
        bar.enable_steady_tick(REFRESH);
        Ok(Self { bar, time })
    }

    /// The variable in which the world shows its time, in picoseconds.
    pub fn time(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.time)
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
