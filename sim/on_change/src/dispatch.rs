//! Reads from Verilator's dispatching function which function runs at which events.

use crate::source::number;

/// A call that Verilator makes only at certain events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call<'a> {
    pub function: &'a str,
    /// The call runs if any of these events occurred.
    pub events: Vec<usize>,
}

/// Reads a body of the form `if (events) { calls }`, repeated, and returns its calls in order. Returns `None` if the body contains anything else.
/// Verilator splits a long body into functions that it calls in turn; `part` returns the bodies of these functions by name.
pub(crate) fn calls<'a>(
    body: &'a str,
    part: &dyn Fn(&str) -> Option<&'a str>,
) -> Option<Vec<Call<'a>>> {
    let mut calls = vec![];
    let mut rest = body.trim();
    while !rest.is_empty() {
        let Some(guarded) = rest.strip_prefix("if (") else {
            let (function, after) = rest.split_once("(vlSelf);")?;
            calls.extend(self::calls(part(function)?, part)?);
            rest = after.trim_start();
            continue;
        };
        let (condition, after) = guarded.split_once(") {")?;
        let (block, after) = after.split_once('}')?;
        let events = condition
            .split('|')
            .map(event)
            .collect::<Option<Vec<_>>>()?;
        for statement in block.trim().split_terminator(';') {
            calls.push(Call {
                function: statement.trim().strip_suffix("(vlSelf)")?,
                events: events.clone(),
            });
        }
        rest = after.trim_start();
    }
    Some(calls)
}

/// Returns the event number in `vlSelf->__VnbaTriggered.at(0x1fU)`, within any number of parentheses.
fn event(condition: &str) -> Option<usize> {
    let bare = condition.trim_start_matches(|c: char| c == '(' || c.is_whitespace());
    let (number, rest) = bare
        .strip_prefix("vlSelf->__VnbaTriggered.at(")?
        .split_once('U')?;
    if !rest.chars().all(|c| c == ')' || c.is_whitespace()) {
        return None;
    }
    self::number(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_their_events() {
        let body = "    if (vlSelf->__VnbaTriggered.at(3U)) {\n        a(vlSelf);\n        b(vlSelf);\n    }\n    \
                    if (\n (( vlSelf->__VnbaTriggered.at(0U) \n          | vlSelf->__VnbaTriggered.at(0x1fU)) | \
                    vlSelf->__VnbaTriggered.at(2U))) {\n        c(vlSelf);\n    }\n";
        let call = |function, events| Call { function, events };
        let expected = vec![
            call("a", vec![3]),
            call("b", vec![3]),
            call("c", vec![0, 31, 2]),
        ];
        assert_eq!(calls(body, &|_| None), Some(expected));
    }

    #[test]
    fn parts_are_followed() {
        let part = |name: &str| {
            (name == "part")
                .then_some("if (vlSelf->__VnbaTriggered.at(3U)) {\n        a(vlSelf);\n    }\n")
        };
        let found = calls("    part(vlSelf);\n    part(vlSelf);\n", &part).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!((found[1].function, &*found[1].events), ("a", &[3][..]));
        assert_eq!(calls("    other(vlSelf);\n", &part), None);
    }

    #[test]
    fn anything_else_is_not_understood() {
        for body in [
            "a(vlSelf);",
            "if (vlSelf->__VnbaTriggered.at(3U) & vlSelf->x) {\n a(vlSelf);\n }",
            "if (vlSelf->__VnbaTriggered.at(3U)) {\n a(vlSelf, 1U);\n }",
        ] {
            assert_eq!(calls(body, &|_| None), None, "{body}");
        }
    }
}
