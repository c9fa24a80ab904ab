//! Determines which signals a function reads before it has assigned them: the values that are carried into it.
//!
//! A register's code computes many values on the way from its inputs to its outputs, and reads them again. If every path assigns such a value before it
//! reads it, the function does not depend on what the value was before.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{identifier, number, statements, Member, Members, Statement, STATE};
use crate::usage::{assignment, result};

/// Returns the signals in `body` that may be read before they are assigned. Every array that is read is among them.
pub(crate) fn carried(body: &str, members: &Members) -> BTreeSet<String> {
    let statements: Vec<Statement> = statements(body).collect();
    let mut walk = Walk {
        members,
        statements: &statements,
        at: 0,
        carried: BTreeSet::new(),
    };
    let mut assigned = Assigned::default();
    while walk.at < statements.len() {
        walk.block(&mut assigned);
    }
    walk.carried
}

/// What has been assigned on every path to a statement.
#[derive(Clone, Debug, Default, PartialEq)]
struct Assigned<'a> {
    whole: BTreeSet<&'a str>,
    /// Words of wide signals that are not assigned as a whole.
    words: BTreeMap<&'a str, BTreeSet<usize>>,
}

impl<'a> Assigned<'a> {
    fn has(&self, signal: &str, word: Option<usize>) -> bool {
        let has_word = |word| self.words.get(signal).is_some_and(|w| w.contains(&word));
        self.whole.contains(signal) || word.is_some_and(has_word)
    }

    fn assign_word(&mut self, signal: &'a str, word: usize, count: usize) {
        let words = self.words.entry(signal).or_default();
        words.insert(word);
        if words.len() == count {
            self.whole.insert(signal);
        }
    }

    /// What is assigned behind two paths.
    fn both(mut self, other: &Self) -> Self {
        self.whole.retain(|signal| other.whole.contains(signal));
        self.words.retain(|signal, words| {
            words.retain(|&word| other.has(signal, Some(word)));
            !words.is_empty()
        });
        self
    }
}

/// A walk over the statements of a function.
struct Walk<'a> {
    members: &'a Members,
    statements: &'a [Statement<'a>],
    at: usize,
    carried: BTreeSet<String>,
}

impl<'a> Walk<'a> {
    /// Walks to the end of the block that begins at this statement.
    fn block(&mut self, assigned: &mut Assigned<'a>) {
        while let Some(&Statement { text, end, .. }) = self.statements.get(self.at) {
            self.at += 1;
            match end {
                Some('{') if text.starts_with("if (") => self.branches(text, assigned),
                Some('{') => self.repeated(text, assigned),
                Some('}') => return,
                _ => self.single(text, assigned),
            }
        }
    }

    /// Walks over `if (condition) {}` and the `else` and `else if` that follow it.
    fn branches(&mut self, condition: &'a str, assigned: &mut Assigned<'a>) {
        self.read(condition, assigned);
        let mut taken = assigned.clone();
        self.block(&mut taken);
        let other = self.statements.get(self.at).filter(|s| s.end == Some('{'));
        match other.and_then(|s| s.text.strip_prefix("else")) {
            Some("") => {
                self.at += 1;
                self.block(assigned);
            }
            Some(condition) => {
                self.at += 1;
                self.branches(condition, assigned);
            }
            None => {}
        }
        *assigned = taken.both(assigned);
    }

    /// Walks over a loop. It may run zero times, unless it is one of those that assign each word of a wide signal in turn.
    fn repeated(&mut self, condition: &'a str, assigned: &mut Assigned<'a>) {
        self.read(condition, assigned);
        let first = self.at;
        let mut within = assigned.clone();
        self.block(&mut within);
        let start = first.checked_sub(2).map(|at| self.statements[at].text);
        let Some((index, last)) = counted(start, condition) else {
            return;
        };
        let body = &self.statements[first..self.at];
        for target in body.iter().filter_map(|s| Some(assignment(s.text)?.0)) {
            let Some((signal, subscript)) = self.signal(target) else {
                continue;
            };
            let whole = self.members.get(signal) == Some(&Member::Wide(last + 1));
            if whole && subscript == format!("[{index}]") && is_straight(body) {
                assigned.whole.insert(signal);
            }
        }
    }

