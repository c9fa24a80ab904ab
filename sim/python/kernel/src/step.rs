//! The order of events inside a time step, and the transition to the next one.

use crate::kernel::{Action, Due, Kernel};

/// Result of [`Kernel::advance`].
#[derive(Debug)]
pub enum Advance<C> {
    /// This callback is due.
    Call(C),
    /// This number of time steps has passed; the simulation is not over.
    Busy,
    /// The simulation is over.
    Ended(End),
}

/// Why a simulation is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// [`Kernel::stop`] was called.
    Requested,
    /// No timer and no clock is left.
    NoMoreEvents,
    /// The Verilog stopped itself, with the reason and its place.
    Stopped(String),
}

/// The kernel's position in a time step; see the crate documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Start,
    Evaluate,
    Evaluated,
    ReadWrite,
    Written,
    ReadOnly,
    Advance,
    NextStep,
    NextStepped,
    Timed,
    TimePassed,
}

impl<C> Kernel<C> {
    /// Simulates until a callback is due, `budget` time steps have passed, or the simulation ends.
    pub fn advance(&mut self, mut budget: u32) -> Advance<C> {
        loop {
            if self.stop {
                return Advance::Ended(End::Requested);
            }
            match self.phase {
                Phase::Start | Phase::TimePassed => {
                    if let Some(callback) = self.next_change() {
                        return Advance::Call(callback);
                    }
                    self.phase = Phase::Evaluate;
                }
                Phase::Evaluate => {
                    if let Err(reason) = self.evaluate() {
                        return Advance::Ended(End::Stopped(reason));
                    }
                    self.apply_inertial();
                    self.settle(Phase::Evaluated);
                }
                Phase::Evaluated => {
                    if let Some(callback) = self.next_change() {
                        return Advance::Call(callback);
                    }
                    if self.dirty {
                        self.phase = Phase::Evaluate;
                    } else {
                        self.running.append(&mut self.read_write);
                        self.phase = Phase::ReadWrite;
                    }
                }
                Phase::ReadWrite => {
                    if let Some(callback) = self.next_running() {
                        return Advance::Call(callback);
                    }
                    self.apply_inertial();
                    self.settle(Phase::Written);
                }
                Phase::Written => {
                    if let Some(callback) = self.next_change() {
                        return Advance::Call(callback);
                    }
                    if self.dirty {
                        self.phase = Phase::Evaluate;
                    } else {
                        self.running.append(&mut self.read_only);
                        self.phase = Phase::ReadOnly;
                    }
                }
                Phase::ReadOnly => {
                    if let Some(callback) = self.next_running() {
                        return Advance::Call(callback);
                    }
                    self.dump_waves();
                    self.phase = Phase::Advance;
                }
                Phase::Advance => {
                    if budget == 0 {
                        return Advance::Busy;
                    }
                    match self.run_clock(&mut budget) {
                        Ok(true) => continue,
                        Ok(false) => {}
                        Err(reason) => return Advance::Ended(End::Stopped(reason)),
                    }
                    let Some(time) = self.deadline() else {
                        return Advance::Ended(End::NoMoreEvents);
                    };
                    budget = budget.saturating_sub(1);
                    self.now = time;
                    self.running.append(&mut self.next_step);
                    self.phase = Phase::NextStep;
                }
                Phase::NextStep => {
                    if let Some(callback) = self.next_running() {
                        return Advance::Call(callback);
                    }
                    self.settle(Phase::NextStepped);
                }
                Phase::NextStepped => {
                    if let Some(callback) = self.next_change() {
                        return Advance::Call(callback);
                    }
                    self.phase = Phase::Timed;
                }
                Phase::Timed => match self.next_timed() {
                    Some(Due::Call(key)) => {
                        if let Some(callback) = self.callbacks.remove(key) {
                            return Advance::Call(callback);
                        }
                    }
                    Some(Due::Toggle(key)) => self.toggle(key),
                    None => self.settle(Phase::TimePassed),
                },
            }
        }
    }

    fn settle(&mut self, then: Phase) {
        self.watches.begin();
        self.phase = then;
    }

    fn next_change(&mut self) -> Option<C> {
        let key = self.watches.next(&self.model)?;
        self.callbacks.remove(key)
    }

