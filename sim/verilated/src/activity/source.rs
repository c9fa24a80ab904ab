//! Where things are in the C++ that Verilator wrote.

use std::collections::BTreeMap;
use std::ops::Range;

/// How the state keeps a signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Member {
    /// As a value of this C++ type.
    Value(String),
    /// As words: a `VlWide` of so many.
    Wide(usize),
    /// As an array of values.
    Array,
}

/// The signals in the state, by name.
pub(super) type Members = BTreeMap<String, Member>;

/// A function that runs behind events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Definition<'a> {
    pub name: &'a str,
    /// Of combinational logic alone: Verilator calls code of registers, and logic behind a single event, `sequent`.
    pub combinational: bool,
    /// Its statements, without the brace at the end.
    pub body: Range<usize>,
}

const FUNCTION: &str = "VL_INLINE_OPT void Vmodel___024root___nba_";
const DISPATCHER: &str = "\nvoid Vmodel___024root___eval_nba(Vmodel___024root* vlSelf) {\n";
/// A part of it, where it is long.
const PART: &str = "void Vmodel___024root___eval_nba__";
const BODY: &str = "    // Body\n";

/// The members that a header declares.
pub(super) fn members(header: &str) -> Members {
    header.lines().filter_map(member).collect()
}

/// Of `VL_IN8(name,0,0);`, `VL_OUTW(name,95,0,3);`, `CData/*0:0*/ name;` or `VlUnpacked<VlWide<3>/*76:0*/, 16> name;`.
fn member(line: &str) -> Option<(String, Member)> {
    let line = line.trim().strip_suffix(';')?;
    let port = |rest: &str| {
        let (size, arguments) = rest.split_once('(')?;
        let mut arguments = arguments.strip_suffix(')')?.split(',');
        let name = arguments.next()?.to_owned();
        let kind = match size {
            "8" => Member::Value("CData".into()),
            "16" => Member::Value("SData".into()),
            "" => Member::Value("IData".into()),
            "64" => Member::Value("QData".into()),
            "W" => Member::Wide(arguments.next_back()?.trim().parse().ok()?),
            _ => return None,
        };
        Some((name, kind))
    };
    for direction in ["VL_IN", "VL_OUT"] {
        if let Some(rest) = line.strip_prefix(direction) {
            return port(rest);
        }
    }
    let (kind, name) = line.rsplit_once(' ')?;
    if kind.starts_with("VlUnpacked<") {
        return Some((name.into(), Member::Array));
    }
    let kind = kind.split_once("/*")?.0;
    let member = match kind {
        "CData" | "SData" | "IData" | "QData" => Member::Value(kind.into()),
        _ => Member::Wide(
            kind.strip_prefix("VlWide<")?
                .strip_suffix('>')?
                .parse()
                .ok()?,
        ),
    };
    Some((name.into(), member))
}

/// The functions of a file that run behind events; `None` if one of them looks otherwise than expected.
pub(super) fn definitions(text: &str) -> Option<Vec<Definition<'_>>> {
    let mut found = vec![];
    for (at, _) in text.match_indices(FUNCTION) {
        let start = at + "VL_INLINE_OPT void ".len();
        let name = text[start..].split('(').next()?;
        let kind = &text[at + FUNCTION.len()..];
        found.push(Definition {
            name,
            combinational: match kind.split_once("__TOP__")?.0 {
                "comb" => true,
                "sequent" => false,
                _ => return None,
            },
            body: body(text, start)?,
        });
    }
    Some(found)
}

/// The body of the function that runs them, if it is in this file.
pub(super) fn dispatcher(text: &str) -> Option<Range<usize>> {
    body(text, text.find(DISPATCHER)? + 1)
}

/// Names and statements of its parts in this file.
pub(super) fn parts(text: &str) -> impl Iterator<Item = (&str, Range<usize>)> {
    text.match_indices(PART).filter_map(|(at, _)| {
        let (signature, _) = text[at..].split_once('\n')?;
        let name = signature
            .strip_prefix("void ")?
            .strip_suffix("(Vmodel___024root* vlSelf) {")?;
        Some((name, body(text, at)?))
    })
}

/// The statements of the function that begins at `start`.
fn body(text: &str, start: usize) -> Option<Range<usize>> {
    let end = start + text[start..].find("\n}\n")? + 1;
    let begin = start + text[start..end].find(BODY)? + BODY.len();
    Some(begin..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_known_by_kind() {
        let header = "    struct {\n        VL_IN8(clock,0,0);\n        VL_OUTW(data,95,0,3);\n        QData/*40:0*/ time;\n        \
                      VlWide<6>/*191:0*/ row;\n    VlUnpacked<VlWide<3>/*76:0*/, 16> rows;\n    VlTriggerVec<4> __VactTriggered;\n";
        let expected = [
            ("clock", Member::Value("CData".into())),
            ("data", Member::Wide(3)),
            ("row", Member::Wide(6)),
            ("rows", Member::Array),
            ("time", Member::Value("QData".into())),
        ];
        let expected = expected.map(|(name, kind)| (name.to_owned(), kind));
        assert_eq!(members(header), Members::from(expected));
    }

    #[test]
    fn functions_are_found_with_their_statements() {
        let text = "VL_INLINE_OPT void Vmodel___024root___nba_comb__TOP__7(Vmodel___024root* vlSelf) {\n    // Body\n    a;\n}\n\
                    \nvoid Vmodel___024root___eval_nba(Vmodel___024root* vlSelf) {\n    // Body\n    b;\n}\n";
        let found = definitions(text).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].name, "Vmodel___024root___nba_comb__TOP__7");
        assert!(found[0].combinational);
        assert_eq!(&text[found[0].body.clone()], "    a;\n");
        assert_eq!(&text[dispatcher(text).unwrap()], "    b;\n");
        assert_eq!(definitions(&text.replace("nba_comb", "nba_other")), None);
    }
}
