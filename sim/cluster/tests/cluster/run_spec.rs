//! Descriptions of runs: what is left out has its default, and what is unknown is refused.

use sim_cluster::{leaf_spine, workload, Cluster, ClusterError, Record, RunSpec, Settings};

fn hash(text: &str) -> Result<String, ClusterError> {
    let spec: RunSpec = serde_json::from_str(text).expect("a description");
    let parts = spec.parts()?;
    let mut cluster = Cluster::<Record>::new(parts.topology, parts.workload, parts.settings)?;
    cluster.run(|_| {})?;
    Ok(cluster.report(None).hash)
}

#[test]
fn a_description_is_the_run_that_its_parts_are() {
    let topology = leaf_spine(2, 4, 4).unwrap();
    let flows = workload::permutation(&topology, None, 100_000, 3).unwrap();
    let settings = Settings {
        seed: 3,
        ..Settings::default()
    };
    let mut cluster = Cluster::<Record>::new(topology, flows, settings).unwrap();
    cluster.run(|_| {}).unwrap();
    let described = r#"{
        "topology": {"leaf-spine": {"leaves": 2, "hosts": 4, "spines": 4}},
        "workload": {"permutation": {"bytes": 100000}},
        "options": {"seed": 3}
    }"#;
    assert_eq!(hash(described).unwrap(), cluster.report(None).hash);
    assert_ne!(
        hash(&described.replace("\"seed\": 3", "\"seed\": 4")).unwrap(),
        cluster.report(None).hash
    );
}

#[test]
fn a_window_of_few_packets_holds_a_queue_pair_back() {
    let run = |window: u16| {
        hash(&format!(
            r#"{{"topology": {{"leaf-spine": {{"leaves": 2, "hosts": 2, "spines": 2}}}},
                "workload": {{"permutation": {{"bytes": 1000000}}}}, "options": {{"window": {window}}}}}"#
        ))
    };
    assert_ne!(run(8).unwrap(), run(1024).unwrap());
    // More than a round trip holds changes nothing.
    assert_eq!(run(1024).unwrap(), run(4096).unwrap());
    let refused = run(4097).unwrap_err().to_string();
    assert!(refused.contains("4097"), "{refused}");
}

#[test]
fn unknown_keys_and_names_are_refused() {
    for text in [
        r#"{"workload": {"permutation": {"bytes": 1}}, "polcy": "obs"}"#,
        r#"{"workload": {"permutation": {"byte": 1}}}"#,
        r#"{"workload": {"permutation": {"bytes": 1}}, "options": {"path": 1}}"#,
        r#"{"workload": {"permutation": {"bytes": 1}}, "topology": {"leaf-spine": {"spine": 1}}}"#,
        "{}",
    ] {
        assert!(serde_json::from_str::<RunSpec>(text).is_err(), "{text}");
    }
    let policy =
        r#"{"workload": {"permutation": {"bytes": 1}}, "options": {"policy": "shortest"}}"#;
    let refused = hash(policy).unwrap_err();
    assert!(
        matches!(&refused, ClusterError::UnknownPolicy { name } if name == "shortest"),
        "{refused}"
    );
    assert!(refused.to_string().contains("flow-bender"), "{refused}");
}

#[test]
fn rc_has_the_policies_that_keep_packets_in_order_and_no_others() {
    let run = |options: &str| {
        hash(&format!(
            r#"{{"workload": {{"permutation": {{"bytes": 500000}}}},
                "topology": {{"leaf-spine": {{"leaves": 2, "hosts": 4, "spines": 4}}}},
                "options": {{"transport": "rc"{options}}}}}"#
        ))
    };
    let fixed = run("").unwrap();
    let hopper = run(r#", "policy": "hopper""#).unwrap();
    let hp3 = run(r#", "policy": "hp3""#).unwrap();
    assert!(fixed != hopper && hopper != hp3 && hp3 != fixed);
    for name in ["single", "flow-bender", "obs", "mp-rdma"] {
        let refused = run(&format!(r#", "policy": "{name}""#)).unwrap_err();
        assert!(
            matches!(refused, ClusterError::PolicyOfRc { policy } if policy == name),
            "{refused}"
        );
    }
}
