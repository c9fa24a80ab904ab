//! Units on paths that are too long are mapped again: ABC hears the times at their borders.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::arrival::Arrival;
use crate::borders::{self, Times};
use crate::cells::LEVEL;
use crate::design::{Design, Event, Options, Tools};
use crate::graph::Graph;
use crate::netlist::Netlist;
use crate::variant;
use crate::yosys::Choice;
use crate::FitError;

impl Design {
    /// Maps units on paths that are too long once more. Returns whether there were any.
    ///
    /// # Errors
    /// Those of [`Design::map`], and [`FitError::Loop`].
    pub(crate) fn refine(&mut self, tools: &Tools<'_>) -> Result<bool, FitError> {
        let late = self.late(tools.options)?;
        for (unit, netlist) in self.map_again(&late, Choice::Usual, tools)? {
            self.units[unit].netlist = netlist;
        }
        Ok(!late.is_empty())
    }

    /// Maps them once more in other ways, and keeps those with which the card's paths are shorter; if several are as good, the smallest.
    ///
    /// # Errors
    /// Those of [`Self::refine`].
    pub(crate) fn try_choices(&mut self, tools: &Tools<'_>) -> Result<(), FitError> {
        let late = self.late(tools.options)?;
        let mut found: BTreeMap<usize, Vec<Netlist>> = BTreeMap::new();
        for choice in Choice::OTHERS {
            for (unit, netlist) in self.map_again(&late, choice, tools)? {
                found.entry(unit).or_default().push(netlist);
            }
        }
        if found.is_empty() {
            return Ok(());
        }
        let mut excess = self.excess(tools.options)?;
        for (unit, netlists) in found {
            let mut best = (excess, usize::MAX);
            for netlist in netlists {
                let other = std::mem::replace(&mut self.units[unit].netlist, netlist);
                let now = (self.excess(tools.options)?, self.units[unit].netlist.luts());
                if now.0 < excess && now < best {
                    best = now;
                } else {
                    self.units[unit].netlist = other;
                }
            }
            excess = best.0;
        }
        Ok(())
    }

    /// Half levels above the goal, of all end points together.
    fn excess(&self, options: &Options<'_>) -> Result<u64, FitError> {
        let graph = Graph::join(self, options.loads);
        let arrival = Arrival::compute(self, &graph)?;
        let period = (options.levels * LEVEL) as i32;
        let ends = graph.ends.iter().filter_map(|end| arrival.last(end));
        let above = ends.map(|net| (arrival.time[net as usize] - period).max(0) as u64);
        Ok(above.sum())
    }

    /// Units on paths that are too long, with the times at their borders.
    fn late(&self, options: &Options<'_>) -> Result<BTreeMap<usize, Times>, FitError> {
        let graph = Graph::join(self, options.loads);
        let arrival = Arrival::compute(self, &graph)?;
        let period = options.levels * LEVEL;
        Ok(borders::of_units(self, &graph, &arrival, period))
    }

    /// These units, mapped with the times at their borders. One whose instances of other units are not what they were is left out, because those units stay as they are.
    fn map_again(
        &mut self,
        times: &BTreeMap<usize, Times>,
        choice: Choice,
        tools: &Tools<'_>,
    ) -> Result<Vec<(usize, Netlist)>, FitError> {
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
            for _ in 0..tools.options.jobs.max(1) {
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
