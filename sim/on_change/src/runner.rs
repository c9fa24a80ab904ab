//! Generates the function that runs the marked functions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::marks::{marks, GROUP, STRIDE};
use crate::rewrite::{Event, Function, Plan, Runs};

impl Plan<'_> {
    /// Returns the body of the function that runs the marked ones of the functions `names`.
    ///
    /// It makes one pass in Verilator's order. Combinational code marks only later functions, so it needs no second pass. A function may stay marked
    /// until the next pass in two cases: it waits for an edge and this pass has none, or it comes before the function that marked it.
    pub(crate) fn runner(&self, names: &[&str], functions: &[Function]) -> String {
        let mut body = String::new();
        for name in names {
            let _ = writeln!(body, "    void {name}(Vmodel___024root* vlSelf);");
        }
        for (condition, functions) in self.by_event(functions) {
            let _ = writeln!(body, "    if ({condition}) {{ {} }}", marks(&functions));
        }
        let _ = write!(
            body,
            "    uint8_t* const marked = vlSelf->stellar_marked;\n    \
             if (vlSelf->stellar_edge && !vlSelf->stellar_profiled) {{\n{}    }} else {{\n{}    }}\n    \
             vlSelf->stellar_inputs = 0;\n    vlSelf->stellar_edge = false;\n",
            all_in_turn(names),
            self.search(names),
        );
        body
    }

    /// Returns the functions that run at each of their events, grouped by the C++ condition of the event.
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
                by_event.entry(condition).or_default().insert(number);
            }
        }
        by_event
    }

    /// Generates the search for marked functions. It is used for passes in which few functions are marked, and for profiles.
    fn search(&self, names: &[&str]) -> String {
        let at_once: Vec<_> = self.runs.chunks(GROUP).map(at_once).collect();
        format!(
            "        static void (*const functions[])(Vmodel___024root*) = {{{}}};\n        \
             // Functions that do not wait for an edge\n        \
             static const uint64_t at_once[{}] = {{{}}};\n        \
             static const uint16_t block_of[] = {{{}}};\n        \
             const uint64_t all = vlSelf->stellar_edge ? ~uint64_t{{0}} : 0;\n        \
             for (std::size_t first = 0; first < {}; first += {STRIDE}) {{\n            \
             if (!stellar_any<{STRIDE}>(marked + first * {GROUP}, at_once + first, all)) continue;\n            \
             for (std::size_t group = first; group < first + {STRIDE}; ++group) {{\n                \
             uint64_t left = at_once[group] | all;\n                \
             while (uint64_t now = stellar_group(marked + group * {GROUP}) & left) {{\n                    \
             const int place = __builtin_ctzll(now) / 8;\n                    \
             const std::size_t number = group * {GROUP} + place;\n                    \
             marked[number] = 0;\n                    \
             left &= ~uint64_t{{0xff}} << 8 * place;\n                    \
             const uint64_t began = vlSelf->stellar_profiled ? stellar_now() : 0;\n                    \
             functions[number](vlSelf);\n                    \
             if (vlSelf->stellar_profiled) vlSelf->stellar_ticks[block_of[number]] += stellar_now() - began;\n                \
             }}\n            }}\n        }}\n",
            names.join(",\n"),
            at_once.len().next_multiple_of(STRIDE),
            at_once.join(", "),
            self.blocks_of_functions(),
            at_once.len(),
        )
    }
}

/// Selects the functions of a group that run without an edge: 0xff in the byte of each of their marks.
fn at_once(group: &[Runs]) -> String {
    let byte = |(place, runs): (usize, &Runs)| match runs {
        Runs::AtEdges => 0,
        Runs::OnChange | Runs::AtEvents => 0xff << (8 * place),
    };
    let bytes: u64 = group.iter().enumerate().map(byte).sum();
    format!("{bytes:#x}ULL")
}

/// Generates a test and a direct call for each function in turn. At an edge many functions are marked, and processors predict direct calls better
/// than calls through a table.
fn all_in_turn(names: &[&str]) -> String {
    let mut text = String::new();
    for (group, names) in names.chunks(GROUP).enumerate() {
        let first = group * GROUP;
        let _ = writeln!(text, "        if (stellar_group(marked + {first})) {{");
        for (number, name) in (first..).zip(names) {
            let _ = writeln!(
                text,
                "            if (marked[{number}]) {{ marked[{number}] = 0; {name}(vlSelf); }}"
            );
        }
        text += "        }\n";
    }
    text
}
