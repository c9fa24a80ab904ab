//! Units on paths that are too long are mapped again: ABC hears the times at their borders.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::arrival::{Arrival, NEVER};
use crate::borders;
use crate::cells::LEVEL;
use crate::design::{Design, Event, Options, Tools};
use crate::graph::Graph;
use crate::netlist::Netlist;
use crate::variant;
use crate::yosys::Choice;
use crate::FitError;

impl Design {
    /// Maps units on paths that are too long once more.
    ///
    /// # Errors
    /// Those of [`Design::map`], and [`FitError::Loop`].
    pub(crate) fn refine(&mut self, tools: &Tools<'_>) -> Result<(), FitError> {
        let again = self.map_again(Choice::Usual, tools)?;
        for (unit, netlist) in again {
            self.units[unit].netlist = netlist;
        }
        Ok(())
    }

    /// Maps them once more in other ways, and keeps those with which the card's paths are shorter; if several are as good, the smallest.
    ///
    /// # Errors
    /// Those of [`Self::refine`].
    pub(crate) fn try_choices(&mut self, tools: &Tools<'_>) -> Result<(), FitError> {
        let mut found: BTreeMap<usize, Vec<Netlist>> = BTreeMap::new();
        for choice in Choice::OTHERS {
            for (unit, netlist) in self.map_again(choice, tools)? {
                found.entry(unit).or_default().push(netlist);
            }
        }
        for (unit, netlists) in found {
            let before = self.excess(tools.options)?;
            let mut best = (before, usize::MAX);
            for netlist in netlists {
                let other = std::mem::replace(&mut self.units[unit].netlist, netlist);
                let now = (self.excess(tools.options)?, self.units[unit].netlist.luts());
                if now.0 < before && now < best {
                    best = now;
                } else {
                    self.units[unit].netlist = other;
                }
            }
        }
        Ok(())
    }

    /// Half levels above the goal, of all end points together.
    fn excess(&self, options: &Options<'_>) -> Result<u64, FitError> {
        let graph = Graph::join(self, options.loads);
        let arrival = Arrival::compute(self, &graph)?;
        let period = (options.levels * LEVEL) as i32;
        let above = graph.ends.iter().map(|end| {
            let times = end.inputs.iter().map(|net| arrival.time[*net as usize]);
            let last = times.max().unwrap_or(NEVER);
            (last - period).max(0) as u64
        });
        Ok(above.sum())
    }

    /// Units on paths that are too long, mapped with the times at their borders. One whose instances of other units are not what they were is left out, because those
    /// units stay as they are.
    fn map_again(
        &mut self,
        choice: Choice,
        tools: &Tools<'_>,
    ) -> Result<Vec<(usize, Netlist)>, FitError> {
        let options = tools.options;
        let graph = Graph::join(self, options.loads);
        let arrival = Arrival::compute(self, &graph)?;
        let times = borders::of_units(self, &graph, &arrival, options.levels * LEVEL);
        let waiting = Mutex::new(times.iter());
        let done = Mutex::new(vec![]);
        let work = || loop {
            let next = waiting
                .lock()
                .expect("no worker panics with the lock")
                .next();
            let Some((&unit, unit_times)) = next else {
                return;
            };
            let key = &self.units[unit].key;
            (tools.tell)(Event::Begins(&key.0));
            let mapped = tools.map(key, Some(unit_times), choice);
            let mut done = done.lock().expect("no worker panics with the lock");
            done.push(mapped.map(|(netlist, ran)| (unit, netlist, ran)));
            (tools.tell)(Event::Done(done.len(), times.len()));
        };
        std::thread::scope(|scope| {
            for _ in 0..options.jobs.max(1) {
                scope.spawn(work);
            }
        });
        let done = done.into_inner().expect("no worker panics with the lock");
        let mut again = vec![];
        for mapped in done {
            let (unit, netlist, ran) = mapped?;
            self.runs += usize::from(ran);
            if instances(&netlist) == instances(&self.units[unit].netlist) {
                again.push((unit, netlist));
            }
        }
        again.sort_by_key(|(unit, _)| *unit);
        Ok(again)
    }
}

/// Name, module and use of each instance of another unit.
fn instances(netlist: &Netlist) -> Vec<(Option<&str>, &str, variant::Variant)> {
    let all = variant::of_instances(netlist).into_iter();
    all.map(|(cell, variant)| (cell.name.as_deref(), netlist.kind(cell), variant))
        .collect()
}
