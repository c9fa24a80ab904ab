//! The proofs that take seconds, the failure of each for a changed block, and wrong use of the program.
//!
//! `./stellar prove` runs all proofs.

mod limits;
mod receiving;
mod sending;
mod two_clocks;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

use hdl_proofs::{
    decide, mutants, named, refute, Check, Kind, Limits, Problem, Tools, Verdict, ALL,
};

const LIMITS: Limits = Limits {
    depth: 20,
    seconds: 60,
};

/// Every property of the block has an inductive invariant, and every `reaches_` is reached.
fn is_proved(name: &str) {
    let directory = tempfile::tempdir().unwrap();
    let tools = Tools::default();
    let design = named(name).unwrap().design().unwrap();
    let problem = Problem::new(&design, directory.path(), &tools, |text| text).unwrap();
    for (index, check) in problem.checks.iter().enumerate() {
        let (verdict, _) = decide(&problem, index, LIMITS, &tools).unwrap();
        match check.kind {
            Kind::Holds => assert!(matches!(verdict, Verdict::Proved), "{check:?}: {verdict:?}"),
            Kind::Reaches => assert!(verdict.is_good(), "{check:?}: {verdict:?}"),
        }
    }
}

/// Each property of the block fails for some change of one place of the block.
fn sees_mutants(name: &str) {
    let directory = tempfile::tempdir().unwrap();
    let design = named(name).unwrap().design().unwrap();
    let tools = Tools::default();
    let limits = Limits {
        depth: 14,
        seconds: 5,
    };
    let found = mutants::search(&design, directory.path(), &tools, limits, &mut |_, _| {}).unwrap();
    assert!(found.blind.is_empty(), "{found:?}");
}

macro_rules! blocks {
    ($($name:ident)*) => {$(
        mod $name {
            #[test]
            fn is_proved() {
                super::is_proved(stringify!($name));
            }
            #[test]
            fn its_properties_fail_for_a_changed_block() {
                super::sees_mutants(stringify!($name));
            }
        }
    )*};
}
blocks!(sync_fifo credit block_fifo wake_queue);

#[test]
fn stream_skid_is_proved() {
    is_proved("stream_skid");
}

#[test]
fn round_robin_is_proved() {
    is_proved("round_robin");
}

#[test]
fn doorbells_are_proved() {
    is_proved("doorbells");
}

#[test]
fn page_lookup_is_proved() {
    is_proved("page_lookup");
}

/// Its proof takes long: `./stellar prove fence_barrier` runs it.
#[test]
fn the_properties_of_fence_barrier_fail_for_a_changed_block() {
    sees_mutants("fence_barrier");
}