    fn single(&mut self, text: &'a str, assigned: &mut Assigned<'a>) {
        if let Some((target, value)) = assignment(text) {
            self.read(value, assigned);
            let Some((signal, subscript)) = self.signal(target) else {
                return self.read(target, assigned);
            };
            self.read(subscript, assigned);
            match self.members.get(signal) {
                Some(Member::Value(_)) if subscript.is_empty() => {
                    assigned.whole.insert(signal);
                }
                Some(&Member::Wide(count)) => {
                    if let Some(word) = constant(subscript) {
                        assigned.assign_word(signal, word, count);
                    }
                }
                _ => {}
            }
            return;
        }
        // The result of a call is overwritten as a whole, after its arguments have been read.
        let result = result(text).map(str::trim);
        match result.and_then(|result| Some((result, self.signal(result)?))) {
            Some((result, (signal, ""))) => {
                let (before, after) = text.split_once(result).unwrap_or((text, ""));
                self.read(before, assigned);
                self.read(after, assigned);
                assigned.whole.insert(signal);
            }
            _ => self.read(text, assigned),
        }
    }

    /// Splits `vlSelf->name[subscript]` into the name of the signal and its subscript with brackets.
    fn signal(&self, text: &'a str) -> Option<(&'a str, &'a str)> {
        let member = text.strip_prefix(STATE)?;
        let (name, subscript) = member.split_at(identifier(member));
        Some((name, subscript.trim()))
    }

    /// Reads every signal in `text`.
    fn read(&mut self, text: &str, assigned: &Assigned<'a>) {
        for part in text.split(STATE).skip(1) {
            let (name, after) = part.split_at(identifier(part));
            let subscript = after.trim_start();
            let word = subscript
                .find(']')
                .and_then(|end| constant(&subscript[..=end]));
            if !assigned.has(name, word) {
                self.carried.insert(name.to_owned());
            }
        }
    }
}

/// Returns the word index of `[0x1fU]`.
fn constant(subscript: &str) -> Option<usize> {
    let digits = subscript.strip_prefix('[')?.strip_suffix("U]")?;
    number(digits)
}

/// Returns the index variable and its last value if `start` and `condition` are those of Verilator's loops over words: `i = 0U`, `while ((i <= 0x3fU))`.
fn counted<'a>(start: Option<&str>, condition: &'a str) -> Option<(&'a str, usize)> {
    let (index, last) = condition
        .strip_prefix("while ((")?
        .strip_suffix("U))")?
        .split_once(" <= ")?;
    let starts = start?.strip_prefix(index)?.trim_start() == "= 0U";
    starts.then_some((index, number(last)?))
}

