//! A mapped design: each unit once, from the top down, because a unit decides what the units below are used for.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Condvar, Mutex};

use crate::borders::Times;
use crate::map::Mapper;
use crate::netlist::Netlist;
use crate::source::{Memory, Module, Sources};
use crate::variant::{self, Variant};
use crate::yosys::Choice;
use crate::FitError;

/// How a design is divided into units, in lines of Verilog with everything below. A unit is mapped in one run.
#[derive(Clone, Copy, Debug)]
pub struct Division {
    /// Modules with more lines are mapped without what is below.
    pub largest: usize,
    /// Modules below such a large one that have up to this many lines are mapped together with it.
    pub smallest: usize,
}

impl Default for Division {
    /// A unit takes minutes at most, and the blocks of `docs/area.md` are not divided.
    fn default() -> Self {
        Self {
            largest: 4_000,
            smallest: 200,
        }
    }
}

/// How to map.
pub struct Options<'a> {
    /// Yosys' program.
    pub yosys: &'a str,
    /// Folder with the netlists of earlier runs. It is made if it is not there.
    pub cache: &'a Path,
    /// Runs of Yosys at a time.
    pub jobs: usize,
    /// How a design is divided.
    pub division: Division,
    /// Levels that may lie between registers. Units on longer paths are mapped again, with the times at their borders.
    pub levels: u32,
    /// Loads of a net from which a multiplexer beside the LUTs, if it drives it, is a LUT.
    pub loads: u32,
    /// How often they are.
    pub rounds: u32,
}

impl Options<'_> {
    /// Finds out whether Yosys is there, before anything that takes time.
    ///
    /// # Errors
    /// [`FitError::Missing`], and [`FitError::File`] for the folder.
    pub fn check(&self) -> Result<(), FitError> {
        Mapper::new(self.yosys, self.cache).map(drop)
    }
}

/// A unit that was mapped, as some of its instances use it.
pub(crate) struct MappedUnit {
    pub netlist: Netlist,
    /// Declared memories, with the path of the instance within the unit.
    pub memories: Vec<(String, Memory)>,
    /// Unit of each instance of another unit, in the order of [`variant::of_instances`].
    pub below: Vec<usize>,
    pub key: Key,
}

/// A design of which every unit is mapped.
pub struct Design {
    pub(crate) units: Vec<MappedUnit>,
    /// Runs of Yosys that were needed.
    pub runs: usize,
}

/// What happens while a design is mapped.
pub enum Event<'a> {
    /// Yosys begins with a module, or its netlist is read.
    Begins(&'a str),
    /// A module is done. So many are, of so many that are known by now.
    Done(usize, usize),
}

/// A module, and what an instance of it leaves out.
pub(crate) type Key = (String, Variant);

/// What maps units of a design.
pub(crate) struct Tools<'a> {
    sources: Sources,
    mapper: Mapper,
    pub options: &'a Options<'a>,
    /// Hears of the progress.
    pub tell: &'a (dyn Fn(Event<'_>) + Sync),
}

impl Tools<'_> {
    /// See [`Mapper::map`].
    pub(crate) fn map(
        &self,
        key: &Key,
        times: Option<&Times>,
        choice: Choice,
    ) -> Result<(Netlist, bool), FitError> {
        self.mapper.map(&self.sources, key, times, choice)
    }
}

#[derive(Default)]
struct State {
    keys: HashMap<Key, usize>,
    waiting: Vec<Key>,
    units: Vec<Option<MappedUnit>>,
    done: usize,
    runs: usize,
    error: Option<FitError>,
}

impl State {
    fn number(&mut self, key: Key) -> usize {
        if let Some(&number) = self.keys.get(&key) {
            return number;
        }
        let number = self.units.len();
        self.units.push(None);
        self.keys.insert(key.clone(), number);
        self.waiting.push(key);
        number
    }

    fn is_over(&self) -> bool {
        self.error.is_some() || self.done == self.units.len()
    }
}

impl Design {
    /// Maps `top` and what is below it. `tell` hears of the progress.
    ///
    /// # Errors
    /// [`FitError`] if Yosys is missing or refuses a module, or if the cache cannot be used.
    pub fn map(
        modules: &[Module],
        top: &str,
        options: &Options<'_>,
        tell: &(dyn Fn(Event<'_>) + Sync),
    ) -> Result<Self, FitError> {
        let tools = Tools {
            sources: Sources::new(modules, options.division),
            mapper: Mapper::new(options.yosys, options.cache)?,
            options,
            tell,
        };
        let (state, change) = (Mutex::new(State::default()), Condvar::new());
        let lock = || state.lock().expect("no worker panics with the lock");
        lock().number((top.into(), Variant::default()));
        let work = || loop {
            let mut now = lock();
            let key = loop {
                if now.is_over() {
                    change.notify_all();
                    return;
                }
                match now.waiting.pop() {
                    Some(key) => break key,
                    None => now = change.wait(now).expect("no worker panics with the lock"),
                }
            };
            drop(now);
            tell(Event::Begins(&key.0));
            let mapped = tools.map(&key, None, Choice::Usual);
            let mut now = lock();
            match mapped {
                Ok((netlist, ran)) => {
                    let mut below = vec![];
                    for (cell, variant) in variant::of_instances(&netlist) {
                        below.push(now.number((netlist.kind(cell).to_owned(), variant)));
                    }
                    let number = now.keys[&key];
                    now.units[number] = Some(MappedUnit {
                        memories: tools.sources.memories_inside(&key.0),
                        netlist,
                        below,
                        key,
                    });
                    now.done += 1;
                    now.runs += usize::from(ran);
                }
                Err(error) => now.error = Some(error),
            }
            tell(Event::Done(now.done, now.units.len()));
            change.notify_all();
        };
        std::thread::scope(|scope| {
            for _ in 0..options.jobs.max(1) {
                scope.spawn(work);
            }
        });
        let state = state.into_inner().expect("no worker panics with the lock");
        if let Some(error) = state.error {
            return Err(error);
        }
        let mut design = Self {
            units: state.units.into_iter().flatten().collect(),
            runs: state.runs,
        };
        for _ in 0..options.rounds {
            if !design.refine(&tools)? {
                break;
            }
        }
        if options.rounds > 0 {
            design.try_choices(&tools)?;
        }
        Ok(design)
    }
}
