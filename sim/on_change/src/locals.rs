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
pub(crate) fn private(
    body: &str,
    usage: &Usage,
    everywhere: &BTreeMap<&str, usize>,
    ports: &BTreeSet<&str>,
) -> BTreeSet<String> {
    let own = mentions([body].into_iter());
    let only_here = |(name, count): (&str, usize)| {
        let alone = everywhere.get(name) == Some(&count) && !ports.contains(name);
        let assigned = usage.writes.contains_key(name) && !usage.reads.contains(name);
        (alone && assigned && !usage.array_writes.values().any(|array| array == name))
            .then(|| name.to_owned())
    };
    own.into_iter().filter_map(only_here).collect()
}

/// Returns the new `text` of a function with its signals `private` as local variables, and their declarations in front.
pub(crate) fn localized(text: &str, private: &BTreeSet<String>, members: &Members) -> String {
    let mut new = String::with_capacity(text.len());
    for name in private {
        let kind = match &members[name] {
            Member::Value(kind) => kind.clone(),
            Member::Wide(words) => format!("VlWide<{words}>"),
            Member::Array(_) => unreachable!("an array is not private"),
        };
        let _ = writeln!(new, "    {kind} {LOCAL}{name};");
    }
    let mut parts = text.split(STATE);
    new += parts.next().unwrap_or_default();
    for part in parts {
        let of_state = !private.contains(&part[..identifier(part)]);
        new += if of_state { STATE } else { LOCAL };
        new += part;
    }
    new
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
        assert_eq!(private, ["a", "w"].map(str::to_owned).into());
        let new = localized(body, &private, &members);
        let start = "    CData stellar_local_a;\n    VlWide<2> stellar_local_w;\n\
                     stellar_local_a = vlSelf->b; vlSelf->aa = stellar_local_a; vlSelf->kept = (1U & vlSelf->kept); ";
        assert!(new.starts_with(start), "{new}");
    }
}
