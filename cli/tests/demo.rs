//! `./stellar demo` writes its report and captures, and the same again for the same seed.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Runs a short demonstration that loses packets, with further options; returns its report, and every file by name.
fn demo(folder: &Path, seed: &str, options: &[&str]) -> (Value, BTreeMap<String, Vec<u8>>) {
    let output = Command::new(env!("CARGO_BIN_EXE_stellar-cli"))
        .args(["demo", "--bytes", "400001", "--loss", "0.5", "--json"])
        .args(options)
        .args(["--seed", seed, "--out"])
        .arg(folder)
        .output()
        .expect("the program starts");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    let report = serde_json::from_slice(&output.stdout).expect("a JSON report");
    let files = std::fs::read_dir(folder).expect("the folder is there");
    let files = files.map(|file| {
        let path = file.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        (name.into_owned(), std::fs::read(&path).expect("a file"))
    });
    (report, files.collect())
}

#[test]
fn a_demonstration_recovers_losses_and_repeats_itself() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = |name: &str, seed, threads| {
        let options = ["--sim-threads", threads];
        demo(&folder.path().join(name), seed, &options)
    };
    let (report, files) = run("first", "4", "1");
    assert_eq!(report["bytes"], 400_001);
    assert_eq!(report["completions"]["succeeded"], 1);
    let requester = &report["requester"];
    let count = |name: &str| requester[name].as_u64().expect("a counter");
    // There are at most 98 packets of 4,096 bytes. One of sixteen links loses half of the packets that it carries.
    assert!(count("retransmissions") > 0, "{requester}");
    assert_eq!(count("packets"), 98 + count("retransmissions"));
    // One round of 128 paths takes each path at most once; retransmissions choose a path again.
    let loads = report["path_loads"].as_array().expect("loads of paths");
    let loads: Vec<u64> = loads.iter().filter_map(Value::as_u64).collect();
    assert_eq!(loads.iter().sum::<u64>(), count("packets"));
    assert!(loads.len() <= 128 && loads.iter().all(|&load| load <= 2));
    // The card shows its window and round trips with every SACK.
    for (series, least) in [("cwnd", 4096), ("rtt_ns", 2_000)] {
        let values = report["series"][series].as_array().expect("a series");
        let most = values.iter().filter_map(Value::as_u64).max();
        assert!(most >= Some(least), "{series}: {values:?}");
    }
    let expected = ["h0.p0", "h0.p1", "h7.p0", "h7.p1"].map(|port| format!("{port}.pcapng"));
    for name in expected
        .iter()
        .map(String::as_str)
        .chain(["report.html", "report.json"])
    {
        assert!(
            files.contains_key(name),
            "no {name} among {:?}",
            files.keys()
        );
    }
    assert!(
        run("again", "4", "2").1 == files,
        "the same seed, other files"
    );
    assert!(
        run("other", "5", "2").1 != files,
        "another seed, the same files"
    );
}

#[test]
fn the_emitted_verilog_without_any_change_transmits_and_receives_the_same() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // Most of a plain model's time would go by while nothing happens but a timeout.
    let run = |name: &str, mode: &[&str]| {
        let options = [&["--rto-us", "30"], mode].concat();
        demo(&folder.path().join(name), "4", &options)
    };
    let (report, default) = run("default", &[]);
    let (_, plain) = run("plain", &["--sim-mode", "plain"]);
    assert_eq!(report["completions"]["succeeded"], 1);
    assert!(report["requester"]["retransmissions"].as_u64() > Some(0));
    for (name, file) in &default {
        assert!(
            plain.get(name) == Some(file),
            "{name} differs in mode plain"
        );
    }
    assert_eq!(plain.len(), default.len());
}
