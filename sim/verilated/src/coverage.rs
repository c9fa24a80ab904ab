//! Line and toggle coverage of every model, for `./stellar test --coverage`.
//!
//! [`DIRECTORY`] names a directory. [`ModelSpec::build`] then builds models that count coverage. When a model is dropped, its counts are added to the
//! file `<top>-<process>.dat` there, in the format of `verilator_coverage`. Models with gating are built without coverage (see
//! [`overlay`](crate::overlay)).

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Mutex;

use crate::model::Model;
use crate::spec::ModelSpec;

/// The environment variable that names the directory. Coverage is counted only if it is set.
pub const DIRECTORY: &str = "STELLAR_COVERAGE";

/// The first line of a file of counts.
const FIRST_LINE: &str = "# SystemC::Coverage-3\n";

/// The counts of each point, for each file that this process writes.
static COUNTS: Mutex<BTreeMap<PathBuf, BTreeMap<String, u64>>> = Mutex::new(BTreeMap::new());

/// Returns `spec` with coverage if the variable [`DIRECTORY`] is set.
pub(crate) fn apply(spec: &ModelSpec) -> Option<ModelSpec> {
    env::var_os(DIRECTORY)?;
    (spec.gating.is_none() && !spec.coverage).then(|| {
        let mut counting = spec.clone().with_coverage();
        counting
            .verilator_arguments
            .push("--coverage-toggle".into());
        counting
    })
}

/// Adds the counts of `model`, which is about to be dropped, to the file of this process. A failure is printed and does not fail the test that runs.
pub(crate) fn keep(model: &Model, top: &str) {
    let Some(directory) = env::var_os(DIRECTORY) else {
        return;
    };
    let path = Path::new(&directory).join(format!("{top}-{}.dat", process::id()));
    let mut counts = COUNTS
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let written = model
        .write_coverage(&path)
        .map_err(|error| error.to_string());
    let added = written.and_then(|()| {
        let sum = counts.entry(path.clone()).or_default();
        add(sum, &path).map_err(|error| format!("{}: {error}", path.display()))
    });
    if let Err(error) = added {
        eprintln!("coverage of `{top}` is lost: {error}");
    }
}

/// Adds the counts in the file to `sum`, and writes the sum back to the file.
fn add(sum: &mut BTreeMap<String, u64>, path: &Path) -> std::io::Result<()> {
    for (point, count) in fs::read_to_string(path)?.lines().filter_map(count) {
        *sum.entry(point.to_owned()).or_default() += count;
    }
    let mut text = FIRST_LINE.to_owned();
    for (point, count) in sum {
        let _ = writeln!(text, "C '{point}' {count}");
    }
    fs::write(path, text)
}

/// Parses a line of the form `C '<point>' <count>`.
fn count(line: &str) -> Option<(&str, u64)> {
    let (point, count) = line.strip_prefix("C '")?.rsplit_once("' ")?;
    Some((point, count.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_models_add_up() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut sum = BTreeMap::new();
        for text in [
            "# SystemC::Coverage-3\nC 'a' 1\nC 'b' 0\n",
            "# SystemC::Coverage-3\nC 'a' 2\n",
        ] {
            fs::write(file.path(), text).unwrap();
            add(&mut sum, file.path()).unwrap();
        }
        let text = fs::read_to_string(file.path()).unwrap();
        assert_eq!(text, "# SystemC::Coverage-3\nC 'a' 3\nC 'b' 0\n");
    }
}
