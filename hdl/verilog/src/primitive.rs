//! Hand-written Verilog of a primitive.

use rust_hdl::core::atom::AtomKind;

use crate::collect::Instance;
use crate::module::{body, range, Body};
use crate::skeleton::{GatedText, Skeleton};

/// The line in front of what gated models have. Behind it, whether that goes beside the primitive's own lines or in their place.
const GATED: &str = "// @gated ";
const INSTEAD: &str = "instead";

/// Prints a primitive: ports from the block, text as it is. `// @module <path>` on its first line names it. What follows the line
/// `// @gated beside` or `// @gated instead` is for gated models (see [`crate::gate`]). `output` is the kind of its output ports.
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
    let (code, gated) = match code.split_once(GATED) {
        Some((code, gated)) => (code, gated.split_once('\n')),
        None => (code, None),
    };
    let gated = gated.map(|(place, lines)| GatedText {
        replaces: place == INSTEAD,
        lines: lines.lines().map(|line| format!("  {line}\n")).collect(),
    });
    let text = format!(
        "(\n{}\n);\n{}\n",
        ports.join(",\n"),
        code.trim_matches('\n')
    );
    let skeleton = Skeleton::of_primitive(instance, gated);
    body(instance, type_path, text, skeleton)
}
