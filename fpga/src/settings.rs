//! What differs between boards: the settings of scripts and hard blocks, and the text for the project's reader.

use std::fmt::Write;

use hdl_designs::{Board, BoardFacts, PcieKind};
use stellar_wire::host::config_space::{Bar, Function, VENDOR};
use stellar_wire::host::vector_table::{PENDING_OFFSET, VECTORS};

/// The CMAC of QSFP0 and its transceivers: site, first transceiver's column and row, reference in MHz (docs/boards.md, "Sources").
struct Cmac {
    site: &'static str,
    column: u32,
    row: u32,
    reference: &'static str,
}

const fn cmac(board: Board) -> Option<Cmac> {
    match board {
        Board::U250 => Some(Cmac {
            site: "CMACE4_X0Y8",
            column: 1,
            row: 44,
            reference: "156.25",
        }),
        Board::U280 => Some(Cmac {
            site: "CMACE4_X0Y6",
            column: 0,
            row: 40,
            reference: "156.25",
        }),
        Board::U55c => Some(Cmac {
            site: "CMACE4_X0Y3",
            column: 0,
            row: 24,
            reference: "161.1328125",
        }),
        Board::V80 => None,
    }
}

/// Loads that a cell may drive. The placer replicates the driver of a wider net.
pub const MAX_LOADS: u32 = 500;

/// `project.tcl`.
pub(crate) fn tcl(board: Board, sources: &[String], constraints: &[String]) -> String {
    let facts = board.facts();
    let mut text = format!(
        "# What this project is made of. The scripts in tcl read it.\nset part {}\nset top {}\nset max_loads {MAX_LOADS}\n",
        facts.part, facts.name
    );
    for (name, files) in [("sources", sources), ("constraints", constraints)] {
        let _ = writeln!(text, "set {name} {{\n    {}\n}}", files.join("\n    "));
    }
    let Some(cmac) = cmac(board) else {
        return text + &cpm(&facts) + DCMAC;
    };
    text += &pcie(&facts);
    let lanes: Vec<String> = (0..4)
        .map(|lane| format!("X{}Y{}", cmac.column, cmac.row + lane))
        .collect();
    let _ = writeln!(
        text,
        "array set cmac {{\n    site {}\n    reference {}\n    group {}~{}\n    lanes {{{}}}\n}}",
        cmac.site,
        cmac.reference,
        lanes[0],
        lanes[3],
        lanes.join(" ")
    );
    text
}

/// The DCMAC of QSFP0 and QSFP1, the reference of its transceivers in MHz, exactly as the wizard names it, and a lane's rate of 53.125 Gb/s divided by 80.
const DCMAC: &str = "array set dcmac {\n    site DCMAC_X1Y1\n    reference 322.265625\n    reference_exact 322.265625183611\n    divided 664.062\n}\n";

/// Number, unit and size of each BAR, as AMD's cores have them.
fn bars() -> String {
    let bars = Bar::ALL.map(|bar| {
        let (scale, size) = match bar.length() {
            small if small < 1 << 20 => ("Kilobytes", small >> 10),
            large => ("Megabytes", large >> 20),
        };
        format!("{} {scale} {size}", bar.index())
    });
    bars.join(" ")
}

fn msix() -> String {
    format!(
        "    msix_last {:03X}\n    msix_table {:08X}\n    msix_pending {PENDING_OFFSET:08X}\n",
        VECTORS - 1,
        0
    )
}

/// Both controllers of CPM5. The first one has the BARs and the vectors.
fn cpm(facts: &BoardFacts) -> String {
    let each = |value: fn(Function) -> String| Function::ALL.map(value).join(" ");
    format!(
        "array set cpm {{\n    speed 32.0_GT/s\n    width X{}\n    vendor {VENDOR:04X}\n    devices {{{}}}\n    classes {{{}}}\n    bars {{{}}}\n{}}}\n",
        facts.link.lanes,
        each(|function| format!("{:04X}", function.device())),
        each(|function| format!("{:06X}", class_code(function))),
        bars(),
        msix()
    )
}

/// Offset of class and revision in the configuration space.
const CLASS_CODE: u16 = 0x08;

/// Base class, sub-class and interface of a function, from its configuration space.
fn class_code(function: Function) -> u32 {
    let word = function.words().find(|word| word.offset == CLASS_CODE);
    word.expect("every function has a class").reset >> 8
}

fn pcie(facts: &BoardFacts) -> String {
    let core = match facts.pcie {
        PcieKind::Pcie4 => "pcie4_uscale_plus",
        PcieKind::Pcie4c | PcieKind::Cpm5 => "pcie4c_uscale_plus",
    };
    let speed = match facts.link.generation {
        3 => "8.0_GT/s",
        _ => "16.0_GT/s",
    };
    format!(
        "array set pcie {{\n    core {core}\n    speed {speed}\n    width X{}\n    vendor {VENDOR:04X}\n    device {:04X}\n    class {:06X}\n    bars {{{}}}\n{}}}\n",
        facts.link.lanes,
        Function::Control.device(),
        class_code(Function::Control),
        bars(),
        msix()
    )
}

/// `README.md`.
pub(crate) fn readme(board: Board) -> String {
    let facts = board.facts();
    let what = if cmac(board).is_some() {
        "The bitstream is `build/openstellar.bit`, the image for the flash `build/openstellar.mcs`. The last step stops if timing is not met."
    } else {
        "Vivado 2025.1 or later is needed. The image is `build/openstellar.pdi`. The last step stops if timing is not met."
    };
    format!(
        "# OpenStellar for {name}\n\n\
         Part {part}. {ports} port{s} of {rate}G, {width} bits per beat, PCIe Gen{generation} x{lanes}, card clock {clock} MHz.\n\n\
         ```\nsha256sum -c SHA256SUMS\nvivado -mode batch -source build.tcl\nvivado -mode batch -source build.tcl -tclargs synth   # up to this step\n```\n\n\
         {what}\n\n\
         These files were checked without Vivado, and never run in it or on a board. `docs/boards.md` of the project says what was checked, what is not known, and how to go on from the bitstream.\n\n\
         | folder | what |\n|---|---|\n\
         | `rtl` | the board's top, the card and its shims: one file per module, generated from Rust-HDL |\n\
         | `constraints` | pins, clocks, crossings between clocks |\n\
         | `tcl`, `build.tcl`, `project.tcl` | the steps in Vivado, and their settings |\n",
        name = facts.name,
        part = facts.part,
        ports = facts.ports,
        s = if facts.ports == 1 { "" } else { "s" },
        rate = facts.port_gbps,
        width = facts.width,
        generation = facts.link.generation,
        lanes = facts.link.lanes,
        clock = facts.clock_mhz,
    )
}
