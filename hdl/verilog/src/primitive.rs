//! Prints the hand-written Verilog of a primitive.

use rust_hdl::core::atom::AtomKind;

use crate::collect::Instance;
use crate::module::{body, range, Body};
use crate::skeleton::{GatedText, Skeleton};

/// Starts the line in front of the text for gated models. The rest of that line is `beside` if the text is added to the primitive's own lines, and
/// `instead` if it replaces them.
const GATED: &str = "// @gated ";
const INSTEAD: &str = "instead";

/// The line in front of the text that replaces a primitive's own lines where metastability is simulated.
const METASTABLE: &str = "// @metastable\n";

/// The line in front of the text that replaces a primitive's own lines in a proof.
const PROOF: &str = "// @proof\n";

/// Prints a primitive with the ports of the block and its text unchanged. The first line of the text, `// @module <path>`, names the module. The text
/// after a line `// @gated beside` or `// @gated instead` is for gated models (see [`crate::gate`]), that after a next line `// @metastable` is for
/// [`Design::metastable_text`](crate::Design::metastable_text), and that after a last line `// @proof` for
/// [`Design::formal_text`](crate::Design::formal_text). `output` is the kind of the output ports, `wire` or `reg`.
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
    let (code, proof) = split(code, PROOF);
    let (code, metastable) = split(code, METASTABLE);
    let (code, gated) = match code.split_once(GATED) {
        Some((code, gated)) => (code, gated.split_once('\n')),
        None => (code, None),
    };
    let gated = gated.map(|(place, lines)| GatedText {
        replaces: place == INSTEAD,
        lines: indented(lines),
    });
    let text = format!(
        "(\n{}\n);\n{}\n",
        ports.join(",\n"),
        code.trim_matches('\n')
    );
    let skeleton = Skeleton::of_primitive(instance, gated, metastable, proof);
    body(instance, type_path, text, skeleton)
}

/// Returns what is in front of the line `marker`, and the lines behind it, if there is one.
fn split<'a>(code: &'a str, marker: &str) -> (&'a str, Option<String>) {
    match code.split_once(marker) {
        Some((code, lines)) => (code, Some(indented(lines))),
        None => (code, None),
    }
}

fn indented(lines: &str) -> String {
    lines.lines().map(|line| format!("  {line}\n")).collect()
}
