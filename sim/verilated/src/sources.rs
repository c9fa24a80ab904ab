//! Reads Verilog files: preprocesses them, and determines the ports and parameters of the top module as Verilator sees them.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use roxmltree::{Document, Node};
use serde::{Deserialize, Serialize};

use crate::build::{excerpt, parameter_options};
use crate::cache::io;
use crate::error::{BuildError, SourceError};
use crate::port::{Dir, Port};
use crate::toolchain::Toolchain;

/// Verilog files and the options with which to read them.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Name of the top module.
    pub top: String,
    /// Source files, in the order in which they are read.
    pub files: Vec<PathBuf>,
    /// Directories for `` `include ``.
    pub includes: Vec<PathBuf>,
    /// Macros with their texts. The text is empty for a macro that is only defined.
    pub defines: Vec<(String, String)>,
}

/// The interface of a top module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopModule {
    pub ports: Vec<TopPort>,
    pub parameters: Vec<Parameter>,
}

/// A port of a top module with its declaration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopPort {
    pub port: Port,
    /// The port is declared `inout`. [`Port::dir`] is then an input.
    pub inout: bool,
    /// Declared range, left and right. It is none for a scalar.
    pub range: Option<(i32, i32)>,
    /// The module refers to this port. If it does not refer to an output, the output keeps the value that a test gives it. Tests of bus models use
    /// such empty modules as their design.
    pub used: bool,
}

/// A parameter of a top module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    pub name: String,
    /// Width of the value in bits.
    pub width: usize,
    /// The value as 32-bit words, lowest first.
    pub words: Vec<u32>,
}

impl Sources {
    /// Returns the text of all files after preprocessing, which can be the whole input of a [`ModelSpec`](crate::ModelSpec). With `places`, the text
    /// names the file and line that each line comes from, for error messages. Without it, the text does not depend on where the files are.
    ///
    /// # Errors
    /// [`SourceError::Missing`], [`SourceError::Empty`], [`SourceError::Refused`].
    pub fn preprocess(&self, tools: &Toolchain, places: bool) -> Result<String, SourceError> {
        if self.files.is_empty() {
            return Err(SourceError::Empty {
                top: self.top.clone(),
            });
        }
        if let Some(path) = self.files.iter().find(|path| !path.is_file()) {
            return Err(SourceError::Missing { path: path.clone() });
        }
        let mut command = tools.verilator();
        command.args(["-E", "-Wno-fatal", "-Wno-lint", "-Wno-style"]);
        if !places {
            command.arg("-P");
        }
        for directory in &self.includes {
            command.arg(format!("-I{}", directory.display()));
        }
        for (name, text) in &self.defines {
            command.arg(if text.is_empty() {
                format!("-D{name}")
            } else {
                format!("-D{name}={text}")
            });
        }
        run(&self.top, command.args(&self.files))
    }
}

impl TopModule {
    /// Returns the ports and parameters of module `top` in `verilog`. `parameters` override the values in its declaration.
    ///
    /// # Errors
    /// [`SourceError::Refused`] if Verilator cannot read the text, [`SourceError::Description`] if a port of the module is not made of bits.
    pub fn describe(
        top: &str,
        verilog: &str,
        parameters: &[(String, String)],
        tools: &Toolchain,
    ) -> Result<Self, SourceError> {
        let directory = tempfile::tempdir()
            .map_err(|source| SourceError::Build(io("create", &std::env::temp_dir(), source)))?;
        let source = directory.path().join("top.sv");
        std::fs::write(&source, verilog)
            .map_err(|error| SourceError::Build(io("write", &source, error)))?;
        let output = directory.path().join("top.xml");
        let mut command = tools.verilator();
        command
            .args(["--xml-only", "-Wno-fatal", "-Wno-lint", "-Wno-style"])
            .args(["--no-timing", "--top-module", top, "--Mdir"])
            .arg(directory.path())
            .arg("--xml-output")
            .arg(&output)
            .args(parameter_options(parameters))
            .arg(&source);
        run(top, &mut command)?;
        let text = std::fs::read_to_string(&output)
            .map_err(|error| SourceError::Build(io("read", &output, error)))?;
        parse(top, &text).map_err(|problem| SourceError::Description {
            top: top.to_owned(),
            problem,
        })
    }
}

