//! Yosys on one unit, with what earlier runs mapped.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::borders::Times;
use crate::design::Key;
use crate::netlist::Netlist;
use crate::signals::Hints;
use crate::source::{Sources, Unit};
use crate::variant::{Variant, WRAPPER};
use crate::yosys::{recipe, Choice, Form, Yosys};
use crate::FitError;

/// Changes whenever what is kept of a netlist changes.
const FORMAT: &str = "2";

/// Yosys and the folder of what it mapped.
pub(crate) struct Mapper {
    yosys: Yosys,
    version: String,
    cache: PathBuf,
}

impl Mapper {
    pub(crate) fn new(program: &str, cache: &Path) -> Result<Self, FitError> {
        let yosys = Yosys::new(program);
        let version = yosys.version()?;
        fs::create_dir_all(cache).map_err(FitError::file(cache))?;
        Ok(Self {
            yosys,
            version,
            cache: cache.into(),
        })
    }

    /// The netlist of a unit as an instance of it is used, with the times at its borders if they are known. Returns whether Yosys had to run.
    pub(crate) fn map(
        &self,
        sources: &Sources,
        (module, variant): &Key,
        times: Option<&Times>,
        choice: Choice,
    ) -> Result<(Netlist, bool), FitError> {
        let unit = sources.unit(module);
        let text = text(sources, module, &unit, variant)?;
        let outside = unit.outside.iter().map(String::as_str);
        let block_rams: Vec<&str> = outside.filter(|m| sources.is_block_ram(m)).collect();
        let hints = Hints {
            block_rams: &block_rams,
            times,
            choice,
        };
        let top: &str = if variant.is_plain() { module } else { WRAPPER };
        let key = Sha256::new()
            .chain_update(FORMAT)
            .chain_update(&self.version)
            .chain_update(recipe(!hints.is_empty(), choice))
            .chain_update(block_rams.join(" "))
            .chain_update(serde_json::to_vec(&times).map_err(|e| bad(module, e.to_string()))?)
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
        let mut netlist = self.run(module, top, &text, hints)?;
        // Written beside and renamed, so that a run that is stopped leaves no half of a file.
        let new = tempfile::NamedTempFile::new_in(&self.cache).map_err(FitError::file(&kept))?;
        let bytes = serde_json::to_vec(&netlist).map_err(|e| bad(module, e.to_string()))?;
        fs::write(new.path(), bytes).map_err(FitError::file(&kept))?;
        new.persist(&kept)
            .map_err(|e| FitError::file(&kept)(e.error))?;
        netlist.unwrap(variant);
        Ok((netlist, true))
    }

    fn run(
        &self,
        module: &str,
        top: &str,
        text: &str,
        hints: Hints<'_>,
    ) -> Result<Netlist, FitError> {
        let json = self.yosys.synthesise_with(text, top, hints, Form::Json);
        let json = json.map_err(|error| match error {
            // The top may be a wrapper, which says nothing to the reader.
            FitError::Yosys { reason, .. } => FitError::Yosys {
                module: module.into(),
                reason,
            },
            other => other,
        })?;
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
fn text(
    sources: &Sources,
    module: &str,
    unit: &Unit,
    variant: &Variant,
) -> Result<String, FitError> {
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
