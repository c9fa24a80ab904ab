//! Units on paths that are too long are mapped again: ABC hears the times at their borders.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::arrival::Arrival;
use crate::borders::{self, Times};
use crate::cells::LEVEL;
use crate::design::{Design, Event, Options};
use crate::graph::Graph;
use crate::map::Mapper;
use crate::netlist::Netlist;
use crate::source::Sources;
use crate::variant;
use crate::FitError;

impl Design {
    /// Maps them once more. Returns whether there were any.
    ///
    /// # Errors
    /// Those of [`Design::map`], and [`FitError::Loop`].
    pub(crate) fn refine(
        &mut self,
        sources: &Sources,
        mapper: &Mapper,
        options: &Options<'_>,
        tell: &(dyn Fn(Event<'_>) + Sync),
    ) -> Result<bool, FitError> {
        let graph = Graph::join(self, options.loads);
        let arrival = Arrival::compute(self, &graph)?;
        let times = borders::of_units(self, &graph, &arrival, options.levels * LEVEL);
        let netlists = self.map_again(&times, sources, mapper, options, tell)?;
        for (unit, netlist, ran) in netlists {
            self.runs += usize::from(ran);
            let unit = &mut self.units[unit];
            // The units below stay as they are, so the instances have to be what they were.
            if instances(&netlist) == instances(&unit.netlist) {
                unit.netlist = netlist;
            }
        }
        Ok(!times.is_empty())
    }

    fn map_again(
        &self,
        times: &BTreeMap<usize, Times>,
        sources: &Sources,
        mapper: &Mapper,
        options: &Options<'_>,
        tell: &(dyn Fn(Event<'_>) + Sync),
    ) -> Result<Vec<(usize, Netlist, bool)>, FitError> {
        let times_count = times.len();
        let waiting = Mutex::new(times.iter());
        let done = Mutex::new(vec![]);
        let work = || loop {
            let next = waiting
                .lock()
                .expect("no worker panics with the lock")
                .next();
            let Some((&unit, times)) = next else { return };
            let (module, variant) = &self.units[unit].key;
            tell(Event::Begins(module));
            let mapped = mapper.map(sources, module, variant, Some(times));
            let mut done = done.lock().expect("no worker panics with the lock");
            done.push(mapped.map(|(netlist, ran)| (unit, netlist, ran)));
            tell(Event::Done(done.len(), times_count));
        };
        std::thread::scope(|scope| {
            for _ in 0..options.jobs.max(1) {
                scope.spawn(work);
            }
        });
        done.into_inner()
            .expect("no worker panics with the lock")
            .into_iter()
            .collect()
    }
}

/// Name, module and use of each instance of another unit.
fn instances(netlist: &Netlist) -> Vec<(Option<&str>, &str, variant::Variant)> {
    let all = variant::of_instances(netlist).into_iter();
    all.map(|(cell, variant)| (cell.name.as_deref(), netlist.kind(cell), variant))
        .collect()
}