/// Runs Verilator and returns what it prints.
fn run(top: &str, command: &mut Command) -> Result<String, SourceError> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| {
        SourceError::Build(BuildError::MissingTool {
            tool: "verilator".into(),
            looked: format!("it does not start: {error}"),
        })
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(SourceError::Refused {
        top: top.to_owned(),
        excerpt: excerpt(&String::from_utf8_lossy(&output.stderr)),
    })
}

/// Parses the output of `verilator --xml-only`.
fn parse(top: &str, xml: &str) -> Result<TopModule, String> {
    let document = Document::parse(xml).map_err(|error| error.to_string())?;
    let module = document
        .descendants()
        .find(|node| node.has_tag_name("module") && node.attribute("topModule") == Some("1"))
        .ok_or("it names no top module")?;
    let types: HashMap<&str, Node> = document
        .descendants()
        .filter(|node| node.has_tag_name("typetable"))
        .flat_map(|table| table.children())
        .filter_map(|node| Some((node.attribute("id")?, node)))
        .collect();
    let used: HashSet<&str> = module
        .descendants()
        .filter(|node| node.has_tag_name("varref"))
        .filter_map(|node| node.attribute("name"))
        .collect();
    let mut described = TopModule::default();
    for var in module.children().filter(|node| node.has_tag_name("var")) {
        let name = var.attribute("origName").unwrap_or_default().to_owned();
        let used = var.attribute("name").is_some_and(|n| used.contains(n));
        if let Some(dir) = var.attribute("dir") {
            let (width, range) = shape(var.attribute("dtype_id"), &types)
                .ok_or_else(|| format!("port `{name}` of `{top}` is not made of bits"))?;
            described.ports.push(TopPort {
                port: Port {
                    name,
                    width,
                    dir: if dir == "output" { Dir::Out } else { Dir::In },
                },
                inout: dir == "inout",
                range,
                used,
            });
        } else if var.attribute("param") == Some("true") {
            // Only parameters made of bits are listed, because a handle cannot represent others.
            let value = var.children().find(|node| node.has_tag_name("const"));
            let literal = value.and_then(|node| node.attribute("name"));
            described.parameters.extend(
                literal
                    .and_then(parse_literal)
                    .map(|(width, words)| Parameter { name, width, words }),
            );
        }
    }
    Ok(described)
}

/// Returns the width and range of a type made of bits. Several packed dimensions count as one.
fn shape(id: Option<&str>, types: &HashMap<&str, Node>) -> Option<(usize, Option<(i32, i32)>)> {
    let node = types.get(id?)?;
    let number = |node: &Node, name| node.attribute(name)?.parse::<i32>().ok();
    match node.tag_name().name() {
        "basicdtype" => match (number(node, "left"), number(node, "right")) {
            (Some(left), Some(right)) => {
                Some((left.abs_diff(right) as usize + 1, Some((left, right))))
            }
            _ if matches!(node.attribute("name")?, "logic" | "bit") => Some((1, None)),
            _ => None,
        },
        "packarraydtype" => {
            let (inner, _) = shape(node.attribute("sub_dtype_id"), types)?;
            let bounds: Vec<i64> = node
                .descendants()
                .filter(|child| child.has_tag_name("const"))
                .filter_map(|child| parse_literal(child.attribute("name")?))
                .map(|(_, words)| i64::from(words[0] as i32))
                .collect();
            let [left, right] = bounds[..] else {
                return None;
            };
            let width = inner * (left.abs_diff(right) as usize + 1);
            Some((width, Some((width as i32 - 1, 0))))
        }
        "refdtype" | "enumdtype" => shape(node.attribute("sub_dtype_id"), types),
        _ => None,
    }
}

