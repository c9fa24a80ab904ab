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
use crate::platform::Platform;
use crate::{crossing_constraints, settings};

/// The folder that the scripts write to, beside their own.
pub const RESULTS: &str = "build";
/// The name of the list of sums.
pub const SUMS: &str = "SHA256SUMS";
const SCRIPTS: &[(&str, &str)] = &[
    ("build.tcl", include_str!("../tcl/build.tcl")),
    ("tcl/messages.tcl", include_str!("../tcl/messages.tcl")),
    ("tcl/create.tcl", include_str!("../tcl/create.tcl")),
    ("tcl/read.tcl", include_str!("../tcl/read.tcl")),
    ("tcl/synth.tcl", include_str!("../tcl/synth.tcl")),
    ("tcl/place.tcl", include_str!("../tcl/place.tcl")),
    ("tcl/route.tcl", include_str!("../tcl/route.tcl")),
    ("tcl/report.tcl", include_str!("../tcl/report.tcl")),
];

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

/// The top of a board.
pub const fn board_top(board: Board) -> &'static str {
    match board {
        Board::U250 => include_str!("../rtl/u250.v"),
        Board::U280 => include_str!("../rtl/u280.v"),
        Board::U55c => include_str!("../rtl/u55c.v"),
        Board::V80 => include_str!("../rtl/v80.v"),
    }
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
        let platform = Platform::of(board);
        let mut port = platform.port.replace("@CARD@", &card.top);
        let mut crossings = String::new();
        let mut found = vec![];
        for block in platform.blocks {
            let design = hdl_designs::for_bitstream(block.design)?;
            sources.extend(project.add_design("shims", &design)?);
            port = port.replace(block.marker, &design.top);
            for at in block.at {
                let crossing = Crossings {
                    at,
                    found: crossings_of(&design),
                    periods: block.periods(),
                };
                let lines = crossing_constraints::lines(&crossing.found, at, &crossing.periods);
                crossings += &format!(
                    "# Crossings between clocks in {at}, found in its Verilog ({}).\n{lines}",
                    block.design
                );
                found.push(crossing);
            }
        }
        check_ports(&port, card)?;
        let shared = [(platform.port_name, port.as_str())]
            .into_iter()
            .chain(platform.shared.iter().copied());
        for (name, text) in shared.chain([(board.facts().name, board_top(board))]) {
            sources.push(project.add(&format!("rtl/{name}.v"), text));
        }
        let all = format!("{}{crossings}", board_constraints(board));
        let top = Module::read_all(board_top(board)).remove(0);
        let problems = lint::check(board, &top, &all, &found);
        if !problems.is_empty() {
            return Err(ProjectError::Constraints { board, problems });
        }
        let constraints = [
            project.add(
                &format!("constraints/{board}.xdc"),
                board_constraints(board),
            ),
            project.add("constraints/crossings.xdc", &crossings),
        ];
        for (path, text) in platform.scripts {
            project.add(path, text);
        }
        for (path, text) in SCRIPTS {
            project.add(path, text);
        }
        project.add("project.tcl", &settings::tcl(board, &sources, &constraints));
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
