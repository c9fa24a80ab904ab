//! `./stellar wave nic` writes the waves of the requested card.

use std::path::Path;
use std::process::{Command, Output};

fn wave(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stellar-cli"));
    let output = command.args(["wave", "nic"]).args(arguments).output();
    output.expect("the program starts")
}

/// Bytes of the waves of a card, which the last line of the output names.
fn waves(folder: &Path, card: &str) -> Vec<u8> {
    let file = folder.join("new").join(card).join("nic.fst");
    let name = file.to_str().expect("a plain name");
    let output = wave(&[
        "--bytes", "5000", "--card", card, "--seed", "3", "--levels", "2", "--out", name,
    ]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printed.lines().last(), Some(name), "{printed}");
    std::fs::read(file).expect("a wave file")
}

#[test]
fn waves_of_either_card_are_written_and_named_last() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let sender = waves(folder.path(), "sender");
    let receiver = waves(folder.path(), "receiver");
    for waves in [&sender, &receiver] {
        // An FST file begins with a header block of 329 bytes: its kind, and its length.
        assert_eq!(waves[..9], [0, 0, 0, 0, 0, 0, 0, 1, 73]);
        assert!(waves.len() > 100_000, "{} bytes", waves.len());
    }
    assert!(sender != receiver, "two cards, the same waves");
}

#[test]
fn help_names_the_options() {
    let output = wave(&["--help"]);
    let help = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{help}");
    for option in [
        "--out",
        "--card",
        "--bytes",
        "--seed",
        "--loss",
        "--bring-up",
        "--levels",
    ] {
        assert!(help.contains(option), "no {option} in {help}");
    }
}
