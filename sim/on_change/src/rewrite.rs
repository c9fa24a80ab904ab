//! Generates the new text of the functions.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::copies::{copies, Copy, Target};
use crate::locals::localized;
use crate::marks::{marks, marks_if, unmarked};
use crate::plan::{Function, Plan};
use crate::source::{units, Member, Members};
use crate::usage::Usage;
use crate::with_parts;

/// A value of at least this many words is compared only if one of its readers is not yet marked. Testing the marks is cheaper than the comparison.
const WORTH_ASKING: usize = 17;

impl Plan<'_> {
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
        let mut all = self.own_marks(number);
        all.extend(comparisons(by_readers, function, members));
        all.extend(parts);
        localized(&with_parts(&function.body, all), &function.private, members)
    }

    /// Returns what is inserted into the body of function `number` so that it marks itself while it follows a restless signal.
    fn own_marks(&self, number: usize) -> Vec<(Range<usize>, String)> {
        let mark = format!(" {}", marks(&[self.batches.mark_of[number]].into()));
        let places = self.own_marks[number].iter();
        places.map(|&at| (at..at, mark.clone())).collect()
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
