//! Runs Verilator, the rewriter and g++ for one build.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sim_on_change::Refusal;

use super::gating::Gating;
use super::options::{optimisation, options, JOBS, MAKE, VERILATE};
use super::port_declarations::member_names;
use super::{excerpt, shim, GATES, HEADERS, HEADERS_FILE, LIBRARY_FILE, LOG_FILE, MAKEFILE};
use crate::cache::io;
use crate::error::BuildError;
use crate::mode::SimMode;
use crate::spec::ModelSpec;
use crate::toolchain::Toolchain;

/// Absolute paths of what models share.
pub(super) struct Shared {
    /// Verilator's run-time library.
    pub runtime: PathBuf,
    /// The headers that every file includes first, with their compiled form beside them.
    pub headers: PathBuf,
}

/// One build in a directory of its own.
pub(super) struct Build<'a> {
    pub tools: &'a Toolchain,
    pub directory: &'a Path,
    /// The directory to which a failed build is moved. Error messages name the log in that directory.
    pub failed: &'a Path,
    pub top: &'a str,
}

impl Build<'_> {
    /// Builds the library of `spec`.
    pub fn model(&self, spec: &ModelSpec, shared: &Shared) -> Result<(), BuildError> {
        let source = format!("{}.v", spec.top);
        self.write(&source, &spec.verilog)?;
        self.verilate(&options(spec), &source)?;
        let header = self.directory.join("Vmodel.h");
        let header = fs::read_to_string(&header).map_err(|source| io("read", &header, source))?;
        let members = member_names(&spec.top, &spec.ports, &header)?;
        let addresses: String = members
            .iter()
            .map(|name| format!("&top->{name},\n"))
            .collect();
        self.write("ports.inc", &addresses)?;
        if let Some(gating) = &spec.gating {
            let tables = gating.tables(spec, &header)?;
            self.write("gating.inc", &tables.gates)?;
            self.write("inputs.inc", &tables.inputs)?;
            self.write("gating.h", GATES)?;
            let blocks = match spec.mode {
                SimMode::OnChange => self.rewrite(gating)?,
                SimMode::Plain | SimMode::Gated => vec![],
            };
            let blocks: String = blocks.iter().map(|name| format!("{name:?},\n")).collect();
            self.write("blocks.inc", &blocks)?;
        }
        self.write("shim.cpp", &shim(spec))?;
        self.write("model.mk", MAKEFILE)?;
        self.make(&[
            LIBRARY_FILE,
            optimisation(spec),
            &format!("STELLAR_RUNTIME={}", shared.runtime.display()),
            &format!("STELLAR_HEADERS={}", shared.headers.display()),
        ])?;
        self.keep_only(&[LIBRARY_FILE, &source, LOG_FILE])
    }

    /// Builds `file`, which models with such options share.
    pub fn shared_part(
        &self,
        options: &[String],
        file: &str,
        optimisation: &str,
    ) -> Result<(), BuildError> {
        self.write("empty.v", "module empty(input clk); endmodule\n")?;
        self.write(HEADERS_FILE, HEADERS)?;
        self.verilate(options, "empty.v")?;
        self.write("model.mk", MAKEFILE)?;
        self.make(&[file, optimisation])?;
        self.keep_only(&[file, HEADERS_FILE, LOG_FILE])
    }

    /// Rewrites the C++ so that it runs on change. Returns the names of the blocks.
    fn rewrite(&self, gating: &Gating) -> Result<Vec<String>, BuildError> {
        sim_on_change::rewrite(self.directory, &gating.ports()).map_err(|refusal| match refusal {
            Refusal::Io {
                action,
                path,
                source,
            } => io(action, &path, source),
            unknown @ Refusal::UnknownCode => BuildError::NotOnChange {
                top: self.top.to_owned(),
                reason: unknown.to_string(),
            },
        })
    }

    fn verilate(&self, options: &[String], source: &str) -> Result<(), BuildError> {
        let mut command = self.tools.verilator();
        command.args(VERILATE).args(options);
        command.args(["--top-module", self.top, source]);
        self.run("verilator", command)
    }

    fn make(&self, arguments: &[&str]) -> Result<(), BuildError> {
        let mut command = self.tools.make();
        command.args(["-f", "model.mk", JOBS]).args(MAKE);
        command.args(arguments);
        self.run("make", command)
    }

    /// Runs `command` in the build directory and appends its output to the log.
    fn run(&self, tool: &str, mut command: Command) -> Result<(), BuildError> {
        let path = self.directory.join(LOG_FILE);
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(|source| io("open", &path, source))?;
        let errors = log
            .try_clone()
            .map_err(|source| io("open", &path, source))?;
        let status = command
            .current_dir(self.directory)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .status()
            .map_err(|error| BuildError::MissingTool {
                tool: tool.to_owned(),
                looked: format!("it does not start: {error}"),
            })?;
        if status.success() {
            return Ok(());
        }
        let text = fs::read_to_string(&path).map_err(|source| io("read", &path, source))?;
        Err(BuildError::ToolFailed {
            tool: tool.to_owned(),
            top: self.top.to_owned(),
            excerpt: excerpt(&text),
            log: self.failed.join(LOG_FILE),
        })
    }

    fn write(&self, name: &str, text: &str) -> Result<(), BuildError> {
        let path = self.directory.join(name);
        fs::write(&path, text).map_err(|source| io("write", &path, source))
    }

    /// Deletes all files but `names`. The generated C++ and the objects are hundreds of times larger than the library.
    fn keep_only(&self, names: &[&str]) -> Result<(), BuildError> {
        let listing = |source| io("list", self.directory, source);
        for file in fs::read_dir(self.directory).map_err(listing)? {
            let path = file.map_err(listing)?.path();
            if !names.iter().any(|name| path.ends_with(name)) {
                fs::remove_file(&path).map_err(|source| io("remove", &path, source))?;
            }
        }
        Ok(())
    }
}
