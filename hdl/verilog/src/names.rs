//! Derives Verilog identifiers from Rust names.

use std::collections::{BTreeMap, BTreeSet};

use rust_hdl::core::atom::AtomKind;

use crate::collect::Signal;

const KEYWORDS: &[&str] = &[
    "always",
    "and",
    "assign",
    "begin",
    "buf",
    "case",
    "casex",
    "casez",
    "cell",
    "config",
    "deassign",
    "default",
    "defparam",
    "design",
    "disable",
    "edge",
    "else",
    "end",
    "endcase",
    "endfunction",
    "endgenerate",
    "endmodule",
    "endtask",
    "event",
    "for",
    "force",
    "forever",
    "fork",
    "function",
    "generate",
    "genvar",
    "if",
    "initial",
    "inout",
    "input",
    "instance",
    "integer",
    "join",
    "library",
    "localparam",
    "module",
    "nand",
    "negedge",
    "nor",
    "not",
    "or",
    "output",
    "parameter",
    "posedge",
    "pulldown",
    "pullup",
    "real",
    "realtime",
    "reg",
    "release",
    "repeat",
    "scalared",
    "signed",
    "small",
    "specify",
    "strong0",
    "strong1",
    "supply0",
    "supply1",
    "table",
    "task",
    "time",
    "tri",
    "unsigned",
    "use",
    "vectored",
    "wait",
    "wand",
    "weak0",
    "weak1",
    "while",
    "wire",
    "wor",
    "xnor",
    "xor",
    "logic",
    "bit",
    "byte",
    "do",
    "final",
    "packed",
    "priority",
    "property",
    "return",
    "sequence",
    "static",
    "string",
    "struct",
    "this",
    "type",
    "union",
    "unique",
    "var",
    "void",
    "with",
    "automatic",
    "endprimitive",
    "endspecify",
    "endtable",
    "highz0",
    "highz1",
    "ifnone",
    "incdir",
    "include",
    "liblist",
    "macromodule",
    "medium",
    "nmos",
    "noshowcancelled",
    "notif0",
    "notif1",
    "bufif0",
    "bufif1",
    "cmos",
    "pmos",
    "primitive",
    "pull0",
    "pull1",
    "pulsestyle_onevent",
    "pulsestyle_ondetect",
    "rcmos",
    "rnmos",
    "rpmos",
    "rtran",
    "rtranif0",
    "rtranif1",
    "showcancelled",
    "specparam",
    "tran",
    "tranif0",
    "tranif1",
    "tri0",
    "tri1",
    "triand",
    "trior",
    "trireg",
    "large",
    "accept_on",
    "alias",
    "always_comb",
    "always_ff",
    "always_latch",
    "assert",
    "assume",
    "before",
    "bind",
    "bins",
    "binsof",
    "break",
    "chandle",
    "checker",
    "class",
    "clocking",
    "const",
    "constraint",
    "context",
    "continue",
    "cover",
    "covergroup",
    "coverpoint",
    "cross",
    "dist",
    "endchecker",
    "endclass",
    "endclocking",
    "endgroup",
    "endinterface",
    "endpackage",
    "endprogram",
    "endproperty",
    "endsequence",
    "enum",
    "eventually",
    "expect",
    "export",
    "extends",
    "extern",
    "first_match",
    "foreach",
    "forkjoin",
    "global",
    "iff",
    "ignore_bins",
    "illegal_bins",
    "implements",
    "implies",
    "import",
    "inside",
    "int",
    "interconnect",
    "interface",
    "intersect",
    "join_any",
    "join_none",
    "let",
    "local",
    "longint",
    "matches",
    "modport",
    "nettype",
    "new",
    "nexttime",
    "null",
    "package",
    "program",
    "protected",
    "pure",
    "rand",
    "randc",
    "randcase",
    "randsequence",
    "ref",
    "reject_on",
    "restrict",
    "s_always",
    "s_eventually",
    "s_nexttime",
    "s_until",
    "s_until_with",
    "shortint",
    "shortreal",
    "soft",
    "solve",
    "strong",
    "super",
    "sync_accept_on",
    "sync_reject_on",
    "tagged",
    "throughout",
    "timeprecision",
    "timeunit",
    "typedef",
    "unique0",
    "until",
    "until_with",
    "untyped",
    "virtual",
    "wait_order",
    "weak",
    "wildcard",
    "within",
];

/// rust-hdl spells one signal in several ways (`a.b[2].next`, `.a::b`). Returns the flat name that all of them have here (`a$b$2`).
pub(crate) fn flat(name: &str) -> String {
    let joined = name
        .trim_start_matches('.')
        .replace("::", "$")
        .replace(['.', '['], "$")
        .replace([']', ' '], "");
    joined.strip_suffix("$next").unwrap_or(&joined).to_string()
}

/// The identifiers of one module. They are unique and not keywords, and `_` separates the levels of the hierarchy.
#[derive(Default)]
pub(crate) struct Scope {
    taken: BTreeSet<String>,
}

