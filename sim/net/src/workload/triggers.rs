//! The triggers of a run: what each activation starts.

use super::{Trigger, TriggerId, TriggerKind};
use crate::Time;

/// What an activation leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fired {
    /// Flows that start now.
    pub flows: Vec<usize>,
    /// Triggers that fire later, by [`Triggers::fire`], and after how many picoseconds.
    pub later: Vec<(Time, TriggerId)>,
}

/// The triggers of a run.
#[derive(Debug)]
pub struct Triggers {
    triggers: Vec<Trigger>,
    activations: Vec<u32>,
}

impl Triggers {
    /// Those of a workload, none of which was activated.
    pub fn new(triggers: Vec<Trigger>) -> Self {
        let activations = vec![0; triggers.len()];
        Self {
            triggers,
            activations,
        }
    }

    /// Activates a trigger, and what follows from that at once.
    pub fn activate(&mut self, id: TriggerId) -> Fired {
        self.follow(id, Self::count)
    }

    /// Fires a trigger whose time has come ([`Fired::later`]), and what follows from that at once.
    pub fn fire(&mut self, id: TriggerId) -> Fired {
        self.follow(id, Self::open)
    }

    fn follow(&mut self, id: TriggerId, first: fn(&mut Self, TriggerId, &mut Work)) -> Fired {
        let mut work = Work::default();
        first(self, id, &mut work);
        while let Some(id) = work.active.pop() {
            self.count(id, &mut work);
        }
        work.fired
    }

    /// Counts an activation, and fires the trigger if that was the one it waited for.
    fn count(&mut self, id: TriggerId, work: &mut Work) {
        let (trigger, count) = (
            &self.triggers[id.0 as usize],
            &mut self.activations[id.0 as usize],
        );
        *count = count.saturating_add(1);
        let needed = match trigger.kind {
            TriggerKind::OneShot => 1,
            TriggerKind::Barrier(needed) => needed,
            TriggerKind::MultiShot => {
                work.fired
                    .flows
                    .extend(trigger.flows.get(*count as usize - 1));
                return;
            }
        };
        if *count == needed && trigger.delay > 0 {
            work.fired.later.push((trigger.delay, id));
        } else if *count == needed {
            self.open(id, work);
        }
    }

    /// All flows of a trigger start, and it activates others.
    fn open(&mut self, id: TriggerId, work: &mut Work) {
        let trigger = &self.triggers[id.0 as usize];
        work.fired.flows.extend(&trigger.flows);
        work.active.extend(trigger.then.iter().rev());
    }
}

/// What has to be done yet, and what was found.
#[derive(Default)]
struct Work {
    /// Triggers to activate; the last one comes first.
    active: Vec<TriggerId>,
    fired: Fired,
}
