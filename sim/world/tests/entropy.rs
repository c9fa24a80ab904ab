//! Entropy values of a plan: packets take the paths of the values that it names.

use sim_world::transfer::{run, Run, Transfer, LEAF_SPINE, LEAF_SPINE_FILE};
use sim_world::{lossy_topology, Addressing, EntropyPlan, MrcPlan, Plan, TransportPlan};
use stellar_transport::spray::Policy;

/// Spines of a plane.
const SPINES: usize = 8;
/// Packets of a run, of 4 KiB.
const PACKETS: u32 = 64;

fn plan(entropy: EntropyPlan, paths: u8) -> Plan {
    let topology = lossy_topology(LEAF_SPINE_FILE, LEAF_SPINE, None).expect("topology");
    let mut plan = Plan::new(topology, 1).expect("hosts");
    let policy = if paths == 1 {
        Policy::SinglePath
    } else {
        Policy::Obs
    };
    plan.transport = TransportPlan::Mrc(MrcPlan {
        policy,
        paths,
        ..MrcPlan::default()
    });
    plan.entropy = entropy;
    plan
}

/// The spines of plane 0 that data packets of a run cross, and how many packets each path has.
fn crossed(plan: &Plan) -> (Vec<usize>, Vec<u64>) {
    let run: Run = run(plan, Transfer::whole(PACKETS << plan.mtu_log2)).expect("a good run");
    let sent = |&spine: &usize| {
        let link = plan.topology.link(&format!("p0.leaf0-spine{spine}"));
        let up = link.expect("a link").forward();
        let stats = run.world.fabric().stats(up);
        stats.expect("a channel").sent_frames > 0
    };
    ((0..SPINES).filter(sent).collect(), run.report.path_loads)
}

/// The spine of a value, from a queue pair that has no other one.
fn spine_of(value: u32) -> usize {
    let (spines, _) = crossed(&plan(EntropyPlan::Explicit(vec![value]), 1));
    assert_eq!(spines.len(), 1, "one value, one spine");
    spines[0]
}

fn values() -> impl Iterator<Item = u32> {
    (0..).map(|n: u32| 0x4000 + (n * 0x2f1) % 0x4000)
}

/// These values for paths of plane 0, and any for plane 1.
fn listed(even: &[u32]) -> EntropyPlan {
    let pairs = even.iter().zip(0x9000..);
    EntropyPlan::Explicit(pairs.flat_map(|(&even, odd)| [even, odd]).collect())
}

#[test]
fn packets_cross_the_spines_of_the_values_that_are_listed() {
    let first = spine_of(0x4000);
    let alike = values().filter(|&value| spine_of(value) == first);
    let alike: Vec<u32> = alike.take(3).collect();
    assert_eq!(crossed(&plan(listed(&alike), 6)).0, [first]);
    // Values at equal distances are spread over all spines.
    let spread = EntropyPlan::Generated {
        base: 0x4000,
        stride_log2: 4,
    };
    assert_eq!(crossed(&plan(spread, 128)).0.len(), SPINES);
}

#[test]
fn path_n_has_the_nth_value_whatever_the_number_of_the_queue_pair_is() {
    let mut even: Vec<(u32, usize)> = Vec::new();
    for value in values() {
        let spine = spine_of(value);
        if even.iter().all(|&(_, other)| other != spine) {
            even.push((value, spine));
        }
        if even.len() == 4 {
            break;
        }
    }
    let listed = listed(&even.iter().map(|&(value, _)| value).collect::<Vec<_>>());
    let mut seen = 0;
    for first_qp in 5..21 {
        let mut plan = plan(listed.clone(), 8);
        plan.transport = TransportPlan::Mrc(MrcPlan {
            policy: Policy::SinglePath,
            paths: 8,
            ..MrcPlan::default()
        });
        plan.first_qp = first_qp;
        let (spines, loads) = crossed(&plan);
        let path = loads.iter().position(|&load| load > 0).expect("a path");
        if path % 2 == 0 {
            assert_eq!(spines, [even[path / 2].1], "path {path}");
            seen += 1;
        }
    }
    assert!(seen > 3, "{seen} paths of plane 0");
}

#[test]
fn values_that_paths_cannot_have_are_refused_with_what_to_do() {
    let explicit = |values: &[u32]| EntropyPlan::Explicit(values.to_vec());
    for (entropy, paths, part) in [
        (
            explicit(&[1, 2]),
            4,
            "2 entropy value(s) for 4 path(s); give each path one",
        ),
        (
            explicit(&[7, 8, 9, 7]),
            4,
            "entropy value 0x7 stands at index 0 and at index 3",
        ),
        (explicit(&[1, 0x1_0000]), 2, "above 0xffff"),
        (
            EntropyPlan::Generated {
                base: 0xff80,
                stride_log2: 0,
            },
            128,
            "above 0xffff",
        ),
    ] {
        let error = plan(entropy, paths).check().expect_err(part).to_string();
        assert!(error.contains(part), "{error}");
    }
    // IPv6 has a flow label for the other bits.
    let mut wide = plan(explicit(&[1, 0x1_0000]), 2);
    wide.addressing = Addressing::Ipv6;
    wide.check().expect("32 bits");

    let mut rc = plan(explicit(&[1]), 1);
    rc.transport = TransportPlan::Rc;
    let error = rc.check().expect_err("no paths").to_string();
    assert!(
        error.contains("use a path policy, `hopper` or `hp3`"),
        "{error}"
    );
}
