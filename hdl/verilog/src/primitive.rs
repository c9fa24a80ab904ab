//! Hand-written Verilog of a primitive.

use rust_hdl::core::atom::AtomKind;

use crate::collect::Instance;
use crate::module::{body, range, Body};
use crate::skeleton::Skeleton;

/// What lines of a primitive that only gated models have begin with.
const GATED: &str = "//@ ";
/// What lines of a primitive end with that gated models are without.
const UNGATED: &str = " //-";

/// Prints a primitive: ports from the block, text as it is. `// @module <path>` on its first line names it, lines behind `//@ ` are for
/// gated models, and lines before ` //-` for all others (see [`crate::gate`]). `output` is the kind of its output ports.
pub(crate) fn print(instance: &Instance, code: &str, output: &str) -> Body {
    let trimmed = code.trim_start();
    let (type_path, code) = match trimmed.strip_prefix("// @module ") {
        Some(rest) => {
            let (path, rest) = rest.split_once('\n').unwrap_or((rest, ""));
            (Some(path.trim()), rest)
        }
        None => (None, code),
    };
    let ports: Vec<String> = instance
        .signals
        .iter()
        .filter(|s| s.kind.is_parameter())
        .map(|s| {
            let direction = match s.kind {
                AtomKind::InputParameter => "input wire",
                _ => output,
            };
            format!("  {direction}{} {}", range(s.width), s.wanted)
        })
        .collect();
    let (gated, code): (Vec<&str>, Vec<&str>) = code
        .trim_matches('\n')
        .lines()
        .partition(|line| line.starts_with(GATED));
    let mut text = format!("(\n{}\n);\n", ports.join(",\n"));
    let mut ungated = vec![];
    for line in code {
        let plain = line.strip_suffix(UNGATED).unwrap_or(line);
        if plain != line {
            ungated.push(format!("{plain}\n"));
        }
        text += plain;
        text.push('\n');
    }
    let gated = gated
        .iter()
        .map(|line| format!("  {}\n", &line[GATED.len()..]));
    let skeleton = Skeleton::of_primitive(instance, gated.collect(), ungated);
    body(instance, type_path, text, skeleton)
}
