//! Decides when each function runs, and which functions it marks.

use std::collections::{BTreeMap, BTreeSet};

use crate::batches::{batches, Batches, Scheduled};
use crate::blocks::block;
use crate::marks::NEAR;
use crate::restless::{guards, restless, Guards};
use crate::source::{Members, STATE};
use crate::usage::Usage;
use crate::HEADER_FILE;

/// A function that Verilator runs at events.
pub(crate) struct Function {
    pub name: String,
    /// What is in front of its statements.
    pub head: String,
    pub body: String,
    /// The signals that become its local variables.
    pub private: BTreeSet<String>,
    pub wide_locals: BTreeSet<String>,
    pub usage: Usage,
    pub combinational: bool,
    pub events: Vec<Event>,
}

/// An event at which Verilator runs functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A clock edge. In a gated model it is an edge of one part's clock.
    Edge,
    /// A change of held inputs, with the position in the list of held inputs.
    Input(usize),
}

/// The condition under which a function runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runs {
    /// The function runs when a signal that it reads has changed.
    OnChange,
    /// The function runs at a clock edge if a signal that it reads has changed since it last ran.
    AtEdges,
    /// The function runs at each of its events. An edge of any part counts as an edge of all parts.
    AtEvents,
}

/// Decides when each function runs and which functions it marks. A function's number is its position in Verilator's order.
pub(crate) struct Plan<'a> {
    /// The marks of functions.
    pub(crate) batches: Batches,
    /// For each signal, the marks of functions that have to run again when it changes, with the lowest bit on which each depends.
    readers: BTreeMap<&'a str, BTreeMap<usize, usize>>,
    /// For each restless signal, the marks of functions that read it under a condition. They are not marked when it changes.
    unmarked: BTreeMap<&'a str, BTreeSet<usize>>,
    restless: BTreeSet<&'a str>,
    /// The places in each function where it marks itself.
    pub(crate) own_marks: Vec<BTreeSet<usize>>,
    pub(crate) runs: Vec<Runs>,
    /// The marks of each block, by the name of the block.
    blocks: BTreeMap<String, Vec<usize>>,
}

impl<'a> Plan<'a> {
    /// Makes the plan for `functions` of a model with these `inputs`. `pairs` are the first functions of pairs.
    pub(crate) fn of(
        functions: &'a [Function],
        inputs: &BTreeSet<&str>,
        members: &Members,
        pairs: &BTreeSet<usize>,
    ) -> Self {
        let bodies: Vec<&str> = functions.iter().map(|f| f.body.as_str()).collect();
        let restless = restless(&bodies, members);
        let mut writers: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for (number, function) in functions.iter().enumerate() {
            for signal in function.usage.writes.keys() {
                writers.entry(signal).or_default().insert(number);
            }
        }
        let runs: Vec<Runs> = functions
            .iter()
            .enumerate()
            .map(|(number, function)| runs(number, function, inputs, &writers))
            .collect();
        let guards: Vec<Guards> = functions
            .iter()
            .zip(&runs)
            .map(|(function, runs)| match runs {
                Runs::AtEvents => Guards::default(),
                _ => guards(&function.body, &function.usage, &restless),
            })
            .collect();
        let triggers: Vec<BTreeSet<usize>> = functions
            .iter()
            .zip(&guards)
            .map(|(function, guards)| {
                let reads = function.usage.reads.iter();
                let marking = reads.filter(|signal| !guards.signals.contains(*signal));
                let writers = marking.filter_map(|signal| writers.get(signal.as_str()));
                writers.flatten().copied().collect()
            })
            .collect();
        let size = |function: &Function| function.body.matches(STATE).count();
        let sizes: Vec<usize> = functions.iter().map(size).collect();
        let batches = batches(&Scheduled {
            runs: &runs,
            triggers: &triggers,
            sizes: &sizes,
            pairs,
        });
        let mut readers: BTreeMap<&str, BTreeMap<usize, usize>> = BTreeMap::new();
        let mut unmarked: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        let mut own_marks = vec![];
        let mut blocks: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (number, (function, guards)) in functions.iter().zip(guards).enumerate() {
            let (usage, mark) = (&function.usage, batches.mark_of[number]);
            blocks.entry(block(usage)).or_default().push(mark);
            own_marks.push(guards.places);
            if runs[number] == Runs::AtEvents {
                continue;
            }
            for signal in &usage.reads {
                if guards.signals.contains(signal.as_str()) {
                    unmarked.entry(signal).or_default().insert(mark);
                    continue;
                }
                let of_signal = readers.entry(signal).or_default();
                let bit = of_signal.entry(mark).or_insert(usage.lowest_bits[signal]);
                *bit = usage.lowest_bits[signal].min(*bit);
            }
            if runs[number] == Runs::AtEdges {
                // If another function also writes the signal, this function has to run again, because its own value must replace the other one.
                let shared = |signal: &&String| writers[signal.as_str()].len() > 1;
                for signal in usage.writes.keys().filter(shared) {
                    readers.entry(signal).or_default().insert(mark, 0);
                }
            }
        }
        Self {
            batches,
            readers,
            unmarked,
            restless,
            own_marks,
            runs,
            blocks,
        }
    }

