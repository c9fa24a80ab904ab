//! Invalid input of a user is refused, and the message says what is wrong and what to do.

use sim_net::Topology;
use sim_world::pair::{connect, FIRST_QP, RECEIVER, SENDER};
use sim_world::{
    check_bytes, lossy_topology, MrcPlan, Plan, ReferenceNic, RegionSpec, TransportPlan,
    WorldError, Write, MAX_BYTES,
};
use stellar_transport::rx::{Owner, PageSize};
use stellar_transport::spray::Policy;

const LEAF_SPINE: &str = include_str!("../../net/topologies/leaf_spine.toml");
const BACK_TO_BACK: &str = include_str!("../../net/topologies/back_to_back.toml");

fn plan() -> Plan {
    let topology = Topology::from_toml("back_to_back.toml", BACK_TO_BACK).expect("topology");
    Plan::new(topology, 1).expect("two hosts")
}

/// The message of an error, which must contain all of `parts`.
fn assert_says(error: &WorldError, parts: &[&str]) {
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}

#[test]
fn an_unknown_link_is_refused_with_the_closest_names() {
    let error = lossy_topology("leaf_spine.toml", LEAF_SPINE, Some(("p0.leaf0-spin5", 0.1)));
    let error = error.expect_err("there is no such link");
    assert!(matches!(error, WorldError::UnknownLink { .. }));
    assert_says(
        &error,
        &[
            "\"p0.leaf0-spin5\"",
            "leaf_spine.toml",
            "closest: p0.leaf0-spine5, ",
        ],
    );
}

#[test]
fn a_loss_that_is_no_probability_is_refused() {
    for loss in [-0.1, 1.5, f64::NAN] {
        let error = lossy_topology("file", LEAF_SPINE, Some(("p0.leaf0-spine5", loss)));
        let error = error.expect_err("no probability");
        assert!(matches!(error, WorldError::Loss(_)));
        assert_says(&error, &["0 to 1", "0.01"]);
    }
}

#[test]
fn a_topology_that_is_none_is_refused_with_file_and_key() {
    let error = lossy_topology("my.toml", "[leaf_spine]\nplanets = 2", None);
    assert_says(&error.expect_err("unknown key"), &["my.toml", "planets"]);
}

#[test]
fn fewer_than_two_hosts_are_refused() {
    let one = "[defaults]\nrate_gbps = 100\n[[hosts]]\nname = \"a\"\n[[switches]]\nname = \"s\"\n\
               [[links]]\nname = \"a-s\"\nends = [\"a\", \"s\"]\n";
    let topology = Topology::from_toml("one.toml", one).expect("a host and a switch");
    let error = Plan::new(topology, 1).expect_err("one host");
    assert!(matches!(error, WorldError::TooFewHosts(1)));
    assert_says(&error, &["1 host(s)", "needs two"]);
}

#[test]
fn hosts_with_other_ports_than_their_card_are_refused() {
    let text = BACK_TO_BACK.replace("planes = 2", "planes = 1");
    let error = lossy_topology("one_plane.toml", &text, None).expect_err("one plane");
    assert!(matches!(
        error,
        WorldError::Planes {
            ports: 1,
            card: 2,
            ..
        }
    ));
    assert_says(&error, &["\"h0\"", "the card has 2"]);
    let text = BACK_TO_BACK.replace("planes = 2", "planes = 3");
    let topology = Topology::from_toml("three_planes.toml", &text).expect("topology");
    let error = Plan::new(topology, 1).expect_err("three planes");
    assert!(matches!(error, WorldError::Ports { ports: 3, .. }));
    assert_says(&error, &["\"h0\"", "one plane or two"]);
}

#[test]
fn paths_out_of_range_are_refused() {
    for (paths, policy) in [
        (0, Policy::Obs),
        (3, Policy::Obs),
        (130, Policy::RoundRobin),
    ] {
        let mut plan = plan();
        plan.transport = TransportPlan::Mrc(MrcPlan {
            paths,
            policy,
            ..MrcPlan::default()
        });
        let error = connect::<ReferenceNic>(&plan)
            .err()
            .expect("not a number of paths");
        assert!(matches!(error, WorldError::Paths(found) if found == u32::from(paths)));
        assert_says(&error, &["even number from 2 to 128"]);
    }
    let mut plan = plan();
    plan.transport = TransportPlan::Mrc(MrcPlan {
        paths: 1,
        ..MrcPlan::default()
    });
    assert_says(
        &connect::<ReferenceNic>(&plan).err().expect("one path"),
        &["`obs`", "`single`"],
    );
}

