//! Splits a function of Verilator into parts that depend on different signals.
//!
//! Verilator puts the registers of a clock, and what follows from them, into one function. A wide register that keeps its value is then copied and
//! compared whenever another register of its module changes. As a part of its own it is left alone.

use std::collections::{BTreeMap, BTreeSet};

use crate::heads::{declared, words};
use crate::order::Order;
use crate::source::{self, number, statements, Members, Statement};
use crate::usage::{usage, Usage};

/// Statements with at least this many words of work become a part of their own. Finding and calling one more function has to be worth it.
const WORTH_A_PART: usize = 256;
/// The work of a call of Verilator's functions for wide values, in words.
const CALL: usize = 16;
/// Verilator's index variable of loops over words. Each loop sets it first.
const INDEX: &str = "__Vilp";

/// The function whose statements are split.
pub(crate) struct Whole<'a> {
    /// What is in front of the statements. It declares the local variables.
    pub head: &'a str,
    pub body: &'a str,
    pub combinational: bool,
    /// The signals that become local variables.
    pub private: BTreeSet<String>,
}

/// Returns the name of a part of `function`. The first part has the name of the whole.
pub(crate) fn name(function: &str, part: usize) -> String {
    match part {
        0 => function.to_owned(),
        _ => format!("{function}__part{part}"),
    }
}

/// Statements that stay together: one statement outside of all blocks, or a block with its condition.
struct Unit<'a> {
    text: &'a str,
    usage: Usage,
    work: usize,
}

/// Splits `whole` into parts. Run in this order, they have the effect of the whole. Returns one part if there is nothing to split.
pub(crate) fn split(whole: &Whole<'_>, members: &Members) -> Vec<String> {
    let together = || vec![whole.body.to_owned()];
    let Some(units) = units(whole.body, members) else {
        return together();
    };
    let order = order(whole, &units);
    let mut parts: BTreeMap<(usize, bool, BTreeSet<&str>), Vec<usize>> = BTreeMap::new();
    let mut level_of = vec![(0, false); units.len()];
    for group in order.groups() {
        let work: usize = group.iter().map(|&unit| units[unit].work).sum();
        let heavy = work >= WORTH_A_PART;
        let before = group.iter().flat_map(|&unit| &order.before[unit]);
        let behind = before.filter(|unit| !group.contains(unit)).map(|&unit| {
            let (level, heavy) = level_of[unit];
            level + usize::from(heavy)
        });
        let level = behind.max().unwrap_or(0);
        let reads = group.iter().flat_map(|&unit| &units[unit].usage.reads);
        let reads = reads.map(String::as_str).filter(|_| heavy).collect();
        for &unit in &group {
            level_of[unit] = (level, heavy);
        }
        parts
            .entry((level, heavy, reads))
            .or_default()
            .extend(group);
    }
    let text = |mut part: Vec<usize>| {
        part.sort_unstable();
        part.into_iter().map(|unit| units[unit].text).collect()
    };
    match parts.len() {
        0 | 1 => together(),
        _ => parts.into_values().map(text).collect(),
    }
}

/// Returns the units of `body` in order. Returns `None` if one of them contains something unknown.
fn units<'a>(body: &'a str, members: &Members) -> Option<Vec<Unit<'a>>> {
    let mut units = vec![];
    let mut start = 0;
    for unit in source::units(body) {
        // A loop starts with its index.
        if body[unit.clone()].trim_start().starts_with(INDEX) {
            continue;
        }
        let text = &body[start..unit.end];
        // Parts do not share the index variable.
        let index = text.find(INDEX).map(|at| &text[at + INDEX.len()..]);
        if index.is_some_and(|then| !then.starts_with(" = 0U;")) {
            return None;
        }
        units.push(Unit {
            text,
            usage: usage(text, members)?,
            work: work(text),
        });
        start = unit.end;
    }
    body[start..].trim().is_empty().then_some(units)
}

/// Estimates how many words the statements of `text` compute.
fn work(text: &str) -> usize {
    let mut loops: Vec<usize> = vec![];
    let mut work = 0;
    for Statement { text, end, .. } in statements(text) {
        let times: usize = loops.iter().product();
        match end {
            Some('{') => loops.push(repetitions(text).unwrap_or(1)),
            Some('}') => {
                loops.pop();
            }
            _ if text.starts_with("VL_") => work += CALL * times,
            _ => work += times,
        }
    }
    work
}

/// Returns how often Verilator's loop over words with this head runs.
fn repetitions(head: &str) -> Option<usize> {
    let last = head.strip_prefix("while ((")?.strip_suffix("U))")?;
    Some(number(last.split_once(" <= ")?.1)? + 1)
}

