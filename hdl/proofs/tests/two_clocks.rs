//! Proofs of blocks with two clocks.

use hdl_proofs::{decide, named, refute, Limits, Problem, Tools, Verdict};

use crate::{is_proved, sees_changes, Change, LIMITS};

#[test]
fn gray_crossing_is_proved() {
    is_proved("gray_crossing");
}

#[test]
fn the_properties_of_gray_crossing_fail_for_a_changed_code() {
    let changes: [Change; 2] = [
        (
            &["one_bit", "inverse"],
            "gray_of_1 = pointer ^ (pointer >> 1)",
            "gray_of_1 = pointer",
        ),
        (
            &["old_or_new"],
            "gray_of = next ^ (next >> 1)",
            "gray_of = next",
        ),
    ];
    sees_changes("gray_crossing", 12, &changes);
}

/// Its proof takes long: `./stellar prove async_fifo` runs it.
#[test]
fn the_properties_of_async_fifo_fail_for_a_changed_block() {
    let room = "room = (~used[2])";
    let more = "more = (read_next != write_pointer_seen)";
    let changes: [Change; 6] = [
        (
            &["order"],
            ".read_address(read_next[1:0])",
            ".read_address(read_pointer[1:0])",
        ),
        (&["no_overflow"], room, "room = (~(&used))"),
        (&["count"], "count = used", "count = used - 3'd1"),
        (&["ready"], room, "room = (~used[2] & ~used[1])"),
        (
            &["offer"],
            more,
            "more = ((write_pointer_seen - read_next) > 3'd1)",
        ),
        (
            &["stays"],
            "head_read <= more",
            "head_read <= more & ~head_read",
        ),
    ];
    sees_changes("async_fifo", 20, &changes);
}

/// The lines of gray codes with their first operand only: both sides then use binary numbers.
fn binary_pointers(text: String) -> String {
    let line = |line: &str| match line.trim_start().strip_prefix("assign ") {
        Some(code) if code.starts_with("gray_of") || code.starts_with("binary_") => {
            line.split(" ^ ").next().unwrap().to_owned() + ";\n"
        }
        _ => line.to_owned() + "\n",
    };
    text.lines().map(line).collect()
}

/// Without this the proofs would not show what the code is for.
#[test]
fn binary_pointers_fail() {
    let directory = tempfile::tempdir().unwrap();
    let tools = Tools::default();
    let limits = Limits {
        depth: 12,
        ..LIMITS
    };
    for (block, property) in [("gray_crossing", "old_or_new"), ("async_fifo", "order")] {
        let design = named(block).unwrap().design().unwrap();
        let problem = Problem::new(&design, directory.path(), &tools, binary_pointers).unwrap();
        let index = problem
            .checks
            .iter()
            .position(|c| c.name == property)
            .unwrap();
        assert!(refute(&problem, index, limits, &tools).unwrap(), "{block}");
    }
}

/// The same numbers hold where no bit is late: the two clocks alone do not tear them.
#[test]
fn binary_pointers_hold_if_all_bits_arrive_together() {
    let directory = tempfile::tempdir().unwrap();
    let tools = Tools::default();
    let at_once = |text: String| {
        let from = "assign q = (old & late) | (source_crossing & ~late);";
        assert!(text.contains(from));
        binary_pointers(text.replace(from, "assign q = source_crossing;"))
    };
    let design = named("gray_crossing").unwrap().design().unwrap();
    let problem = Problem::new(&design, directory.path(), &tools, at_once).unwrap();
    let index = problem
        .checks
        .iter()
        .position(|c| c.name == "old_or_new")
        .unwrap();
    let (verdict, _) = decide(&problem, index, LIMITS, &tools).unwrap();
    assert!(matches!(verdict, Verdict::Proved), "{verdict:?}");
}
