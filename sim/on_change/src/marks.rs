//! Marks of functions: a byte of the state each, 1 if it has to run.

use std::collections::BTreeSet;

/// Marks that are looked at in one go.
pub(crate) const GROUP: usize = 8;
/// Groups that are passed over in one go.
pub(crate) const STRIDE: usize = 8;

/// The mark of a function.
fn mark(function: &usize) -> String {
    format!("vlSelf->stellar_marked[{function}]")
}

/// Condition: one of `functions` is not marked.
pub(crate) fn unmarked(functions: &BTreeSet<usize>) -> String {
    let marks: Vec<_> = functions.iter().map(mark).collect();
    format!("!({})", marks.join(" & "))
}

/// Statements that mark functions if `condition` holds. They do not branch: whether a value changes is hard to foresee.
pub(crate) fn marks_if<'a>(
    condition: &str,
    functions: impl IntoIterator<Item = &'a usize>,
) -> String {
    assigned(&format!("|= {condition}"), functions)
}

/// Statements that mark functions.
pub(crate) fn marks(functions: &BTreeSet<usize>) -> String {
    assigned("= 1", functions)
}

/// Statements that do this with the marks of functions.
fn assigned<'a>(assignment: &str, functions: impl IntoIterator<Item = &'a usize>) -> String {
    let assign = |function| format!("{} {assignment};", mark(function));
    let marks: Vec<_> = functions.into_iter().map(assign).collect();
    marks.join(" ")
}
