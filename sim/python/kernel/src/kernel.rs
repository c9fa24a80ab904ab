//! Time, writes and callbacks.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use sim_verilated::{Model, PortId};
use slotmap::{new_key_type, SlotMap};
use thiserror::Error;

use crate::step::Phase;
use crate::watch::{Edge, Value, Watches};

new_key_type! {
    /// A registered callback, until it is returned or cancelled.
    pub struct CallbackKey;
    /// A running clock.
    pub struct ClockKey;
}

/// How a write takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// After the current evaluation, before value-change callbacks (an inertial write of IEEE 1364).
    Deposit,
    /// The value is set at once and kept until [`Action::Release`]: see [`Kernel::write`].
    Force,
    /// Ends a force; the value stays until another write.
    Release,
    /// The value is set at once.
    Immediate,
}

/// A clock that cannot run.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ClockError {
    /// Each half needs at least one step.
    #[error("a clock of {period} steps cannot be high for {high}: both halves need at least one")]
    Period {
        /// Steps of a whole cycle.
        period: u64,
        /// Steps of the high half.
        high: u64,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Due {
    Call(CallbackKey),
    Toggle(ClockKey),
}

/// An entry of the time queue. Earlier entries are greater, because the heap keeps the greatest on top.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Timed {
    pub time: u64,
    pub order: u64,
    pub due: Due,
}

impl Ord for Timed {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.time, other.order).cmp(&(self.time, self.order))
    }
}

impl PartialOrd for Timed {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

pub(crate) struct Clock {
    pub signal: PortId,
    pub high: u64,
    pub low: u64,
    pub level: bool,
    pub action: Action,
}

/// One model in simulated time, with callbacks of type `C`. Every callback fires once.
pub struct Kernel<C> {
    pub(crate) model: Model,
    pub(crate) now: u64,
    pub(crate) phase: Phase,
    /// The model was written since the last evaluation.
    pub(crate) dirty: bool,
    /// The model was evaluated since the last dump to the waves.
    pub(crate) evaluated: bool,
    pub(crate) stop: bool,
    pub(crate) callbacks: SlotMap<CallbackKey, C>,
    pub(crate) clocks: SlotMap<ClockKey, Clock>,
    pub(crate) timed: BinaryHeap<Timed>,
    /// Entries of `timed` whose callback or clock no longer exists.
    pub(crate) stale: usize,
    order: u64,
    pub(crate) watches: Watches,
    pub(crate) read_write: VecDeque<CallbackKey>,
    pub(crate) read_only: VecDeque<CallbackKey>,
    pub(crate) next_step: VecDeque<CallbackKey>,
    /// Callbacks of the current phase.
    pub(crate) running: VecDeque<CallbackKey>,
    pub(crate) inertial: Vec<(PortId, Value)>,
    pub(crate) forced: Vec<(PortId, Value)>,
}

impl<C> Kernel<C> {
    /// A simulation of `model` at time zero, before its first evaluation.
    pub fn new(model: Model) -> Self {
        Self {
            model,
            now: 0,
            phase: Phase::Start,
            dirty: true,
            evaluated: false,
            stop: false,
            callbacks: SlotMap::with_key(),
            clocks: SlotMap::with_key(),
            timed: BinaryHeap::new(),
            stale: 0,
            order: 0,
            watches: Watches::default(),
            read_write: VecDeque::new(),
            read_only: VecDeque::new(),
            next_step: VecDeque::new(),
            running: VecDeque::new(),
            inertial: vec![],
            forced: vec![],
        }
    }

    /// Present time in steps.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// The model, to read signals.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The model, for waves and coverage.
    pub fn model_mut(&mut self) -> &mut Model {
        &mut self.model
    }

    /// Ends the simulation: the next [`advance`](Self::advance) returns that.
    pub fn stop(&mut self) {
        self.stop = true;
    }

    /// Registers `callback` for `steps` from now.
    pub fn after(&mut self, steps: u64, callback: C) -> CallbackKey {
        let key = self.callbacks.insert(callback);
        self.schedule(self.now + steps, Due::Call(key));
        key
    }

    /// Registers `callback` for the next ReadWrite phase.
    pub fn at_read_write(&mut self, callback: C) -> CallbackKey {
        let key = self.callbacks.insert(callback);
        self.read_write.push_back(key);
        key
    }

