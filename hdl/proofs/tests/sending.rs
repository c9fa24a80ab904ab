//! Proofs of what the requester sends.

use crate::{sees_changes, Change};

/// Its proof takes long: `./stellar prove send_window` runs it.
#[test]
fn the_properties_of_send_window_fail_for_a_changed_block() {
    let changes: [Change; 5] = [
        (&["mpr"], "window_left[23] | avoids", "avoids"),
        (
            &["mpr"],
            "space = window_left_1;",
            "space = {11'h0, settings[38:26]};",
        ),
        (
            &["count"],
            "burst_size[11:6] = smaller_2 - smaller_3",
            "burst_size[11:6] = smaller_2",
        ),
        (&["room"], "space_next = smaller;", ""),
        (
            &["allocates"],
            "window_start = (begins_1 & (~rc)) & (~head_1[635])",
            "window_start = begins_1 & (~head_1[635])",
        ),
    ];
    sees_changes("send_window", 8, &changes);
}

/// As for `send_window`.
#[test]
fn the_properties_of_request_splitter_fail_for_a_changed_block() {
    let changes: [Change; 4] = [
        (
            &["inside", "boundary"],
            "max_dwords - into_block",
            "max_dwords",
        ),
        (
            &["enables"],
            "enables_from = 4'hf << {2'd0, lead_1}",
            "enables_from = 4'hf",
        ),
        (
            &["position"],
            "({8'd0, running[259:249]} << 2)",
            "{8'd0, running[259:249]}",
        ),
        (
            &["never chunk_valid_withdrawn"],
            "pop = out_ready & available",
            "pop = available",
        ),
    ];
    sees_changes("request_splitter", 8, &changes);
}

/// As for `send_window`. The memories have any contents before the first reset, so an old slot needs no packet that was sent before.
#[test]
#[ignore = "translates a large block eleven times, half a minute each"]
fn the_properties_of_tx_window_fail_for_a_changed_block() {
    let changes: [Change; 11] = [
        (
            &["counts", "mpr", "steps"],
            "+ {18'h0, count_1};",
            "+ {18'h0, count_1} + 24'h1;",
        ),
        (
            &["room"],
            "full = free_count > 11'h2",
            "full = free_count > 11'h0",
        ),
        (
            &["lists", "taken"],
            "next_head = links_read_data",
            "next_head = head",
        ),
        (
            &["returned", "sack"],
            "released_next = released + 8'd1",
            "released_next = released + 8'd2",
        ),
        (
            &["slots"],
            "      kept = 32'h0;",
            "      kept = ~(named | added);",
        ),
        (
            &["sent", "row"],
            "(~cack_after_end[23]) | (~acked_after_end[23])",
            "~acked_after_end[23]",
        ),
        (&["named"], "covered = up_to_cack", "covered = 32'hffffffff"),
        (
            &["ends"],
            "if (~inside_) begin\n          step_next = Step_Respond;",
            "if (~inside_) begin\n          step_next = Step_Seek;",
        ),
        (
            &["sweep"],
            "link_1 = fill_index + 2'd1",
            "link_1 = fill_index",
        ),
        (
            &["reads"],
            "      read_block = start;",
            "      read_block = here;",
        ),
        (
            &["cursor"],
            "if (|released_1) begin\n            cursor_valid_next = 1'b0;",
            "if (1'b0) begin\n            cursor_valid_next = 1'b0;",
        ),
    ];
    sees_changes("tx_window", 24, &changes);
}
