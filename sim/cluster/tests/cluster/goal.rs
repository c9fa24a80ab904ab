//! Schedules in GOAL: what they mean, and what is refused.

use sim_cluster::files::read_goal;
use sim_cluster::{FlowResult, Settings};

use crate::common::{clos, run_both};

/// Rank 0 computes while it sends, and answers when both its computation and what rank 1 sent are there.
const EXAMPLE: &str = include_str!("../../../../docs/examples/ping.goal");

fn flows(text: &str) -> Vec<FlowResult> {
    let topology = clos(1, 2, "");
    let workload = read_goal("s.goal", text, topology.hosts().len()).unwrap();
    run_both(&topology, &workload, &Settings::default()).flow_results
}

/// When a flow started, when its sender had the last acknowledgement, and when its receiver had the last byte.
fn times(flow: &FlowResult) -> [f64; 3] {
    let start = flow.start_us.unwrap();
    [
        start,
        start + flow.fct_us.unwrap(),
        start + flow.received_us.unwrap(),
    ]
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6
}

#[test]
fn the_example_waits_for_messages_and_computations() {
    let results = flows(EXAMPLE);
    let [ping, answer, pong] = [0, 2, 1].map(|at| times(&results[at]));
    assert_eq!(
        results.iter().map(|flow| flow.bytes).collect::<Vec<_>>(),
        [100_000, 100_000, 1]
    );
    assert!(same(ping[0], 0.0));
    // Rank 1 computes for 3 us when the message is there, and then answers.
    assert!(same(answer[0], ping[2] + 3.0));
    // Rank 0 has the answer long before its computation of 50 us ends.
    assert!(answer[2] < 50.0 && same(pong[0], 50.0));
}

#[test]
fn irequires_waits_for_the_start_and_requires_for_the_end() {
    let text = |kind: &str| {
        format!(
            "num_ranks 2\nrank 0 {{\nl1: send 500000b to 1 tag 3 cpu 0 nic 1\nl2: send 5b to 1 tag 4\nl2 {kind} l1\n}}\n\
             rank 1 {{\n# in another order than they come\nl1: recv 5b from 0 tag 4\nl2: recv 500000b from 0 tag 3\n}}\n"
        )
    };
    let results = flows(&text("irequires"));
    assert!(same(times(&results[1])[0], 0.0));
    let results = flows(&text("requires"));
    assert!(same(times(&results[1])[0], times(&results[0])[1]));
}

/// The message has arrived before the receive starts.
#[test]
fn a_receive_completes_when_it_has_started() {
    let results = flows(
        "num_ranks 2\nrank 0 {\na: send 100b to 1 tag 0\nr: recv 1b from 1 tag 9\n}\n\
         rank 1 {\nc: calc 40000\nb: recv 100b from 0 tag 0\nb requires c\nd: send 1b to 0 tag 9 // back\nd requires b\n}\n",
    );
    assert!(times(&results[0])[2] < 40.0);
    assert!(same(times(&results[1])[0], 40.0));
}

fn refused(rank0: &str) -> String {
    let text =
        format!("num_ranks 3\nrank 0 {{\n{rank0}\n}}\nrank 1 {{\nr: recv 8b from 0 tag 0\n}}\n");
    let error = read_goal("s.goal", &text, 4).expect_err("a bad schedule");
    error.to_string()
}

#[test]
fn schedules_that_cannot_run_are_refused() {
    let cases = [
        ("a: send 8b to 3 tag 0", "s.goal:3: the other rank is \"3\"; give 0 to 2"),
        ("a: send 8b to 0 tag 0", "s.goal:3: a rank has no message to itself; use calc"),
        ("a: send 8 to 1 tag 0", "s.goal:3: the size is \"\"; give a number with a b, 0b to 68719476736b (64 GiB)"),
        ("a: send 9b to 1 tag 0", "s.goal:3: a sends 9 bytes, and the recv in line 6 takes 8; give both the same"),
        ("a: send 8b to 1 tag 1", "s.goal:3: a has no matching recv in rank 1; add it"),
        ("a: calc 1", "s.goal:6: r has no matching send; add it"),
        ("a: calc -1", "s.goal:3: calc is \"-1\"; give nanoseconds from 0 to 1000000000000 (1,000 s)"),
        ("a: calc 1\na: calc 2", "s.goal:4: label a of rank 0 is there already; remove one of them"),
        ("a: calc 1\na requires b", "s.goal:4: \"b\" is not known here; name the label of a line above, of this rank"),
        (
            "a: calc 1\nb: calc 1\na requires b\nb irequires a",
            "s.goal:3: a waits for itself, through what it requires; remove a dependency",
        ),
        (
            "a: calc 1 gpu 2",
            "s.goal:3: \"gpu\" is not known here; an operation ends with nothing, \"cpu\" and a number, or \"nic\" and a number",
        ),
        ("}\nrank 0 {", "s.goal:4: rank 0 is there already; remove one of them"),
    ];
    for (rank0, expected) in cases {
        assert_eq!(refused(rank0), expected, "{rank0}");
    }
    assert!(refused("a: put 8b to 1")
        .starts_with("s.goal:3: \"put\" is not known here; a rank has lines like"));
    let message = |text: &str| read_goal("s.goal", text, 4).unwrap_err().to_string();
    assert_eq!(message(""), "s.goal: num_ranks is missing; add it");
    assert_eq!(
        message("num_ranks 5"),
        "s.goal:1: num_ranks is \"5\"; give 2 to 4, the hosts of the topology"
    );
    assert_eq!(
        message("rank 0 {"),
        "s.goal:1: num_ranks before the first rank is missing; add it"
    );
    assert_eq!(
        message("num_ranks 2\nrank 0 {"),
        "s.goal: the } of the last rank is missing; add it"
    );
    assert_eq!(
        message("num_ranks 2\nrank 0 {\n}"),
        "s.goal: a send is missing; add it"
    );
}