#[test]
fn queue_pairs_out_of_range_are_refused() {
    for qps in [0, 1023] {
        let mut plan = plan();
        plan.qps = qps;
        let error = connect::<ReferenceNic>(&plan)
            .err()
            .expect("not a number of queue pairs");
        assert_says(&error, &[&format!("{qps} queue pairs"), "1 to 1022"]);
    }
}

#[test]
fn messages_of_no_or_too_many_bytes_are_refused() {
    assert_eq!(check_bytes(MAX_BYTES).ok(), Some(1 << 30));
    for bytes in [0, MAX_BYTES + 1, u64::MAX] {
        let error = check_bytes(bytes).expect_err("not a length");
        assert_says(&error, &[&format!("{bytes} bytes"), "1 to 1073741824"]);
    }
}

#[test]
fn a_fabric_that_lets_nothing_through_is_refused() {
    let text = format!("{BACK_TO_BACK}\n[[overrides]]\nlink = \"p1\"\nset.loss = 1.0\n");
    let topology = Topology::from_toml("dead.toml", &text).expect("topology");
    let plan = Plan::new(topology, 1).expect("two hosts");
    let error = connect::<ReferenceNic>(&plan)
        .err()
        .expect("plane 1 is dead");
    assert_says(&error, &["h0", "h1", "plane 1"]);
}

#[test]
fn memory_beyond_the_tables_is_refused() {
    let mut world = connect::<ReferenceNic>(&plan()).expect("a world");
    let spec = RegionSpec {
        owner: Owner::Gpu,
        length: 4 << 30,
        page_size: PageSize::Size4K,
        skew: 0,
    };
    let error = world.register(SENDER, spec).expect_err("2^20 pages");
    assert_says(&error, &["eMTT", "1048576", "larger pages"]);
}

#[test]
fn an_unknown_queue_pair_and_a_full_send_queue_are_refused() {
    let mut plan = plan();
    plan.sq_log2 = 1;
    let mut world = connect::<ReferenceNic>(&plan).expect("a world");
    let spec = RegionSpec {
        owner: Owner::Host,
        length: 4096,
        page_size: PageSize::Size4K,
        skew: 0,
    };
    let local = world.register(SENDER, spec).expect("a page");
    let remote = world.register(RECEIVER, spec).expect("a page");
    let write = |qp| Write {
        from: SENDER,
        to: RECEIVER,
        qp,
        local: (local, 0),
        remote: (remote, 0),
        length: 1,
        immediate: None,
    };
    let error = world.post(write(FIRST_QP + 1)).expect_err("one queue pair");
    assert_says(&error, &["\"h0\"", "no queue pair 3"]);
    for _ in 0..2 {
        world.post(write(FIRST_QP)).expect("room for two");
    }
    let error = world.post(write(FIRST_QP)).expect_err("full");
    assert_says(&error, &["queue pair 2", "2 entries"]);
}

#[test]
fn a_run_without_end_is_given_up_and_says_what_is_missing() {
    let mut world = connect::<ReferenceNic>(&plan()).expect("a world");
    world.set_port(SENDER, 0, false);
    world.set_port(SENDER, 1, false);
    let spec = RegionSpec {
        owner: Owner::Host,
        length: 4096,
        page_size: PageSize::Size4K,
        skew: 0,
    };
    let local = world.register(SENDER, spec).expect("a page");
    let remote = world.register(RECEIVER, spec).expect("a page");
    let write = Write {
        from: SENDER,
        to: RECEIVER,
        qp: FIRST_QP,
        local: (local, 0),
        remote: (remote, 0),
        length: 100,
        immediate: None,
    };
    world.post(write).expect("room");
    let error = world.run(5_000_000).expect_err("both ports are down");
    assert_says(&error, &["1 work request(s)", "5 us"]);
}
