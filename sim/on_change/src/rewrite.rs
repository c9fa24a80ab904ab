//! The new text of the functions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::blocks::block;
use crate::copies::{copies, Copy, Target};
use crate::marks::{marks, marks_if, unmarked, GROUP, STRIDE};
use crate::source::{Member, Members};
use crate::usage::Usage;
use crate::{with_parts, HEADER_FILE};

/// Words from which on it is cheaper to ask whether the readers of a value are marked than to compare it.
const WORTH_ASKING: usize = 17;

/// A function that runs behind events.
pub(crate) struct Function {
    pub body: String,
    pub wide_locals: BTreeSet<String>,
    pub usage: Usage,
    pub combinational: bool,
    pub events: Vec<Event>,
}

/// What makes Verilator run functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// An edge of the clock, here of that of one part.
    Edge,
    /// Inputs of this number in the list of held inputs have other values.
    Input(usize),
}

/// When a function runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runs {
    /// Whenever something that it reads has changed.
    OnChange,
    /// At an edge, if something that it reads has changed since it ran.
    AtEdges,
    /// At its events, an edge being always one of all parts.
    AtEvents,
}

/// Which functions make which others run. Functions have the numbers of the order they run in.
pub(crate) struct Plan<'a> {
    /// The functions that have to run again when a signal changes.
    readers: BTreeMap<&'a str, BTreeSet<usize>>,
    pub(crate) runs: Vec<Runs>,
    /// The blocks, each with its functions.
    blocks: BTreeMap<String, Vec<usize>>,
}

impl<'a> Plan<'a> {
    /// A plan for `functions` of a model with these `inputs`.
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
        let mut readers: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        let mut plan = vec![];
        let mut blocks: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (number, function) in functions.iter().enumerate() {
            let usage = &function.usage;
            blocks.entry(block(usage)).or_default().push(number);
            // Combinational code runs behind everything that it reads. What reads a signal first and has it written later sees what was
            // before the event, as registers do; what others write as well, they may write over; and what nobody here writes, nobody here
            // sees change.
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
                readers.entry(signal).or_default().insert(number);
            }
            if runs == Runs::AtEdges {
                // If another function writes the same signal, this one would write over it again.
                for signal in usage.writes.keys() {
                    if let Some(&signal) = shared.get(signal.as_str()) {
                        readers.entry(signal).or_default().insert(number);
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

    /// The names of the blocks, in the order of their times.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &str> {
        self.blocks.keys().map(String::as_str)
    }

    /// The state with room for the marks.
    pub(crate) fn header(&self, header: &str) -> Option<String> {
        let (before, after) = header.split_once("    // DESIGN SPECIFIC STATE\n")?;
        let (top, class) = before.split_once("#include \"verilated.h\"\n")?;
        // At first, all code of registers has to run.
        let at_first = |runs: &Runs| u8::from(*runs == Runs::AtEdges).to_string();
        let at_first: Vec<_> = self.runs.iter().map(at_first).collect();
        Some(format!(
            "{top}#include \"verilated.h\"\n#include \"{HEADER_FILE}\"\n{class}    // Functions that have to run\n    \
             uint8_t stellar_marked[{}] = {{{}}};\n    // What they run for: inputs, one bit for each of the list; an edge\n    \
             uint64_t stellar_inputs = 0;\n    bool stellar_edge = false;\n    // Whether \
             the times of the blocks are added up, and these\n    bool stellar_profiled = false;\n    uint64_t stellar_ticks[{}] = {{}};\n    // DESIGN SPECIFIC STATE\n{after}",
            self.runs.len().next_multiple_of(GROUP * STRIDE),
            at_first.join(", "),
            self.blocks.len()
        ))
    }

    /// The number of the block of each function.
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

    /// The body of function `number`, with the marking of others when what it writes is different.
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
        let mut by_readers: BTreeMap<BTreeSet<usize>, Vec<&str>> = BTreeMap::new();
        for signal in usage.writes.keys() {
            if !matches!(members[signal], Member::Array(_)) && !copied.contains(signal.as_str()) {
                let readers = self.readers_behind(number, function, signal);
                by_readers.entry(readers).or_default().push(signal);
            }
        }
        by_readers.remove(&BTreeSet::new());
        let (before, after) = comparisons(by_readers, members);
        before + &with_parts(&function.body, parts) + &after
    }

    /// Who has to run again after function `number` changed `signal`: the function itself only if it is code of registers that reads what
    /// was before.
    fn readers_behind(&self, number: usize, function: &Function, signal: &str) -> BTreeSet<usize> {
        let mut readers = self.readers.get(signal).cloned().unwrap_or_default();
        let again = self.runs[number] == Runs::AtEdges && function.usage.reads.contains(signal);
        if !again {
            readers.remove(&number);
        }
        readers
    }
}

/// The signals that `copies` write, and no other statements of a function with this `usage`.
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

/// What goes before and behind the statements of a function to mark the readers of the signals that have changed. Very wide signals are
/// compared last, and only while some of their readers are not marked.
fn comparisons(
    by_readers: BTreeMap<BTreeSet<usize>, Vec<&str>>,
    members: &Members,
) -> (String, String) {
    let (mut before, mut narrow, mut wide) = (String::new(), String::new(), String::new());
    let mut changes: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut kept = 0;
    for (group, (readers, signals)) in by_readers.into_iter().enumerate() {
        let (mut values, mut words) = (vec![], vec![]);
        for signal in signals {
            let old = format!("stellar_{kept}");
            kept += 1;
            let kind = match &members[signal] {
                Member::Value(kind) => {
                    values.push(format!("({old} != vlSelf->{signal})"));
                    kind.clone()
                }
                Member::Wide(count) => {
                    let list = if *count < WORTH_ASKING {
                        &mut values
                    } else {
                        &mut words
                    };
                    list.push(format!("stellar_differs({old}, vlSelf->{signal})"));
                    format!("VlWide<{count}>")
                }
                Member::Array(_) => unreachable!("arrays are marked where they are written"),
            };
            let _ = writeln!(before, "    const {kind} {old} = vlSelf->{signal};");
        }
        if !values.is_empty() {
            let changed = format!("stellar_changed_{group}");
            let _ = writeln!(narrow, "    const bool {changed} = {};", values.join(" | "));
            for &reader in &readers {
                changes.entry(reader).or_default().push(changed.clone());
            }
        }
        if !words.is_empty() {
            let _ = writeln!(
                wide,
                "    if ({}) {{ const bool changed = {}; {} }}",
                unmarked(&readers),
                words.join(" | "),
                marks_if("changed", &readers)
            );
        }
    }
    for (reader, changes) in &changes {
        let _ = writeln!(narrow, "    {}", marks_if(&changes.join(" | "), [reader]));
    }
    (before, narrow + &wide)
}
