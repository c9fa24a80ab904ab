//! Yosys on one unit, with what earlier runs mapped.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::netlist::Netlist;
use crate::source::Sources;
use crate::variant::{Variant, WRAPPER};
use crate::FitError;

/// Changes whenever what is kept of a netlist changes.
const FORMAT: &str = "1";
/// Yosys' passes for a module, whose name follows: UltraScale+, with the modules below it flattened.
pub const SYNTHESIS: &str = "synth_xilinx -family xcup -uram -noiopad -noclkbuf -flatten -top";

/// Yosys and the folder of what it mapped.
pub(crate) struct Mapper {
    program: String,
    version: String,
    cache: PathBuf,
}

impl Mapper {
    pub(crate) fn new(program: &str, cache: &Path) -> Result<Self, FitError> {
        let version = Command::new(program).arg("-V").output();
        let version = version.map_err(|error| FitError::Missing {
            program: program.into(),
            error,
        })?;
        fs::create_dir_all(cache).map_err(FitError::file(cache))?;
        Ok(Self {
            program: program.into(),
            version: String::from_utf8_lossy(&version.stdout).into(),
            cache: cache.into(),
        })
    }

    /// The netlist of a unit as an instance of it is used. Returns whether Yosys had to run.
    pub(crate) fn map(
        &self,
        sources: &Sources,
        module: &str,
        variant: &Variant,
    ) -> Result<(Netlist, bool), FitError> {
        let text = text(sources, module, variant)?;
        let top = if variant.is_plain() { module } else { WRAPPER };
        let key = Sha256::new()
            .chain_update(FORMAT)
            .chain_update(&self.version)
            .chain_update(SYNTHESIS)
            .chain_update(top)
            .chain_update(&text)
            .finalize();
        let mut name = String::new();
        for byte in &key[..12] {
            let _ = write!(name, "{byte:02x}");
        }
        let kept = self.cache.join(format!("{module}-{name}.json"));
        let known = fs::read(&kept).ok();
        let known = known.and_then(|bytes| serde_json::from_slice::<Netlist>(&bytes).ok());
        if let Some(mut netlist) = known {
            netlist.unwrap(variant);
            return Ok((netlist, false));
        }
        let mut netlist = self.run(module, top, &text)?;
        // Written beside and renamed, so that a run that is stopped leaves no half of a file.
        let new = tempfile::NamedTempFile::new_in(&self.cache).map_err(FitError::file(&kept))?;
        let bytes = serde_json::to_vec(&netlist).map_err(|e| bad(module, e.to_string()))?;
        fs::write(new.path(), bytes).map_err(FitError::file(&kept))?;
        new.persist(&kept)
            .map_err(|e| FitError::file(&kept)(e.error))?;
        netlist.unwrap(variant);
        Ok((netlist, true))
    }

    fn run(&self, module: &str, top: &str, text: &str) -> Result<Netlist, FitError> {
        let folder = tempfile::tempdir_in(&self.cache).map_err(FitError::file(&self.cache))?;
        let (source, result) = (
            folder.path().join("unit.v"),
            folder.path().join("unit.json"),
        );
        fs::write(&source, text).map_err(FitError::file(&source))?;
        let script = format!(
            "read_verilog -DSYNTHESIS {}; {SYNTHESIS} {top}; write_json {}",
            source.display(),
            result.display()
        );
        let done = Command::new(&self.program)
            .args(["-q", "-p", &script])
            .output();
        let done = done.map_err(|error| FitError::Missing {
            program: self.program.clone(),
            error,
        })?;
        if !done.status.success() {
            let text = String::from_utf8_lossy(&done.stderr);
            let lines: Vec<&str> = text.lines().rev().take(5).collect();
            return Err(FitError::Yosys {
                module: module.into(),
                reason: lines.into_iter().rev().collect::<Vec<_>>().join("\n"),
            });
        }
        let json = fs::read_to_string(&result).map_err(FitError::file(&result))?;
        Netlist::read(&json, top).map_err(|reason| bad(module, reason))
    }
}

fn bad(module: &str, reason: String) -> FitError {
    FitError::Netlist {
        module: module.into(),
        reason,
    }
}

/// What Yosys reads: the unit's modules, the ports of the units below, and the variant's wrapper.
fn text(sources: &Sources, module: &str, variant: &Variant) -> Result<String, FitError> {
    let unit = sources.unit(module);
    let mut text = String::new();
    for outside in &unit.outside {
        let _ = writeln!(text, "(* blackbox *)\n{}", sources.shell(outside)?);
    }
    for inside in &unit.inside {
        let _ = writeln!(text, "{}", sources.text(inside)?);
    }
    if !variant.is_plain() {
        text += &variant.wrapper(module, &sources.shell(module)?);
    }
    Ok(text)
}
