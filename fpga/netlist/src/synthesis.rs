//! Yosys, from Verilog to a netlist.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use stellar_fit::{Form, Yosys};

use crate::cells::with_models;

/// The map of block RAM in Yosys' data, and a mistake in it: the upper parity pins of a write of 72 bits get the lower parity bits. Debian's Yosys 0.23 has it.
const MAP: &str = "xilinx/brams_xcu_map.v";
const MISTAKE: &str = "PORT_W_WIDTH == 71 ?";
const MENDED: &str = "PORT_W_WIDTH == 72 ?";

/// Yosys with its data.
pub struct Synthesis {
    yosys: Yosys,
    /// Yosys' models of cells.
    library: String,
    /// Keeps a copy of the program with mended data, which it finds beside itself.
    _mended: Option<tempfile::TempDir>,
}

impl Synthesis {
    /// The Yosys that `program` names, by path or on `PATH`. If its data has the known mistake, a copy of it with mended data is used.
    ///
    /// # Errors
    /// When it or its data is not there.
    pub fn new(program: &str) -> anyhow::Result<Self> {
        let program = find(program)?;
        let data = data_of(&program)?;
        let read = |name: &str| {
            let path = data.join(name);
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
        };
        let library = read("xilinx/cells_sim.v")?;
        let map = read(MAP)?;
        if !map.contains(MISTAKE) {
            return Ok(Self {
                yosys: Yosys::new(program),
                library,
                _mended: None,
            });
        }
        let copy = tempfile::tempdir().context("cannot make a temporary directory")?;
        let program = mend(&program, &data, copy.path(), &map.replace(MISTAKE, MENDED))?;
        Ok(Self {
            yosys: Yosys::new(program),
            library,
            _mended: Some(copy),
        })
    }

    /// The netlist of module `top` of `verilog`, flattened, for UltraScale+.
    ///
    /// # Errors
    /// When Yosys refuses the Verilog.
    pub fn netlist(&self, verilog: &str, top: &str) -> anyhow::Result<String> {
        Ok(self.yosys.synthesise(verilog, top, Form::Verilog)?)
    }

    /// A netlist with models of its cells: Verilog with the same ports and behaviour, for a simulator.
    ///
    /// # Errors
    /// When there is no model of a cell.
    pub fn with_models(&self, netlist: &str) -> anyhow::Result<String> {
        with_models(netlist, &self.library)
    }
}

fn find(program: &str) -> anyhow::Result<PathBuf> {
    let missing = || format!("{program} is not there; `./stellar setup` installs it");
    if program.contains('/') {
        return Path::new(program).canonicalize().with_context(missing);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file());
    found
        .with_context(missing)?
        .canonicalize()
        .with_context(missing)
}

/// Where Yosys looks for its data, seen from its program.
fn data_of(program: &Path) -> anyhow::Result<PathBuf> {
    let folder = program.parent().context("a program lies in a folder")?;
    let known = [folder.join("share"), folder.join("../share/yosys")];
    let found = known.iter().find(|data| data.join(MAP).is_file());
    let found =
        found.with_context(|| format!("the data of {} is not there: {MAP}", program.display()))?;
    Ok(found.canonicalize()?)
}

/// Copies the program into `folder`, with links to its data beside it and `map` in place of its map of block RAM. Returns the path of the copy.
fn mend(program: &Path, data: &Path, folder: &Path, map: &str) -> anyhow::Result<PathBuf> {
    let (programs, own) = (folder.join("bin"), folder.join("share/yosys"));
    let map_of = Path::new(MAP);
    let family = map_of.parent().context("the map lies in a folder")?;
    fs::create_dir_all(&programs)?;
    fs::create_dir_all(own.join(family))?;
    link_all(data, &own, family)?;
    link_all(
        &data.join(family),
        &own.join(family),
        map_of.strip_prefix(family)?,
    )?;
    fs::write(own.join(MAP), map)?;
    let solver = program.with_file_name("yosys-abc");
    if solver.is_file() {
        symlink(solver, programs.join("yosys-abc"))?;
    }
    let copy = programs.join("yosys");
    // By a process of its own: Linux refuses to run a program that any process holds open for writing, and a thread that starts another program just now
    // would inherit our file.
    let done = Command::new("cp").arg(program).arg(&copy).status();
    let copied = done.is_ok_and(|status| status.success());
    anyhow::ensure!(copied, "cannot copy {}", program.display());
    Ok(copy)
}

/// Links everything in `from` but `except` into `to`.
fn link_all(from: &Path, to: &Path, except: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if Path::new(&entry.file_name()) != except {
            symlink(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}
