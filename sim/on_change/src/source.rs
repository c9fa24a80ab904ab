//! Finds the parts of Verilator's C++ that the rewriter changes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The C++ representation of a signal in the model's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    /// A value of this C++ type.
    Value(String),
    /// A `VlWide` of this many words.
    Wide(usize),
    /// An array. If its elements are wide, this is the number of words of an element.
    Array(Option<usize>),
}

/// The signals in the model's state, by name.
pub(crate) type Members = BTreeMap<String, Member>;

/// A function that Verilator runs at events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Definition<'a> {
    pub name: &'a str,
    /// The function contains only combinational logic. Verilator names code of registers, and logic behind a single event, `sequent`.
    pub combinational: bool,
    /// The function's local variables that have several words.
    pub wide_locals: BTreeSet<&'a str>,
    /// The range of what comes in front of its statements: its signature and its local variables.
    pub head: Range<usize>,
    /// The range of its statements, without the closing brace.
    pub body: Range<usize>,
}

impl Definition<'_> {
    /// The range of the whole function.
    pub(crate) fn whole(&self) -> Range<usize> {
        self.head.start..self.body.end + END.len()
    }
}

/// A statement, or the head of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Statement<'a> {
    /// The text without the character that ends it.
    pub text: &'a str,
    /// Position of its first character.
    pub start: usize,
    /// The character that ends it: `;` or a brace.
    pub end: Option<char>,
}

/// The C++ text in front of the name of a signal.
pub(crate) const STATE: &str = "vlSelf->";

const FUNCTION: &str = "VL_INLINE_OPT void Vmodel___024root___nba_";
const DISPATCHER: &str = "\nvoid Vmodel___024root___eval_nba(Vmodel___024root* vlSelf) {\n";
/// The start of a function that contains a part of a long dispatching function.
const PART: &str = "void Vmodel___024root___eval_nba__";
const BODY: &str = "    // Body\n";
/// The end of a function.
const END: &str = "}\n";

/// The function that records which clocks had an event.
const TRIGGERS: &str = "\nvoid Vmodel___024root___eval_triggers__act(Vmodel___024root* vlSelf) {\n";

/// Returns the statements of `body` in order.
pub(crate) fn statements(body: &str) -> impl Iterator<Item = Statement<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at >= body.len() {
            return None;
        }
        let end = at + body[at..].find([';', '{', '}']).unwrap_or(body.len() - at);
        let text = body[at..end].trim_start();
        at = end + 1;
        Some(Statement {
            text: text.trim_end(),
            start: end - text.len(),
            end: body[end..].chars().next(),
        })
    })
}

/// Returns the ranges of the statements of `body` that are outside of all blocks. A block belongs to the statement at its head, and `else` to its `if`.
pub(crate) fn units(body: &str) -> Vec<Range<usize>> {
    let mut units = vec![];
    let (mut start, mut depth) = (0, 0usize);
    for (at, end) in body.match_indices([';', '{', '}']) {
        match end {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && !body[at + 1..].trim_start().starts_with("else") {
            units.push(start..at + 1);
            start = at + 1;
        }
    }
    units
}

/// Returns the inputs of the model, which are ports in the header.
pub(crate) fn inputs(header: &str) -> BTreeSet<&str> {
    declared(header, "VL_IN").collect()
}

/// Returns all ports of the model.
pub(crate) fn ports(header: &str) -> BTreeSet<&str> {
    let outputs = declared(header, "VL_OUT");
    outputs.chain(declared(header, "VL_IN")).collect()
}

/// Returns the names in declarations by a macro whose name begins with `direction`.
fn declared<'a>(header: &'a str, direction: &'static str) -> impl Iterator<Item = &'a str> {
    let ports = header
        .lines()
        .filter_map(move |line| line.trim().strip_prefix(direction));
    ports.filter_map(|port| port.split_once('(')?.1.split(',').next())
}

/// If this file contains the list of clocks, returns them in the order of Verilator's event numbers.
pub(crate) fn clocks(text: &str) -> Option<Vec<&str>> {
    let body = body(text, text.find(TRIGGERS)? + 1)?;
    let mut clocks = vec![];
    for statement in statements(&text[body]) {
        let Some(event) = statement.text.strip_prefix("vlSelf->__VactTriggered.at(") else {
            break;
        };
        let (number, value) = event.split_once("U) = ")?;
        if self::number(number)? != clocks.len() {
            return None;
        }
        let (_, name) = value.split_once(STATE)?;
        clocks.push(name.split(')').next()?);
    }
    Some(clocks)
}

/// Returns the names of the members that `text` mentions.
pub(crate) fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(STATE)
        .skip(1)
        .map(|rest| &rest[..identifier(rest)])
}

