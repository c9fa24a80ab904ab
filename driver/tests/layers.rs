//! The driver builds for a host that has a card and nothing else of this repository: no hardware description, no reference of the transport, no simulator.

use std::process::Command;

/// Runs cargo in this workspace, for the named packages alone; returns what it prints.
fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .args(["--offline", "--locked"])
        // Features of the whole workspace unified would bring the hardware's to the driver.
        .env_remove("CARGO_RESOLVER_FEATURE_UNIFICATION")
        // The tests' own (tools/regression/short.sh): build scripts that read it would run again, and all that depends on them.
        .env_remove("RUSTC_BOOTSTRAP")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {arguments:?}: {error}");
    String::from_utf8(output.stdout).expect("names of packages are UTF-8")
}

/// Names of all packages that a package needs at run time, with its default features.
fn dependencies(package: &str) -> Vec<String> {
    let tree = cargo(&[
        "tree",
        "--package",
        package,
        "--edges",
        "normal",
        "--prefix",
        "none",
    ]);
    let name = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    tree.lines().map(name).collect()
}

/// Whether a package belongs to the hardware, its models or the reference.
fn is_of_the_hardware(package: &str) -> bool {
    let named = |prefix| package.starts_with(prefix);
    named("rust-hdl") || named("hdl-") || named("sim-") || package == "stellar-transport"
}

#[test]
fn software_of_the_host_needs_neither_hardware_nor_reference() {
    for package in ["stellar-driver", "stellar-virt", "stellar-transfer"] {
        let needed = dependencies(package);
        assert!(
            needed.iter().any(|name| name == "stellar-wire"),
            "{package}"
        );
        let wrong: Vec<_> = needed
            .iter()
            .filter(|name| is_of_the_hardware(name))
            .collect();
        assert!(wrong.is_empty(), "{package} needs {wrong:?}");
    }
    // The check works: it finds such packages where they are expected.
    let simulated = dependencies("sim-nic");
    for expected in ["rust-hdl", "hdl-nic", "stellar-transport"] {
        assert!(simulated
            .iter()
            .any(|name| name == expected && is_of_the_hardware(name)));
    }
}

/// A build of the whole workspace switches on `stellar-wire`'s feature `hdl` for all; the driver has to do without.
#[test]
fn the_driver_compiles_alone() {
    cargo(&["check", "--quiet", "--package", "stellar-driver"]);
}
