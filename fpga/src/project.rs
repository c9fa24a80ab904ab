//! The files of a project.

use std::collections::BTreeMap;
use std::path::Path;

use hdl_designs::Board;
use hdl_verilog::Design;
use sha2::{Digest, Sha256};

use crate::crossings::{self, Crossing};
use crate::error::ProjectError;
use crate::lint::{self, Crossings};
use crate::netlist::Module;
use crate::{crossing_constraints, settings};

/// The folder that the scripts write to, beside their own.
pub const RESULTS: &str = "build";
/// The name of the list of sums.
pub const SUMS: &str = "SHA256SUMS";
/// The shim's path below the top of an UltraScale+ board.
pub const SHIM: &str = "u_alveo/u_port/u_shim";

const SHIM_DESIGN: &str = "cmac_shim";
const RESET_DESIGN: &str = "function_reset";

const SCRIPTS: &[(&str, &str)] = &[
    ("build.tcl", include_str!("../tcl/build.tcl")),
    ("tcl/messages.tcl", include_str!("../tcl/messages.tcl")),
    ("tcl/create.tcl", include_str!("../tcl/create.tcl")),
    ("tcl/ip.tcl", include_str!("../tcl/ip.tcl")),
    ("tcl/read.tcl", include_str!("../tcl/read.tcl")),
    ("tcl/synth.tcl", include_str!("../tcl/synth.tcl")),
    ("tcl/place.tcl", include_str!("../tcl/place.tcl")),
    ("tcl/route.tcl", include_str!("../tcl/route.tcl")),
    ("tcl/report.tcl", include_str!("../tcl/report.tcl")),
    ("tcl/image.tcl", include_str!("../tcl/image.tcl")),
];
const OUT_OF_CONTEXT: &str = include_str!("../constraints/out_of_context.xdc");
const PORT: &str = include_str!("../rtl/openstellar_100g.v");
const ALVEO: &str = include_str!("../rtl/alveo_100g.v");

/// A project: its files by their paths, with `/`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Project {
    /// The board.
    pub board: Board,
    /// Text by path.
    pub files: BTreeMap<String, String>,
}

/// The constraints of a board's pins and clocks.
pub const fn board_constraints(board: Board) -> &'static str {
    match board {
        Board::U250 => include_str!("../constraints/u250.xdc"),
        Board::U280 => include_str!("../constraints/u280.xdc"),
        Board::U55c => include_str!("../constraints/u55c.xdc"),
        Board::V80 => include_str!("../constraints/v80.xdc"),
    }
}

/// The top of a board. None: there is no top yet, and the project is the card alone.
pub const fn board_top(board: Board) -> Option<&'static str> {
    match board {
        Board::U250 => Some(include_str!("../rtl/u250.v")),
        Board::U280 => Some(include_str!("../rtl/u280.v")),
        Board::U55c => Some(include_str!("../rtl/u55c.v")),
        Board::V80 => None,
    }
}

/// The periods of the shim's clocks in nanoseconds: 250 MHz, and 322.265625 MHz.
pub fn shim_periods() -> BTreeMap<&'static str, f64> {
    BTreeMap::from([("clock", 4.0), ("mac_clock", 3.103)])
}

/// The crossings of a design.
pub fn crossings_of(design: &Design) -> Vec<Crossing> {
    crossings::find(&Module::read_all(&design.text()), &design.top)
}

impl Project {
    /// The project of a board, with its card.
    ///
    /// # Errors
    /// [`ProjectError`].
    pub fn new(board: Board) -> Result<Self, ProjectError> {
        Self::of(board, &hdl_designs::for_bitstream(board.shape().design())?)
    }

