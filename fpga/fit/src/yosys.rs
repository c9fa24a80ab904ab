//! Yosys: the one place that starts it.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::FitError;

/// Yosys' passes for a module, whose name follows: UltraScale+, with the modules below it flattened.
const SYNTHESIS: &str = "synth_xilinx -family xcup -uram -noiopad -noclkbuf -flatten -top";

/// Area and delay of the functions that ABC may choose, by their inputs. `synth_xilinx` tells ABC that one of seven or eight inputs takes as long as a LUT. It is two LUTs behind a
/// MUXF7, or four behind a MUXF8, and a multiplexer counts half a level here.
const FUNCTIONS: &str = "\
1 2.00 1.00
2 2.00 1.00
3 3.00 1.00
4 5.00 1.00
5 5.00 1.00
6 5.00 1.00
7 10.00 1.50
8 20.00 2.00
";

/// What ABC does: the script that Yosys gives it for LUTs.
const ABC: &str = "strash; ifraig; scorr; dc2; dretime; strash; if; mfs2";

/// The passes between those of [`SYNTHESIS`]: `map_luts` of `synth_xilinx` with `script` in place of its own call of ABC.
fn luts(script: &Path) -> String {
    format!(
        "opt_expr -mux_undef -noclkinv; abc -luts 2:2,3,6:5,10,20 -script {}; clean; techmap -map +/xilinx/ff_map.v; xilinx_srl -fixed -minlen 3; \
         techmap -map +/xilinx/lut_map.v -map +/xilinx/cells_map.v -D LUT_WIDTH=6; xilinx_dffopt; opt_lut_ins -tech xilinx",
        script.display()
    )
}

/// All that decides how a module is mapped, besides its text and Yosys.
pub(crate) fn recipe() -> String {
    [SYNTHESIS, &luts(Path::new("script")), ABC, FUNCTIONS].join("\n")
}

/// What is written of a mapped module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Yosys' JSON: cells and their connections.
    Json,
    /// Verilog of cells, for a simulator of two states: what is undefined is zero, contents of memories included.
    Verilog,
}

impl Form {
    /// The passes that write it into the file whose name follows.
    const fn passes(self) -> &'static str {
        match self {
            Self::Json => "write_json",
            Self::Verilog => "setundef -zero -params; write_verilog -noattr",
        }
    }
}

/// A Yosys.
#[derive(Clone, Debug)]
pub struct Yosys {
    program: PathBuf,
}

impl Yosys {
    /// The Yosys that `program` names, by path or on `PATH`.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
        }
    }

    /// What it says of its version.
    pub(crate) fn version(&self) -> Result<String, FitError> {
        let output = self.run(&["-V"])?;
        Ok(String::from_utf8_lossy(&output.stdout).into())
    }

    /// Maps the module `top` of `verilog` to cells of UltraScale+, with `SYNTHESIS` defined and everything below it flattened.
    ///
    /// # Errors
    /// [`FitError::Missing`] if it is not there, [`FitError::Yosys`] if it refuses the Verilog, [`FitError::File`] for its files.
    pub fn synthesise(&self, verilog: &str, top: &str, form: Form) -> Result<String, FitError> {
        let folder = tempfile::tempdir().map_err(FitError::file(&std::env::temp_dir()))?;
        let file = |name: &str| folder.path().join(name);
        let (source, result) = (file("module.v"), file("netlist"));
        let (functions, abc) = (file("functions"), file("script"));
        let write = |file: &Path, text: &str| fs::write(file, text).map_err(FitError::file(file));
        write(&source, verilog)?;
        write(&functions, FUNCTIONS)?;
        let begin = format!("read_lut {}; ", functions.display());
        write(&abc, &(begin + ABC).replace("; ", "\n"))?;
        let script = format!(
            "read_verilog -DSYNTHESIS {}; {SYNTHESIS} {top} -run begin:map_luts; {}; {SYNTHESIS} {top} -run finalize:check; {} {}",
            source.display(),
            luts(&abc),
            form.passes(),
            result.display()
        );
        let done = self.run(&["-q", "-p", &script])?;
        if !done.status.success() {
            return Err(FitError::Yosys {
                module: top.into(),
                reason: reason(&done),
            });
        }
        fs::read_to_string(&result).map_err(FitError::file(&result))
    }

    fn run(&self, arguments: &[&str]) -> Result<Output, FitError> {
        let output = Command::new(&self.program).args(arguments).output();
        output.map_err(|error| FitError::Missing {
            program: name(&self.program),
            error,
        })
    }
}

fn name(program: &Path) -> String {
    program.display().to_string()
}

/// Why a Yosys failed: what it said last, and what ended it if it was killed, as the system does when memory is short.
fn reason(done: &Output) -> String {
    let said = last_lines(&String::from_utf8_lossy(&done.stderr));
    let killed = done.status.signal().is_some();
    match (killed, said.is_empty()) {
        (true, true) => format!("it was killed ({}); is there enough memory?", done.status),
        (true, false) => format!(
            "it was killed ({}); is there enough memory? It had said: {said}",
            done.status
        ),
        (false, true) => format!("it says nothing ({})", done.status),
        (false, false) => said,
    }
}

/// The end of what Yosys says has the error.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}
