//! `./stellar verilog`: a design's Verilog, a file per module.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use hdl_designs::{Board, Profile};
use sim_cosim::LaneWidth;
use stellar_fpga::Project;

use crate::board::BoardOption;
use crate::progress;

/// The card's design, of whichever board.
pub const CARD: &str = "nic";

/// Width of the lane on the command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Width {
    #[value(name = "512")]
    W512,
    #[value(name = "1024")]
    W1024,
}

impl Width {
    /// Both widths.
    pub const ALL: [Self; 2] = [Self::W512, Self::W1024];

    /// Name of the receive lane of this width.
    pub fn lane_design(self) -> String {
        format!("rx_lane_{}", 8 * self.lane().bytes())
    }

    /// The lane's own type for it.
    pub fn lane(self) -> LaneWidth {
        match self {
            Self::W512 => LaneWidth::Bits512,
            Self::W1024 => LaneWidth::Bits1024,
        }
    }
}

#[derive(clap::Args)]
pub struct Arguments {
    /// Designs to write, such as `nic` for the whole card (default: with --board its Vivado project, docs/boards.md; with --config its card; otherwise both widths of the
    /// receive lane)
    #[arg(value_name = "DESIGN", conflicts_with = "width")]
    designs: Vec<String>,
    /// Directory to write to; each design gets a folder of its own
    #[arg(long, value_name = "DIR", required_unless_present = "list")]
    out: Option<PathBuf>,
    /// The receive lane, only this width in bits
    #[arg(long)]
    width: Option<Width>,
    /// Keep the outputs of `nic` that only simulation reads, such as its verdict on each frame
    #[arg(long)]
    verification_ports: bool,
    #[command(flatten)]
    board: BoardOption,
    /// Show the names of all designs
    #[arg(long)]
    list: bool,
}

impl Arguments {
    /// The board whose Vivado project is asked for: one was named, and no designs.
    fn project(&self) -> Option<Board> {
        self.board.named().filter(|_| self.designs.is_empty())
    }
}

/// Writes the Verilog and prints the paths.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Some(out) = arguments.out.as_ref().filter(|_| !arguments.list) else {
        for known in hdl_designs::ALL {
            println!("{:18} {}", known.name, known.what);
        }
        return Ok(());
    };
    if let Some(board) = arguments.project() {
        return write_project(board, out);
    }
    let known = names(arguments)?
        .iter()
        .map(|name| hdl_designs::find(name))
        .collect::<Result<Vec<_>, _>>()?;
    for known in known {
        progress::say(&format!("elaborating {}", known.name));
        let design = if arguments.verification_ports {
            hdl_designs::elaborate(known.name)?
        } else {
            hdl_designs::for_bitstream(known.name)?
        };
        let folder = out.join(known.name);
        write(&folder, &design)?;
        println!(
            "{}: {} modules, top {}, file list {}",
            folder.display(),
            design.modules.len(),
            design.top,
            folder.join("files.f").display()
        );
    }
    Ok(())
}

/// Writes the project of a board into `out` itself.
fn write_project(board: Board, out: &Path) -> anyhow::Result<()> {
    progress::say(&format!("elaborating the card of {board}"));
    let project = Project::new(board)?;
    project.write(out)?;
    println!(
        "{}: {} files for {board}; next: vivado -mode batch -source build.tcl ({})",
        out.display(),
        project.files.len(),
        out.join("README.md").display()
    );
    Ok(())
}

/// The designs to write. With a board or a file, `nic` is its card, which is also the default.
fn names(arguments: &Arguments) -> anyhow::Result<Vec<String>> {
    let designs = arguments.designs.clone();
    if let Some(profile) = arguments.board.profile()? {
        anyhow::ensure!(
            arguments.width.is_none(),
            "--width is of the receive lane alone: leave it out, or the board"
        );
        return Ok(of_profile(designs, profile));
    }
    if !designs.is_empty() {
        return Ok(designs);
    }
    let widths = arguments.width.map_or(Width::ALL.to_vec(), |w| vec![w]);
    Ok(widths.into_iter().map(Width::lane_design).collect())
}

/// Names of designs, in which the full card's stands for that of `profile`.
fn of_profile(mut designs: Vec<String>, profile: Profile) -> Vec<String> {
    if designs.is_empty() {
        designs.push(CARD.into());
    }
    for design in designs.iter_mut().filter(|design| *design == CARD) {
        *design = profile.design().into();
    }
    designs
}

fn write(folder: &Path, design: &hdl_verilog::Design) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    let mut list = String::new();
    for module in &design.modules {
        let name = format!("{}.v", module.name);
        let path = folder.join(&name);
        std::fs::write(&path, &module.text)
            .with_context(|| format!("cannot write {}", path.display()))?;
        list += &name;
        list.push('\n');
    }
    let path = folder.join("files.f");
    std::fs::write(&path, list).with_context(|| format!("cannot write {}", path.display()))
}
