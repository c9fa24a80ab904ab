//! Signals that change in every cycle, and the functions that need not follow them.
//!
//! A time is read by many functions, but most of them use it only if something else happens: a deadline is stored when a request leaves. Such a function
//! is not marked when the time changes. While its condition holds, it marks itself, so it follows the time for as long as it uses it.

use std::collections::BTreeSet;

use crate::source::{identifier, names, statements, units, Member, Members, Statement, STATE};
use crate::usage::{assignment, Usage};

/// A function that depends on this bit of a counter and those above it runs so seldom that it may follow the counter.
const SELDOM: usize = 3;
/// The prefix of what becomes the value of a register behind the edge.
const NEXT: &str = "__Vdly__";

/// Returns the signals that change in every cycle: counters that always count, and sums and differences of these. `bodies` are those of the functions in
/// Verilator's order.
///
/// This is a guess. A wrong one costs time, but the results are the same.
pub(crate) fn restless<'a>(bodies: &[&'a str], members: &Members) -> BTreeSet<&'a str> {
    let assignments: Vec<_> = bodies.iter().flat_map(|body| always(body)).collect();
    let counter = |&(target, value): &(&'a str, &'a str)| {
        let mut read = names(value);
        let name = read.next()?;
        let counts = read.next().is_none() && value.contains('+') && !value.contains('?');
        (counts && target.strip_prefix(NEXT).unwrap_or(target) == name).then_some(name)
    };
    let mut found: BTreeSet<&str> = assignments.iter().filter_map(counter).collect();
    for (target, value) in assignments {
        // A difference of one bit is a comparison.
        let narrow = |kind: &str| kind == "CData";
        let is_number = |member: &Member| matches!(member, Member::Value(kind) if !narrow(kind));
        if members.get(target).is_some_and(is_number)
            && !value.contains('?')
            && terms(value).any(|name| found.contains(name))
        {
            found.insert(target);
        }
    }
    found
}

/// Returns target and value of the assignments of `body` to signals that are outside of all blocks.
fn always(body: &str) -> impl Iterator<Item = (&str, &str)> {
    let whole = units(body).into_iter().map(|unit| body[unit].trim());
    let simple = whole.filter_map(|text| assignment(text.strip_suffix(';')?));
    simple.filter_map(|(target, value)| Some((target.strip_prefix(STATE)?, value)))
}

/// Returns the signals that are the first operand of a sum or a difference in `value`.
fn terms(value: &str) -> impl Iterator<Item = &str> {
    value.split(STATE).skip(1).filter_map(|text| {
        let (name, behind) = text.split_at(identifier(text));
        behind.trim_start().starts_with(['+', '-']).then_some(name)
    })
}

/// The functions that do not follow a restless signal.
#[derive(Default)]
pub(crate) struct Guards {
    /// The restless signals that a function reads only under a condition.
    pub signals: BTreeSet<String>,
    /// The places in its body, behind the conditions, where it marks itself.
    pub places: BTreeSet<usize>,
}

/// Returns which of the `restless` signals the function with this `body` and `usage` reads only under a condition.
pub(crate) fn guards(body: &str, usage: &Usage, restless: &BTreeSet<&str>) -> Guards {
    let mut guards = Guards::default();
    for signal in &usage.reads {
        let follows = usage.writes.contains_key(signal) || usage.lowest_bits[signal] >= SELDOM;
        if follows || !restless.contains(signal.as_str()) {
            continue;
        }
        if let Some(places) = conditional(body, signal) {
            guards.signals.insert(signal.clone());
            guards.places.extend(places);
        }
    }
    guards
}

/// Returns the starts of the conditional blocks of `body` that mention `signal`. Returns `None` if it is also mentioned outside of all conditions.
fn conditional(body: &str, signal: &str) -> Option<BTreeSet<usize>> {
    let mut places = BTreeSet::new();
    // For each block around a statement, the start of the innermost conditional one.
    let mut blocks: Vec<Option<usize>> = vec![];
    for Statement { text, start, end } in statements(body) {
        let around = blocks.last().copied().flatten();
        if names(text).any(|name| name == signal) {
            places.insert(around?);
        }
        match end {
            // A loop always runs.
            Some('{') if text.starts_with("while") => blocks.push(around),
            Some('{') => {
                let brace = start + text.len() + body[start + text.len()..].find('{')?;
                blocks.push(Some(brace + 1));
            }
            Some('}') => {
                blocks.pop();
            }
            _ => {}
        }
    }
    Some(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::usage;

    fn members() -> Members {
        let of = |kind: &'static str| {
            move |name: &str| (name.to_owned(), Member::Value(kind.to_owned()))
        };
        let numbers = ["now", "__Vdly__time", "time", "due", "late", "old"].map(of("IData"));
        let bits = ["is_late", "set", "clear"].map(of("CData"));
        numbers.into_iter().chain(bits).collect()
    }

    const COUNTERS: &str =
        "vlSelf->now = ((IData)(1U) + vlSelf->now); vlSelf->__Vdly__time = (0xffffU & ((IData)(1U) + vlSelf->time)); \
         vlSelf->old = ((IData)(vlSelf->set) + vlSelf->old); if (vlSelf->set) { vlSelf->late = ((IData)(1U) + vlSelf->late); }";

    #[test]
    fn counters_and_what_is_added_to_them_are_restless() {
        let sums = "vlSelf->due = (vlSelf->time + vlSelf->old); vlSelf->is_late = (1U & ((vlSelf->now - vlSelf->old) >> 0x1fU));";
        let found = restless(&[COUNTERS, sums], &members());
        assert_eq!(found, ["now", "time", "due"].into());
    }

    #[test]
    fn functions_mark_themselves_where_they_use_a_restless_signal() {
        let now = ["now"].into();
        let of = |body: &str| guards(body, &usage(body, &members()).unwrap(), &now);
        let body = "vlSelf->due = vlSelf->old; if (vlSelf->set) { vlSelf->due = vlSelf->now; } else { if (vlSelf->clear) { vlSelf->due = 0U; } }";
        let found = of(body);
        assert_eq!(found.signals, ["now".to_owned()].into());
        let behind = body.find("{ vlSelf->due = vlSelf->now").unwrap() + 1;
        assert_eq!(found.places, [behind].into());
        for follows in [
            "vlSelf->due = vlSelf->now;",
            "if (vlSelf->set) { vlSelf->due = vlSelf->now; } vlSelf->late = vlSelf->now;",
            "if ((vlSelf->now == 1U)) { vlSelf->due = vlSelf->old; }",
            "__Vilp = 0U; while ((__Vilp <= 1U)) { vlSelf->due = vlSelf->now; __Vilp = ((IData)(1U) + __Vilp); }",
            "if (vlSelf->set) { vlSelf->now = (vlSelf->now + vlSelf->old); }",
            "if (vlSelf->set) { vlSelf->due = (vlSelf->now >> 9U); }",
        ] {
            let found = of(follows);
            assert!(found.signals.is_empty() && found.places.is_empty(), "{follows}");
        }
    }
}
