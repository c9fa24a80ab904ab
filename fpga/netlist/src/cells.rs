//! Models of the cells of a netlist.

use anyhow::{bail, Context};
use stellar_fit::Cells;

use crate::block_ram;

/// The cells of a netlist of [`Synthesis`](crate::Synthesis).
pub fn cells(netlist: &str) -> Cells {
    netlist.lines().filter_map(cell).collect()
}

/// The kind of the cell whose instance begins in this line. Yosys writes a name in capitals and digits, indented by two, and then parameters or a name.
fn cell(line: &str) -> Option<&str> {
    let line = line.strip_prefix("  ")?;
    let (name, rest) = line.split_once(' ')?;
    let is_cell = name.starts_with(|c: char| c.is_ascii_uppercase())
        && name
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    let begins = rest.starts_with(['#', '\\', '_', '(']) || rest.ends_with('(');
    (is_cell && begins).then_some(name)
}

/// The netlist with a model of each kind of cell in it. `library` is Yosys' `cells_sim.v`.
///
/// # Errors
/// When there is no model of a cell.
pub(crate) fn with_models(netlist: &str, library: &str) -> anyhow::Result<String> {
    let mut text = String::from("`default_nettype wire\n");
    let mut needs_block_ram = false;
    for name in cells(netlist).kinds() {
        match name {
            "RAMB18E2" => text += &block_ram::module(name, 14, 16),
            "RAMB36E2" => text += &block_ram::module(name, 15, 32),
            "CARRY4" => text += include_str!("../cells/carry.v"),
            "URAM288" => text += include_str!("../cells/ultra_ram.v"),
            "DSP48E2" => text += include_str!("../cells/dsp.v"),
            _ => text += &of_library(library, name)?,
        }
        needs_block_ram |= name.starts_with("RAMB");
    }
    if needs_block_ram {
        text += include_str!("../cells/block_ram.v");
    }
    text += netlist;
    Ok(text)
}

/// The module `name` of Yosys' library without its delays.
fn of_library(library: &str, name: &str) -> anyhow::Result<String> {
    let begin = library
        .match_indices(&format!("module {name}"))
        .find(|(at, found)| {
            let before = library[..*at].chars().next_back();
            let after = library[at + found.len()..].chars().next();
            before.is_none_or(|c| c == '\n')
                && after.is_some_and(|c| !c.is_alphanumeric() && c != '_')
        });
    let Some((begin, _)) = begin else {
        bail!("there is no model of the cell {name}: fpga/netlist/cells has those that Yosys does not bring");
    };
    let module = &library[begin..];
    let end = module.find("\nendmodule").context("a module has an end")?;
    let mut text = String::new();
    let mut rest = &module[..=end];
    while let Some((before, from)) = rest.split_once("  specify\n") {
        text += before;
        let (_, after) = from
            .split_once("endspecify\n")
            .with_context(|| format!("the delays of {name} have no end"))?;
        rest = after;
    }
    Ok(text + rest + "endmodule\n")
}
