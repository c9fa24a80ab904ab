//! Leaves out the flags that say whether a part of the design needs an edge.

use std::collections::BTreeSet;

use crate::source;
use crate::with_parts;

/// Returns the `flags` that no code in `bodies` reads, apart from code that only computes other flags. These can be removed.
pub(crate) fn unread<'a>(bodies: &[&str], flags: &'a BTreeSet<String>) -> BTreeSet<&'a str> {
    let mut unread: BTreeSet<&str> = flags.iter().map(String::as_str).collect();
    loop {
        let rests: Vec<String> = bodies.iter().map(|body| without(body, &unread)).collect();
        let before = unread.len();
        for name in rests.iter().flat_map(|rest| source::names(rest)) {
            unread.remove(name);
        }
        if unread.len() == before {
            return unread;
        }
    }
}

/// Returns `body` without the statements that assign to `signals`.
pub(crate) fn without(body: &str, signals: &BTreeSet<&str>) -> String {
    let assigns = |statement: &source::Statement<'_>| {
        let target = statement.text.strip_prefix(source::STATE);
        let name = target.and_then(|target| target.split_whitespace().next());
        statement.end == Some(';') && name.is_some_and(|name| signals.contains(name))
    };
    let place = |statement: source::Statement<'_>| {
        statement.start..statement.start + statement.text.len() + 1
    };
    let left_out = source::statements(body).filter(assigns).map(place);
    with_parts(body, left_out.map(|place| (place, String::new())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_other_code_reads_stay() {
        let flags = ["one", "two", "three"].map(str::to_owned).into();
        let bodies = [
            "vlSelf->one = vlSelf->a; vlSelf->two = vlSelf->one; vlSelf->three = vlSelf->two;",
            "if (vlSelf->two) {\n vlSelf->b = 1U;\n }",
        ];
        assert_eq!(unread(&bodies, &flags), ["three"].into());
        let rest = without(bodies[0], &["three"].into());
        assert_eq!(rest, "vlSelf->one = vlSelf->a; vlSelf->two = vlSelf->one; ");
    }
}
