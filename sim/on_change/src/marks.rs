//! Generates C++ for the marks of functions. A mark is one byte of the model's state; 1 means that the function has to run.

use std::collections::BTreeSet;

/// Number of marks that are read at once, as one 64-bit word.
pub(crate) const GROUP: usize = 8;
/// Number of marks of a group that are tested together.
pub(crate) const HALF: usize = GROUP / 2;
/// Number of marks that a distance of one byte reaches in the code of a processor.
pub(crate) const NEAR: usize = 256;

/// The C++ expression of a function's mark.
fn mark(function: &usize) -> String {
    format!("vlSelf->stellar_marked[{function}]")
}

/// The C++ condition that at least one of `functions` is not marked.
pub(crate) fn unmarked(functions: &BTreeSet<usize>) -> String {
    let marks: Vec<_> = functions.iter().map(mark).collect();
    format!("!({})", marks.join(" & "))
}

/// Statements that mark `functions` if `condition` holds. They contain no branch, because the processor predicts poorly whether a value changes.
pub(crate) fn marks_if<'a>(
    condition: &str,
    functions: impl IntoIterator<Item = &'a usize>,
) -> String {
    assigned(&format!("|= {condition}"), functions)
}

/// Statements that mark `functions`.
pub(crate) fn marks(functions: &BTreeSet<usize>) -> String {
    assigned("= 1", functions)
}

/// Statements that apply `assignment` to the marks of `functions`.
fn assigned<'a>(assignment: &str, functions: impl IntoIterator<Item = &'a usize>) -> String {
    let assign = |function| format!("{} {assignment};", mark(function));
    let marks: Vec<_> = functions.into_iter().map(assign).collect();
    marks.join(" ")
}