    /// Registers `callback` for the next ReadOnly phase.
    pub fn at_read_only(&mut self, callback: C) -> CallbackKey {
        let key = self.callbacks.insert(callback);
        self.read_only.push_back(key);
        key
    }

    /// Registers `callback` for the start of the next time step.
    pub fn at_next_step(&mut self, callback: C) -> CallbackKey {
        let key = self.callbacks.insert(callback);
        self.next_step.push_back(key);
        key
    }

    /// Registers `callback` for a change of `signal` of the kind `edge`. Other changes are ignored.
    pub fn at_change(&mut self, signal: PortId, edge: Edge, callback: C) -> CallbackKey {
        let key = self.callbacks.insert(callback);
        self.watches.arm(key, signal, edge, &self.model);
        key
    }

    /// Cancels a callback; no effect if it has fired already.
    pub fn cancel(&mut self, key: CallbackKey) -> Option<C> {
        let callback = self.callbacks.remove(key)?;
        // Queues of phases skip cancelled callbacks. So does the time queue, but there they may remain for long.
        if !self.watches.disarm(key) {
            self.thin_out();
        }
        Some(callback)
    }

    /// Counts an entry of the time queue as cancelled, and removes such entries when there are many.
    fn thin_out(&mut self) {
        self.stale += 1;
        if self.stale > 64 && self.stale > self.timed.len() / 2 {
            let (callbacks, clocks) = (&self.callbacks, &self.clocks);
            self.timed.retain(|entry| match entry.due {
                Due::Call(key) => callbacks.contains_key(key),
                Due::Toggle(key) => clocks.contains_key(key),
            });
            self.stale = 0;
        }
    }

    pub(crate) fn schedule(&mut self, time: u64, due: Due) {
        let order = self.next_order();
        self.timed.push(Timed { time, order, due });
    }

    pub(crate) fn next_order(&mut self) -> u64 {
        self.order += 1;
        self.order
    }

    /// Writes `signal` from 32-bit words, lowest first; bits beyond its width are dropped.
    ///
    /// A forced value is restored before and after every evaluation, and the logic that reads it is evaluated again. On an input and on a register
    /// this is a force as in Verilog. Logic that Verilator folded into the computation of a wire may still see the computed value. Deposits to a
    /// forced signal have no effect.
    pub fn write(&mut self, signal: PortId, action: Action, words: &[u32]) {
        let value = Value::from_words(words, self.model.width(signal));
        match action {
            Action::Deposit => self.inertial.push((signal, value)),
            Action::Immediate => self.apply(signal, &value),
            Action::Force => {
                self.forced.retain(|(forced, _)| *forced != signal);
                value.store(&mut self.model, signal);
                self.forced.push((signal, value));
                self.dirty = true;
            }
            Action::Release => {
                self.forced.retain(|(forced, _)| *forced != signal);
                self.dirty = true;
            }
        }
    }

    pub(crate) fn apply(&mut self, signal: PortId, value: &Value) {
        self.dirty = true;
        if !self.forced.iter().any(|(forced, _)| *forced == signal) {
            value.store(&mut self.model, signal);
        }
    }

    /// Starts a clock on `signal`: sets it to `start` now, by `action`, and then toggles it.
    ///
    /// # Errors
    /// [`ClockError`].
    pub fn start_clock(
        &mut self,
        signal: PortId,
        period: u64,
        high: u64,
        start: bool,
        action: Action,
    ) -> Result<ClockKey, ClockError> {
        if high < 1 || high >= period {
            return Err(ClockError::Period { period, high });
        }
        let key = self.clocks.insert(Clock {
            signal,
            high,
            low: period - high,
            level: !start,
            action,
        });
        self.toggle(key);
        Ok(key)
    }

    /// Stops a clock at its present level. No effect if it is stopped already.
    pub fn stop_clock(&mut self, key: ClockKey) {
        if self.clocks.remove(key).is_some() {
            self.thin_out();
        }
    }

    /// Writes the next level of a clock and registers the one after it.
    pub(crate) fn toggle(&mut self, key: ClockKey) {
        let Some(clock) = self.clocks.get_mut(key) else {
            return;
        };
        clock.level = !clock.level;
        let (signal, level, action) = (clock.signal, clock.level, clock.action);
        let next = if level { clock.high } else { clock.low };
        self.write(signal, action, &[u32::from(level)]);
        self.schedule(self.now + next, Due::Toggle(key));
    }
}