    /// The names of the blocks, in the order of their times in the model's state.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &str> {
        self.blocks.keys().map(String::as_str)
    }

    /// Returns the header of the model's state with members for the marks added. Returns `None` if the header has another form than expected.
    pub(crate) fn header(&self, header: &str) -> Option<String> {
        let (before, after) = header.split_once("    // DESIGN SPECIFIC STATE\n")?;
        let (top, class) = before.split_once("#include \"verilated.h\"\n")?;
        // Initially all code of registers is marked, and what would have marked itself when the model was set up.
        let at_first = |function: &usize| {
            self.runs[*function] == Runs::AtEdges || !self.own_marks[*function].is_empty()
        };
        let of_batch = |batch: &Vec<usize>| u8::from(batch.iter().any(at_first)).to_string();
        let at_first: Vec<_> = self.batches.functions.iter().map(of_batch).collect();
        Some(format!(
            "{top}#include \"verilated.h\"\n#include \"{HEADER_FILE}\"\n{class}    // Functions that have to run\n    \
             uint8_t stellar_marked[{}] = {{{}}};\n    // Why they run: one bit for each event of the held inputs, and a clock edge\n    \
             uint64_t stellar_inputs = 0;\n    bool stellar_edge = false;\n    // Whether \
             a profile is taken, and the time of each block so far\n    bool stellar_profiled = false;\n    uint64_t stellar_ticks[{}] = {{}};\n    // DESIGN SPECIFIC STATE\n{after}",
            self.batches.functions.len().next_multiple_of(NEAR),
            at_first.join(", "),
            self.blocks.len()
        ))
    }

    /// The block number of each mark, as a list for C++.
    pub(crate) fn blocks_of_marks(&self) -> String {
        let mut numbers = vec![0; self.batches.functions.len()];
        for (number, marks) in self.blocks.values().enumerate() {
            for mark in marks {
                numbers[*mark] = number;
            }
        }
        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
        numbers.join(", ")
    }

    /// Returns the marks of the functions that have to run again after function `number` changed `signal`. Its own is among them only if it is code of
    /// registers that reads the signal's previous value.
    pub(crate) fn readers_behind(
        &self,
        number: usize,
        function: &Function,
        signal: &str,
    ) -> BTreeSet<usize> {
        let bits = self.bits_behind(number, function, signal);
        bits.map(|(reader, _)| reader).collect()
    }

    /// Returns the marks of the functions that read `signal`, whether they are set when it changes or not.
    pub(crate) fn all_readers_behind(
        &self,
        number: usize,
        function: &Function,
        signal: &str,
    ) -> BTreeSet<usize> {
        let mut readers = self.readers_behind(number, function, signal);
        readers.extend(self.unmarked.get(signal).into_iter().flatten());
        readers
    }

    /// Returns the marks that [`Self::readers_behind`] returns by the lowest bit on which their functions depend.
    ///
    /// Only the readers of a restless signal are told apart. It changes in every cycle, and functions that depend on its upper bits need not run in every cycle.
    /// For other signals, the additional comparisons would cost more.
    pub(crate) fn readers_by_bit(
        &self,
        number: usize,
        function: &Function,
        signal: &str,
    ) -> BTreeMap<usize, BTreeSet<usize>> {
        let counts = self.restless.contains(signal);
        let mut by_bit: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (reader, bit) in self.bits_behind(number, function, signal) {
            let bit = if counts { bit } else { 0 };
            by_bit.entry(bit).or_default().insert(reader);
        }
        by_bit
    }

    fn bits_behind<'b>(
        &'b self,
        number: usize,
        function: &Function,
        signal: &str,
    ) -> impl Iterator<Item = (usize, usize)> + 'b {
        let again = self.runs[number] == Runs::AtEdges && function.usage.reads.contains(signal);
        let readers = self.readers.get(signal).into_iter().flatten();
        let readers = readers.map(|(&reader, &bit)| (reader, bit));
        let own = self.batches.mark_of[number];
        readers.filter(move |&(reader, _)| again || reader != own)
    }
}

/// Returns when function `number` runs, of a model with these `inputs`. `writers` are the functions that write each signal.
fn runs(
    number: usize,
    function: &Function,
    inputs: &BTreeSet<&str>,
    writers: &BTreeMap<&str, BTreeSet<usize>>,
) -> Runs {
    let usage = &function.usage;
    // Combinational code may run on change only if every signal that it reads is written by an earlier function, and if no other function
    // writes the signals that it writes. A function that reads a signal before it is written sees the value from before the event, as a
    // register does. A function whose output is also written by others could overwrite their result. And no rewritten function reports the
    // change of a signal that none of them writes.
    let later = |signal: &String| {
        let last = writers.get(signal.as_str()).and_then(BTreeSet::last);
        last.is_none_or(|writer| *writer > number)
    };
    let alone = |signal: &String| writers[signal.as_str()].len() == 1;
    let is_edge = |event: &Event| *event == Event::Edge;
    let is_input = |signal: &String| inputs.contains(signal.as_str());
    if function.combinational && usage.writes.keys().all(alone) && !usage.reads.iter().any(later) {
        Runs::OnChange
    } else if function.events.iter().all(is_edge) && !usage.reads.iter().any(is_input) {
        Runs::AtEdges
    } else {
        Runs::AtEvents
    }
}
