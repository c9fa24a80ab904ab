//! Generates the new text of the functions.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::blocks::block;
use crate::copies::{copies, Copy, Target};
use crate::locals::localized;
use crate::marks::{marks, marks_if, unmarked, NEAR};
use crate::source::{units, Member, Members};
use crate::usage::Usage;
use crate::{with_parts, HEADER_FILE};

/// A value of at least this many words is compared only if one of its readers is not yet marked. Testing the marks is cheaper than the comparison.
const WORTH_ASKING: usize = 17;

/// A function that Verilator runs at events.
pub(crate) struct Function {
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
    /// For each signal, the functions that have to run again when it changes, with the lowest bit on which each depends.
    readers: BTreeMap<&'a str, BTreeMap<usize, usize>>,
    pub(crate) runs: Vec<Runs>,
    /// The functions of each block, by the name of the block.
    blocks: BTreeMap<String, Vec<usize>>,
}

impl<'a> Plan<'a> {
    /// Makes the plan for `functions` of a model with these `inputs`.
    pub(crate) fn of(functions: &'a [Function], inputs: &BTreeSet<&str>) -> Self {
        let mut last_writers: BTreeMap<&str, usize> = BTreeMap::new();
        let mut shared: BTreeSet<&str> = BTreeSet::new();
        for (number, function) in functions.iter().enumerate() {
            for signal in function.usage.writes.keys() {
                if last_writers.insert(signal, number).is_some() {
                    shared.insert(signal);
                }
            }
        }
        let mut readers: BTreeMap<&str, BTreeMap<usize, usize>> = BTreeMap::new();
        let mut plan = vec![];
        let mut blocks: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (number, function) in functions.iter().enumerate() {
            let usage = &function.usage;
            blocks.entry(block(usage)).or_default().push(number);
            // Combinational code may run on change only if every signal that it reads is written by an earlier function, and if no other function
            // writes the signals that it writes. A function that reads a signal before it is written sees the value from before the event, as a
            // register does. A function whose output is also written by others could overwrite their result. And no rewritten function reports the
            // change of a signal that none of them writes.
            let later = |signal: &String| match last_writers.get(signal.as_str()) {
                Some(writer) => *writer > number,
                None => true,
            };
            let reads = usage.reads.iter().map(String::as_str);
            let alone = !usage.writes.keys().any(|s| shared.contains(s.as_str()));
            let runs = if function.combinational && alone && !usage.reads.iter().any(later) {
                Runs::OnChange
            } else if function.events.iter().all(|event| *event == Event::Edge)
                && !reads.clone().any(|signal| inputs.contains(signal))
            {
                Runs::AtEdges
            } else {
                Runs::AtEvents
            };
            plan.push(runs);
            if runs == Runs::AtEvents {
                continue;
            }
            for signal in reads {
                let of_signal = readers.entry(signal).or_default();
                of_signal.insert(number, usage.lowest_bits[signal]);
            }
            if runs == Runs::AtEdges {
                // If another function also writes the signal, this function has to run again, because its own value must replace the other one.
                for signal in usage.writes.keys() {
                    if let Some(&signal) = shared.get(signal.as_str()) {
                        readers.entry(signal).or_default().insert(number, 0);
                    }
                }
            }
        }
        Self {
            readers,
            runs: plan,
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
        // Initially all code of registers is marked.
        let at_first = |runs: &Runs| u8::from(*runs == Runs::AtEdges).to_string();
        let at_first: Vec<_> = self.runs.iter().map(at_first).collect();
        Some(format!(
            "{top}#include \"verilated.h\"\n#include \"{HEADER_FILE}\"\n{class}    // Functions that have to run\n    \
             uint8_t stellar_marked[{}] = {{{}}};\n    // Why they run: one bit for each event of the held inputs, and a clock edge\n    \
             uint64_t stellar_inputs = 0;\n    bool stellar_edge = false;\n    // Whether \
             a profile is taken, and the time of each block so far\n    bool stellar_profiled = false;\n    uint64_t stellar_ticks[{}] = {{}};\n    // DESIGN SPECIFIC STATE\n{after}",
            self.runs.len().next_multiple_of(NEAR),
            at_first.join(", "),
            self.blocks.len()
        ))
    }

    /// The block number of each function, as a list for C++.
    pub(crate) fn blocks_of_functions(&self) -> String {
        let mut numbers = vec![0; self.runs.len()];
        for (number, functions) in self.blocks.values().enumerate() {
            for function in functions {
                numbers[*function] = number;
            }
        }
        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
        numbers.join(", ")
    }

    /// Returns the new body of function `number`. It marks the readers of the signals that the function changes.
    pub(crate) fn body(&self, number: usize, function: &Function, members: &Members) -> String {
        let usage = &function.usage;
        let copies = copies(&function.body, &function.wide_locals, members);
        let copied = copied_only(&copies, usage);
        let mut parts = vec![];
        for copy in &copies {
            let (to, from, words) = (copy.to_text, copy.from_text, copy.words);
            let plain = format!("stellar_copy<{words}>({to}, {from});");
            let text = match copy.to {
                Target::Signal(signal) if !copied.contains(signal) => continue,
                Target::Signal(signal) => {
                    let readers = self.readers_behind(number, function, signal);
                    let compared = format!(
                        "{{ const bool changed = stellar_copy_differs<{words}>({to}, {from}); {} }}",
                        marks_if("changed", &readers)
                    );
                    if readers.is_empty() {
                        plain
                    } else if words < WORTH_ASKING {
                        compared
                    } else {
                        format!("if ({}) {compared} else {{ {plain} }}", unmarked(&readers))
                    }
                }
                Target::Element(array) => {
                    let readers = self.readers_behind(number, function, array);
                    format!("{} {plain}", marks(&readers))
                }
                Target::Local => plain,
            };
            parts.push((copy.place.clone(), text));
        }
        for (start, array) in &usage.array_writes {
            if !copies.iter().any(|copy| copy.place.contains(start)) {
                let marks = marks(&self.readers_behind(number, function, array));
                parts.push((*start..*start, format!("{marks} ")));
            }
        }
        let mut by_readers: BTreeMap<BTreeSet<usize>, Vec<(&str, usize)>> = BTreeMap::new();
        for signal in usage.writes.keys() {
            if !matches!(members[signal], Member::Array(_)) && !copied.contains(signal.as_str()) {
                for (bit, readers) in self.readers_by_bit(number, function, signal) {
                    by_readers.entry(readers).or_default().push((signal, bit));
                }
            }
        }
        // What stands at the same place keeps this order.
        let mut all = comparisons(by_readers, function, members);
        all.extend(parts);
        localized(&with_parts(&function.body, all), &function.private, members)
    }

    /// Returns the functions that have to run again after function `number` changed `signal`. The function itself is among them only if it is code of
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

    /// Returns the functions that [`Self::readers_behind`] returns by the lowest bit on which they depend.
    ///
    /// Only the readers of a counter are told apart. It changes in every cycle, and functions that depend on its upper bits need not run in every cycle.
    /// For other signals, the additional comparisons would cost more.
    fn readers_by_bit(
        &self,
        number: usize,
        function: &Function,
        signal: &str,
    ) -> BTreeMap<usize, BTreeSet<usize>> {
        let counts = self.runs[number] == Runs::AtEdges && function.usage.reads.contains(signal);
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
        readers.filter(move |&(reader, _)| again || reader != number)
    }
}

/// Returns the signals that only `copies` write. `usage` is that of the whole function.
fn copied_only<'a>(copies: &[Copy<'a>], usage: &Usage) -> BTreeSet<&'a str> {
    let mut words: BTreeMap<&str, usize> = BTreeMap::new();
    for copy in copies {
        if let Target::Signal(signal) = copy.to {
            *words.entry(signal).or_default() += copy.words;
        }
    }
    words.retain(|signal, words| usage.writes[*signal] == *words);
    words.into_keys().collect()
}