impl Scope {
    /// Reserves and returns an unused identifier that is as close to `wanted` as possible.
    pub(crate) fn claim(&mut self, wanted: &str) -> String {
        let mut base: String = wanted
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        if base.starts_with(|c: char| c.is_ascii_digit()) {
            base.insert(0, '_');
        }
        if KEYWORDS.contains(&base.as_str()) {
            base.push('_');
        }
        let mut name = base.clone();
        let mut n = 1;
        while !self.taken.insert(name.clone()) {
            name = format!("{base}_{n}");
            n += 1;
        }
        name
    }
}

/// A bundle's field of this name has the name of the bundle alone.
const WHOLE: &str = "record";

/// Returns the Verilog name of a port with the flat name `flat`. An element of an array of bundles has its number after the name (`rx$0$valid`
/// becomes `rx0_valid`). The signal `record` of a bundle has the name of the bundle (`read$record` becomes `read`). A field whose name would be a
/// Rust keyword ends in an underscore, and its ports leave the underscore out (`in_$valid` becomes `in_valid`).
fn of_port(flat: &str) -> String {
    let mut parts: Vec<&str> = flat.split('$').collect();
    if parts.len() > 1 && parts.last() == Some(&WHOLE) {
        parts.pop();
    }
    let mut name = String::new();
    for part in parts {
        let is_index = part.bytes().all(|b| b.is_ascii_digit());
        if !name.is_empty() && !is_index {
            name.push('_');
        }
        name += part.strip_suffix('_').unwrap_or(part);
    }
    name
}

/// Returns the name that a signal of a module gets in Verilog unless that name is already used.
pub(crate) fn wanted(flat: &str, kind: AtomKind) -> String {
    if kind.is_parameter() {
        of_port(flat)
    } else {
        flat.to_string()
    }
}

/// Returns the identifiers of a module's own signals for their `wanted` names. They are reserved before any other name, so that port names are
/// predictable.
pub(crate) fn of_signals<'a>(wanted: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut scope = Scope::default();
    wanted.into_iter().map(|name| scope.claim(name)).collect()
}

/// Returns two ports that would have the same name in Verilog.
pub(crate) fn same_port(signals: &[Signal]) -> Option<(&Signal, &Signal)> {
    let mut by_name: BTreeMap<&str, &Signal> = BTreeMap::new();
    signals
        .iter()
        .filter(|s| s.kind.is_parameter())
        .find_map(|s| Some((by_name.insert(&s.wanted, s)?, s)))
}

/// Returns the module name of a Rust type: its last path segment in snake case, then its generic arguments
/// (`SyncFifo<Bits<32>, 4>` becomes `sync_fifo_bits_32_4`).
pub(crate) fn of_type(path: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut word = String::new();
    for c in path.chars().chain(['>']) {
        if c.is_ascii_alphanumeric() || c == '_' {
            word.push(c);
        } else {
            // `a::b::Type`: path prefixes are dropped.
            if c != ':' && !word.is_empty() {
                out.push(snake(&word));
            }
            word.clear();
        }
    }
    out.join("_")
}

fn snake(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (i, c) in chars.iter().enumerate() {
        let after_lower =
            i > 0 && (chars[i - 1].is_ascii_lowercase() || chars[i - 1].is_ascii_digit());
        let ends_acronym = i > 0
            && chars[i - 1].is_ascii_uppercase()
            && chars.get(i + 1).is_some_and(|n| n.is_ascii_lowercase());
        if c.is_ascii_uppercase() && (after_lower || ends_acronym) {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_paths_become_module_names() {
        assert_eq!(
            of_type("a::b::SyncFifo<rust_hdl::Bits<32>, 4>"),
            "sync_fifo_bits_32_4"
        );
        assert_eq!(of_type("x::DMAWrite"), "dma_write");
        assert_eq!(of_type("x::Crc32Wide<1024>"), "crc32_wide_1024");
        assert_eq!(of_type("x::Decap"), "decap");
    }

    #[test]
    fn spellings_of_one_signal_agree() {
        for spelling in ["a.b[2].next", ".a.b[2]", "a$b$2", "a::b$2$next"] {
            assert_eq!(flat(spelling), "a$b$2");
        }
    }

    #[test]
    fn ports_of_bundles_are_called_after_bundle_and_signal() {
        assert_eq!(of_port("read$valid"), "read_valid");
        assert_eq!(of_port("read$record"), "read");
        assert_eq!(of_port("rx$1$valid"), "rx1_valid");
        assert_eq!(of_port("read$0$record"), "read0");
        assert_eq!(of_port("pcie$0$write$valid"), "pcie0_write_valid");
        assert_eq!(of_port("record"), "record");
        assert_eq!(of_port("in_$0$valid"), "in0_valid");
    }

    #[test]
    fn identifiers_are_unique_and_never_keywords() {
        let mut scope = Scope::default();
        assert_eq!(scope.claim("a$b"), "a_b");
        assert_eq!(scope.claim("a_b"), "a_b_1");
        assert_eq!(scope.claim("reg"), "reg_");
        // Other tools read the text as SystemVerilog, so its keywords are avoided too.
        assert_eq!(scope.claim("before"), "before_");
        assert_eq!(scope.claim("0x"), "_0x");
    }
}
