//! Determines which signals a function reads and writes.

use std::collections::{BTreeMap, BTreeSet};

use crate::carried::carried;
use crate::source::{identifier, names, number, statements, Member, Members, Statement, STATE};

/// The signals that a function reads and writes. Both sets may contain signals that the function does not actually use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Signals that may be read before they are assigned. What a function assigns first is not among them: it does not depend on the old value.
    pub reads: BTreeSet<String>,
    /// For each signal that is read, the lowest bit on which the function depends.
    pub lowest_bits: BTreeMap<String, usize>,
    /// Signals that are written, with the number of statements that write each.
    pub writes: BTreeMap<String, usize>,
    /// For each signal that is written, the positions in the body of the first and the last statement that write it.
    pub places: BTreeMap<String, (usize, usize)>,
    /// Positions in the body of the statements that write an array, with the name of the array.
    pub array_writes: BTreeMap<usize, String>,
}

/// The operations of Verilator's functions that are known to be pure: the result depends only on the arguments, and there is no other effect.
/// `VL_MULS_III` has the operation `MULS`.
const PURE: [&str; 27] = [
    "ADD",
    "ASSIGN",
    "ASSIGNSEL",
    "CLOG2",
    "COUNTONES",
    "DIV",
    "DIVS",
    "EXTEND",
    "EXTENDS",
    "GTES",
    "GTS",
    "LTES",
    "LTS",
    "MODDIV",
    "MODDIVS",
    "MUL",
    "MULS",
    "NEGATE",
    "ONEHOT",
    "REDXOR",
    "REPLICATE",
    "SHIFTL",
    "SHIFTR",
    "SHIFTRS",
    "STREAML",
    "SUB",
    "ZERO",
];

/// Whether `text` calls only pure functions of Verilator.
fn is_pure(text: &str) -> bool {
    let functions = text
        .split("VL_")
        .skip(1)
        .map(|rest| &rest[..identifier(rest)]);
    let mut whats = functions.map(|name| name.rsplit_once('_').map_or(name, |(what, _)| what));
    whats.all(|what| PURE.contains(&what) || what == "UNLIKELY") && !text.contains("vlSymsp")
}

/// Returns the signals that the statements of `body` use. Returns `None` if the kind of a statement is not known.
pub(crate) fn usage(body: &str, members: &Members) -> Option<Usage> {
    if !is_pure(body) {
        return None;
    }
    let mut usage = Usage::default();
    for statement in statements(body) {
        usage.statement(&statement, members)?;
    }
    let carried = carried(body, members);
    usage.reads.retain(|signal| carried.contains(signal));
    Some(usage)
}

impl Usage {
    fn statement(&mut self, statement: &Statement, members: &Members) -> Option<()> {
        let Statement { text, start, end } = *statement;
        if let Some((target, value)) = assignment(text) {
            if let Some(subscripted) = target.strip_prefix(STATE) {
                let (name, subscripts) = subscripted.split_at(identifier(subscripted));
                if !(subscripts.is_empty() || subscripts.ends_with(']')) {
                    return None;
                }
                self.write(name, start, members)?;
                self.read_all(subscripts, members)?;
            } else {
                // Any other target of an assignment is a local variable or a word of one.
                let subscripts = &target[identifier(target)..];
                if target == subscripts || !(subscripts.is_empty() || subscripts.ends_with(']')) {
                    return None;
                }
                self.read_all(subscripts, members)?;
            }
            return self.read_all(value, members);
        }
        let heads = ["if (", "while (", "else if ("];
        match end {
            Some('{') if text == "else" || heads.iter().any(|head| text.starts_with(head)) => {}
            Some(';') if text.starts_with("VL_") => {
                for name in names(result(text).unwrap_or(text)) {
                    self.write(name, start, members)?;
                }
            }
            _ if text.is_empty() => {}
            _ => return None,
        }
        self.read_all(text, members)
    }

    fn write(&mut self, name: &str, start: usize, members: &Members) -> Option<()> {
        if matches!(members.get(name)?, Member::Array(_)) {
            let other = self.array_writes.insert(start, name.to_owned());
            if other.is_some_and(|other| other != name) {
                return None;
            }
        }
        *self.writes.entry(name.to_owned()).or_default() += 1;
        let place = self.places.entry(name.to_owned());
        place.or_insert((start, start)).1 = start;
        Some(())
    }

    fn read_all(&mut self, text: &str, members: &Members) -> Option<()> {
        let mut parts = text.split(STATE);
        let mut before = parts.next().unwrap_or_default();
        for part in parts {
            let (name, after) = part.split_at(identifier(part));
            members.get(name)?;
            self.reads.insert(name.to_owned());
            let lowest = lowest_bit(before, after);
            let bit = self.lowest_bits.entry(name.to_owned()).or_insert(lowest);
            *bit = lowest.min(*bit);
            before = part;
        }
        Some(())
    }
}

/// Returns N if a signal is read as `(signal >> N)`, else 0. `before` and `after` are the texts around the signal.
fn lowest_bit(before: &str, after: &str) -> usize {
    let distance = || {
        let distance = after.trim_start().strip_prefix(">>")?;
        let (digits, _) = distance.trim_start().split_once("U)")?;
        number(digits)
    };
    let distance = before.ends_with('(').then(distance).flatten();
    distance.unwrap_or(0)
}

