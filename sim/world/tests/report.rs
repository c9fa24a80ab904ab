//! The report as JSON and as a self-contained page.

use sim_net::Topology;
use sim_world::transfer::{run, Transfer};
use sim_world::{Plan, ReferenceNic};

const LEAF_SPINE: &str = include_str!("../../net/topologies/leaf_spine.toml");

#[test]
fn json_and_page_have_the_numbers_of_the_run() {
    let topology = Topology::from_toml("leaf_spine.toml", LEAF_SPINE).expect("topology");
    let mut plan = Plan::new(topology, 3).expect("hosts");
    plan.qps = 2;
    let transfer = Transfer {
        bytes: 3 << 20,
        messages: 2,
        immediates: false,
        interval: 0,
        limit: 10_000_000_000,
    };
    let run = run::<ReferenceNic>(&plan, transfer).expect("a good run");
    let directory = tempfile::tempdir().expect("temporary directory");
    run.report.write(directory.path()).expect("files");

    let json = std::fs::read(directory.path().join("report.json")).expect("report.json");
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(json["nics"], "software reference");
    assert_eq!(json["bytes"], 4 * (3 << 20));
    assert_eq!(json["completions"]["succeeded"], 4);
    let loads = json["path_loads"].as_array().expect("a list");
    let sent: u64 = loads.iter().filter_map(serde_json::Value::as_u64).sum();
    assert_eq!(
        json["requester"]["packets"], sent,
        "every packet took a path"
    );
    let bins = json["out_of_order"]["histogram"]
        .as_array()
        .expect("a list");
    let arrived: u64 = bins.iter().filter_map(serde_json::Value::as_u64).sum();
    assert_eq!(
        arrived, sent,
        "nothing was lost, so everything that was sent arrived"
    );

    // Goodput over time adds up to the bytes placed until the last sample.
    let numbers = |name: &str| -> Vec<f64> {
        let list = json["series"][name].as_array().expect("a list");
        list.iter().filter_map(serde_json::Value::as_f64).collect()
    };
    let (times, goodput) = (numbers("time_ns"), numbers("goodput_gbps"));
    assert!(times.len() > 100 && times.windows(2).all(|pair| pair[0] < pair[1]));
    let bits: f64 = times
        .windows(2)
        .zip(&goodput[1..])
        .map(|(pair, rate)| (pair[1] - pair[0]) * rate)
        .sum();
    let placed = bits / 8.0;
    let total = f64::from(4 * (3 << 20));
    assert!(
        placed > 0.9 * total && placed <= total * 1.001,
        "{placed} of {total}"
    );
    for name in ["cwnd", "in_flight", "rtt_ns"] {
        assert_eq!(numbers(name).len(), times.len(), "{name}");
        assert!(numbers(name).iter().any(|&value| value > 0.0), "{name}");
    }

    let page = std::fs::read_to_string(directory.path().join("report.html")).expect("the page");
    assert!(page.contains("software reference, no hardware"));
    let queues = json["series"]["queues"].as_array().expect("a list");
    let plots = 4 + usize::from(!queues.is_empty());
    assert_eq!(page.matches("<svg").count(), plots);
    assert_eq!(
        page.contains("No queue of the fabric held a packet"),
        queues.is_empty(),
        "the page explains why it has no plot of queues"
    );
    for (name, value) in run.report.rows() {
        let row = format!(
            "<tr><th>{name}</th><td>{}</td></tr>",
            value.replace('>', "&gt;")
        );
        assert!(page.contains(&row), "{row}");
    }
    for outside in ["<script", "href=", "src=", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
}
