//! Files that are refused: the message has the file, the line, what is wrong and what to do.

use sim_cluster::files::{
    read_connection_matrix, read_conweave_flows, read_fat_tree, read_text, FatTreeSettings,
};

/// A matrix of 4 nodes with these lines, behind a header that fits.
fn matrix(lines: &str) -> String {
    let flows = lines.lines().filter(|line| line.contains("->")).count();
    let text = format!("Nodes 4\nConnections {flows}\n{lines}\n");
    read_connection_matrix("m.cm", &text, 4)
        .expect_err("a bad matrix")
        .to_string()
}

#[test]
fn connection_matrices() {
    let cases = [
        ("0->1 start 0", "m.cm:3: size is missing; add it"),
        ("0->1 size 5", "m.cm:3: start or trigger is missing; add it"),
        ("0->4 start 0 size 5", "m.cm:3: the destination is \"4\"; give 0 to 3"),
        ("x->1 start 0 size 5", "m.cm:3: the source is \"x\"; give 0 to 3"),
        ("2->2 start 0 size 5", "m.cm:3: source and destination are the same; name two hosts"),
        (
            "0->1 start 0 size 0",
            "m.cm:3: size is \"0\"; give 1 to 68719476736 bytes (64 GiB)",
        ),
        (
            "0->1 start -1 size 5",
            "m.cm:3: start is \"-1\"; give a time in picoseconds, 0 or more",
        ),
        ("0->1 start 0 size", "m.cm:3: nothing follows \"size\"; give its value"),
        (
            "0->1 start 0 trigger 2 size 5",
            "m.cm:3: start or trigger is there already; remove one of them",
        ),
        ("0->1 id 0 start 0 size 5", "m.cm:3: id is \"0\"; give a number from 1 on"),
        (
            "0->1 start 0 size 5 color 3",
            "m.cm:3: \"color\" is not known here; a flow has id, start or trigger, size, send_done_trigger, recv_done_trigger and prio",
        ),
        (
            "0->1 trigger 8 size 5",
            "m.cm: trigger 8 is not described; add a line \"trigger id 8 oneshot\"",
        ),
        ("trigger oneshot", "m.cm:3: id is missing; add it"),
        ("trigger id 2", "m.cm:3: oneshot, multishot or barrier is missing; add it"),
        ("trigger id 2 barrier", "m.cm:3: count of the barrier is missing; add it"),
        (
            "trigger id 2 sometimes",
            "m.cm:3: \"sometimes\" is not known here; a trigger has id, count, and one of oneshot, multishot and barrier",
        ),
        (
            "trigger id 2 oneshot\ntrigger id 2 oneshot",
            "m.cm:4: trigger 2 is there already; remove one of them",
        ),
        (
            "Failures 2",
            "m.cm:3: failures are not read; set Failures 0 and give link failures as [[events]] of the topology",
        ),
        (
            "flow 0 1",
            "m.cm:3: \"flow\" is not known here; a line starts with Nodes, Connections, Triggers, trigger or SRC->DST",
        ),
    ];
    for (lines, message) in cases {
        assert_eq!(matrix(lines), message, "{lines}");
    }
    let header = |text: &str| {
        let refused = read_connection_matrix("m.cm", text, 4);
        refused.expect_err("a bad header").to_string()
    };
    assert_eq!(
        header("Nodes 9\n"),
        "m.cm:1: Nodes is \"9\"; give 1 to 4, the hosts of the topology"
    );
    assert_eq!(
        header("Nodes 4\nConnections 2\n0->1 start 0 size 5\n"),
        "m.cm: Connections 2, but the file has 1; correct one of them"
    );
    assert_eq!(
        header("Nodes 4\nConnections 0\nTriggers 1\n"),
        "m.cm: Triggers 1, but the file has 0; correct one of them"
    );
    assert_eq!(header("Nodes 4\n"), "m.cm: Connections is missing; add it");
    assert_eq!(
        header("0->1 start 0 size 5\n"),
        "m.cm:1: Nodes before the flows is missing; add it"
    );
}