/// Returns the length of the identifier at the start of `text`.
pub(crate) fn identifier(text: &str) -> usize {
    let of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.find(|c| !of_name(c)).unwrap_or(text.len())
}

/// Parses a decimal or hexadecimal number such as `31` or `0x1f`.
pub(crate) fn number(text: &str) -> Option<usize> {
    match text.strip_prefix("0x") {
        Some(digits) => usize::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Returns the members that a header declares.
pub(crate) fn members(header: &str) -> Members {
    header.lines().filter_map(member).collect()
}

/// Parses a declaration of a member that is no port. Returns its name and its type.
pub(crate) fn declaration(line: &str) -> Option<(&str, &str)> {
    let (kind, name) = line.trim().strip_suffix(';')?.rsplit_once(' ')?;
    let kinds = [
        "CData/",
        "SData/",
        "IData/",
        "QData/",
        "VlWide<",
        "VlUnpacked<",
    ];
    let is_kind = kinds.iter().any(|start| kind.starts_with(start));
    (is_kind && identifier(name) == name.len()).then_some((name, kind))
}

/// Parses a declaration such as `VL_IN8(name,0,0);`, `VL_OUTW(name,95,0,3);`, `CData/*0:0*/ name;` or `VlUnpacked<VlWide<3>/*76:0*/, 16> name;`.
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
    if let Some(element) = kind.strip_prefix("VlUnpacked<") {
        return Some((name.into(), Member::Array(words(element))));
    }
    let kind = kind.split_once("/*")?.0;
    let member = match kind {
        "CData" | "SData" | "IData" | "QData" => Member::Value(kind.into()),
        _ => Member::Wide(words(kind)?),
    };
    Some((name.into(), member))
}

/// Returns the number of words of a type whose text starts with, for example, `VlWide<3>`.
fn words(kind: &str) -> Option<usize> {
    kind.strip_prefix("VlWide<")?
        .split_once('>')?
        .0
        .parse()
        .ok()
}

/// Returns the functions of a file that run at events. Returns `None` if one of them has an unexpected form.
pub(crate) fn definitions(text: &str) -> Option<Vec<Definition<'_>>> {
    let mut found = vec![];
    for (at, _) in text.match_indices(FUNCTION) {
        let start = at + "VL_INLINE_OPT void ".len();
        let name = text[start..].split('(').next()?;
        let kind = &text[at + FUNCTION.len()..];
        let body = body(text, start)?;
        let wide = |line: &'_ str| line.trim().starts_with("VlWide<");
        let locals = text[start..body.start].lines().filter(|line| wide(line));
        let locals = locals.filter_map(|line| line.trim().strip_suffix(';')?.rsplit(' ').next());
        found.push(Definition {
            name,
            wide_locals: locals.collect(),
            combinational: match kind.split_once("__TOP__")?.0 {
                "comb" => true,
                "sequent" => false,
                _ => return None,
            },
            head: at..body.start,
            body,
        });
    }
    Some(found)
}

/// Returns the body of the function that calls the others at their events, if this file contains it.
pub(crate) fn dispatcher(text: &str) -> Option<Range<usize>> {
    body(text, text.find(DISPATCHER)? + 1)
}

/// Returns the parts of a long dispatching function that are in this file: the name and the range of the statements of each.
pub(crate) fn parts(text: &str) -> impl Iterator<Item = (&str, Range<usize>)> {
    text.match_indices(PART).filter_map(|(at, _)| {
        let (signature, _) = text[at..].split_once('\n')?;
        let name = signature
            .strip_prefix("void ")?
            .strip_suffix("(Vmodel___024root* vlSelf) {")?;
        Some((name, body(text, at)?))
    })
}

