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