/// Returns what is inserted into the body of `function` so that it marks the readers of changed signals.
///
/// A signal's old value is read just before the first statement that writes it, and compared just behind the last one, so that g++ needs to keep it
/// no longer than that. Very wide signals are compared only while one of their readers is not marked.
fn comparisons(
    by_readers: BTreeMap<BTreeSet<usize>, Vec<(&str, usize)>>,
    function: &Function,
    members: &Members,
) -> Vec<(Range<usize>, String)> {
    let units = units(&function.body);
    let unit_at = |place: usize| {
        let unit = units.partition_point(|unit| unit.end <= place);
        units[unit].clone()
    };
    let (mut before, mut behind) = (vec![], vec![]);
    let mut kept = 0;
    for (group, (readers, signals)) in by_readers.into_iter().enumerate() {
        let mut values = vec![];
        for (signal, bit) in signals {
            let (first, last) = function.usage.places[signal];
            let old = format!("stellar_{kept}");
            kept += 1;
            let at = unit_at(last).end;
            let kind = match &members[signal] {
                Member::Value(kind) => {
                    let differs = match bit {
                        0 => format!("({old} != vlSelf->{signal})"),
                        _ => format!("((({old} ^ vlSelf->{signal}) >> {bit}) != 0)"),
                    };
                    values.push((at, differs));
                    kind.clone()
                }
                Member::Wide(count) => {
                    let differs = format!("stellar_differs({old}, vlSelf->{signal})");
                    if *count < WORTH_ASKING {
                        values.push((at, differs));
                    } else {
                        let marks = marks_if("changed", &readers);
                        let unmarked = unmarked(&readers);
                        let text = format!(
                            "\n    if ({unmarked}) {{ const bool changed = {differs}; {marks} }}"
                        );
                        behind.push((at..at, text));
                    }
                    format!("VlWide<{count}>")
                }
                Member::Array(_) => unreachable!("arrays are marked where they are written"),
            };
            let at = unit_at(first).start;
            let keep = format!("\n    const {kind} {old} = vlSelf->{signal};");
            before.push((at..at, keep));
        }
        values.sort_by_key(|(at, _)| *at);
        let changed = format!("stellar_changed_{group}");
        let count = values.len();
        for (number, (at, differs)) in values.into_iter().enumerate() {
            let mut text = match number {
                0 => format!("\n    bool {changed} = {differs};"),
                _ => format!("\n    {changed} |= {differs};"),
            };
            if number + 1 == count {
                text += &format!(" {}", marks_if(&changed, &readers));
            }
            behind.push((at..at, text));
        }
    }
    behind.extend(before);
    behind
}
