//! Value-change callbacks.

use sim_verilated::{Model, PortId};

use crate::kernel::CallbackKey;

/// Which change of a value a callback waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Any change.
    Any,
    /// A single bit changes to 1.
    Rising,
    /// A single bit changes to 0.
    Falling,
}

/// A value of any width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Narrow(u64),
    Wide(Box<[u32]>),
}

impl Value {
    pub fn of(model: &Model, signal: PortId) -> Self {
        if model.width(signal) <= 64 {
            Self::Narrow(model.get_u64(signal))
        } else {
            Self::Wide((*model.get_words(signal)).into())
        }
    }

    /// From 32-bit words, lowest first, for a signal of `width` bits.
    pub fn from_words(words: &[u32], width: usize) -> Self {
        if width <= 64 {
            let word = |index| words.get(index).copied().map_or(0, u64::from);
            Self::Narrow(word(0) | word(1) << 32)
        } else {
            Self::Wide(words.into())
        }
    }

    pub fn store(&self, model: &mut Model, signal: PortId) {
        match self {
            Self::Narrow(value) => {
                model.overwrite(signal, &[*value as u32, (value >> 32) as u32]);
            }
            Self::Wide(words) => model.overwrite(signal, words),
        }
    }

    pub fn is(&self, model: &Model, signal: PortId) -> bool {
        match self {
            Self::Narrow(value) => model.get_u64(signal) == *value,
            Self::Wide(words) => **words == *model.get_words(signal),
        }
    }
}

/// An armed callback, and the value it last saw.
struct Watch {
    key: CallbackKey,
    signal: PortId,
    edge: Edge,
    seen: Value,
}

/// All armed value-change callbacks in the order of registration, and the position of a pass over them.
#[derive(Default)]
pub(crate) struct Watches {
    list: Vec<Watch>,
    /// The next callback to check, and the end of the list as it was when the pass began.
    cursor: usize,
    last: usize,
    /// A callback of this pass was due: another pass follows.
    fired: bool,
}

impl Watches {
    pub fn arm(&mut self, key: CallbackKey, signal: PortId, edge: Edge, model: &Model) {
        self.list.push(Watch {
            key,
            signal,
            edge,
            seen: Value::of(model, signal),
        });
    }

    /// Removes a callback. Returns whether it existed.
    pub fn disarm(&mut self, key: CallbackKey) -> bool {
        let found = self.list.iter().position(|watch| watch.key == key);
        if let Some(index) = found {
            self.remove(index);
        }
        found.is_some()
    }

    fn remove(&mut self, index: usize) {
        self.list.remove(index);
        self.cursor -= usize::from(index < self.cursor);
        self.last -= usize::from(index < self.last);
    }

    /// Starts a pass.
    pub fn begin(&mut self) {
        (self.cursor, self.last, self.fired) = (0, self.list.len(), false);
    }

    /// Returns the next callback that is due, after disarming it. Returns `None` when a whole pass found none.
    pub fn next(&mut self, model: &Model) -> Option<CallbackKey> {
        loop {
            while self.cursor < self.last {
                if self.list[self.cursor].waits(model) {
                    let key = self.list[self.cursor].key;
                    self.remove(self.cursor);
                    self.fired = true;
                    return Some(key);
                }
                self.cursor += 1;
            }
            if !self.fired {
                return None;
            }
            self.begin();
        }
    }

    /// Whether a pass that begins now would find a callback. Like a pass, it records changes that no callback waits for.
    pub fn any(&mut self, model: &Model) -> bool {
        // If a callback is due, its recorded value does not change, so that the pass finds it.
        self.list.iter_mut().any(|watch| watch.waits(model))
    }
}

impl Watch {
    /// Whether the expected change has happened; records the present value if another change has.
    fn waits(&mut self, model: &Model) -> bool {
        if self.seen.is(model, self.signal) {
            return false;
        }
        let wanted = match self.edge {
            Edge::Any => true,
            Edge::Rising => model.get_u64(self.signal) == 1,
            Edge::Falling => model.get_u64(self.signal) == 0,
        };
        if !wanted {
            self.seen = Value::of(model, self.signal);
        }
        wanted
    }
}
