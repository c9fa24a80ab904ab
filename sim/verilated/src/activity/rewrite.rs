//! The new text of the functions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::source::{Member, Members};
use super::usage::Usage;
use super::HEADER_FILE;

/// A function that runs behind events.
pub(super) struct Function<'a> {
    pub body: &'a str,
    pub usage: Usage,
    pub combinational: bool,
    pub events: &'a [usize],
}

/// Which functions make which others run. Functions have the numbers of the order they run in.
pub(super) struct Plan<'a> {
    /// The functions that have to look again when a signal changes.
    readers: BTreeMap<&'a str, Vec<usize>>,
    /// How many functions there are.
    functions: usize,
    /// Which of them run at each of their events.
    at_events: Vec<bool>,
}

/// Bits of a word of marks.
const WORD: usize = 64;

impl<'a> Plan<'a> {
    pub(super) fn of(functions: &'a [Function<'_>]) -> Self {
        let mut last_writers: BTreeMap<&str, usize> = BTreeMap::new();
        for (number, function) in functions.iter().enumerate() {
            for signal in &function.usage.writes {
                last_writers.insert(signal, number);
            }
        }
        let mut readers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut at_events = vec![];
        for (number, function) in functions.iter().enumerate() {
            // Combinational code runs behind everything that it reads. What reads a signal first and has it written later sees what was
            // before the event, as registers do; and what nobody here writes, nobody here sees change.
            let later = |signal: &String| match last_writers.get(signal.as_str()) {
                Some(writer) => *writer > number,
                None => true,
            };
            let on_change = function.combinational && !function.usage.reads.iter().any(later);
            at_events.push(!on_change);
            if on_change {
                for signal in &function.usage.reads {
                    readers.entry(signal).or_default().push(number);
                }
            }
        }
        Self {
            readers,
            functions: functions.len(),
            at_events,
        }
    }

    /// The state with room for the marks.
    pub(super) fn header(&self, header: &str) -> Option<String> {
        let (before, after) = header.split_once("    // DESIGN SPECIFIC STATE\n")?;
        let (top, class) = before.split_once("#include \"verilated.h\"\n")?;
        let words = self.functions.div_ceil(WORD);
        Some(format!(
            "{top}#include \"verilated.h\"\n#include \"{HEADER_FILE}\"\n{class}    // Functions that have to run, one bit each\n    \
             uint64_t stellar_marked[{words}] = {{}};\n    // DESIGN SPECIFIC STATE\n{after}"
        ))
    }

    /// The body of function `number`, with the marking of others when what it writes is different.
    pub(super) fn body(&self, number: usize, function: &Function<'_>, members: &Members) -> String {
        let mut by_readers: BTreeMap<Vec<usize>, Vec<&str>> = BTreeMap::new();
        for signal in &function.usage.writes {
            if members[signal] != Member::Array {
                let readers = self.readers_behind(number, signal);
                by_readers.entry(readers).or_default().push(signal);
            }
        }
        by_readers.remove(&vec![]);
        let (mut before, mut after) = (String::new(), String::new());
        let mut kept = 0;
        for (readers, signals) in &by_readers {
            let mut differs = vec![];
            for signal in signals {
                let old = format!("stellar_{kept}");
                kept += 1;
                let (kind, test) = match &members[*signal] {
                    Member::Value(kind) => (kind.clone(), format!("({old} != vlSelf->{signal})")),
                    Member::Wide(words) => (
                        format!("VlWide<{words}>"),
                        format!("stellar_differs({old}, vlSelf->{signal})"),
                    ),
                    Member::Array => unreachable!("arrays are left out above"),
                };
                let _ = writeln!(before, "    const {kind} {old} = vlSelf->{signal};");
                differs.push(test);
            }
            let _ = writeln!(
                after,
                "    if ({}) {{ {} }}",
                differs.join(" | "),
                marks(readers)
            );
        }
        let mut body = before;
        let mut at = 0;
        for (start, array) in &function.usage.array_writes {
            body += &function.body[at..*start];
            body += &marks(&self.readers_behind(number, array));
            body.push(' ');
            at = *start;
        }
        body + &function.body[at..] + &after
    }

    /// Who reads `signal`, but for function `number` itself, which may write.
    fn readers_behind(&self, number: usize, signal: &str) -> Vec<usize> {
        let readers = self.readers.get(signal).into_iter().flatten();
        readers
            .copied()
            .filter(|reader| *reader != number)
            .collect()
    }

    /// The body of the function that runs the functions with these `names`.
    pub(super) fn dispatcher(&self, names: &[&str], functions: &[Function<'_>]) -> String {
        let mut by_event: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (number, function) in functions.iter().enumerate() {
            if self.at_events[number] {
                for event in function.events {
                    by_event.entry(*event).or_default().insert(number);
                }
            }
        }
        let mut body = String::new();
        for name in names {
            let _ = writeln!(body, "    void {name}(Vmodel___024root* vlSelf);");
        }
        let _ = writeln!(
            body,
            "    static void (*const functions[])(Vmodel___024root*) = {{\n{}}};",
            names.join(",\n")
        );
        let (mut marks, mut first) = (String::new(), vec![0]);
        for event in 0..=by_event.keys().copied().max().unwrap_or(0) {
            let words = words(by_event.get(&event).into_iter().flatten().copied());
            for (word, bits) in &words {
                let _ = write!(marks, "{{{word}, {bits:#x}ULL}}, ");
            }
            first.push(first[event] + words.len());
        }
        let _ = write!(
            body,
            "    static const struct {{ std::size_t word; uint64_t bits; }} at_events[] = {{{marks}}};\n    \
             static const uint16_t first[] = {{{}}};\n    \
             vlSelf->__VnbaTriggered.each([&](std::size_t event) {{\n        \
             if (event >= {}) return;\n        \
             for (std::size_t i = first[event]; i < first[event + 1]; ++i)\n            \
             vlSelf->stellar_marked[at_events[i].word] |= at_events[i].bits;\n    }});\n",
            first.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
            first.len() - 1
        );
        // A function marks functions behind it only, so one pass is enough.
        let _ = write!(
            body,
            "    for (std::size_t word = 0; word < {}; ++word) {{\n        \
             uint64_t& marked = vlSelf->stellar_marked[word];\n        \
             while (marked) {{\n            \
             const std::size_t number = word * {WORD} + __builtin_ctzll(marked);\n            \
             marked &= marked - 1;\n            \
             functions[number](vlSelf);\n        }}\n    }}\n",
            self.functions.div_ceil(WORD)
        );
        body
    }
}

/// Statements that mark functions.
fn marks(functions: &[usize]) -> String {
    let mark = |(word, bits)| format!("vlSelf->stellar_marked[{word}] |= {bits:#x}ULL;");
    let words = words(functions.iter().copied());
    words.into_iter().map(mark).collect::<Vec<_>>().join(" ")
}

/// The marks of functions, as bits of words.
fn words(functions: impl Iterator<Item = usize>) -> BTreeMap<usize, u64> {
    let mut words: BTreeMap<usize, u64> = BTreeMap::new();
    for function in functions {
        *words.entry(function / WORD).or_default() |= 1 << (function % WORD);
    }
    words
}
