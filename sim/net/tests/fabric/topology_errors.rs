//! Messages about wrong topology files.

use sim_net::topology::Problem;
use sim_net::{Topology, TopologyError};

const STAR: &str = "
    hosts = [{ name = 'a' }, { name = 'b', ports = [{}, {}] }, { name = 'c' }]
    switches = [{ name = 's' }, { name = 't', plane = 1 }]
    links = [
        { name = 'l0', ends = ['a', 's'] },
        { name = 'l1', ends = ['b:0', 's'] },
        { name = 'l2', ends = ['b:1', 't'] },
        { name = 'l3', ends = ['c', 's'] },
    ]
    defaults = { rate_gbps = 100 }
";

fn error(text: &str) -> TopologyError {
    Topology::from_toml("wrong.toml", text).expect_err("a wrong topology")
}

/// Replaces `from`, which must occur, by `to` in a correct topology, and checks the message.
#[track_caller]
fn refuses(from: &str, to: &str, key: &str, message: &str) {
    assert!(Topology::from_toml("right.toml", STAR).is_ok());
    assert!(STAR.contains(from), "{from:?} is not in the text");
    let error = error(&STAR.replacen(from, to, 1)).to_string();
    let rest = error
        .strip_prefix("wrong.toml: ")
        .unwrap_or_else(|| panic!("no file name: {error}"));
    let rest = rest
        .strip_prefix(key)
        .unwrap_or_else(|| panic!("not at {key}: {error}"));
    assert!(rest.starts_with(": ") && rest.contains(message), "{error}");
}

#[test]
fn names_must_be_known_and_unique() {
    refuses(
        "['c', 's']",
        "['c', 'x']",
        "links \"l3\": ends",
        "there is no host or switch \"x\"",
    );
    refuses(
        "['c', 's']",
        "['d', 's']",
        "links \"l3\": ends",
        "there is no host or switch \"d\"",
    );
    refuses(
        "name = 'c'",
        "name = 'a'",
        "hosts \"a\"",
        "the name is taken",
    );
    refuses(
        "name = 't'",
        "name = 'a'",
        "switches \"a\"",
        "the name is taken",
    );
    refuses(
        "name = 'l3'",
        "name = 'l0'",
        "links \"l0\"",
        "the name is taken",
    );
    refuses("name = 'c'", "name = ''", "hosts", "is no name");
    refuses("name = 'l3'", "name = 'l:3'", "links", "is no name");
    let over = |text: &str| format!("{STAR}\n[[overrides]]\n{text}\nset.loss = 0.5");
    let message = |text: &str| error(&over(text)).to_string();
    assert!(message("link = 'l9'").contains("overrides[0]: there is no link \"l9\""));
    assert!(message("node = 'x'").contains("overrides[0]: there is no host or switch \"x\""));
    assert!(message("plane = 2").contains("overrides[0]: there is no link in plane 2"));
    assert!(message("").contains("overrides[0]: name exactly one of"));
    assert!(message("plane = 0\nlink = 'l0'").contains("overrides[0]: name exactly one of"));
    let event = |text: &str| error(&format!("{STAR}\n[[events]]\n{text}")).to_string();
    assert!(event("at_us = 1\nup = true").contains("events[0]: name exactly one of"));
    assert!(
        event("at_us = -1\nup = true\nplane = 0").contains("events[0].at_us: -1000 is no duration")
    );
}

#[test]
fn ends_must_fit() {
    refuses(
        "['c', 's']",
        "['c:1', 's']",
        "links \"l3\": ends",
        "host \"c\" has no port 1; it has 1",
    );
    refuses(
        "['c', 's']",
        "['c:x', 's']",
        "links \"l3\": ends",
        "is no end of a link",
    );
    refuses(
        "['c', 's']",
        "['c', 's:0']",
        "links \"l3\": ends",
        "is no end of a link",
    );
    refuses("'b:0'", "'b'", "links \"l1\": ends", "say which, like b:0");
    refuses(
        "['c', 's']",
        "['a', 's']",
        "links \"l3\": ends",
        "port 0 of host \"a\" is taken by link \"l0\"",
    );
    refuses(
        "['c', 's']",
        "['s', 's']",
        "links \"l3\": ends",
        "both ends are \"s\"",
    );
    refuses(
        "['c', 's']",
        "['c', 't']",
        "links \"l3\": ends",
        "connects plane 0 with plane 1",
    );
    refuses(
        "{ name = 'l3', ends = ['c', 's'] },",
        "",
        "hosts \"c\": ports[0]",
        "port 0 is not connected",
    );
    refuses(
        "ends = ['c', 's']",
        "ends = ['c']",
        "TOML",
        "invalid length 1",
    );
}

