//! Files and options of PCIe, good and bad.

use clap::{Args, Parser};

use super::*;

const PAGE: &str = include_str!("../../../docs/pcie.md");

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    pcie: PcieOptions,
}

fn options(arguments: &[&str]) -> PcieOptions {
    let all = std::iter::once(&"stellar").chain(arguments);
    Command::try_parse_from(all).unwrap().pcie
}

fn settings(arguments: &[&str]) -> PcieSettings {
    options(arguments).settings().unwrap()
}

/// The whole chain of causes.
fn refused(arguments: &[&str]) -> String {
    format!("{:#}", options(arguments).settings().unwrap_err())
}

/// The example of the page, which has every key.
fn example() -> &'static str {
    let text = PAGE.split("```toml\n# pcie.toml").nth(1).unwrap();
    text.split("```").next().unwrap()
}

fn file(text: &str) -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pcie.toml");
    std::fs::write(&path, text).unwrap();
    let path = path.display().to_string();
    (directory, path)
}

#[test]
fn without_options_everything_is_as_the_model_has_it() {
    assert_eq!(settings(&[]), PcieSettings::default());
    assert!(options(&[]).check_unused("--sim").is_ok());
}

/// The example has every key, with its default, unless it has none.
#[test]
fn the_example_of_the_page_is_the_default_and_has_every_key() {
    let (_directory, path) = file(example());
    let read = settings(&["--pcie", &path]);
    let defaults = PcieSettings {
        peer_writes: read.peer_writes,
        completion_timeout: read.completion_timeout,
        ..PcieSettings::default()
    };
    assert_eq!(read, defaults);
    assert!(read.peer_writes.is_some() && read.completion_timeout.is_some());
    let table: toml::Table = toml::from_str(example()).unwrap();
    let command = PcieKeys::augment_args(clap::Command::new("keys"));
    let mut named: Vec<String> = command
        .get_arguments()
        .map(|argument| {
            let option = argument.get_long().unwrap();
            option.strip_prefix("pcie-").unwrap().replace('-', "_")
        })
        .collect();
    named.sort();
    assert_eq!(named, table.keys().cloned().collect::<Vec<_>>());
    for key in named {
        let row = format!("| `{key}` |");
        assert!(PAGE.contains(&row), "docs/pcie.md lacks the row of `{key}`");
    }
}

#[test]
fn options_override_the_file() {
    let (_directory, path) = file("read_ns = 900\nrcb = 128\nacs_direct_translated = false\n");
    let read = settings(&[
        "--pcie",
        &path,
        "--pcie-read-ns",
        "1500",
        "--pcie-iommu",
        "passthrough",
    ]);
    assert_eq!(read.reads.latency, 1_500_000);
    assert_eq!(read.completions.boundary, 128);
    assert!(!read.acs.direct_translated && read.iommu.passthrough);
}

#[test]
fn a_file_with_an_unknown_key_names_file_line_and_known_keys() {
    let (_directory, path) = file("read_ns = 900\nread_nanoseconds = 900\n");
    let error = refused(&["--pcie", &path]);
    for part in [
        &path,
        "line 2",
        "read_nanoseconds",
        "`read_ns`",
        "`max_payload`",
        "docs/pcie.md",
    ] {
        assert!(error.contains(part), "{error} lacks {part}");
    }
}

#[test]
fn bad_files_and_values_say_what_and_where() {
    let missing = refused(&["--pcie", "/nowhere/pcie.toml"]);
    assert!(missing.contains("cannot read the PCIe settings /nowhere/pcie.toml"));
    for (text, parts) in [
        ("rcb = 100\n", ["`rcb` is 100", "use 64 or 128"]),
        ("read_ns = 99\n", ["`read_ns` is 99", "use 100 to 100000"]),
        (
            "max_payload = 300\n",
            ["`max_payload` is 300", "power of two from 128 to 1024"],
        ),
        (
            "max_read = 8192\n",
            ["`max_read` is 8192", "power of two from 128 to 4096"],
        ),
        (
            "max_completion = 32\n",
            ["`max_completion` is 32", "from `rcb`, 64, to 4096"],
        ),
        (
            "endpoint_credits = 1\n",
            ["`endpoint_credits` is 1", "use 16 to"],
        ),
        (
            "acs_request_redirect = false\n",
            ["`acs_request_redirect` is false", "leave it on"],
        ),
        ("iotlb_sets = 3\n", ["`iotlb_sets` is 3", "power of two"]),
        ("iommu_walkers = 0\n", ["`iommu_walkers` is 0", "use 1 to"]),
        (
            "peer_write_ns = 5\n",
            ["`peer_write_ns` is 5", "give `peer_writes` too"],
        ),
        (
            "posted_gpu_ns = 18446744073709\n",
            ["`posted_gpu_ns`", "use 0 to 1000000"],
        ),
        ("rate_gbps = 0\n", ["`rate_gbps` is 0", "use 1 to 460"]),
        (
            "completion_timeout_us = 0\n",
            ["`completion_timeout_us` is 0", "use 1 or more"],
        ),
        ("iommu = \"off\"\n", ["unknown variant `off`", "line 1"]),
        ("interleave = 1\n", ["expected a boolean", "line 1"]),
    ] {
        let (_directory, path) = file(text);
        let error = refused(&["--pcie", &path]);
        assert!(error.contains(&path), "{error} lacks the file");
        for part in parts {
            assert!(error.contains(part), "{text}: {error} lacks {part}");
        }
    }
    let error = refused(&["--pcie-rcb", "32"]);
    assert!(
        error.contains("--pcie-") && error.contains("`rcb` is 32"),
        "{error}"
    );
}

#[test]
fn what_means_nothing_is_refused() {
    let reads = options(&["--pcie-read-ns", "900"]).reads().unwrap();
    assert_eq!(reads.latency, 900_000);
    let error = options(&["--pcie-rcb", "128"]).reads().unwrap_err();
    assert!(error.to_string().contains("--nic rtl"));
    let error = options(&["--pcie-seed", "1"]).check_unused("--sim");
    assert!(error.unwrap_err().to_string().contains("--sim"));
}
