//! Proofs of what the requester sends.

use crate::{is_proved, sees_changes, Change};

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
            "window_start = (begins_1 & (~rc)) & (~head_1[923])",
            "window_start = begins_1 & (~head_1[923])",
        ),
    ];
    sees_changes("send_window", 8, &changes);
}

#[test]
fn request_splitter_is_proved() {
    is_proved("request_splitter");
}

#[test]
fn the_properties_of_request_splitter_fail_for_a_changed_block() {
    let changes: [Change; 6] = [
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
            &["type"],
            "{1'b0, running[11]} << 1",
            "{1'b0, running[0]} << 1",
        ),
        (&["fifo"], "held + 2'd1", "held + 2'd2"),
        (
            &["never chunk_valid_withdrawn"],
            "pop = out_ready & available",
            "pop = available",
        ),
    ];
    sees_changes("request_splitter", 8, &changes);
}

#[test]
fn burst_send_is_proved() {
    is_proved("burst_send");
}

#[test]
fn the_properties_of_burst_send_fail_for_a_changed_block() {
    let changes: [Change; 3] = [
        (
            &["located", "locations"],
            "has_location = (~in_memory) | locations_out_valid",
            "has_location = 1'b1",
        ),
        (
            &["ended"],
            "(moves & (~ends)) & (~ended)",
            "moves & (~ends)",
        ),
        (
            &["messages"],
            "messages_in[771] = is_in_memory",
            "messages_in[771] = ~add[1]",
        ),
    ];
    sees_changes("burst_send", 8, &changes);
}

#[test]
fn tx_packet_builder_is_proved() {
    is_proved("tx_packet_builder");
}

#[test]
fn the_properties_of_tx_packet_builder_fail_for_a_changed_block() {
    let changes: [Change; 5] = [
        (
            &["requested"],
            "has_payload & (~held_request[541])",
            "has_payload",
        ),
        (
            &["location"],
            "reads_in_data[13:0] = held_request[330:317]",
            "reads_in_data[13:0] = held_request[329:316]",
        ),
        (
            &["room", "state"],
            "request_credit_room) & reads_in_ready",
            "request_credit_room)",
        ),
        (&["fifo"], "held + 2'd1", "held + 2'd2"),
        (
            &["never read_valid_withdrawn"],
            "pop = out_ready & available",
            "pop = available",
        ),
    ];
    sees_changes("tx_packet_builder", 12, &changes);
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
            "count_held_next = count_held + 8'd1",
            "count_held_next = count_held + 8'd2",
        ),
        (
            &["slots"],
            "      kept = 32'h0;",
            "      kept = ~(named_in | added);",
        ),
        (
            &["sent", "row"],
            "(~cack_after_end[23]) | (~acked_after_end[23])",
            "~acked_after_end[23]",
        ),
        (&["named"], "covered = up_to_cack", "covered = 32'hffffffff"),
        (
            &["ends"],
            "if (~endings[2]) begin\n          next_step = Step_Respond;",
            "if (~endings[2]) begin\n          next_step = Step_Seek;",
        ),
        (
            &["sweep"],
            "link_1 = fill_index + 2'd1",
            "link_1 = fill_index",
        ),
        (
            &["reads"],
            "      read_block_1 = start_1;",
            "      read_block_1 = here_held;",
        ),
        (
            &["cursor"],
            "if (releases | reset) begin\n      cursor_valid_next = 1'b0;",
            "if (reset) begin\n      cursor_valid_next = 1'b0;",
        ),
    ];
    sees_changes("tx_window", 24, &changes);
}