#[test]
fn every_host_must_be_reachable_in_its_plane() {
    let from = "{ name = 't', plane = 1 }";
    let apart = STAR.replacen(from, &format!("{from}, {{ name = 'u' }}"), 1);
    let apart = apart.replacen("['c', 's']", "['c', 'u']", 1);
    let error = error(&apart);
    assert_eq!(error.key, "hosts \"c\": ports[0]");
    assert!(
        matches!(&error.problem, Problem::NoRoute { plane: 0, from, to } if from == "a" && to == "c")
    );
}

#[test]
fn settings_must_be_possible() {
    for (set, key, message) in [
        ("rate_gbps = 0", "set.rate_gbps", "0 Gb/s is no rate"),
        ("rate_gbps = -1", "set.rate_gbps", "-1 Gb/s is no rate"),
        ("rate_gbps = 0.0001", "set.rate_gbps", "is no rate"),
        ("rate_gbps = nan", "set.rate_gbps", "is no rate"),
        ("loss = 1.5", "set.loss", "1.5 is no probability"),
        ("loss = -0.1", "set.loss", "-0.1 is no probability"),
        ("loss = nan", "set.loss", "is no probability"),
        ("corruption = 2", "set.corruption", "2 is no probability"),
        ("delay_ns = -5", "set.delay_ns", "-5 is no duration"),
        ("delay_ns = inf", "set.delay_ns", "inf is no duration"),
        ("jitter_ns = -5", "set.jitter_ns", "-5 is no duration"),
        (
            "trim = { dscp = 64 }",
            "set.trim.dscp",
            "DSCP 64 is above 63",
        ),
        (
            "trim = { dscp = 1, last_hop_dscp = 99 }",
            "set.trim.last_hop_dscp",
            "DSCP 99",
        ),
        (
            "ecn = { min_bytes = 2, max_bytes = 1, max_probability = 1 }",
            "set.ecn",
            "min_bytes 2 is above max_bytes 1",
        ),
        (
            "ecn = { min_bytes = 1, max_bytes = 2, max_probability = 7 }",
            "set.ecn.max_probability",
            "7 is no probability",
        ),
    ] {
        let to = format!("ends = ['c', 's'], set = {{ {set} }}");
        refuses(
            "ends = ['c', 's']",
            &to,
            &format!("links \"l3\": {key}"),
            message,
        );
    }
    refuses(
        "defaults = { rate_gbps = 100 }",
        "",
        "links \"l0\": set.rate_gbps",
        "is missing",
    );
    refuses(
        "name = 's'",
        "name = 's', latency_ns = -1",
        "switches \"s\": latency_ns",
        "-1 is no duration",
    );
}