    /// The next callback of the current phase; cancelled ones are skipped.
    fn next_running(&mut self) -> Option<C> {
        while let Some(key) = self.running.pop_front() {
            if let Some(callback) = self.callbacks.remove(key) {
                return Some(callback);
            }
        }
        None
    }

    fn apply_inertial(&mut self) {
        let mut writes = std::mem::take(&mut self.inertial);
        for (signal, value) in writes.drain(..) {
            self.apply(signal, &value);
        }
        // The vector keeps its memory for the next step's writes.
        self.inertial = writes;
    }

    /// Evaluates the model if anything was written.
    fn evaluate(&mut self) -> Result<(), String> {
        if !self.dirty {
            return Ok(());
        }
        self.dirty = false;
        self.eval_at_now()?;
        if !self.forced.is_empty() && self.restore_forced() {
            self.eval_at_now()?;
            self.restore_forced();
        }
        Ok(())
    }

    /// Adds the time step to the waves, unless nothing was evaluated in it.
    fn dump_waves(&mut self) {
        if std::mem::take(&mut self.evaluated) {
            self.model.dump_waves();
        }
    }

    fn eval_at_now(&mut self) -> Result<(), String> {
        self.evaluated = true;
        self.model
            .eval_to(self.now)
            .map_err(|stopped| stopped.to_string())
    }

    /// Restores forced values; returns whether any had changed.
    fn restore_forced(&mut self) -> bool {
        let mut changed = false;
        for (signal, value) in &self.forced {
            if !value.is(&self.model, *signal) {
                value.store(&mut self.model, *signal);
                changed = true;
            }
        }
        changed
    }

    /// Time of the next timer or clock edge.
    fn deadline(&mut self) -> Option<u64> {
        loop {
            let entry = self.timed.peek()?;
            let live = match entry.due {
                Due::Call(key) => self.callbacks.contains_key(key),
                Due::Toggle(key) => self.clocks.contains_key(key),
            };
            if live {
                return Some(entry.time);
            }
            self.timed.pop();
            self.stale = self.stale.saturating_sub(1);
        }
    }

    /// The next entry due now.
    fn next_timed(&mut self) -> Option<Due> {
        if self.timed.peek()?.time > self.now {
            return None;
        }
        self.timed.pop().map(|entry| entry.due)
    }

    /// Runs the same steps while only a single clock is due and no callback: toggle, evaluate, compare. Returns true if time passed. The kernel is
    /// then at the phase in which a callback is due, or at the end of a time step.
    fn run_clock(&mut self, budget: &mut u32) -> Result<bool, String> {
        let idle = self.next_step.is_empty()
            && self.read_write.is_empty()
            && self.read_only.is_empty()
            && self.inertial.is_empty()
            && self.forced.is_empty()
            && !self.dirty;
        if !idle {
            return Ok(false);
        }
        let Some(&first) = self.timed.peek() else {
            return Ok(false);
        };
        let Due::Toggle(key) = first.due else {
            return Ok(false);
        };
        // Nothing else enters the queue in this time: only callbacks add to it.
        let others = self.timed.as_slice().iter().skip(1);
        let limit = others.map(|entry| entry.time).min().unwrap_or(u64::MAX);
        let Some(clock) = self.clocks.get_mut(key) else {
            return Ok(false);
        };
        if clock.action == Action::Force || first.time >= limit {
            return Ok(false);
        }
        let mut time = first.time;
        let mut due = false;
        while !due && time < limit && *budget > 0 {
            *budget -= 1;
            self.now = time;
            clock.level = !clock.level;
            self.model
                .overwrite(clock.signal, &[u32::from(clock.level)]);
            time += if clock.level { clock.high } else { clock.low };
            if self.watches.any(&self.model) {
                self.dirty = true;
                due = true;
                break;
            }
            self.model
                .eval_to(self.now)
                .map_err(|stopped| stopped.to_string())?;
            self.evaluated = true;
            due = self.watches.any(&self.model);
            if !due && std::mem::take(&mut self.evaluated) {
                self.model.dump_waves();
            }
        }
        self.timed.pop();
        self.schedule(time, Due::Toggle(key));
        if due {
            self.settle(Phase::Evaluated);
        }
        Ok(true)
    }
}
