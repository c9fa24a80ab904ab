//! Configurations: defaults, text form, and refused values.

use sim_pcie::*;

const NIC: Bdf = Bdf::from_id(0x1700);
const GPU: Bdf = Bdf::from_id(0x1800);

fn good() -> FabricConfig {
    let gpu = GpuConfig::new(
        GPU,
        Window {
            base: 0x20_0000_0000,
            size: 1 << 30,
        },
    );
    FabricConfig {
        switches: vec![SwitchConfig::new(Bdf::from_id(0x1600))],
        nics: vec![NicConfig::new(NIC)],
        gpus: vec![gpu],
        host_memory: vec![Window {
            base: 0,
            size: 1 << 30,
        }],
        ..FabricConfig::default()
    }
}

fn error(change: impl FnOnce(&mut FabricConfig)) -> ConfigError {
    let mut config = good();
    change(&mut config);
    Fabric::new(config).err().expect("must be refused")
}

#[test]
fn each_mistake_has_its_error() {
    assert!(Fabric::new(good()).is_ok());
    assert_eq!(error(|c| c.switches.clear()), ConfigError::NoSwitch);
    let unknown = ConfigError::UnknownSwitch {
        device: NIC,
        switch: 1,
        count: 1,
    };
    assert_eq!(error(|c| c.nics[0].switch = 1), unknown);
    assert_eq!(
        error(|c| c.gpus[0].bdf = NIC),
        ConfigError::DuplicateBdf(NIC)
    );
    for lanes in [0, 3, 32] {
        let expected = ConfigError::Lanes { of: NIC, lanes };
        assert_eq!(error(|c| c.nics[0].link.lanes = lanes), expected);
    }
    let permille = 1000;
    let expected = ConfigError::DllpShare { of: GPU, permille };
    assert_eq!(error(|c| c.gpus[0].link.dllp_permille = permille), expected);
    for bytes in [0, 64, 192, 8192] {
        let expected = ConfigError::MaxPayload { of: NIC, bytes };
        assert_eq!(error(|c| c.nics[0].link.max_payload = bytes), expected);
    }
    let no_room = |what| ConfigError::NoRoom { of: NIC, what };
    assert_eq!(
        error(|c| c.nics[0].link.send_queue = 0),
        no_room("send_queue")
    );
    assert_eq!(
        error(|c| c.nics[0].link.credits.posted_headers = 0),
        no_room("credits.posted_headers")
    );
    assert_eq!(
        error(|c| c.nics[0].link.credits.non_posted_headers = 0),
        no_room("credits.non_posted_headers")
    );
    assert_eq!(
        error(|c| c.nics[0].link.credits.completion_headers = 0),
        no_room("credits.completion_headers")
    );
    let too_few = ConfigError::TooFewCredits {
        of: NIC,
        what: "posted_data",
        credits: 15,
        payload: 256,
        needed: 16,
    };
    assert_eq!(error(|c| c.nics[0].link.credits.posted_data = 15), too_few);
    assert_eq!(
        error(|c| c.root_complex.completer.outstanding_reads = 0),
        ConfigError::NoReads(Bdf::from_id(0))
    );
    assert_eq!(
        error(|c| c.nics[0].completion_timeout_ps = 0),
        ConfigError::NoTime(NIC)
    );
    let expected = ConfigError::Rcb { of: GPU, bytes: 32 };
    assert_eq!(error(|c| c.gpus[0].completer.rcb = 32), expected);
    let of = Bdf::from_id(0);
    let expected = ConfigError::MaxCompletion { of, bytes: 96 };
    assert_eq!(
        error(|c| c.root_complex.completer.max_completion = 96),
        expected
    );
    let peer = Bdf::from_id(0x9900);
    let expected = ConfigError::UnknownPeer { of: NIC, peer };
    assert_eq!(
        error(|c| c.nics[0].acs.egress_denied = vec![peer]),
        expected
    );
    assert_eq!(
        error(|c| c.iommu.iotlb_ways = 0),
        ConfigError::EmptyIommu("iotlb_ways")
    );
    assert_eq!(
        error(|c| c.iommu.walkers = 0),
        ConfigError::EmptyIommu("walkers")
    );
}

