//! Messages of `stellar serve --lone --bridge` about wrong options: which option, and what to do. The program leaves no files then.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::serve::programs::{refuse, refuse_with, stellar, succeed};

fn serve(folder: &Path, options: &[&str]) -> Command {
    let mut program = stellar();
    program.current_dir(folder).args(["serve", "cards"]);
    program.args(options);
    program
}

/// Runs the command with a valid bridge and these options.
fn bridged(folder: &Path, options: &[&str]) -> Command {
    let mut program = serve(
        folder,
        &["--lone", "--bridge", "dgram:here.sock:there.sock"],
    );
    program.args(options);
    program
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn check_empty(folder: &Path) {
    let mut left = fs::read_dir(folder).expect("the folder");
    assert!(left.next().is_none(), "something is left in the folder");
}

#[test]
fn long_help_says_what_a_bridge_is_for_and_how_a_guest_is_started() {
    let help = succeed(stellar().args(["serve", "--help"]));
    for part in [
        "one of its ports is bridged to another process",
        "-netdev dgram,id=n,local.type=unix,local.path=",
        "--bridge <SOCKET>",
    ] {
        assert!(help.contains(part), "no '{part}' in: {help}");
    }
}

#[test]
fn options_that_do_not_go_together_are_named() {
    let folder = scratch();
    let folder = folder.path();
    refuse_with(2, &mut serve(folder, &["--lone"]), &["--bridge <SOCKET>"]);
    let alone = ["--bridge", "listen:x.sock"];
    refuse_with(2, &mut serve(folder, &alone), &["--lone"]);
    for option in [
        &["--bridge-port", "1"][..],
        &["--mac", "02:00:00:00:00:09"],
        &["--ip", "10.0.0.9"],
        &["--capture", "x.pcapng"],
        &["--pace", "1"],
        &["--drop", "0.1"],
        &["--duplicate", "0.1"],
        &["--reorder", "0.1"],
        &["--seed", "1"],
        &["--flip", "0.0"],
    ] {
        refuse_with(2, &mut serve(folder, option), &["--bridge <SOCKET>"]);
    }
    check_empty(folder);
}

#[test]
fn values_that_cannot_be_are_named_with_their_option() {
    let folder = scratch();
    let folder = folder.path();
    for (option, value, says) in [
        ("--bridge-port", "2", "0..=1"),
        ("--mac", "02:00:00:00:00", "02:00:00:00:00:01"),
        ("--mac", "+2:00:00:00:00:01", "02:00:00:00:00:01"),
        ("--mac", "2:0:0:0:0:1", "02:00:00:00:00:01"),
        ("--ip", "10.0.0.256", "invalid IP address"),
        ("--pace", "-1", "-1"),
        ("--pace", "fast", "--pace"),
        ("--drop", "1.1", "from 0 to 1"),
        ("--drop", "1%", "from 0 to 1"),
        ("--duplicate", "NaN", "from 0 to 1"),
        ("--reorder", "often", "from 0 to 1"),
        ("--seed", "one", "--seed"),
        ("--flip", "3.8", "BYTE.BIT"),
        ("--sim-mode", "fast", "plain, gated, on-change"),
    ] {
        // The option and its value are one word, because a value may begin with a dash.
        let word = format!("{option}={value}");
        refuse_with(2, &mut bridged(folder, &[&word]), &[option, value, says]);
    }
    for address in ["x.sock", "dgram:a", "dgram:a:a", "listen:", "udp:a:b"] {
        let options = ["--lone", "--bridge", address];
        let says = [address, "--bridge", "dgram:LOCAL:REMOTE"];
        refuse_with(2, &mut serve(folder, &options), &says);
    }
    check_empty(folder);
}

#[test]
fn what_cannot_be_opened_is_named_with_its_option() {
    let folder = scratch();
    let folder = folder.path();
    for (options, says) in [
        (
            &["--mac", "01:00:00:00:00:01"][..],
            &["--mac", "01-00-00"][..],
        ),
        (&["--ip", "224.0.0.1"], &["--ip", "224.0.0.1"]),
        (
            &["--ip=10.0.0.1", "--ip=10.0.0.2", "--ip=10.0.0.3"],
            &["--ip", "one or two", "not 3"],
        ),
        (
            &["--drop", "0.6", "--reorder", "0.6"],
            &["--drop", "--reorder", "a sum of at most 1"],
        ),
        (
            &["--capture", "no/x.pcapng"],
            &["--capture", "no/x.pcapng", "cannot be written"],
        ),
    ] {
        refuse(&mut bridged(folder, options), says);
    }
    let long = format!("connect:{}", "x".repeat(120));
    let options = ["--lone", "--bridge", &long];
    let says = ["--bridge", "a UNIX socket takes 107"];
    refuse(&mut serve(folder, &options), &says);
    check_empty(folder);

    // Existing files stay, and files that the program made are removed.
    fs::write(folder.join("here.sock"), "mine").expect("a file");
    let says = ["--bridge", "here.sock", "there is a file already"];
    refuse(&mut bridged(folder, &[]), &says);
    let mine = fs::read(folder.join("here.sock")).expect("the file");
    assert_eq!(mine, b"mine");
    fs::remove_file(folder.join("here.sock")).expect("the file");
    fs::create_dir(folder.join("cards")).expect("a folder");
    fs::write(folder.join("cards/nic0.sock"), "mine").expect("a file");
    refuse(&mut bridged(folder, &[]), &["nic0.sock", "nobody listens"]);
    assert!(!folder.join("here.sock").exists());
}