/// Functions of Verilator whose wide result is a known argument: the start of the call, and the position of the result among what the commas
/// separate.
const RESULTS: [(&str, usize); 5] = [
    ("VL_ADD_W(", 1),
    ("VL_ASSIGN_W(", 1),
    ("VL_SUB_W(", 1),
    ("VL_SHIFTL_WWI(", 3),
    ("VL_SHIFTR_WWI(", 3),
];

/// Returns the argument of the call `text` that is its wide result, if it is known which one that is.
pub(crate) fn result(text: &str) -> Option<&str> {
    RESULTS.iter().find_map(|(name, place)| {
        let arguments = text.strip_prefix(name)?;
        arguments.split(',').nth(*place)
    })
}

/// Splits an assignment at the `=` that is outside of all parentheses and brackets. Returns `None` if there is none.
pub(crate) fn assignment(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0usize;
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.checked_sub(1)?,
            '=' if depth == 0 => {
                let (target, value) = (&text[..i], &text[i + 1..]);
                let compares = value.starts_with('=') || target.ends_with(['!', '<', '>', '=']);
                return (!compares).then_some((target.trim_end(), value));
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members() -> Members {
        let value = || Member::Value("CData".into());
        [
            ("a", value()),
            ("b", value()),
            ("c", value()),
            ("w", Member::Wide(4)),
            ("m", Member::Array(None)),
        ]
        .map(|(name, kind)| (name.to_owned(), kind))
        .into()
    }

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn statements_read_and_write() {
        let body = "    vlSelf->a = (1U & (vlSelf->b == 2U));\n    if (vlSelf->c) {\n        VL_SHIFTL_WWI(128,128,3, __Vtemp_1, vlSelf->w, 3U);\n        \
                    vlSelf->m\n            [(3U & vlSelf->a)] = 1U;\n    } else {\n        __Vtemp_1[0U] = vlSelf->w[0U];\n    }\n";
        let usage = usage(body, &members()).unwrap();
        assert_eq!(usage.reads, set(&["b", "c", "w"]));
        let writes = ["a", "m"].map(|name| (name.to_owned(), 1));
        assert_eq!(usage.writes, writes.into());
        let (&at, name) = usage.array_writes.first_key_value().unwrap();
        assert_eq!(name, "m");
        assert!(body[at..].starts_with("vlSelf->m\n"));
    }

    #[test]
    fn the_lowest_bit_is_that_of_all_reads() {
        let lowest = |body| usage(body, &members()).unwrap().lowest_bits;
        let bits = |bits: &[(&str, usize)]| {
            let named = bits.iter().map(|&(name, bit)| (name.to_owned(), bit));
            named.collect::<BTreeMap<String, usize>>()
        };
        let shifted =
            lowest("vlSelf->c = ((IData)((vlSelf->a\n        >> 0x10U)) - (vlSelf->b >> 3U));");
        assert_eq!(shifted, bits(&[("a", 16), ("b", 3)]));
        let twice = lowest("if ((vlSelf->a >> 9U)) { vlSelf->c = (1U & (vlSelf->a >> 7U)); }");
        assert_eq!(twice, bits(&[("a", 7)]));
        for whole in [
            "vlSelf->c = ((vlSelf->a >> 9U) + vlSelf->a);",
            "vlSelf->c = (vlSelf->a >> vlSelf->b);",
            "vlSelf->c = (vlSelf->a >> (IData)(0x10U));",
            "vlSelf->c = (1U + vlSelf->a >> 9U);",
            "vlSelf->c = (vlSelf->a << 9U);",
            "vlSelf->c = (vlSelf->a >> 9U == 1U);",
        ] {
            assert_eq!(lowest(whole)["a"], 0, "{whole}");
        }
    }

    #[test]
    fn results_are_among_the_arguments() {
        let usage = |body| usage(body, &members()).unwrap();
        let shifted = usage("VL_SHIFTR_WWI(128,128,32, vlSelf->w, __Vtemp_1, vlSelf->a);");
        assert_eq!(shifted.writes, [("w".to_owned(), 1)].into());
        let copied = usage("VL_ASSIGN_W(128,vlSelf->w, __Vtemp_1);");
        assert_eq!(copied.writes, [("w".to_owned(), 1)].into());
        let other = usage("VL_ASSIGNSEL_WI(128,8,vlSelf->a, vlSelf->w, vlSelf->b);");
        let any = ["a", "b", "w"].map(|name| (name.to_owned(), 1));
        assert_eq!(other.writes, any.into());
    }

    #[test]
    fn anything_else_is_not_understood() {
        for body in [
            "Vmodel___024root__other(vlSelf);",
            "vlSelf->unknown = 1U;",
            "++vlSelf->a;",
            "*pointer = vlSelf->a;",
            "if (vlSelf->a) vlSelf->b = 1U;",
            "vlSelf->a += 1U;",
            "VL_WRITEF(\"three\\n\");",
            "vlSelf->a = VL_RANDOM_I();",
            "vlSelf->a = VL_URANDOM_RANGE_I(5U, 100U);",
            "vlSelf->a = (0xffU & VL_TIME_UNITED_Q(1));",
        ] {
            assert_eq!(usage(body, &members()), None, "{body}");
        }
    }
}
