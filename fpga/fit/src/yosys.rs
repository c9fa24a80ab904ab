//! Yosys: the one place that starts it.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::signals::{self, Hints};
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

/// What ABC does first: the beginning of the script that Yosys gives it for LUTs.
const RESTRUCTURE: &str = "strash; ifraig; scorr; dc2; dretime; strash";

/// How ABC then chooses the LUTs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Choice {
    /// Yosys' own way.
    Usual,
    /// What has the same function may be built in several structures.
    Structures,
    /// The same, of logic whose sums of products were balanced for their slowest inputs.
    Balanced,
}

impl Choice {
    /// Those that are tried where the usual one leaves a path that is too long.
    pub(crate) const OTHERS: [Self; 2] = [Self::Structures, Self::Balanced];

    const fn commands(self) -> &'static str {
        match self {
            Self::Usual => "if; mfs2",
            Self::Structures => "dch; if; mfs2",
            Self::Balanced => "if -g; strash; dch; if; mfs2",
        }
    }
}

/// Files of a run, in its folder.
struct Files(PathBuf);

impl Files {
    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf, FitError> {
        let file = self.file(name);
        fs::write(&file, text).map_err(FitError::file(&file))?;
        Ok(file)
    }
}

/// ABC's script. With hints, it hears times between its two halves ([`ARRIVALS`]). Yosys has written the names of its signals beside them, into the one
/// folder that it made here. Yosys' reader does not know what ABC then writes of times, and ABC's own reader without `-n` forgets them.
fn abc(folder: &Path, timed: bool, choice: Choice) -> String {
    let functions = folder.join("functions");
    let begin = format!("read_lut {}; {RESTRUCTURE}", functions.display());
    let choose = choice.commands();
    if !timed {
        return format!("{begin}; {choose}");
    }
    let at = folder.display();
    format!(
        "{begin}; write_blif {at}/restructured; \
         !awk -f {at}/arrivals {at}/times {at}/yosys-abc-*/input.blif {at}/restructured > {at}/timed; \
         read_blif -n {at}/timed; strash; {choose}; write_blif {at}/chosen; \
         !grep -v _arrival {at}/chosen | grep -v _required > {at}/untimed; read_blif {at}/untimed"
    )
}

/// Adds times to ABC's logic.
const ARRIVALS: &str = include_str!("arrivals.awk");

/// The passes between those of [`SYNTHESIS`]: `map_luts` of `synth_xilinx` with `script` in place of its own call of ABC.
fn luts(script: &Path) -> String {
    format!(
        "opt_expr -mux_undef -noclkinv; abc -luts 2:2,3,6:5,10,20 -script {}; clean; techmap -map +/xilinx/ff_map.v; xilinx_srl -fixed -minlen 3; \
         techmap -map +/xilinx/lut_map.v -map +/xilinx/cells_map.v -D LUT_WIDTH=6; xilinx_dffopt; opt_lut_ins -tech xilinx",
        script.display()
    )
}

/// All that decides how a module is mapped, besides its text, the hints and Yosys.
pub(crate) fn recipe(timed: bool, choice: Choice) -> String {
    let folder = Path::new("folder");
    let mut parts = vec![
        SYNTHESIS.to_owned(),
        luts(&folder.join("script")),
        abc(folder, timed, choice),
        FUNCTIONS.to_owned(),
    ];
    if timed {
        parts.push(ARRIVALS.to_owned());
    }
    parts.join("\n")
}

/// What is written of a mapped module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Yosys' JSON: cells and their connections.
    Json,
    /// Verilog of cells, for a simulator of two states: what is undefined is zero, contents of memories included. Each bit has a wire of its own, because Verilator takes bits of a
    /// vector that depend on each other for a loop.
    Verilog,
}

impl Form {
    /// The passes that write it into the file whose name follows.
    const fn passes(self) -> &'static str {
        match self {
            Self::Json => "write_json",
            Self::Verilog => "splitnets; setundef -zero -params; write_verilog -noattr",
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
        let output = self.run(&["-V"], None)?;
        Ok(String::from_utf8_lossy(&output.stdout).into())
    }

    /// Maps the module `top` of `verilog` to cells of UltraScale+, with `SYNTHESIS` defined and everything below it flattened.
    ///
    /// # Errors
    /// [`FitError::Missing`] if it is not there, [`FitError::Yosys`] if it refuses the Verilog, [`FitError::File`] for its files.
    pub fn synthesise(&self, verilog: &str, top: &str, form: Form) -> Result<String, FitError> {
        self.synthesise_with(verilog, top, Hints::NONE, form)
    }

    /// The same, and ABC hears `hints`.
    ///
    /// # Errors
    /// Those of [`Self::synthesise`], and [`FitError::Netlist`] if the module in front of ABC cannot be read.
    pub(crate) fn synthesise_with(
        &self,
        verilog: &str,
        top: &str,
        hints: Hints<'_>,
        form: Form,
    ) -> Result<String, FitError> {
        let folder = tempfile::tempdir().map_err(FitError::file(&std::env::temp_dir()))?;
        let files = Files(folder.path().into());
        let source = files.write("module.v", verilog)?;
        files.write("functions", FUNCTIONS)?;
        let script = abc(folder.path(), !hints.is_empty(), hints.choice).replace("; ", "\n");
        let script = files.write("script", &script)?;
        let first = format!(
            "read_verilog -DSYNTHESIS {}; {SYNTHESIS} {top} -run begin:map_luts",
            source.display()
        );
        let result = files.file("netlist");
        let rest = format!(
            "{}; {SYNTHESIS} {top} -run finalize:check; {} {}",
            luts(&script),
            form.passes(),
            result.display()
        );
        if hints.is_empty() {
            self.pass(&format!("{first}; {rest}"), top, &files)?;
        } else {
            let (design, signals) = (files.file("design.il"), files.file("signals"));
            let (design, signals_at) = (design.display(), signals.display());
            let write = format!("write_rtlil {design}; write_json {signals_at}");
            self.pass(&format!("{first}; {write}"), top, &files)?;
            let json = fs::read_to_string(&signals).map_err(FitError::file(&signals))?;
            let times = signals::times(&json, top, hints).map_err(|reason| FitError::Netlist {
                module: top.into(),
                reason,
            })?;
            files.write("times", &times)?;
            files.write("arrivals", ARRIVALS)?;
            self.pass(&format!("read_rtlil {design}; {rest}"), top, &files)?;
        }
        fs::read_to_string(&result).map_err(FitError::file(&result))
    }

    /// Runs a script on the module `top`.
    fn pass(&self, script: &str, top: &str, files: &Files) -> Result<(), FitError> {
        let done = self.run(&["-q", "-p", script], Some(&files.0))?;
        if done.status.success() {
            return Ok(());
        }
        Err(FitError::Yosys {
            module: top.into(),
            reason: reason(&done),
        })
    }

    /// Runs it with these arguments, and with its own files in `folder`.
    fn run(&self, arguments: &[&str], folder: Option<&Path>) -> Result<Output, FitError> {
        let mut command = Command::new(&self.program);
        command.args(arguments);
        if let Some(folder) = folder {
            command.env("TMPDIR", folder);
        }
        let output = command.output();
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
