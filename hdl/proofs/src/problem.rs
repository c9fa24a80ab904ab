//! The translation of a design with properties to an and-inverter graph.

use std::cell::OnceCell;
use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{bail, Context};
use hdl_verilog::{Design, PortDirection};

use crate::tools::{run, Tools};

/// What is asked about an output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It never shows a violation.
    Holds,
    /// Some run shows it.
    Reaches,
}

/// A question to the solver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// Name of the property, or of the rule of a bundle.
    pub name: String,
    /// What is asked.
    pub kind: Kind,
}

/// A design with properties, as a graph in a file.
pub struct Problem {
    /// The questions, in the order of the outputs of the graph.
    pub checks: Vec<Check>,
    /// The inputs of the design, and their widths.
    pub inputs: Vec<(String, usize)>,
    /// Where its files are.
    pub directory: PathBuf,
    /// The properties see nets of instances, so they may be an invariant together.
    sees_inside: bool,
    /// Whether they are one, once that is known.
    pub(crate) together: OnceCell<bool>,
}

/// Name of the module around the design.
const TOP: &str = "stellar_prove";

/// Where an input `inner_PATH` gets its value.
enum Inner {
    /// A net, by its flattened name.
    Net(String),
    /// A word of a memory, which has a net only when the memories have become registers.
    Word(String),
}

/// Whether a module has a net. Its text is the printed one, a declaration in a line.
fn declares(text: &str, net: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.lines().any(|line| {
        let mut words = line.split(|c| !is_name(c)).filter(|word| !word.is_empty());
        matches!(words.next(), Some("reg" | "wire" | "input" | "output"))
            && words.any(|word| word == net)
    })
}

/// The name that a register has for that of a port: `passing_0` for `passing0`. A port of an array has no underscore before its number.
fn numbered(name: &str) -> Option<String> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let (_, number) = name.split_at(stem.len());
    (!stem.is_empty() && !number.is_empty()).then(|| format!("{stem}_{number}"))
}

/// The net of `inner_PATH`, which begins in the module with the text `text`: `window_free_head` is `head` in the instance `free` of the instance `window`,
/// and `window_rows_memory0` word 0 of the memory in the instance `rows` of `window`.
fn inner_net(design: &Design, text: &str, path: &str) -> Option<Inner> {
    for (at, _) in path.match_indices('_') {
        let (instance, rest) = (&path[..at], &path[at + 1..]);
        let call = format!(" u_{instance} (");
        let Some(line) = text.lines().find(|line| line.ends_with(&call)) else {
            continue;
        };
        let kind = line.trim_start().strip_suffix(&call)?;
        let module = design.modules.iter().find(|m| m.name == kind)?;
        let below = |net: &str| format!("u_{instance}.{net}");
        if let Some(inner) = inner_net(design, &module.text, rest) {
            return Some(match inner {
                Inner::Net(net) => Inner::Net(below(&net)),
                Inner::Word(net) => Inner::Word(below(&net)),
            });
        }
        // A name that is a keyword of Verilog ends in an underscore.
        let spellings = [rest.to_owned(), format!("{rest}_")];
        let mut spellings = spellings.into_iter().chain(numbered(rest));
        if let Some(net) = spellings.find(|net| declares(&module.text, net)) {
            return Some(Inner::Net(below(&net)));
        }
        let word = rest
            .strip_prefix("memory")
            .and_then(|word| word.parse::<usize>().ok());
        return word.map(|word| Inner::Word(below(&format!("memory[{word}]"))));
    }
    None
}

/// Makes steps of two clocks: a register changes in the steps in which its clock has an edge. The net of a clock is high in those.
const STEPS: &str = r#"(* techmap_celltype = "$dff" *)
module stellar_step (CLK, D, Q);
  parameter WIDTH = 1;
  parameter CLK_POLARITY = 1;
  input CLK;
  input [WIDTH-1:0] D;
  output [WIDTH-1:0] Q;
  \$ff #(.WIDTH(WIDTH)) _TECHMAP_REPLACE_ (.D(CLK ? D : Q), .Q(Q));
endmodule
"#;