/// Parses a hexadecimal literal of Verilator, such as `8'h5` or `32'shff`. Returns its width and words.
fn parse_literal(text: &str) -> Option<(usize, Vec<u32>)> {
    let (width, digits) = text.split_once('\'')?;
    let width: usize = width.parse().ok()?;
    let digits = digits.strip_prefix('s').unwrap_or(digits);
    let digits: Vec<u32> = digits
        .strip_prefix('h')?
        .chars()
        .rev()
        .map(|digit| digit.to_digit(16))
        .collect::<Option<_>>()?;
    let mut words: Vec<u32> = digits
        .chunks(8)
        .map(|chunk| chunk.iter().rev().fold(0, |word, digit| word << 4 | digit))
        .collect();
    words.resize(width.div_ceil(32), 0);
    Some((width, words))
}

impl TopModule {
    /// Returns the ports for a [`ModelSpec`](crate::ModelSpec).
    pub fn model_ports(&self) -> Vec<Port> {
        self.ports.iter().map(|port| port.port.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_read_as_words() {
        assert_eq!(parse_literal("8'h5"), Some((8, vec![5])));
        assert_eq!(
            parse_literal("40'h68656c6c6f"),
            Some((40, vec![0x656c_6c6f, 0x68]))
        );
        assert_eq!(parse_literal("32'shffffffff"), Some((32, vec![u32::MAX])));
        assert_eq!(parse_literal("3.5"), None);
    }

    fn describe(verilog: &str, parameters: &[(String, String)]) -> TopModule {
        TopModule::describe("t", verilog, parameters, Toolchain::find().unwrap()).unwrap()
    }

    #[test]
    fn ports_come_with_direction_range_and_overridden_widths() {
        let text = "module t #(parameter W = 8) (input clk, input [0:0] one, input [W-1:0] d, output [0:7] q, inout [3:0] io);
                    assign q = d[7:0]; endmodule";
        let module = describe(text, &[("W".into(), "100".into())]);
        let found: Vec<_> = module
            .ports
            .iter()
            .map(|p| (p.port.name.as_str(), p.port.width, p.port.dir, p.range))
            .collect();
        assert_eq!(
            found,
            [
                ("clk", 1, Dir::In, None),
                ("one", 1, Dir::In, Some((0, 0))),
                ("d", 100, Dir::In, Some((99, 0))),
                ("q", 8, Dir::Out, Some((0, 7))),
                ("io", 4, Dir::In, Some((3, 0))),
            ]
        );
        assert!(module.ports[4].inout && !module.ports[2].inout);
        assert!(module.ports[3].used && !module.ports[1].used);
        assert_eq!(module.parameters[0].words, [100]);
    }

    #[test]
    fn several_packed_dimensions_count_as_one() {
        let module = describe("module t(input logic [3:0][7:0] a); endmodule", &[]);
        assert_eq!(module.ports[0].range, Some((31, 0)));
    }

    #[test]
    fn wrong_sources_are_refused_with_the_reason() {
        let tools = Toolchain::find().unwrap();
        let mut sources = Sources {
            top: "t".into(),
            ..Sources::default()
        };
        assert!(matches!(
            sources.preprocess(tools, true),
            Err(SourceError::Empty { .. })
        ));
        sources.files = vec![PathBuf::from("absent.v")];
        assert!(matches!(
            sources.preprocess(tools, true),
            Err(SourceError::Missing { .. })
        ));
        let error =
            TopModule::describe("t", "module t(input a; endmodule", &[], tools).unwrap_err();
        assert!(error.to_string().contains("syntax error"), "{error}");
        let error =
            TopModule::describe("t", "module t(input real a); endmodule", &[], tools).unwrap_err();
        assert!(error.to_string().contains("port `a`"), "{error}");
    }

    #[test]
    fn files_are_preprocessed_with_includes_and_macros() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        file("width.vh", "`define W 5\n");
        let sources = Sources {
            top: "t".into(),
            files: vec![file(
                "t.v",
                "`include \"width.vh\"\n`ifdef ON\nmodule t(input [`W-1:0] a, input [`N-1:0] b); endmodule\n`endif\n",
            )],
            includes: vec![directory.path().to_path_buf()],
            defines: vec![("ON".into(), String::new()), ("N".into(), "3".into())],
        };
        let text = sources
            .preprocess(Toolchain::find().unwrap(), false)
            .unwrap();
        let module = describe(&text, &[]);
        assert_eq!(module.ports[0].port.width, 5);
        assert_eq!(module.ports[1].port.width, 3);
    }
}