/// Determines the order of the units of `whole`.
fn order(whole: &Whole<'_>, units: &[Unit<'_>]) -> Order {
    let mut order = Order::any(units.len());
    let mut writers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut readers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut users: BTreeMap<&str, usize> = BTreeMap::new();
    let mut locals: BTreeSet<&str> = declared(whole.head).filter(|name| *name != INDEX).collect();
    locals.extend(whole.private.iter().map(String::as_str));
    for (number, unit) in units.iter().enumerate() {
        for name in locals.intersection(&words(unit.text)) {
            let first = *users.entry(name).or_insert(number);
            order.join(first, number);
        }
        for signal in unit.usage.reads.iter().map(String::as_str) {
            if let Some(&writer) = writers.get(signal) {
                order.before[number].insert(writer);
            }
            readers.entry(signal).or_default().push(number);
        }
        for signal in unit.usage.writes.keys().map(String::as_str) {
            for &reader in readers.get(signal).into_iter().flatten() {
                if reader == number {
                    continue;
                }
                order.before[number].insert(reader);
                // Combinational code that reads a signal before it is written would have to run at edges.
                if whole.combinational {
                    order.join(reader, number);
                }
            }
            let first = *writers.entry(signal).or_insert(number);
            order.join(first, number);
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Member;

    /// Splits `body`, in which `d`, `e` and `f` are wide.
    fn parts(body: &str, combinational: bool, private: &[&str]) -> Vec<String> {
        let value = |name: &str| (name.to_owned(), Member::Value("CData".into()));
        let wide = |name: &str| (name.to_owned(), Member::Wide(64));
        let mut members: Members = ["a", "b", "c"].map(value).into();
        members.extend(["d", "e", "f"].map(wide));
        let whole = Whole {
            head:
                "VlWide<64>/*2047:0*/ __Vtemp_1;\nIData/*31:0*/ __Vilp;\nCData/*0:0*/ top__DOT__room;\n",
            body,
            combinational,
            private: private.iter().map(|&name| name.to_owned()).collect(),
        };
        split(&whole, &members)
    }

    /// A loop that copies one wide value to another.
    fn copy(to: &str, from: &str) -> String {
        format!(
            "__Vilp = 0U; while ((__Vilp <= 0x1ffU)) {{ {to}[__Vilp] = {from}[__Vilp]; __Vilp = ((IData)(1U) + __Vilp); }}"
        )
    }

    #[test]
    fn wide_values_have_parts_of_their_own() {
        let wide = copy("vlSelf->d", "vlSelf->e");
        let body = format!("vlSelf->a = vlSelf->b; {wide} vlSelf->b = vlSelf->c;");
        let expected = [
            "vlSelf->a = vlSelf->b; vlSelf->b = vlSelf->c;".to_owned(),
            format!(" {wide}"),
        ];
        assert_eq!(parts(&body, false, &[]), expected);
        let narrow = "vlSelf->a = vlSelf->b; vlSelf->b = vlSelf->c;";
        assert_eq!(parts(narrow, false, &[]), [narrow]);
    }

    #[test]
    fn parts_keep_the_order_of_what_depends_on_each_other() {
        let (first, second) = (
            copy("vlSelf->d", "vlSelf->e"),
            copy("vlSelf->e", "vlSelf->f"),
        );
        // The register `d` takes the old value of `e`, and `a` the new one of `d`.
        let body = format!("{first}{second}vlSelf->a = vlSelf->d[1U];vlSelf->b = vlSelf->c;");
        let expected = [
            "vlSelf->b = vlSelf->c;",
            &first,
            "vlSelf->a = vlSelf->d[1U];",
            &second,
        ];
        assert_eq!(parts(&body, false, &[]), expected);
        // Combinational code does not read a value before it is written by a later part.
        let expected = [
            "vlSelf->b = vlSelf->c;",
            &format!("{first}{second}"),
            "vlSelf->a = vlSelf->d[1U];",
        ];
        assert_eq!(parts(&body, true, &[]), expected);
    }

    #[test]
    fn local_variables_stay_in_one_part() {
        let (first, second) = (
            copy("__Vtemp_1", "vlSelf->e"),
            copy("vlSelf->d", "__Vtemp_1"),
        );
        let body = format!("{first}vlSelf->a = vlSelf->b;{second}");
        let expected = ["vlSelf->a = vlSelf->b;", &format!("{first}{second}")];
        assert_eq!(parts(&body, false, &[]), expected);
        let (first, second) = (
            copy("vlSelf->f", "vlSelf->e"),
            copy("vlSelf->d", "vlSelf->f"),
        );
        let body = format!("{first}vlSelf->a = vlSelf->b;{second}");
        assert_eq!(parts(&body, false, &[]).len(), 3);
        let expected = ["vlSelf->a = vlSelf->b;", &format!("{first}{second}")];
        assert_eq!(parts(&body, false, &["f"]), expected);
    }

    #[test]
    fn local_variables_may_have_the_name_of_a_signal() {
        let choice = format!(
            "if (top__DOT__room) {{ {} }}",
            copy("vlSelf->d", "vlSelf->e")
        );
        let body = format!("top__DOT__room = vlSelf->c;{choice}vlSelf->a = vlSelf->b;");
        let expected = [
            "vlSelf->a = vlSelf->b;".to_owned(),
            format!("top__DOT__room = vlSelf->c;{choice}"),
        ];
        assert_eq!(parts(&body, false, &[]), expected);
    }

    #[test]
    fn what_depends_on_each_other_in_a_circle_stays_together() {
        let (first, second) = (
            copy("vlSelf->d", "vlSelf->e"),
            copy("vlSelf->e", "vlSelf->d"),
        );
        let body = format!("vlSelf->a = vlSelf->b;{first}{second}vlSelf->d[1U] = vlSelf->b;");
        let expected = [
            "vlSelf->a = vlSelf->b;",
            &format!("{first}{second}vlSelf->d[1U] = vlSelf->b;"),
        ];
        assert_eq!(parts(&body, false, &[]), expected);
    }

    #[test]
    fn values_with_the_same_inputs_share_a_part() {
        let choice = |to: &str| format!("if (vlSelf->a) {{ {} }}", copy(to, "vlSelf->f"));
        let (first, second) = (choice("vlSelf->d"), choice("vlSelf->e"));
        let body = format!("{first}vlSelf->b = vlSelf->c;{second}");
        let expected = ["vlSelf->b = vlSelf->c;", &format!("{first}{second}")];
        assert_eq!(parts(&body, false, &[]), expected);
    }

    #[test]
    fn code_that_shares_the_index_of_a_loop_is_not_split() {
        let body = format!("{}vlSelf->a = __Vilp;", copy("vlSelf->d", "vlSelf->e"));
        assert_eq!(parts(&body, false, &[]), [body]);
    }
}
