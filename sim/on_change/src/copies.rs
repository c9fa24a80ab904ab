//! Finds the statements that copy a whole wide value. Verilator writes such a copy word by word.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::source::{identifier, number, statements, Member, Members, STATE};

/// The prefix of the names that Verilator gives to wide constants.
const CONSTANT: &str = "Vmodel__ConstPool__CONST_";

/// A copy of a wide value, or of its first words, to another wide value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Copy<'a> {
    pub to: Target<'a>,
    /// The C++ expressions of the destination and of the source.
    pub to_text: &'a str,
    pub from_text: &'a str,
    pub words: usize,
    /// The range of the copy's statements in the function body.
    pub place: Range<usize>,
}

/// The destination of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target<'a> {
    /// The whole of this signal.
    Signal(&'a str),
    /// One element of this array.
    Element(&'a str),
    Local,
}

/// Finds the copies in the statements of `body`. `wide_locals` are the local variables of the function that have several words.
pub(crate) fn copies<'a>(
    body: &'a str,
    wide_locals: &BTreeSet<String>,
    members: &Members,
) -> Vec<Copy<'a>> {
    let mut found = vec![];
    let mut run: Option<Copy<'a>> = None;
    for statement in statements(body) {
        let word = statement.end.filter(|&end| end == ';');
        let word = word.and_then(|_| word_copy(statement.text));
        let end = statement.start + statement.text.len() + 1;
        if let (Some((to, from, index)), Some(copy)) = (word, &mut run) {
            if (to, from, index) == (copy.to_text, copy.from_text, copy.words) {
                copy.words += 1;
                copy.place.end = end;
                continue;
            }
        }
        found.extend(run.take());
        run = word.and_then(|(to_text, from_text, index)| {
            let to = wide(to_text, wide_locals, members)?;
            wide(from_text, wide_locals, members)?;
            let copy = Copy {
                to,
                to_text,
                from_text,
                words: 1,
                place: statement.start..end,
            };
            (index == 0).then_some(copy)
        });
    }
    found.extend(run);
    found.retain(|copy| match copy.to {
        Target::Signal(name) => members[name] == Member::Wide(copy.words),
        Target::Element(_) | Target::Local => copy.words > 1,
    });
    found
}

/// Resolves a C++ expression to a value of several words: a signal, an element of an array, a local variable or a constant. Returns `None` for
/// anything else.
fn wide<'a>(
    text: &'a str,
    wide_locals: &BTreeSet<String>,
    members: &Members,
) -> Option<Target<'a>> {
    let Some(member) = text.strip_prefix(STATE) else {
        let is_wide = wide_locals.contains(text) || text.starts_with(CONSTANT);
        return is_wide.then_some(Target::Local);
    };
    let (name, subscript) = member.split_at(identifier(member));
    match (members.get(name)?, subscript.is_empty()) {
        (Member::Wide(_), true) => Some(Target::Signal(name)),
        (Member::Array(Some(_)), false) => Some(Target::Element(name)),
        _ => None,
    }
}

/// Returns both sides and the word index of `to[3U] = from[3U]`. Returns `None` if the place of either side depends on what is written to `to`.
fn word_copy(text: &str) -> Option<(&str, &str, usize)> {
    let (to, from) = text.split_once(" = ").or_else(|| text.split_once("= "))?;
    let (to, index) = word(to)?;
    let (from, same) = word(from)?;
    let name = to.strip_prefix(STATE).unwrap_or(to);
    let (name, subscript) = name.split_at(identifier(name));
    let apart = !mentions(from, name) && !mentions(subscript, name);
    (index == same && apart).then_some((to, from, index))
}

/// Whether `text` contains the identifier `name`.
fn mentions(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let begins = !before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        begins && identifier(&text[at..]) == name.len()
    })
}

/// Returns the wide value and the word index of `name[3U]` or `name[any][3U]`.
fn word(text: &str) -> Option<(&str, usize)> {
    let (value, index) = text.trim().strip_suffix("U]")?.rsplit_once('[')?;
    let value = value.trim_end();
    let name = value.strip_prefix(STATE).unwrap_or(value);
    let subscript = name[identifier(name)..].trim();
    let is_name = !name.starts_with(|c: char| c.is_ascii_digit()) && identifier(name) > 0;
    let whole = subscript.is_empty() || is_subscript(subscript);
    (is_name && whole).then_some((value, number(index)?))
}

