//! The constraints of docs/crossings.md name registers that are in the Verilog.
use hdl_crossings::{
    BlockAsyncFifo, CrossingSource, LevelSynchroniser, LutAsyncFifo, PulseHandshake,
    ResetSynchroniser,
};
use hdl_verilog::Design;
use rust_hdl::prelude::*;

use crate::clocks::design;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/crossings.md");

/// The blocks that the page's variables name.
fn blocks() -> Vec<(&'static str, Design)> {
    vec![
        ("fifo", design::<LutAsyncFifo<Bits<16>, 4, 5>>()),
        ("fifo", design::<BlockAsyncFifo<Bits<16>, 9, 10>>()),
        ("pulse", design::<PulseHandshake<3>>()),
        ("source", design::<CrossingSource<4>>()),
        ("level", design::<LevelSynchroniser<4, 3>>()),
        ("reset", design::<ResetSynchroniser<3>>()),
    ]
}

/// Whether the design has this register, named as in Vivado: `u_write_gray/source_crossing_reg`.
fn has(design: &Design, path: &str) -> bool {
    let mut module = design.modules.last().expect("the top is the last module");
    let mut parts: Vec<&str> = path.split('/').collect();
    let register = parts.pop().and_then(|name| name.strip_suffix("_reg"));
    for part in parts {
        let instance = format!(" {part} (");
        let line = module.text.lines().find(|line| line.ends_with(&instance));
        let Some(kind) = line.map(|line| line.trim().trim_end_matches(&instance)) else {
            return false;
        };
        let found = design.modules.iter().find(|module| module.name == kind);
        module = found.expect("an instance has a module");
    }
    let assigned = |register| module.text.contains(&format!(" {register} <= "));
    register.is_some_and(assigned)
}

/// The registers in the page's constraints: the variable, the path below it.
fn named(page: &str) -> Vec<(&str, &str)> {
    let code = page.split("```").skip(1).step_by(2);
    let constraints = code.filter_map(|block| block.strip_prefix("tcl\n"));
    let words = constraints.flat_map(|block| block.split([' ', '\n', '[', ']']));
    let variables = words.filter_map(|word| word.strip_prefix('$')?.split_once('/'));
    variables
        .map(|(variable, path)| (variable, path.split('*').next().unwrap_or(path)))
        .collect()
}

#[test]
fn the_constraints_of_the_page_name_registers_that_exist() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let named = named(&page);
    let blocks = blocks();
    for (variable, path) in &named {
        let mut of = blocks
            .iter()
            .filter(|(name, _)| name == variable)
            .peekable();
        assert!(of.peek().is_some(), "no block is ${variable}");
        for (_, design) in of {
            assert!(has(design, path), "{} has no {path}", design.top);
        }
    }
    // And the other way: every crossing of a FIFO has its constraint.
    for path in [
        "u_write_gray/source_crossing_reg",
        "u_write_gray_seen/first_crossing_reg",
        "u_read_gray/source_crossing_reg",
        "u_read_gray_seen/first_crossing_reg",
    ] {
        let uses = named
            .iter()
            .filter(|found| **found == ("fifo", path))
            .count();
        assert_eq!(uses, 2, "{path}: a greatest delay and a skew");
    }
}

#[test]
fn a_register_that_does_not_exist_is_found() {
    let page = "text\n```tcl\nset fifo a/b\nx [get_cells $fifo/u_write_gray/crossing_reg*]\n```\n";
    let [("fifo", path)] = named(page)[..] else {
        panic!("{:?}", named(page));
    };
    assert!(!has(&blocks()[0].1, path));
}
