//! Generates the function that runs the marked functions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::marks::{marks, GROUP, HALF, NEAR};
use crate::plan::{Event, Function, Plan, Runs};
use crate::shared::{locals, Callee};

impl Plan<'_> {
    /// Returns the body of the function that runs the marked ones of `functions`, which are called as `callees`.
    ///
    /// It makes one pass in the order of the schedule. Combinational code marks only later functions, so it needs no second pass. A function may stay marked
    /// until the next pass in two cases: it waits for an edge and this pass has none, or it comes before the function that marked it.
    pub(crate) fn runner(&self, callees: &[Callee], functions: &[Function]) -> String {
        let call =
            |batch: &Vec<usize>| batch.iter().map(|&number| callees[number].call()).collect();
        let calls: Vec<String> = self.batches.functions.iter().map(call).collect();
        let mut body = String::new();
        let declarations: BTreeSet<String> = callees.iter().map(Callee::declaration).collect();
        for declaration in declarations {
            let _ = writeln!(body, "    {declaration}");
        }
        for (condition, functions) in self.by_event(functions) {
            let _ = writeln!(body, "    if ({condition}) {{ {} }}", marks(&functions));
        }
        let _ = write!(
            body,
            "{}    uint8_t* at;\n    \
             if (vlSelf->stellar_profiled) {{\n{}    }} else if (vlSelf->stellar_edge) {{\n{}    }} else {{\n{}    }}\n    \
             vlSelf->stellar_inputs = 0;\n    vlSelf->stellar_edge = false;\n",
            locals(callees.iter().any(|callee| callee.side.is_some())),
            self.profiled(&calls),
            in_turn(&calls, &(0..calls.len()).collect()),
            in_turn(&calls, &self.behind_inputs(functions)),
        );
        body
    }

    /// Returns the marks of the functions that run at each of their events, grouped by the C++ condition of the event.
    fn by_event(&self, functions: &[Function]) -> BTreeMap<String, BTreeSet<usize>> {
        let mut by_event: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for (number, function) in functions.iter().enumerate() {
            if self.runs[number] != Runs::AtEvents {
                continue;
            }
            for event in &function.events {
                let condition = match event {
                    Event::Edge => "vlSelf->stellar_edge".into(),
                    Event::Input(input) => format!("vlSelf->stellar_inputs >> {input} & 1"),
                };
                by_event
                    .entry(condition)
                    .or_default()
                    .insert(self.batches.mark_of[number]);
            }
        }
        by_event
    }

    /// Returns the marks of the functions that can run without an edge: those that run at events of held inputs, and combinational code that depends on what these
    /// write. No other combinational code is marked then, because it ran in the pass that marked it, unless it marked itself to follow a restless signal.
    fn behind_inputs(&self, functions: &[Function]) -> BTreeSet<usize> {
        let mut behind = BTreeSet::new();
        for (mark, batch) in self.batches.functions.iter().enumerate() {
            let is_input = |event: &Event| matches!(event, Event::Input(_));
            let at_inputs = |&number: &usize| {
                let events = &functions[number].events;
                self.runs[number] == Runs::AtEvents && events.iter().any(is_input)
            };
            if batch.iter().any(at_inputs) {
                behind.insert(mark);
            }
            if !behind.contains(&mark) {
                continue;
            }
            for &number in batch {
                for signal in functions[number].usage.writes.keys() {
                    let readers = self.all_readers_behind(number, &functions[number], signal);
                    let now = |reader: &usize| self.runs_of(*reader) == Runs::OnChange;
                    behind.extend(readers.into_iter().filter(now));
                }
            }
        }
        behind
    }

    /// When the functions of a mark run.
    fn runs_of(&self, mark: usize) -> Runs {
        self.runs[self.batches.functions[mark][0]]
    }

    /// Generates the pass of a profile. It calls the functions one by one, because it needs the block of each.
    fn profiled(&self, calls: &[String]) -> String {
        let waits = |mark| u8::from(self.runs_of(mark) == Runs::AtEdges).to_string();
        let waits: Vec<_> = (0..calls.len()).map(waits).collect();
        let cases = calls.iter().enumerate();
        let cases = cases.map(|(mark, calls)| format!("case {mark}: {calls} break;\n"));
        format!(
            "        // Functions that wait for an edge\n        \
             static const bool waits[] = {{{}}};\n        \
             static const uint16_t block_of[] = {{{}}};\n        \
             for (std::size_t first = 0; first < {}; first += {GROUP}) {{\n            \
             if (!stellar_group(marked + first)) continue;\n            \
             for (std::size_t number = first; number < first + {GROUP}; ++number) {{\n                \
             if (!marked[number] || (waits[number] && !vlSelf->stellar_edge)) continue;\n                \
             marked[number] = 0;\n                \
             const uint64_t began = stellar_now();\n                \
             switch (number) {{\n{}                }}\n                \
             vlSelf->stellar_ticks[block_of[number]] += stellar_now() - began;\n            \
             }}\n        }}\n",
            waits.join(", "),
            self.blocks_of_marks(),
            calls.len(),
            cases.collect::<String>(),
        )
    }
}

