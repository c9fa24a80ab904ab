//! `docs/area.md`: the rows of earlier runs stay, and those of this run replace theirs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use tabled::settings::{object::Columns, Alignment, Style};
use tabled::Table;

use super::Row;

const HEAD: &str = "\
# Area and depth of the blocks

`./stellar synth --markdown docs/area.md` writes this page. Without further options it measures the blocks of the receive lane; `--design NAME` takes those of another
design (`./stellar verilog --list`), and `--block PREFIX` a part of them. A row is replaced when its block is measured again.

Yosys synthesises each block for UltraScale+ (`synth_xilinx -family xcup`), flattened with everything below it. *LUT levels* and *carry cells* are each the largest
number between two registers, memories or ports, not necessarily on one path. A carry cell here spans four bits; a CARRY8 of UltraScale+ spans eight. The budget is 8 LUT
levels. *Source* is the date of the commit that was measured. The numbers in a module's name are its parameters: a block of the card has the card's sizes, and a block that
is a design of its own often has fewer queue pairs (`./stellar verilog --list` says how many).

## The whole card

`./stellar synth --board BOARD --check` maps every module of a board's card once, joins the netlists over their ports, and holds the card against the budgets of
the board (`fpga/budgets/BOARD.toml`). It prints the shares of the device, the cells by block, the longest paths, the registers that most of them end at, the nets with most loads, the memories that are not
of their declared style, and what grew since the card was recorded (`docs/area/BOARD.toml`). It fails if a budget is broken. `--ratchet` accepts what the card missed of its goal when it was
recorded, and no more. `--record` writes a new record. Netlists are kept in `.stellar/synth` by the contents of the Verilog, so a second run maps what changed.

- **Levels.** A LUT is one level, a MUXF7, 8 or 9 a half. A path that begins at a block RAM has 4 levels, at an UltraRAM 5. Carry cells count nothing, as in the tables below. Paths go from register to register, through all modules between; ports of the card count as registers. The mapper chooses by the same measure: it is told that a function of seven inputs takes a level and a half,
  and one of eight two (four LUTs and three MUXF), and that what a block RAM drives comes four levels after the rest.
- **Rounds.** ABC sees the logic of one unit. So the units on paths above the goal are mapped again, twice (`--rounds`): ABC hears when signals come from other units, carries and memories, and when those need theirs, as the mapping before has it, less a level of margin. Vivado, which sees the whole card, knows as much.
- **Units.** A module of up to 4,000 lines of Verilog, with everything below it, is mapped in one run and flattened; block RAMs, UltraRAMs, registers of the reset tree and larger modules are mapped on their own. LUTs do not merge over the borders of such units, so paths over borders are a little longer than
  Vivado would make them. Inputs that are constant and outputs that nobody reads are passed down to a unit, so the logic behind them is gone.
- **Cells.** LUTs include those of memories and of shift registers. UltraRAMs are counted as Vivado builds them, 4,096 words of 72 bits each, by the declared memories.
- **Fan-out.** The loads of a net are the pins in all modules that it enters, without clocks. The placer replicates the driver of a net above the limit, each copy for loads that lie together (`FORCE_MAX_FANOUT`, `fpga/tcl/place.tcl`), if it is a register or a LUT. Such a net does not count if it
  needs no more copies than the goal allows; those driven by something else count. A MUXF that drives one is a LUT here, because the scripts let Vivado make one of it (`MUXF_REMAP`).
- **Loops.** A loop of gates without a register, over whatever modules, is an error that names it. So is a memory that cannot be of its declared style.

[boards.md](boards.md#shares-of-the-devices) has the figures.
";

/// Date of the commit in the working directory, from which the rows of this run were measured.
pub fn source_date() -> String {
    let git = Command::new("git")
        .args(["show", "-s", "--format=%cs", "HEAD"])
        .output();
    match git {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        }
        _ => "unknown".to_owned(),
    }
}