#[test]
fn windows_must_be_expressible_and_disjoint() {
    for (base, size) in [(0x1000, 0x1800), (0x1000, 0x2000), (0, 0x800), (0, 0)] {
        let expected = ConfigError::Bar {
            of: GPU,
            base,
            size,
        };
        assert_eq!(error(|c| c.gpus[0].bar = Window { base, size }), expected);
    }
    for (base, size) in [
        (0, 0),
        (0x800, 0x1000),
        (0, 0x1001),
        (u64::MAX - 0xfff, 0x1000),
    ] {
        let expected = ConfigError::HostWindow { base, size };
        assert_eq!(
            error(|c| c.host_memory[0] = Window { base, size }),
            expected
        );
    }
    let with_host = error(|c| c.gpus[0].bar.base = 0);
    assert!(
        matches!(with_host, ConfigError::Overlap { .. }),
        "{with_host}"
    );
    let two_bars = error(|c| {
        let mut second = c.gpus[0].clone();
        second.bdf = Bdf::from_id(0x1900);
        second.bar.size /= 2;
        c.gpus.push(second);
    });
    let text = "BAR of 18:00.0 and BAR of 19:00.0 overlap; move one";
    assert_eq!(two_bars.to_string(), text);
}

#[test]
fn a_short_text_gives_a_gen5_platform() {
    let text = r#"{
        "switches": [{"bdf": "16:00.0"}],
        "nics": [{"bdf": "17:00.0", "acs": {"request_redirect": true, "direct_translated": true}}],
        "gpus": [{"bdf": "18:00.0", "bar": {"base": 137438953472, "size": 1073741824}}],
        "host_memory": [{"base": 0, "size": 1073741824}]
    }"#;
    let config: FabricConfig = serde_json::from_str(text).unwrap();
    let mut expected = good();
    expected.nics[0].acs.request_redirect = true;
    expected.nics[0].acs.direct_translated = true;
    assert_eq!(config, expected);
    assert_eq!(
        (config.nics[0].link.lanes, config.gpus[0].link.lanes),
        (8, 16)
    );
    let again = serde_json::to_string(&config).unwrap();
    assert_eq!(
        serde_json::from_str::<FabricConfig>(&again).unwrap(),
        config
    );
}

#[test]
fn misspelt_settings_and_functions_are_refused() {
    for text in [
        r#"{"nic": []}"#,
        r#"{"nics": [{"bdf": "17:00.9"}]}"#,
        r#"{"nics": [{"bdf": "17:00.0", "acs": {"redirect": true}}]}"#,
        r#"{"nics": [{"bdf": "17:00.0", "link": {"generation": "gen9"}}]}"#,
    ] {
        assert!(
            serde_json::from_str::<FabricConfig>(text).is_err(),
            "{text}"
        );
    }
}

fn delays(config: &mut FabricConfig) -> [&mut DelayConfig; 3] {
    [
        &mut config.nics[0].posted_delay,
        &mut config.gpus[0].completer.posted_delay,
        &mut config.root_complex.completer.read_delay,
    ]
}

#[test]
fn delays_without_a_distribution_are_refused() {
    let names = [
        "17:00.0: posted_delay",
        "18:00.0: completer.posted_delay",
        "00:00.0: completer.read_delay",
    ];
    for (index, name) in names.into_iter().enumerate() {
        let reversed = error(|c| delays(c)[index].min_ps = 1);
        let too_many = error(|c| delays(c)[index].spike_per_million = 1_000_001);
        for refused in [reversed, too_many] {
            assert!(refused.to_string().starts_with(name), "{refused}");
        }
    }
}

#[test]
fn rules_of_faults_that_make_no_sense_are_refused() {
    let rule = |fault, only| FaultRule {
        only,
        ..FaultRule::new(fault)
    };
    let lost = rule(FaultKind::LostCompletion, Some(RequestKind::Write));
    assert_eq!(error(|c| c.faults = vec![lost]), ConfigError::LostWrite);
    let late = rule(FaultKind::LateCompletion(1), Some(RequestKind::Write));
    assert_eq!(error(|c| c.faults = vec![late]), ConfigError::LostWrite);
    let mut often = rule(FaultKind::Poison, None);
    often.per_million = 1_000_001;
    let expected = ConfigError::FaultRate(1_000_001);
    assert_eq!(error(|c| c.faults = vec![often]), expected);
}