/// Generates for each of `marks` in turn a test and its `calls`, which are direct. Processors predict direct calls better than calls through a table.
///
/// All of this code runs in every cycle, so its size counts: the marks are reached from a pointer that moves along, with distances of one byte.
fn in_turn(calls: &[String], marks: &BTreeSet<usize>) -> String {
    let mut text = String::new();
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &mark in marks {
        groups.entry(mark / GROUP).or_default().push(mark);
    }
    // The distances have a sign, so the pointer is at the mark in the middle.
    let middle = |mark: usize| mark - mark % NEAR + NEAR / 2;
    let at = |mark: usize| match mark.checked_sub(middle(mark)) {
        Some(behind) => format!("at[{behind}]"),
        None => format!("at[-{}]", middle(mark) - mark),
    };
    let mut near = None;
    for (group, marks) in groups {
        let first = group * GROUP;
        let middle = middle(first);
        if near.replace(middle) != Some(middle) {
            let _ = writeln!(text, "        at = stellar_near(marked + {middle});");
        }
        let any = format!("stellar_group(&{})", at(first));
        let bytes = marks.iter().map(|mark| 0xff << (8 * (mark % GROUP)));
        let _ = match bytes.sum() {
            u64::MAX => writeln!(text, "        if (stellar_any({any})) {{"),
            these => writeln!(text, "        if (stellar_any({any} & {these:#x}ULL)) {{"),
        };
        // Most groups have one mark that is set, so half of the tests can be left out.
        let mut halves: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for mark in marks {
            halves.entry(mark / HALF * HALF).or_default().push(mark);
        }
        for (first, marks) in halves {
            let whole = marks.len() == HALF;
            if whole {
                let _ = writeln!(text, "            if (stellar_half(&{})) {{", at(first));
            }
            for mark in marks {
                let calls = &calls[mark];
                let _ = match calls.matches(';').count() {
                    1 => writeln!(text, "            if (stellar_take({})) {calls}", at(mark)),
                    _ => writeln!(
                        text,
                        "            if (stellar_take({})) {{ {calls} }}",
                        at(mark)
                    ),
                };
            }
            if whole {
                text += "            }\n";
            }
        }
        text += "        }\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_tests_each_of_its_functions() {
        let call = |mark: usize| match mark {
            3 => "f3(vlSelf);g3(vlSelf);".to_owned(),
            _ => format!("f{mark}(vlSelf);"),
        };
        let calls: Vec<String> = (0..300).map(call).collect();
        let some = in_turn(&calls, &[2, 3, 130, 299].into());
        let expected = "        at = stellar_near(marked + 128);
        if (stellar_any(stellar_group(&at[-128]) & 0xffff0000ULL)) {
            if (stellar_take(at[-126])) f2(vlSelf);
            if (stellar_take(at[-125])) { f3(vlSelf);g3(vlSelf); }
        }
        if (stellar_any(stellar_group(&at[0]) & 0xff0000ULL)) {
            if (stellar_take(at[2])) f130(vlSelf);
        }
        at = stellar_near(marked + 384);
        if (stellar_any(stellar_group(&at[-88]) & 0xff000000ULL)) {
            if (stellar_take(at[-85])) f299(vlSelf);
        }
";
        assert_eq!(some, expected);
        let all = in_turn(&calls[..16], &(0..16).collect());
        assert_eq!(
            all.matches(") {\n").count(),
            6,
            "two groups of two halves each have no selection: {all}"
        );
        assert_eq!(all.matches("stellar_take").count(), 16);
    }
}
