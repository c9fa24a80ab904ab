//! Replaces the Verilog of models from outside the program that builds them, for `./stellar mutate`.
//!
//! [`DIRECTORY`] names a directory. [`ModelSpec::build`] writes the Verilog of each model there, as `<top>-<digest>.v`. If the file
//! `<top>-<digest>.instead` exists beside it, the model is built from that file. Models with gating are not replaced, because the rewriter of their
//! C++ relies on Verilog that the emitter wrote.

use std::env;
use std::fs;
use std::path::Path;

use crate::cache::{digest, io};
use crate::error::BuildError;
use crate::spec::ModelSpec;

/// The environment variable that names the directory. Verilog is replaced only if it is set.
pub const DIRECTORY: &str = "STELLAR_VERILOG_OVERLAY";

/// Returns `spec` with the Verilog that replaces its own, if there is any.
pub(crate) fn apply(spec: &ModelSpec) -> Result<Option<ModelSpec>, BuildError> {
    match env::var_os(DIRECTORY) {
        Some(directory) if spec.gating.is_none() => apply_from(spec, Path::new(&directory)),
        _ => Ok(None),
    }
}

fn apply_from(spec: &ModelSpec, directory: &Path) -> Result<Option<ModelSpec>, BuildError> {
    let name = format!("{}-{}", spec.top, digest([spec.verilog.as_str()]));
    let instead = directory.join(format!("{name}.instead"));
    if instead.is_file() {
        let verilog =
            fs::read_to_string(&instead).map_err(|source| io("read", &instead, source))?;
        return Ok(Some(ModelSpec {
            verilog,
            ..spec.clone()
        }));
    }
    let original = directory.join(format!("{name}.v"));
    fs::write(&original, &spec.verilog).map_err(|source| io("write", &original, source))?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_leaves_its_verilog_and_takes_what_is_there_instead() {
        let directory = tempfile::tempdir().unwrap();
        let spec = ModelSpec::new("m", "module m; endmodule", vec![]);
        assert!(apply_from(&spec, directory.path()).unwrap().is_none());
        let left = fs::read_dir(directory.path()).unwrap().next().unwrap();
        let left = left.unwrap().path();
        assert_eq!(fs::read_to_string(&left).unwrap(), spec.verilog);
        fs::write(
            left.with_extension("instead"),
            "module m(input a); endmodule",
        )
        .unwrap();
        let other = apply_from(&spec, directory.path()).unwrap().unwrap();
        assert_eq!(other.verilog, "module m(input a); endmodule");
    }
}
