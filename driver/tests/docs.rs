//! `docs/driver.md` agrees with the definitions in `stellar-wire`. `UPDATE_DOCS=1 cargo test -p stellar-driver --test stellar-driver docs::` writes
//! the generated parts again.

use std::fmt::Write;

use stellar_wire::host::config_space::{Bar, ConfigWord, Function};
use stellar_wire::host::registers::{self, Access};
use stellar_wire::host::QpCounter;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/driver.md");

/// A description on one line: its links point into Rust documentation, so only their names stay.
fn line(description: &str) -> String {
    let words: Vec<&str> = description.split_whitespace().collect();
    words
        .join(" ")
        .replace("[`", "`")
        .replace("`]", "`")
        .replace("crate::host::", "")
        .replace("crate::rows::", "")
        .replace('|', "\\|")
}

fn register_map() -> String {
    let mut out = String::from("| offset | name | access | reset | |\n|---|---|---|---|---|\n");
    for register in registers::ALL {
        let access = match register.access {
            Access::ReadOnly => "read",
            Access::ReadWrite => "read, write",
            Access::Command => "command",
        };
        let name = match register.count {
            1 => register.name.to_owned(),
            count => format!("{} x {count}", register.name),
        };
        let (offset, reset) = (register.offset, register.reset);
        let description = line(register.description);
        writeln!(
            out,
            "| {offset:#06x} | {name} | {access} | {reset:#x} | {description} |"
        )
        .expect("a string takes everything");
    }
    out
}

fn qp_counters() -> String {
    let mut out = String::from("| number | counter | |\n|---|---|---|\n");
    for counter in QpCounter::ALL {
        let (number, description) = (counter.index(), line(counter.description()));
        writeln!(out, "| {number} | `{counter}` | {description} |")
            .expect("a string takes everything");
    }
    out
}

fn config_space() -> String {
    let mut out = String::from(
        "| offset | functions | reset | writable | cleared by 1 | |\n|---|---|---|---|---|---|\n",
    );
    let [control, data]: [Vec<_>; 2] = Function::ALL.map(|function| function.words().collect());
    let mut words: Vec<(&str, &ConfigWord)> = Vec::new();
    for word in &control {
        let is_shared = data.contains(word);
        words.push((if is_shared { "both" } else { "control" }, word));
    }
    let only_data = data.iter().filter(|word| !control.contains(word));
    words.extend(only_data.map(|word| ("data", *word)));
    words.sort_by_key(|(_, word)| word.offset);
    for (functions, word) in words {
        let (offset, reset) = (word.offset, word.reset);
        let (writable, cleared) = (word.writable, word.cleared);
        let description = line(word.description);
        writeln!(
            out,
            "| {offset:#05x} | {functions} | {reset:#010x} | {writable:#010x} | {cleared:#010x} | {description} |"
        )
        .expect("a string takes everything");
    }
    for bar in Bar::ALL {
        assert!(out.contains(&format!("BAR{}", bar.index())));
    }
    out
}

/// The document with the part between two marks replaced.
fn with_part(document: &str, name: &str, part: &str) -> String {
    let (begin, end) = (
        format!("<!-- {name} -->\n"),
        format!("<!-- end of {name} -->"),
    );
    let (before, rest) = document
        .split_once(&begin)
        .expect("the document has the mark");
    let (_, after) = rest.split_once(&end).expect("the part has an end");
    format!("{before}{begin}{part}{end}{after}")
}

#[test]
fn the_manual_has_the_definitions_of_wire() {
    let document = std::fs::read_to_string(DOCUMENT).unwrap();
    let fresh = with_part(&document, "registers", &register_map());
    let fresh = with_part(&fresh, "counters of queue pairs", &qp_counters());
    let fresh = with_part(&fresh, "configuration space", &config_space());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(DOCUMENT, &fresh).unwrap();
    }
    assert!(
        document == fresh,
        "docs/driver.md is behind stellar-wire: run UPDATE_DOCS=1 cargo test -p stellar-driver --test stellar-driver docs::"
    );
}
