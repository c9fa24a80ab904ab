//! A path policy whose packets leave at the pace of DCQCN, at most one bandwidth-delay product of them at a time.

use stellar_transport::rx::Psn;
use stellar_transport::spray::{EvIndex, Feedback, PathAck, PathPolicy, Paths, PlaneMask};
use stellar_transport::time::Ticks;
use stellar_wire::rows::{wire_cost, WindowChange, DRAIN_RAISE_HALVES};

use super::Dcqcn;

/// Ticks of a microsecond.
const TICKS_PER_US: f64 = 125.0;

/// The policy `inner` with DCQCN in place of the queue pair's congestion control. Marked acknowledgements are the notifications.
#[derive(Clone, Debug)]
pub struct Paced {
    inner: Box<dyn PathPolicy>,
    dcqcn: Dcqcn,
    /// Most bytes in flight: IRN's bound.
    window: u32,
    /// When the next packet may leave, and the part of a tick after it.
    free_at: Ticks,
    free_part: f64,
    /// The last time that was told.
    now: Ticks,
    /// The inner policy keeps data back.
    inner_holds: bool,
    /// The rate that the inner policy told to remember.
    saved: f64,
}

impl Paced {
    /// `inner` at the pace of `dcqcn`, and at most `window` bytes in flight.
    pub fn new(inner: Box<dyn PathPolicy>, dcqcn: Dcqcn, window: u32, now: Ticks) -> Self {
        Self {
            inner,
            saved: dcqcn.rate(),
            dcqcn,
            window,
            free_at: now,
            free_part: 0.0,
            now,
            inner_holds: false,
        }
    }

    fn on_time(&mut self, now: Ticks) {
        self.now = now;
        self.dcqcn.on_time(now);
    }
}

impl PathPolicy for Paced {
    fn choose(&mut self, paths: &mut Paths, plane: u8, candidates: u64) -> u8 {
        self.inner.choose(paths, plane, candidates)
    }

    fn on_sent(&mut self, paths: &Paths, psn: Psn, index: EvIndex, length: u16) {
        self.inner.on_sent(paths, psn, index, length);
        let bytes = wire_cost(length.into(), 1);
        self.dcqcn.on_sent(bytes);
        // Time that passed is not saved up.
        if self.now.reached(self.free_at.plus(Ticks(1))) {
            self.free_at = self.now;
            self.free_part = 0.0;
        }
        let ticks = self.free_part + f64::from(bytes) * 8.0 / self.dcqcn.rate() * TICKS_PER_US;
        self.free_at = self.free_at.plus(Ticks(ticks as u32));
        self.free_part = ticks.fract();
    }

    fn window(&self) -> Option<u32> {
        Some(self.window)
    }

    fn on_feedback(&mut self, paths: &mut Paths, index: EvIndex, feedback: Feedback, now: Ticks) {
        self.inner.on_feedback(paths, index, feedback, now);
    }

    fn on_ack(&mut self, paths: &mut Paths, index: Option<EvIndex>, ack: &PathAck, now: Ticks) {
        self.on_time(now);
        if ack.hint == Feedback::Skip {
            self.dcqcn.on_mark(now);
        }
        self.inner.on_ack(paths, index, ack, now);
    }

    fn on_probe(&mut self, paths: &mut Paths, index: EvIndex, round_trip: u16, now: Ticks) {
        self.inner.on_probe(paths, index, round_trip, now);
    }

    fn probe_due(&mut self, paths: &mut Paths, up: PlaneMask, now: Ticks) -> Option<EvIndex> {
        self.inner.probe_due(paths, up, now)
    }

    fn held_until(&mut self, paths: &mut Paths, now: Ticks) -> Option<Ticks> {
        self.on_time(now);
        let inner = self.inner.held_until(paths, now);
        self.inner_holds = inner.is_some();
        // At the rate of the line the line is the pace.
        let paced = self.dcqcn.is_limited() && !now.reached(self.free_at);
        let own = paced.then_some(self.free_at);
        match (inner, own) {
            (Some(inner), Some(own)) if inner.reached(own) => Some(inner),
            (inner, own) => own.or(inner),
        }
    }

    fn on_empty(&mut self, paths: &mut Paths) {
        if self.inner_holds {
            self.inner.on_empty(paths);
        }
    }

    fn resends_while_held(&self) -> bool {
        self.inner_holds && self.inner.resends_while_held()
    }

    fn window_change(&mut self) -> WindowChange {
        match self.inner.window_change() {
            WindowChange::Keep => {}
            WindowChange::Save => self.saved = self.dcqcn.rate(),
            WindowChange::Restore => self.dcqcn.set_rate(self.saved),
            WindowChange::Raise => {
                let raised = self.saved * f64::from(DRAIN_RAISE_HALVES) / 2.0;
                self.dcqcn.set_rate(raised);
            }
        }
        WindowChange::Keep
    }

    fn copy(&self) -> Box<dyn PathPolicy> {
        Box::new(self.clone())
    }
}
