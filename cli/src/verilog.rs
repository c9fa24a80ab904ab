//! `./stellar verilog`: the lane's Verilog, a file per module.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use sim_cosim::LaneWidth;

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
    /// Directory to write to; each width gets a folder of its own
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Only this lane width in bits (default: both)
    #[arg(long)]
    width: Option<Width>,
}

/// Writes the Verilog and says where.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let widths = arguments.width.map_or(Width::ALL.to_vec(), |w| vec![w]);
    for width in widths {
        let design = width.lane().elaborate()?;
        let folder = arguments.out.join(&design.top);
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
