//! Tests the rewriter with the output of the installed Verilator.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use sim_on_change::{rewrite, GatePorts, Refusal};

use crate::build::VERILATE;
use crate::toolchain::Toolchain;

/// A design with two parts that have clocks of their own, one of them with a memory, and with logic that depends on both.
const PARTS: &str = "
module parts(input wire one, input wire two, input wire [7:0] a, input wire [95:0] b, output reg [95:0] sum, output wire any);
  reg [7:0] held = 0;
  reg [95:0] wide = 0;
  reg [7:0] memory [0:15];
  always @(edge one) begin held <= a; memory[a[3:0]] <= held; end
  always @(edge two) wide <= b;
  always @(*) begin sum = wide + {88'd0, held}; if (wide[0]) sum[7:0] = memory[wide[4:1]]; end
  assign any = |sum;
endmodule
";

#[test]
fn the_code_of_the_known_verilator_is_understood() {
    let tools = Toolchain::find().unwrap();
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("parts.v"), PARTS).unwrap();
    let status = tools
        .verilator()
        .args(VERILATE)
        .args(["--top-module", "parts", "parts.v"])
        .current_dir(directory.path())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    if !tools.runs_on_change() {
        return;
    }
    let ports = GatePorts {
        clocks: ["one".to_owned()].into(),
        flags: ["any".to_owned()].into(),
        events: vec!["two".to_owned()],
    };
    let blocks = rewrite(directory.path(), &ports).unwrap();
    assert_eq!(blocks, [""]);
    let code = code(directory.path());
    for expected in [
        "{ const bool changed = stellar_copy_differs<3>(vlSelf->",
        "= (stellar_0 != vlSelf->",
        "vlSelf->stellar_marked[2] |= stellar_changed_0;",
        "if (vlSelf->stellar_inputs >> 0 & 1) {",
        "if (stellar_take(at[-128])) Vmodel",
        "switch (number) {\ncase 0: Vmodel",
    ] {
        assert!(code.contains(expected), "{expected}: {code}");
    }
    assert!(!code.contains("vlSelf->any = "), "{code}");
    // Rewritten code differs from what Verilator writes, so a second rewrite is refused.
    let refused = rewrite(directory.path(), &ports).unwrap_err();
    assert!(matches!(refused, Refusal::UnknownCode), "{refused}");
}

/// Returns the header and the functions that run at events.
fn code(directory: &Path) -> String {
    let files = fs::read_dir(directory)
        .unwrap()
        .map(|file| file.unwrap().path());
    let of_code = |path: &std::path::PathBuf| {
        let name = path.to_string_lossy();
        name.ends_with("root.h") || name.ends_with(".cpp") && !name.contains("__Slow")
    };
    let code = files.filter(of_code);
    code.map(|path| fs::read_to_string(path).unwrap()).collect()
}