/// Whether a loop's body has no branches, so each of its statements runs for each value of the index.
fn is_straight(body: &[Statement]) -> bool {
    body.iter().all(|statement| statement.end != Some('{'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carried(body: &str) -> Vec<String> {
        let value = || Member::Value("CData".into());
        let members: Members = [
            ("a", value()),
            ("b", value()),
            ("c", value()),
            ("w", Member::Wide(2)),
            ("v", Member::Wide(2)),
            ("m", Member::Array(None)),
        ]
        .map(|(name, kind)| (name.to_owned(), kind))
        .into();
        super::carried(body, &members).into_iter().collect()
    }

    #[test]
    fn a_value_that_is_assigned_first_is_not_carried() {
        assert_eq!(
            carried("vlSelf->a = vlSelf->b; vlSelf->c = vlSelf->a;"),
            ["b"]
        );
        assert_eq!(
            carried("vlSelf->c = vlSelf->a; vlSelf->a = vlSelf->b;"),
            ["a", "b"]
        );
        assert_eq!(carried("vlSelf->a = (1U + vlSelf->a);"), ["a"]);
        // An array's elements are not told apart.
        assert_eq!(
            carried("vlSelf->m[0U] = 1U; vlSelf->a = vlSelf->m[0U];"),
            ["m"]
        );
    }

    #[test]
    fn all_paths_have_to_assign() {
        let branches = |others: &str| {
            carried(&format!(
                "if (vlSelf->c) {{ vlSelf->a = 1U; }} {others} vlSelf->b = vlSelf->a;"
            ))
        };
        assert_eq!(branches("else { vlSelf->a = 2U; }"), ["c"]);
        assert_eq!(branches(""), ["a", "c"]);
        assert_eq!(branches("else { vlSelf->b = 2U; }"), ["a", "c"]);
        assert_eq!(
            branches("else if (vlSelf->w[0U]) { vlSelf->a = 2U; } else { vlSelf->a = 3U; }"),
            ["c", "w"]
        );
        assert_eq!(
            branches("else if (vlSelf->w[0U]) { vlSelf->a = 2U; }"),
            ["a", "c", "w"]
        );
        // A value that only one path assigns may be read on that path.
        assert_eq!(
            carried("if (vlSelf->c) { vlSelf->a = 1U; vlSelf->b = vlSelf->a; }"),
            ["c"]
        );
        let nested = "if (vlSelf->c) { if (vlSelf->b) { vlSelf->a = 1U; } } else { vlSelf->a = 2U; } vlSelf->w[0U] = vlSelf->a;";
        assert_eq!(carried(nested), ["a", "b", "c"]);
    }

    #[test]
    fn each_word_counts() {
        assert_eq!(
            carried("vlSelf->w[0U] = 1U; vlSelf->a = vlSelf->w[0U];"),
            Vec::<String>::new()
        );
        assert_eq!(
            carried("vlSelf->w[0U] = 1U; vlSelf->a = vlSelf->w[1U];"),
            ["w"]
        );
        assert_eq!(
            carried("vlSelf->w[0U] = 1U; VL_SHIFTR_WWI(64,64,32, vlSelf->v, vlSelf->w, 3U);"),
            ["w"]
        );
        let words = "vlSelf->w[0U] = 1U; vlSelf->w[1U] = 1U;";
        assert_eq!(
            carried(&format!("{words} vlSelf->a = vlSelf->w[vlSelf->b];")),
            ["b"]
        );
        assert_eq!(carried(&format!("{words} VL_SHIFTR_WWI(64,64,32, vlSelf->v, vlSelf->w, 3U); vlSelf->a = vlSelf->v[1U];")), Vec::<String>::new());
        assert_eq!(
            carried("vlSelf->w[vlSelf->a] = 1U; vlSelf->b = vlSelf->w[0U];"),
            ["a", "w"]
        );
        let other_words = "if (vlSelf->c) { vlSelf->w[0U] = 1U; } else { vlSelf->w[1U] = 1U; } vlSelf->a = vlSelf->w[0U];";
        assert_eq!(carried(other_words), ["c", "w"]);
    }

    #[test]
    fn a_result_is_assigned_after_the_arguments_are_read() {
        assert_eq!(
            carried("VL_SHIFTR_WWI(64,64,32, vlSelf->w, vlSelf->w, 3U);"),
            ["w"]
        );
        assert_eq!(
            carried("VL_ADD_W(2, vlSelf->w, vlSelf->v, vlSelf->v); vlSelf->a = vlSelf->w[1U];"),
            ["v"]
        );
        // Which argument of another function is its result is not known.
        assert_eq!(
            carried("VL_EXTEND_WI(64,8, vlSelf->w, vlSelf->a); vlSelf->b = vlSelf->w[0U];"),
            ["a", "w"]
        );
    }

    #[test]
    fn loops_over_all_words_assign() {
        let of = |start: &str, last: &str, body: &str| {
            carried(&format!(
                "__Vilp = {start}; while ((__Vilp <= {last})) {{ {body} __Vilp = ((IData)(1U) + __Vilp); }} vlSelf->a = vlSelf->w[0U];"
            ))
        };
        let copy = "vlSelf->w[__Vilp] = vlSelf->v[__Vilp];";
        assert_eq!(of("0U", "1U", copy), ["v"]);
        assert_eq!(of("1U", "1U", copy), ["v", "w"]);
        assert_eq!(of("0U", "0U", copy), ["v", "w"]);
        assert_eq!(
            of("0U", "1U", "if (vlSelf->b) { vlSelf->w[__Vilp] = 0U; }"),
            ["b", "w"]
        );
        assert_eq!(
            of("0U", "1U", "vlSelf->w[__Vilp] = (1U | vlSelf->w[__Vilp]);"),
            ["w"]
        );
    }
}
