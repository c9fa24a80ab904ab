//! Configurations from TOML files.

use sim_pcie::*;

const NIC: Bdf = Bdf::from_id(0x1700);

const FILE: &str = r#"
seed = 7

[[switches]]
bdf = "16:00.0"

[[nics]]
bdf = "17:00.0"
posted_delay = { min_ps = 0, max_ps = 5_000_000, spike_per_million = 1000, spike_ps = 20_000_000 }
link = { lanes = 16, credits = { posted_headers = 64, posted_data = 1024 } }

[root_complex.completer]
interleave = true

[[faults]]
fault = "lost-completion"
requester = "17:00.0"
per_million = 10
"#;

#[test]
fn a_file_gives_what_it_says() {
    let config = FabricConfig::from_toml("slow.toml", FILE).unwrap();
    let nic = &config.nics[0];
    assert_eq!((config.seed, nic.link.lanes), (7, 16));
    assert_eq!(nic.posted_delay.spike_ps, 20_000_000);
    let credits = &nic.link.credits;
    assert_eq!((credits.posted_headers, credits.posted_data), (64, 1024));
    assert_eq!(credits.completion_headers, 128);
    assert!(config.root_complex.completer.interleave);
    assert_eq!(config.faults[0].fault, FaultKind::LostCompletion);
    assert_eq!(
        (config.faults[0].requester, config.faults[0].per_million),
        (Some(NIC), 10)
    );
    assert!(Fabric::new(config).is_ok());
}

#[test]
fn a_wrong_file_is_refused_with_its_name_and_the_key() {
    for (from, to, parts) in [
        (
            "seed = 7",
            "sed = 7",
            ["slow.toml", "unknown field `sed`", "line 2"],
        ),
        (
            "lanes = 16",
            "lanes = 3",
            ["slow.toml", "lanes = 3", "use 1, 2, 4, 8 or 16"],
        ),
        (
            "17:00.0\"\nposted",
            "17:00.9\"\nposted",
            ["slow.toml", "`17:00.9`", "write bus:device.function"],
        ),
        (
            "lost-completion",
            "late",
            ["slow.toml", "`late`", "`lost-completion`"],
        ),
        (
            "posted_data = 1024",
            "posted_data = 8",
            ["slow.toml", "credits.posted_data = 8", "takes 16"],
        ),
        (
            "max_ps = 5_000_000",
            "max_ps = -1",
            ["slow.toml", "-1", "line 9"],
        ),
    ] {
        assert!(FILE.contains(from), "{from}");
        let error = FabricConfig::from_toml("slow.toml", &FILE.replace(from, to)).unwrap_err();
        let text = error.to_string();
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
}