    /// The project of a board with this card.
    ///
    /// # Errors
    /// [`ProjectError`].
    pub fn of(board: Board, card: &Design) -> Result<Self, ProjectError> {
        let mut project = Self {
            board,
            files: BTreeMap::new(),
        };
        let mut sources = project.add_design("card", card)?;
        let mut constraints = vec![];
        project.add(
            &format!("constraints/{board}.xdc"),
            board_constraints(board),
        );
        if let Some(top) = board_top(board) {
            let shim = hdl_designs::for_bitstream(SHIM_DESIGN)?;
            let reset = hdl_designs::for_bitstream(RESET_DESIGN)?;
            sources.extend(project.add_design("shims", &shim)?);
            sources.extend(project.add_design("shims", &reset)?);
            let port = PORT
                .replace("@CARD@", &card.top)
                .replace("@SHIM@", &shim.top)
                .replace("@RESET@", &reset.top);
            check_ports(&port, card)?;
            for (name, text) in [
                ("openstellar_100g", port.as_str()),
                ("alveo_100g", ALVEO),
                (board.facts().name, top),
            ] {
                sources.push(project.add(&format!("rtl/{name}.v"), text));
            }
            let found = crossings_of(&shim);
            let lines = crossing_constraints::lines(&found, SHIM, &shim_periods());
            let crossings = format!("# Crossings between clocks, found in the Verilog of the shim ({SHIM_DESIGN}).\n{lines}");
            let all = format!("{}{crossings}", board_constraints(board));
            let problems = lint::check(
                board,
                Module::read_all(top).first(),
                &all,
                &Crossings {
                    at: SHIM,
                    found: &found,
                    periods: shim_periods(),
                },
            );
            if !problems.is_empty() {
                return Err(ProjectError::Constraints { board, problems });
            }
            constraints.push(format!("constraints/{board}.xdc"));
            constraints.push(project.add("constraints/crossings.xdc", &crossings));
        } else {
            constraints.push(project.add("constraints/out_of_context.xdc", OUT_OF_CONTEXT));
        }
        for (path, text) in SCRIPTS {
            project.add(path, text);
        }
        project.add(
            "project.tcl",
            &settings::tcl(board, &card.top, &sources, &constraints),
        );
        project.add("README.md", &settings::readme(board));
        let sums: String = project
            .files
            .iter()
            .map(|(path, text)| format!("{:x}  {path}\n", Sha256::digest(text)))
            .collect();
        project.add(SUMS, &sums);
        Ok(project)
    }

    fn add(&mut self, path: &str, text: &str) -> String {
        self.files.insert(path.into(), text.into());
        path.into()
    }

    /// Adds the modules of a design. Those that another design has are there once.
    fn add_design(&mut self, folder: &str, design: &Design) -> Result<Vec<String>, ProjectError> {
        let mut added = vec![];
        for module in &design.modules {
            let file = format!("{}.v", module.name);
            let mut same = self
                .files
                .iter()
                .filter(|(path, _)| path.rsplit('/').next() == Some(&file));
            match same.next() {
                Some((_, text)) if *text == module.text => {}
                Some(_) => return Err(ProjectError::Collision(module.name.clone())),
                None => added.push(self.add(&format!("rtl/{folder}/{file}"), &module.text)),
            }
        }
        Ok(added)
    }

    /// Writes the files. The same project is the same bytes every time.
    ///
    /// # Errors
    /// [`ProjectError::InTheWay`] if the directory has a file that is not of the project, apart from what its scripts make; [`ProjectError::File`].
    pub fn write(&self, directory: &Path) -> Result<(), ProjectError> {
        self.check_directory(directory, "")?;
        for (name, text) in &self.files {
            let path = directory.join(name);
            let parent = path.parent().expect("a file is in a directory");
            let written =
                std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, text));
            written.map_err(|source| ProjectError::File { path, source })?;
        }
        Ok(())
    }

    fn check_directory(&self, directory: &Path, below: &str) -> Result<(), ProjectError> {
        let entries = match std::fs::read_dir(directory.join(below)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(source) => {
                return Err(ProjectError::File {
                    path: directory.join(below),
                    source,
                })
            }
        };
        for entry in entries {
            let entry = entry.map_err(|source| ProjectError::File {
                path: directory.join(below),
                source,
            })?;
            let name = format!("{below}{}", entry.file_name().to_string_lossy());
            let folder = format!("{name}/");
            if name == RESULTS || self.files.contains_key(&name) {
                continue;
            }
            if self.files.keys().any(|path| path.starts_with(&folder)) {
                self.check_directory(directory, &folder)?;
            } else {
                return Err(ProjectError::InTheWay(entry.path()));
            }
        }
        Ok(())
    }
}

/// The top connects every port of the card, and each to a net of its width.
fn check_ports(port: &str, card: &Design) -> Result<(), ProjectError> {
    let modules = Module::read_all(port);
    let top = modules.first().expect("the text has a module");
    let connections = top
        .instances
        .iter()
        .find(|instance| instance.module == card.top)
        .map(|instance| &instance.connections);
    let connections = connections.expect("the text instantiates the card");
    let error = |what: String| ProjectError::Ports {
        card: card.top.clone(),
        what,
    };
    for port in &card.ports {
        let net = connections
            .get(&port.name)
            .ok_or_else(|| error(format!("port {} is not connected", port.name)))?;
        let width = top.width(net).unwrap_or(0);
        if width != port.width {
            return Err(error(format!(
                "port {} has {} bits, and {net} has {width}",
                port.name, port.width
            )));
        }
    }
    let is_port = |name: &String| card.ports.iter().any(|port| port.name == *name);
    match connections.keys().find(|name| !is_port(name)) {
        Some(name) => Err(error(format!("it has no port {name}"))),
        None => Ok(()),
    }
}
