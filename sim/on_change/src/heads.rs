//! Shortens what is in front of the statements of a function: the local variables and their initial values.

use std::collections::BTreeSet;

use crate::source::{identifier, statements, Statement};
use crate::usage::result;

/// The start of the names that Verilator gives to what a memory is written with: the value, the address, and whether it is written at all.
const VALUE: &str = "__Vdlyvval__";
const ADDRESS: &str = "__Vdlyvdim";
const WRITTEN: &str = "__Vdlyvset__";

/// What Verilator writes in front of local variables.
const INIT: &str = "// Init";

/// Returns `head` for a function with this `body`: without the variables that it does not mention, and without initial values that it does not read.
///
/// Verilator clears the value and the address of each write of a memory first. A function uses them only if it sets both, so that is left out: a value
/// has up to 41 words.
pub(crate) fn head(head: &str, body: &str) -> String {
    let mentioned = words(body);
    let keeps = |line: &&str| {
        let line = line.trim();
        let Some((name, is_initial)) = local(line) else {
            return line != INIT;
        };
        mentioned.contains(name) && !(is_initial && set_with_flag(name, body))
    };
    head.split_inclusive('\n').filter(keeps).collect()
}

/// Returns the local variable that a line of a head declares or clears, and whether it clears it: `CData/*2:0*/ a;`, `a = 0;` or `VL_ZERO_W(690, a);`.
fn local(line: &str) -> Option<(&str, bool)> {
    let line = line.strip_suffix(';')?;
    let (name, is_initial) = if let Some(name) = line.strip_suffix(" = 0") {
        (name, true)
    } else if let Some(arguments) = line.strip_prefix("VL_ZERO_W(") {
        (arguments.strip_suffix(')')?.split_once(", ")?.1, true)
    } else {
        let kinds = ["CData/*", "SData/*", "IData/*", "QData/*", "VlWide<"];
        kinds.iter().find(|kind| line.starts_with(**kind))?;
        (line.rsplit_once(' ')?.1, false)
    };
    (!name.is_empty() && identifier(name) == name.len()).then_some((name, is_initial))
}

/// Whether `name` is the value or the address of a write, and `body` reads it only where the flag of that write says that both are set.
fn set_with_flag(name: &str, body: &str) -> bool {
    let of_address = || {
        let (digits, write) = name.strip_prefix(ADDRESS)?.split_once("__")?;
        digits.parse::<usize>().ok().map(|_| write)
    };
    let Some(write) = name.strip_prefix(VALUE).or_else(of_address) else {
        return false;
    };
    let condition = format!("if ({WRITTEN}{write})");
    let mut blocks: Vec<bool> = vec![];
    for Statement { text, end, .. } in statements(body) {
        let is_set = blocks.contains(&true);
        if !is_set && reads(text, name) {
            return false;
        }
        match end {
            Some('{') => blocks.push(text == condition),
            Some('}') => {
                blocks.pop();
            }
            _ => {}
        }
    }
    true
}

/// Whether a statement mentions `name` other than as what it assigns.
fn reads(text: &str, name: &str) -> bool {
    if result(text).map(str::trim) == Some(name) {
        return text.matches(name).count() > 1;
    }
    let behind_target = text.strip_prefix(name).unwrap_or(text);
    words(behind_target).contains(name)
}

/// Returns the names of the local variables that `head` declares.
pub(crate) fn declared(head: &str) -> impl Iterator<Item = &str> {
    let declarations = head.split(';').filter(|text| !text.contains(" = "));
    let names = declarations.filter_map(|text| text.split_whitespace().next_back());
    names.filter(|name| identifier(name) == name.len())
}

/// Returns the identifiers in `text`.
pub(crate) fn words(text: &str) -> BTreeSet<&str> {
    let of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(|c| !of_name(c))
        .filter(|word| !word.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "void f(Vmodel___024root* vlSelf) {\n    // Init\n    CData/*2:0*/ __Vdlyvdim0__m__v0;\n    __Vdlyvdim0__m__v0 = 0;\n    \
                        VlWide<22>/*689:0*/ __Vdlyvval__m__v0;\n    VL_ZERO_W(690, __Vdlyvval__m__v0);\n    CData/*0:0*/ __Vdlyvset__m__v0;\n    \
                        __Vdlyvset__m__v0 = 0;\n    IData/*31:0*/ other;\n    other = 0;\n    // Body\n";
    const BODY: &str = "__Vdlyvset__m__v0 = 0U; if (vlSelf->a) { __Vdlyvval__m__v0[0U] = vlSelf->b; __Vdlyvset__m__v0 = 1U; __Vdlyvdim0__m__v0 = 3U; } \
                        if (__Vdlyvset__m__v0) { vlSelf->m[__Vdlyvdim0__m__v0][0U] = __Vdlyvval__m__v0[0U]; }";

    #[test]
    fn what_a_memory_is_written_with_is_not_cleared_first() {
        let expected = "void f(Vmodel___024root* vlSelf) {\n    CData/*2:0*/ __Vdlyvdim0__m__v0;\n    \
                        VlWide<22>/*689:0*/ __Vdlyvval__m__v0;\n    CData/*0:0*/ __Vdlyvset__m__v0;\n    __Vdlyvset__m__v0 = 0;\n    // Body\n";
        assert_eq!(head(HEAD, BODY), expected);
        let read = format!("{BODY} vlSelf->c = __Vdlyvval__m__v0[0U];");
        let cleared = head(HEAD, &read);
        assert!(
            cleared.contains("VL_ZERO_W(690, __Vdlyvval__m__v0);"),
            "{cleared}"
        );
        assert!(!cleared.contains("__Vdlyvdim0__m__v0 = 0;"), "{cleared}");
        let shifted =
            format!("{BODY} VL_SHIFTL_WWI(690,690,32, __Vdlyvval__m__v0, __Vdlyvval__m__v0, 3U);");
        assert!(head(HEAD, &shifted).contains("VL_ZERO_W(690"));
    }

    #[test]
    fn variables_that_are_not_mentioned_are_left_out() {
        let expected = "void f(Vmodel___024root* vlSelf) {\n    IData/*31:0*/ other;\n    other = 0;\n    // Body\n";
        assert_eq!(head(HEAD, "vlSelf->a = other;"), expected);
        let names: BTreeSet<&str> = declared(HEAD).collect();
        for name in ["__Vdlyvdim0__m__v0", "__Vdlyvval__m__v0", "other"] {
            assert!(names.contains(name), "{names:?}");
        }
    }
}