/// Properties, a text of the Verilog, and what comes in its place: a change for which each of them fails.
type Change<'a> = (&'a [&'a str], &'a str, &'a str);

/// Each property of the block fails for one of the changes.
fn sees_changes(name: &str, depth: usize, changes: &[Change]) {
    let tools = Tools::default();
    let design = named(name).unwrap().design().unwrap();
    let limits = Limits { depth, seconds: 30 };
    let (mut all, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for (properties, from, to) in changes {
        let directory = tempfile::tempdir().unwrap();
        let change = |text: String| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        };
        let problem = Problem::new(&design, directory.path(), &tools, change).unwrap();
        let holds = |check: &&Check| check.kind == Kind::Holds;
        all.extend(problem.checks.iter().filter(holds).map(|c| c.name.clone()));
        for property in *properties {
            let mut names = problem.checks.iter().map(|check| &check.name);
            let index = names.position(|name| name == property).unwrap();
            assert!(
                refute(&problem, index, limits, &tools).unwrap(),
                "{property}"
            );
            seen.insert((*property).to_owned());
        }
    }
    assert_eq!(seen, all, "properties without a change");
}

/// The search of `--mutants` takes long for this block, so each property has its change here.
#[test]
fn the_properties_of_page_lookup_fail_for_a_changed_block() {
    let changes: [Change; 14] = [
        (&["first_inside"], "(page_1 & (~offset_mask)) |", "page_1 |"),
        (
            &["second_inside"],
            "(page_2 & (~offset_mask_1)) |",
            "page_2 |",
        ),
        (
            &["third_inside"],
            "segments[208:145] = bus_address_2",
            "segments[208:145] = bus_address_1",
        ),
        (
            &["cut"],
            "passing_0[83:70] > count[50:37]",
            "passing_0[83:70] >= count[50:37]",
        ),
        (
            &["first_of_gpu", "gpu_translated"],
            "= banks_first[1] == Owner_Gpu",
            "= banks_first[1] != Owner_Gpu",
        ),
        (
            &["second_of_gpu"],
            "(banks_second[1] == Owner_Gpu)",
            "(banks_second[1] != Owner_Gpu)",
        ),
        (
            &["third_of_gpu"],
            "& (banks_third[1] == Owner_Gpu)",
            "& (banks_third[1] != Owner_Gpu)",
        ),
        (&["checked"], "split_4[0] & pages_valid", "pages_valid"),
        (
            &["writes"],
            "write_row <= write_index[2];",
            "write_row <= ~write_index[2];",
        ),
        (
            &["index"],
            "{18'h0, passing_0[169:150]} +",
            "{18'h0, passing_0[169:150]} -",
        ),
        (&["rows"], "rows_3 <= row;", "rows_3 <= ~row;"),
        (&["read"], "order_2 <= order_1;", "order_2 <= order_0;"),
        (
            &["ordered"],
            "second_read <= entry_1;",
            "second_read <= entry_2;",
        ),
        (&["wanted"], "split_3 <= split_2;", "split_3 <= split_1;"),
    ];
    sees_changes("page_lookup", 10, &changes);
}

/// As for `page_lookup`. A fence takes more than 32 cycles.
#[test]
fn the_properties_of_fence_control_fail_for_a_changed_block() {
    let clear = "((step == FenceStep_Wait) & received_1) & (~old_open)";
    let ends = "(step == FenceStep_Drain) & (settled == 4'hf)";
    let asks = "receive_valid = step == FenceStep_Ask";
    let changes: [Change; 6] = [
        (
            &["uses_ended"],
            clear,
            "(step == FenceStep_Wait) & received_1",
        ),
        (
            &["received"],
            clear,
            "(step == FenceStep_Wait) & (~old_open)",
        ),
        (&["once"], ends, "settled == 4'hf"),
        (&["failures"], ends, "step == FenceStep_Drain"),
        (&["not_delayed"], clear, "1'b0"),
        (
            &["never receive_valid_withdrawn"],
            asks,
            "receive_valid = (step == FenceStep_Ask) & ~receive_ready",
        ),
    ];
    sees_changes("fence_control", 48, &changes);
}

/// As for `page_lookup`: the search takes 6 s of processor time.
#[test]
fn the_properties_of_stream_skid_fail_for_a_changed_block() {
    let changes: [Change; 3] = [
        (&["order"], "front <= front_next;", ""),
        (
            &["offer", "ready"],
            "spare_full_next = 1'b0;",
            "spare_full_next = 1'b1;",
        ),
        (
            &["never out_valid_withdrawn"],
            "if (reset) begin",
            "if (~reset) begin",
        ),
    ];
    sees_changes("stream_skid", 12, &changes);
}

/// As for `page_lookup`: the search takes 15 s of processor time.
#[test]
fn the_properties_of_round_robin_fail_for_a_changed_block() {
    let grant = "grant_1 = request & (~above_lowest_1)";
    let changes: [Change; 5] = [
        (&["bounded_wait"], "above <= above_next;", ""),
        (
            &["index"],
            "index_3 & (~(3'd1 << 2))",
            "index_3 | (~(3'd1 << 2))",
        ),
        (&["one_hot"], "request | (request << 1)", "(request << 1)"),
        (
            &["work_conserving"],
            grant,
            "grant_1 = request & above_lowest_1",
        ),
        (&["requested"], grant, "grant_1 = ~above_lowest_1"),
    ];
    sees_changes("round_robin", 12, &changes);
}

/// As for `page_lookup`: the search takes 47 s of processor time.
#[test]
fn the_properties_of_doorbells_fail_for_a_changed_block() {
    let waits = "waits = (doorbell_waits | consumer_waits) | refused_waits";
    let changes: [Change; 4] = [
        (
            &["doorbell_of_owner", "consumer_of_owner", "refused_of_other"],
            ".write_enable(sweeping | changes)",
            ".write_enable(~(sweeping | changes))",
        ),
        (
            &["queue_pair"],
            "doorbell_waits_next = 1'b0",
            "doorbell_waits_next = 1'b1",
        ),
        (
            &["one_outcome", "never refused_valid_withdrawn"],
            waits,
            "waits = doorbell_waits | consumer_waits",
        ),
        (
            &["never consumer_valid_withdrawn"],
            "busy = checking | waits",
            "busy = checking & waits",
        ),
    ];
    sees_changes("doorbells", 12, &changes);
}

#[test]
fn a_violation_has_the_inputs_of_a_run() {
    let directory = tempfile::tempdir().unwrap();
    let tools = Tools::default();
    let design = named("stream_skid").unwrap().design().unwrap();
    let never_loads = |text: String| {
        let from = "front_full <= front_full_next;";
        assert_eq!(text.matches(from).count(), 1);
        text.replace(from, "")
    };
    let problem = Problem::new(&design, directory.path(), &tools, never_loads).unwrap();
    let offer = problem
        .checks
        .iter()
        .position(|c| c.name == "offer")
        .unwrap();
    let (verdict, _) = decide(&problem, offer, LIMITS, &tools).unwrap();
    assert!(!verdict.is_good());
    let Verdict::Violated(trace) = verdict else {
        panic!("{verdict:?}");
    };
    // Reset, an item enters, and it is not offered.
    assert_eq!(trace.frame, 2);
    let input = |name: &str| &trace.inputs.iter().find(|(n, _)| n == name).unwrap().1;
    assert_eq!(input("reset")[..2], ["1", "0"]);
    assert_eq!(input("in_valid")[1], "1");
    assert!(trace.inputs.iter().all(|(_, values)| values.len() == 3));
}

#[test]
fn the_rules_of_bundles_are_proved_at_outputs_and_assumed_at_inputs() {
    let (_, rules) = named("doorbells").unwrap().design().unwrap().formal_text();
    let driven = |name: &str| rules.iter().find(|r| r.name == name).map(|r| r.driven);
    assert_eq!(driven("consumer_valid_withdrawn"), Some(true));
    assert_eq!(driven("write_valid_withdrawn"), Some(false));
}

#[test]
fn the_verilog_for_users_and_models_has_nothing_of_a_proof() {
    for proof in ALL {
        let design = proof.design().unwrap();
        let (formal, rules) = design.formal_text();
        for text in [design.text(), design.plain_text(), design.model_text()] {
            for word in ["broken_rule", "anyseq"] {
                assert!(!text.contains(word), "{}", proof.name);
            }
        }
        assert_eq!(
            formal.contains("broken_rule"),
            !rules.is_empty(),
            "{}",
            proof.name
        );
    }
}

fn prove(arguments: &[&str], directory: &Path, variable: (&str, &str)) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stellar-prove"))
        .args(arguments)
        .current_dir(directory)
        .env(variable.0, variable.1)
        .output()
        .unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_answers_are_printed_as_json() {
    let directory = tempfile::tempdir().unwrap();
    let output = prove(&["credit", "--json"], directory.path(), ("UNUSED", ""));
    assert!(output.status.success(), "{}", errors(&output));
    let all: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(all["good"], true);
    let limit = &all["properties"][0];
    assert_eq!(
        (&limit["property"], &limit["answer"]),
        (&"limit".into(), &"proved".into())
    );
}

#[test]
fn an_unknown_block_is_refused_with_the_closest_name() {
    let directory = tempfile::tempdir().unwrap();
    let output = prove(&["sync_fifos"], directory.path(), ("UNUSED", ""));
    assert_eq!(output.status.code(), Some(1));
    assert!(
        errors(&output).contains("\"sync_fifos\""),
        "{}",
        errors(&output)
    );
    assert!(
        errors(&output).contains("closest: sync_fifo "),
        "{}",
        errors(&output)
    );
}

#[test]
fn a_missing_program_is_named_with_what_to_install() {
    for variable in ["YOSYS", "YOSYS_ABC"] {
        let directory = tempfile::tempdir().unwrap();
        let output = prove(
            &["credit"],
            directory.path(),
            (variable, "/nowhere/program"),
        );
        assert_eq!(output.status.code(), Some(1));
        let text = errors(&output);
        assert!(
            text.contains("/nowhere/program") && text.contains("apt-get install yosys"),
            "{text}"
        );
    }
}

#[test]
fn a_depth_of_zero_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let output = prove(&["--depth", "0"], directory.path(), ("UNUSED", ""));
    assert_eq!(output.status.code(), Some(2));
}