#[test]
fn conweave_flows() {
    let cases = [
        ("", "f.txt: the number of flows is missing; add it"),
        ("x", "f.txt:1: the number of flows is \"x\"; give a number"),
        (
            "1 0 1 3 100 0",
            "f.txt:1: \"0\" is not known here; the first line has the number of flows alone",
        ),
        ("1\n0 7 3 100 0", "f.txt:2: the destination is \"7\"; give 0 to 3"),
        ("1\n0 1 9 100 0", "f.txt:2: the priority group is \"9\"; give 0 to 7"),
        (
            "1\n0 1 3 0 0",
            "f.txt:2: the size is \"0\"; give 1 to 68719476736 bytes (64 GiB)",
        ),
        ("1\n0 1 3 100", "f.txt:2: nothing follows \"the start\"; give its value"),
        ("1\n0 1 3 100 nan", "f.txt:2: the start is \"nan\"; give seconds from 0 to 1000000"),
        (
            "1\n0 1 3 100 100 0.1",
            "f.txt:2: \"0.1\" is not known here; a flow has five columns: source, destination, priority group, bytes, start in seconds",
        ),
        ("1\n1 1 3 100 0", "f.txt:2: source and destination are the same; name two hosts"),
        ("2\n0 1 3 100 0", "f.txt: the first line says 2, but the file has 1; correct one of them"),
    ];
    for (text, message) in cases {
        let refused = read_conweave_flows("f.txt", text, 4).expect_err(text);
        assert_eq!(refused.to_string(), message, "{text}");
    }
}

/// A fat tree that is right, with one line replaced (or removed, with an empty one).
fn tree(line: &str, by: &str) -> String {
    let right = "Nodes 8\nTiers 2\nPodsize 8\nTier 0\nDownlink_speed_Gbps 200\nRadix_Down 4\nRadix_Up 2\nQueue_Up 1000\nDownlink_Latency_ns 500\n\
        Tier 1\nDownlink_speed_Gbps 400\nRadix_Down 2\nQueue_Down 1000\nDownlink_Latency_ns 500\n";
    assert!(right.contains(line), "{line}");
    let settings = FatTreeSettings::default();
    read_fat_tree("t.topo", right, &settings).unwrap();
    let text = right.replacen(line, by, 1);
    let refused = read_fat_tree("t.topo", &text, &settings);
    refused.expect_err("a bad fat tree").to_string()
}

#[test]
fn fat_trees() {
    let cases = [
        ("Nodes 8\n", "", "t.topo: Nodes is missing; add it"),
        ("Nodes 8", "Nodes many", "t.topo:1: Nodes is \"many\"; give a whole number from 2 on"),
        ("Tiers 2", "Tiers 4", "t.topo:2: Tiers is \"4\"; give 2 or 3"),
        ("Podsize 8\n", "", "t.topo: Podsize is missing; add it"),
        (
            "Podsize 8",
            "Podsize 4",
            "t.topo: two tiers have one pod; set Podsize to Nodes, or Tiers to 3",
        ),
        (
            "Podsize 8",
            "Podsize 3",
            "t.topo: Nodes and Podsize: 8 is no multiple of 3; correct one of them",
        ),
        (
            "Radix_Down 4",
            "Radix_Down 3",
            "t.topo: Podsize and Radix_Down of tier 0: 8 is no multiple of 3; correct one of them",
        ),
        (
            "Radix_Down 2",
            "Radix_Down 3",
            "t.topo: links between tiers 0 and 1 of a pod: 4 ports meet 6; correct the radices",
        ),
        ("Radix_Up 2\n", "", "t.topo: Radix_Up of tier 0 is missing; add it"),
        ("Tier 1", "Tier 3", "t.topo:10: Tier is \"3\"; give 0 to 2"),
        (
            "Queue_Down 1000",
            "Queue_Down 2000",
            "t.topo: Queue_Up of tier 0 is 1000 and Queue_Down of tier 1 2000; both directions of a link have the same queues here",
        ),
        (
            "Downlink_speed_Gbps 400\n",
            "",
            "t.topo: Downlink_speed_Gbps of every tier is missing; add it",
        ),
        (
            "Radix_Up 2",
            "Radix_Up 2\nRadix_Up 2",
            "t.topo:8: Radix_Up is there already; remove one of them",
        ),
    ];
    for (line, by, message) in cases {
        assert_eq!(tree(line, by), message);
    }
    let unknown = tree("Queue_Up", "Color");
    assert!(
        unknown.starts_with("t.topo:8: \"Color\" is not known here; a line starts with Nodes,"),
        "{unknown}"
    );
}

#[test]
fn a_file_that_is_not_there() {
    let refused = read_text("no/such.cm".as_ref()).expect_err("no such file");
    let message = refused.to_string();
    assert!(
        message.starts_with("no/such.cm: cannot be read: "),
        "{message}"
    );
}