/// Whether `text` is one pair of brackets with its content.
fn is_subscript(text: &str) -> bool {
    let mut depth = 0usize;
    for (i, c) in text.char_indices() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' if depth > 0 => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text.starts_with('[') && i + 1 == text.len();
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copies<'a>(body: &'a str, members: &Members) -> Vec<Copy<'a>> {
        super::copies(body, &["__Vtemp_1".to_owned()].into(), members)
    }

    fn members() -> Members {
        let wide = ["a", "b"].map(|name| (name.to_owned(), Member::Wide(2)));
        let others = [
            ("m".to_owned(), Member::Array(Some(2))),
            ("n".to_owned(), Member::Array(None)),
            ("c".to_owned(), Member::Value("CData".into())),
        ];
        wide.into_iter().chain(others).collect()
    }

    #[test]
    fn copies_of_all_words_are_found() {
        let body = "    if (vlSelf->c) {\n        vlSelf->a[0U] = vlSelf->b[0U];\n        vlSelf->a[1U] \n            = vlSelf->b[1U];\n    }\n";
        let found = copies(body, &members());
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].to, found[0].words), (Target::Signal("a"), 2));
        assert_eq!(found[0].from_text, "vlSelf->b");
        let text = &body[found[0].place.clone()];
        assert!(text.starts_with("vlSelf->a[0U]") && text.ends_with("vlSelf->b[1U];"));
    }

    #[test]
    fn elements_and_locals_are_copied_too() {
        let element = "vlSelf->m\n   [(3U & vlSelf->c)]";
        let from = format!("vlSelf->a[0U] = {element}[0U]; vlSelf->a[1U] = {element}[1U];");
        assert_eq!(copies(&from, &members())[0].from_text, element);
        let to = format!("{element}[0U] = __Vtemp_1[0U]; {element}[1U] = __Vtemp_1[1U];");
        assert_eq!(copies(&to, &members())[0].to, Target::Element("m"));
        let constant = "Vmodel__ConstPool__CONST_1";
        let local = format!("__Vtemp_1[0U] = {constant}[0U]; __Vtemp_1[1U] = {constant}[1U];");
        assert_eq!(copies(&local, &members())[0].to, Target::Local);
    }

    #[test]
    fn other_assignments_are_not() {
        for body in [
            "vlSelf->a[0U] = vlSelf->b[0U];",
            "vlSelf->a[0U] = vlSelf->b[0U]; vlSelf->a[0x1U] = vlSelf->b[0U];",
            "vlSelf->a[0U] = vlSelf->b[0U]; vlSelf->c = 0U; vlSelf->a[1U] = vlSelf->b[1U];",
            "vlSelf->a[1U] = vlSelf->b[1U]; vlSelf->a[0U] = vlSelf->b[0U];",
            "vlSelf->a[0U] = (vlSelf->b[0U] | vlSelf->b[0U]); vlSelf->a[1U] = (vlSelf->b[1U] | vlSelf->b[1U]);",
            "vlSelf->a[0U] = vlSelf->b[0U] | vlSelf->b[0U]; vlSelf->a[1U] = vlSelf->b[1U] | vlSelf->b[1U];",
            "vlSelf->a[0U] = vlSelf->m[vlSelf->a[0U]][0U]; vlSelf->a[1U] = vlSelf->m[vlSelf->a[0U]][1U];",
            "vlSelf->m[vlSelf->m[0U][0U]][0U] = vlSelf->a[0U]; vlSelf->m[vlSelf->m[0U][0U]][1U] = vlSelf->a[1U];",
            // Arrays of narrow elements, and narrow variables, are not wide values.
            "vlSelf->n[0U] = vlSelf->n[0U]; vlSelf->n[1U] = vlSelf->n[1U];",
            "__Vtemp_1[0U] = vlSelf->n[0U]; __Vtemp_1[1U] = vlSelf->n[1U];",
            "__Vtemp_2[0U] = vlSelf->a[0U]; __Vtemp_2[1U] = vlSelf->a[1U];",
        ] {
            assert_eq!(copies(body, &members()), vec![], "{body}");
        }
    }
}