/// Returns the range of the statements of the function that begins at `start`. The range may be empty.
fn body(text: &str, start: usize) -> Option<Range<usize>> {
    let end = start + text[start..].find("\n}\n")? + 1;
    let begin = text[start..end].find(BODY);
    Some(begin.map_or(end, |begin| start + begin + BODY.len())..end)
}

/// Whether there is code that does not run at the known events: code that runs for inputs directly, or that computes which events occurred.
pub(crate) fn has_other_code(text: &str) -> bool {
    let other = |kind: &str| text.contains(&format!("void Vmodel___024root___{kind}_"));
    other("ico") || other("act")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_known_by_kind() {
        let header = "    struct {\n        VL_IN8(clock,0,0);\n        VL_OUTW(data,95,0,3);\n        QData/*40:0*/ time;\n        \
                      VlWide<6>/*191:0*/ row;\n    VlUnpacked<VlWide<3>/*76:0*/, 16> rows;\n    VlUnpacked<CData/*7:0*/, 16> values;\n    VlTriggerVec<4> __VactTriggered;\n";
        let expected = [
            ("clock", Member::Value("CData".into())),
            ("data", Member::Wide(3)),
            ("row", Member::Wide(6)),
            ("rows", Member::Array(Some(3))),
            ("values", Member::Array(None)),
            ("time", Member::Value("QData".into())),
        ];
        let expected = expected.map(|(name, kind)| (name.to_owned(), kind));
        assert_eq!(members(header), Members::from(expected));
    }

    #[test]
    fn a_part_without_statements_is_empty() {
        let text = "void Vmodel___024root___eval_nba__1(Vmodel___024root* vlSelf) {\n    if (false && vlSelf) {}\n}\n";
        let found: Vec<_> = parts(text).collect();
        assert_eq!(found[0].0, "Vmodel___024root___eval_nba__1");
        assert!(found[0].1.is_empty());
    }

    #[test]
    fn other_code_is_seen() {
        let text =
            "VL_INLINE_OPT void Vmodel___024root___ico_sequent__TOP__0(Vmodel___024root* vlSelf) {";
        assert!(has_other_code(text));
        assert!(!has_other_code(&text.replace("___ico_", "___eval_ico_")));
        assert!(!has_other_code(
            "void Vmodel___024root___eval_act(Vmodel___024root* vlSelf);"
        ));
    }

    #[test]
    fn clocks_and_inputs_are_found() {
        let header = "    VL_IN8(clock,0,0);\n    VL_OUT8(out,0,0);\n    VL_INW(data,95,0,3);\n    CData/*0:0*/ a;\n";
        assert_eq!(inputs(header), ["clock", "data"].into());
        assert_eq!(ports(header), ["clock", "data", "out"].into());
        let text = "\nvoid Vmodel___024root___eval_triggers__act(Vmodel___024root* vlSelf) {\n    // Body\n    \
                    vlSelf->__VactTriggered.at(0U) = ((IData)(vlSelf->one) \n      ^ (IData)(vlSelf->__Vtrigrprev__TOP__one));\n    \
                    vlSelf->__VactTriggered.at(1U) = ((IData)(vlSelf->two) \n      ^ (IData)(vlSelf->__Vtrigrprev__TOP__two));\n    \
                    vlSelf->__Vtrigrprev__TOP__one = vlSelf->one;\n}\n";
        assert_eq!(clocks(text), Some(vec!["one", "two"]));
        assert_eq!(clocks(&text.replace("at(1U)", "at(2U)")), None);
    }

    #[test]
    fn functions_are_found_with_their_statements() {
        let text = "VL_INLINE_OPT void Vmodel___024root___nba_comb__TOP__7(Vmodel___024root* vlSelf) {\n    VlWide<3>/*95:0*/ t;\n    // Body\n    a;\n}\n\
                    \nvoid Vmodel___024root___eval_nba(Vmodel___024root* vlSelf) {\n    // Body\n    b;\n}\n";
        let found = definitions(text).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].name, "Vmodel___024root___nba_comb__TOP__7");
        assert!(found[0].combinational);
        assert_eq!(found[0].wide_locals, ["t"].into());
        assert_eq!(&text[found[0].body.clone()], "    a;\n");
        assert_eq!(&text[dispatcher(text).unwrap()], "    b;\n");
        assert_eq!(definitions(&text.replace("nba_comb", "nba_other")), None);
    }
}