/// Writes `rows` of `design` into the page at `path`, which is made if it does not exist.
pub fn update(path: &Path, design: &str, rows: &[Row]) -> anyhow::Result<()> {
    let before = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let mut sections = parse(&before)
        .with_context(|| format!("{} is not a page of this command", path.display()))?;
    let section = sections.entry(design.to_owned()).or_default();
    for line in table(rows).lines().skip(2) {
        section.insert(block(line)?.to_owned(), line.to_owned());
    }
    fs::write(path, print(&sections)).with_context(|| format!("cannot write {}", path.display()))
}

/// The table as Markdown, cells without padding, so that a row does not depend on the others.
fn table(rows: &[Row]) -> String {
    let mut table = Table::new(rows);
    table
        .with(Style::markdown())
        .modify(Columns::new(1..), Alignment::right());
    let text = table.to_string();
    let lines = text.lines().map(|line| {
        let cells = line.trim_matches('|').split('|').map(str::trim);
        let cells = cells.map(|cell| match cell.starts_with("--") {
            true if cell.ends_with(':') => "---:",
            true => "---",
            false => cell,
        });
        format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// First cell of a row.
fn block(line: &str) -> anyhow::Result<&str> {
    let cell = line.split('|').nth(1).map(str::trim);
    cell.filter(|cell| !cell.is_empty())
        .with_context(|| format!("a row without a block: `{line}`"))
}

/// Rows by design and block.
type Sections = BTreeMap<String, BTreeMap<String, String>>;

fn parse(text: &str) -> anyhow::Result<Sections> {
    let mut sections = Sections::new();
    let mut design = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            design = Some(name.to_owned());
        }
        let is_row = line.starts_with('|') && !line.starts_with("|-") && !line.starts_with("| -");
        if is_row && block(line)? != "block" {
            let design = design.clone().context("a row before the first design")?;
            let section = sections.entry(design).or_default();
            section.insert(block(line)?.to_owned(), line.to_owned());
        }
    }
    Ok(sections)
}

fn print(sections: &Sections) -> String {
    let head = table(&[Row::default()]);
    let head: Vec<&str> = head.lines().take(2).collect();
    let mut text = HEAD.to_owned();
    for (design, rows) in sections {
        text += &format!("\n## {design}\n\n{}\n", head.join("\n"));
        for row in rows.values() {
            text += row;
            text += "\n";
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use stellar_fit::Counts;

    use super::*;

    fn row(block: &str, luts: usize) -> Row {
        Row {
            block: block.into(),
            cells: Counts {
                luts,
                ..Counts::default()
            },
            source: "2026-01-02".into(),
            ..Row::default()
        }
    }

    #[test]
    fn a_run_replaces_its_own_rows_and_keeps_the_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("area.md");
        update(&path, "nic", &[row("rx_control", 1), row("dma_write", 2)]).expect("written");
        update(&path, "dma_read_512", &[row("dma_read", 3)]).expect("written");
        update(&path, "nic", &[row("dma_write", 40)]).expect("written");
        let text = fs::read_to_string(&path).expect("a page");
        let sections = text.strip_prefix(HEAD).expect("the head of the page");
        let rows: Vec<&str> = sections
            .lines()
            .filter(|line| line.starts_with("## ") || line.contains("2026"))
            .collect();
        assert_eq!(
            rows,
            [
                "## dma_read_512",
                "| dma_read | 3 | 0 | 0 | 0 | 0 | 0 | 0 | 2026-01-02 |",
                "## nic",
                "| dma_write | 40 | 0 | 0 | 0 | 0 | 0 | 0 | 2026-01-02 |",
                "| rx_control | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 2026-01-02 |",
            ]
        );
    }

    #[test]
    fn a_page_of_something_else_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("page.md");
        fs::write(&path, "# Title\n\n| a | b |\n|---|---|\n").expect("written");
        let error = update(&path, "nic", &[row("dma_write", 2)]).expect_err("refused");
        assert!(error.to_string().contains("page.md"), "{error:#}");
    }
}