#[test]
fn addresses_must_be_good_and_unique() {
    let port = |text: &str| format!("name = 'c', ports = [{{ {text} }}]");
    let of_c = "hosts \"c\": ports[0]";
    for (text, key, message) in [
        ("mac = '02:00'", ".mac", "is no MAC address"),
        ("mac = '02:00:00:00:00:0g'", ".mac", "is no MAC address"),
        ("mac = '02:00:00:00:00:01'", ".mac", "belongs to a already"),
        (
            "ipv4 = '10.0.0.1'",
            ".ipv4",
            "10.0.0.1 belongs to a already",
        ),
        ("ipv6 = 'fd00::1'", ".ipv6", "fd00::1 belongs to a already"),
        ("usid = 0x1000", ".usid", "belongs to a already"),
        (
            "usid = 1",
            ".usid",
            "uSID 0x0001 of plane 0 belongs to s already",
        ),
        ("usid = 0", ".usid", "outside 0x0001 to 0xdfff"),
        ("usid = 0xe000", ".usid", "outside 0x0001 to 0xdfff"),
    ] {
        refuses("name = 'c'", &port(text), &format!("{of_c}{key}"), message);
    }
    refuses(
        "name = 's'",
        "name = 's', usid = 0xffff",
        "switches \"s\": usid",
        "outside 0x0001 to 0xdfff",
    );
    refuses(
        "name = 'c'",
        &port("ipv4 = '10.0.0'"),
        "TOML",
        "invalid IPv4 address",
    );
    refuses(
        "name = 'c'",
        "name = 'c', ports = []",
        "hosts \"c\": ports",
        "0 is outside 1 to 8",
    );
    refuses(
        "plane = 1",
        "plane = 8",
        "links \"l2\": ends",
        "connects plane 1 with plane 8",
    );
    refuses(
        "{ name = 't'",
        "{ name = 'u', plane = 9 }, { name = 't'",
        "switches \"u\": plane",
        "9 is outside 0 to 7",
    );
}

#[test]
fn fabric_keys_must_be_good() {
    let with = |text: &str| error(&format!("{STAR}\n[fabric]\n{text}")).to_string();
    assert!(with("usid_block = 'fcbb'").contains("fabric.usid_block: \"fcbb\" is no uSID block"));
    assert!(with("usid_block = 'fcbb:1bb00'").contains("is no uSID block"));
    assert!(with("control_dscp = [1, 64]").contains("fabric.control_dscp: DSCP 64 is above 63"));
    assert!(with("reroute_ns = -1").contains("fabric.reroute_ns: -1 is no duration"));
    assert!(
        with("switch_latency_ns = -1").contains("switches \"s\": latency_ns: -1 is no duration")
    );
}

#[test]
fn generators_have_limits() {
    let clos =
        |text: &str| error(&format!("[defaults]\nrate_gbps = 1\n[leaf_spine]\n{text}")).to_string();
    assert!(
        clos("planes = 0\nleaves = 1\nspines = 1\nhosts_per_leaf = 1")
            .contains("leaf_spine.planes: 0 is outside 1 to 8")
    );
    assert!(
        clos("planes = 1\nleaves = 0\nspines = 1\nhosts_per_leaf = 1")
            .contains("leaf_spine.leaves: 0 is outside")
    );
    assert!(
        clos("planes = 1\nleaves = 1\nspines = 2001\nhosts_per_leaf = 1")
            .contains("leaf_spine.spines: 2001 is outside")
    );
    assert!(
        clos("planes = 1\nleaves = 2\nspines = 1\nhosts_per_leaf = 25001")
            .contains("leaf_spine.hosts_per_leaf: 25001 is outside 1 to 25000")
    );
    let cable = error("[back_to_back]\nplanes = 9").to_string();
    assert_eq!(
        cable,
        "wrong.toml: back_to_back.planes: 9 is outside 1 to 8"
    );
    assert!(matches!(error("").problem, Problem::NoHosts));
    assert!(matches!(
        error("[defaults]\nrate_gbps = 5").problem,
        Problem::NoHosts
    ));
}

#[test]
fn typing_errors_are_shown_with_their_line() {
    for text in [
        "[defaults]\nrate = 5",
        "[defaults\n",
        "[[hosts]]\nname = 5",
        "[back_to_back]\nplanes = 1\nmore = 2",
    ] {
        let message = error(text).to_string();
        assert!(
            message.starts_with("wrong.toml: TOML: TOML parse error at line"),
            "{message}"
        );
    }
    assert!(error("[defaults]\nrate = 5")
        .to_string()
        .contains("unknown field `rate`"));
}

#[test]
fn a_missing_file_is_named() {
    let error = Topology::from_file("/no/such/topology.toml").unwrap_err();
    assert!(matches!(error.problem, Problem::Unreadable(_)));
    assert!(error
        .to_string()
        .starts_with("/no/such/topology.toml: file: cannot be read: "));
}