impl Problem {
    /// Translates `design` in `directory`. `change` may alter the Verilog first.
    ///
    /// # Errors
    /// If the design has nothing to prove, or Yosys cannot be started or does not accept it.
    pub fn new(
        design: &Design,
        directory: &Path,
        tools: &Tools,
        change: impl FnOnce(String) -> String,
    ) -> anyhow::Result<Self> {
        let (text, rules) = design.formal_text();
        let mut checks = vec![];
        let mut inputs = vec![];
        let mut given = vec![];
        let mut bad = vec![];
        let (mut ports, mut nets, mut connections) = (vec![], String::new(), vec![]);
        let (mut two_clocks, mut inner) = (false, vec![]);
        for port in &design.ports {
            if let Some(clock) = port.name.strip_suffix("_clock") {
                let edge = format!("{clock}_edge");
                if !design.ports.iter().any(|p| p.name == edge) {
                    bail!(
                        "{} has no input {edge}, which tells whether {} has an edge",
                        design.top,
                        port.name
                    );
                }
                connections.push(format!(".{}({edge})", port.name));
                two_clocks = true;
                continue;
            }
            let range = match port.width {
                1 => String::new(),
                width => format!(" [{}:0]", width - 1),
            };
            connections.push(format!(".{0}({0})", port.name));
            if port.direction == PortDirection::Input {
                ports.push(format!("input wire{range} {}", port.name));
                if let Some(path) = port.name.strip_prefix("inner_") {
                    let top = design.modules.last().context("a design has modules")?;
                    let net = inner_net(design, &top.text, path)
                        .with_context(|| format!("{} has no net for inner_{path}", top.name))?;
                    inner.push((port.name.clone(), net));
                    continue;
                }
                inputs.push((port.name.clone(), port.width));
                continue;
            }
            let _ = writeln!(nets, "  wire{range} {};", port.name);
            if port.name.starts_with("given_") {
                given.push(port.name.clone());
            } else if let Some(name) = port.name.strip_prefix("holds_") {
                checks.push(Check {
                    name: name.into(),
                    kind: Kind::Holds,
                });
                bad.push(format!("~{}", port.name));
            } else if let Some(name) = port.name.strip_prefix("reaches_") {
                checks.push(Check {
                    name: name.into(),
                    kind: Kind::Reaches,
                });
                bad.push(port.name.clone());
            }
        }
        for rule in rules {
            let _ = writeln!(nets, "  wire {};", rule.port);
            connections.push(format!(".{0}({0})", rule.port));
            if rule.driven {
                checks.push(Check {
                    name: format!("never {}", rule.name),
                    kind: Kind::Holds,
                });
                bad.push(rule.port);
            } else {
                given.push(format!("~{}", rule.port));
            }
        }
        if checks.is_empty() {
            bail!(
                "{} has no properties: name an output holds_NAME",
                design.top
            );
        }
        // Registers without reset, such as a delay line, have their initial values.
        let resets = design.ports.iter().any(|p| p.name == "reset");
        given.push(if resets { "(reset | ~first)" } else { "1'b1" }.into());
        ports.extend((0..bad.len()).map(|i| format!("output wire bad_{i}")));
        let mut outputs: String = bad
            .iter()
            .enumerate()
            .map(|(i, bad)| format!("  assign bad_{i} = given & {bad};\n"))
            .collect();
        if !inner.is_empty() {
            // A second output for each property: it is the first one that a run violates, perhaps with others. If none of them is ever the first, all hold.
            let mut broken = String::from("1'b0");
            for (i, _) in checks
                .iter()
                .enumerate()
                .filter(|(_, c)| c.kind == Kind::Holds)
            {
                ports.push(format!("output wire first_bad_{i}"));
                let _ = writeln!(outputs, "  assign first_bad_{i} = held_before & bad_{i};");
                let _ = write!(broken, " | bad_{i}");
            }
            let _ = writeln!(
                outputs,
                "  reg held_before = 1'b1;\n  always @(posedge clock) held_before <= held_before & ~({broken});"
            );
        }
        // The assumptions have to hold up to and including the cycle of the violation.
        let wrapper = format!(
            "module {TOP} ({});\n{nets}  {} design ({});\n  reg given_before = 1'b1;\n  reg first = 1'b1;\n  always @(posedge clock) first <= 1'b0;\n  wire given = given_before & {};\n  always @(posedge clock) given_before <= given;\n{outputs}endmodule\n",
            ports.join(", "), design.top, connections.join(", "), given.join(" & ")
        );
        std::fs::create_dir_all(directory)
            .with_context(|| format!("cannot make {}", directory.display()))?;
        let problem = Self {
            checks,
            inputs,
            directory: directory.into(),
            sees_inside: !inner.is_empty(),
            together: OnceCell::new(),
        };
        std::fs::write(problem.file("v"), change(text) + &wrapper)?;
        std::fs::write(problem.file("map.v"), STEPS)?;
        run(
            &tools.yosys,
            &["-q", "-p", &problem.script(two_clocks, &inner)],
        )?;
        Ok(problem)
    }

    /// The outputs of the graph that show, for each property, that a run violates it and has violated none before. There are none if the properties see only the outside.
    pub(crate) fn first_violations(&self) -> Range<usize> {
        let holds = self.checks.iter().filter(|c| c.kind == Kind::Holds).count();
        let count = if self.sees_inside { holds } else { 0 };
        self.checks.len()..self.checks.len() + count
    }

    /// Returns the file with the extension `extension`.
    pub fn file(&self, extension: &str) -> PathBuf {
        self.directory.join(format!("proof.{extension}"))
    }

    fn script(&self, two_clocks: bool, inner: &[(String, Inner)]) -> String {
        let path = |extension| self.file(extension).display().to_string();
        let steps = if two_clocks {
            format!(
                "techmap -map {}; delete -input {TOP}/w:clock; connect -nounset -set clock 1'b1; opt -full -nodffe -nosdff;",
                path("map.v")
            )
        } else {
            String::new()
        };
        let (mut nets, mut words) = (String::new(), String::new());
        for (input, net) in inner {
            let (joins, net) = match net {
                Inner::Net(net) => (&mut nets, net),
                Inner::Word(net) => (&mut words, net),
            };
            let _ = write!(
                joins,
                "delete -input {TOP}/w:{input}; connect -nounset -set {input} \\design.{net}; "
            );
        }
        if !inner.is_empty() {
            nets = format!("hierarchy -top {TOP}; proc; flatten; {nets}");
        }
        // `zinit` makes the start value of every register without one free. So are the initial contents of a memory, unless the text for synthesis, which Yosys
        // reads, has them, as it has for LUT RAMs. ABC folds constants and finds equal gates, in a third of the time that the passes of `opt` take for it.
        format!(
            "read_verilog {}; {nets}prep -flatten -top {TOP}; memory_map; {words}dffunmap; {steps} write_rtlil {}; techmap; opt_clean; abc -g AND -fast; opt_clean; write_aiger -zinit -miter -I -L -symbols -no-startoffset -map {} {}",
            path("v"), path("il"), path("aim"), path("aig")
        )
    }
}
