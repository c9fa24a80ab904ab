//! Turns signals that only one function uses into its local variables, so that g++ keeps them in registers, or leaves them out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::source::{identifier, names, Member, Members, STATE};
use crate::usage::Usage;

/// The prefix of a local variable that was a signal.
const LOCAL: &str = "stellar_local_";

/// How often `texts` mention each member of the model's state.
pub(crate) fn mentions<'a>(texts: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut mentions = BTreeMap::new();
    for name in texts.flat_map(names) {
        *mentions.entry(name).or_default() += 1;
    }
    mentions
}

/// Returns the signals that can be local variables of the function with this `body`: those that it assigns before it reads them, and that nothing else
/// mentions. `everywhere` are the mentions in all code, and `ports` are the model's, which others read.
pub(crate) fn private<'a>(
    body: &'a str,
    usage: &Usage,
    everywhere: &BTreeMap<&str, usize>,
    ports: &BTreeSet<&str>,
) -> BTreeSet<&'a str> {
    let own = mentions([body].into_iter());
    let only_here = |(name, count): (&'a str, usize)| {
        let alone = everywhere.get(name) == Some(&count) && !ports.contains(name);
        let assigned = usage.writes.contains_key(name) && !usage.reads.contains(name);
        (alone && assigned && !usage.array_writes.values().any(|array| array == name))
            .then_some(name)
    };
    own.into_iter().filter_map(only_here).collect()
}

/// A function's statements with its private signals as local variables.
pub(crate) struct Localized {
    pub declarations: String,
    pub body: String,
    /// The local variables that have several words.
    pub wide: BTreeSet<String>,
}

/// Replaces the signals `private` in `body`.
pub(crate) fn localized(body: &str, private: &BTreeSet<&str>, members: &Members) -> Localized {
    let mut parts = body.split(STATE);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let of_state = !private.contains(&part[..identifier(part)]);
        text += if of_state { STATE } else { LOCAL };
        text += part;
    }
    let mut declarations = String::new();
    let mut wide = BTreeSet::new();
    for &name in private {
        let kind = match &members[name] {
            Member::Value(kind) => kind.clone(),
            Member::Wide(words) => {
                wide.insert(format!("{LOCAL}{name}"));
                format!("VlWide<{words}>")
            }
            Member::Array(_) => unreachable!("an array is not private"),
        };
        let _ = writeln!(declarations, "    {kind} {LOCAL}{name};");
    }
    Localized {
        declarations,
        body: text,
        wide,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::usage;

    #[test]
    fn what_only_one_function_uses_becomes_local() {
        let value = || Member::Value("CData".into());
        let members: Members = [
            ("a", value()),
            ("aa", value()),
            ("b", value()),
            ("kept", value()),
            ("out", value()),
            ("w", Member::Wide(2)),
            ("m", Member::Array(None)),
        ]
        .map(|(name, kind)| (name.to_owned(), kind))
        .into();
        let body = "vlSelf->a = vlSelf->b; vlSelf->aa = vlSelf->a; vlSelf->kept = (1U & vlSelf->kept); \
                    vlSelf->out = vlSelf->a; vlSelf->w[0U] = 1U; vlSelf->w[1U] = vlSelf->a; vlSelf->m[0U] = vlSelf->w[1U];";
        let other = "vlSelf->b = vlSelf->aa;";
        let everywhere = mentions([body, other].into_iter());
        let usage = usage(body, &members).unwrap();
        let private = private(body, &usage, &everywhere, &["out"].into());
        assert_eq!(private, ["a", "w"].into());
        let new = localized(body, &private, &members);
        let declarations = "    CData stellar_local_a;\n    VlWide<2> stellar_local_w;\n";
        assert_eq!(new.declarations, declarations);
        let start = "stellar_local_a = vlSelf->b; vlSelf->aa = stellar_local_a; vlSelf->kept = (1U & vlSelf->kept); ";
        assert!(new.body.starts_with(start), "{}", new.body);
        assert_eq!(new.wide, ["stellar_local_w".to_owned()].into());
    }
}
