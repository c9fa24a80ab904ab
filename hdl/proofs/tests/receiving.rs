//! Proofs of what stands between a received packet and its payload in memory.

use crate::{is_proved, sees_changes, Change};

#[test]
fn region_check_is_proved() {
    is_proved("region_check");
}

/// The search of `--mutants` takes long for this block, because a place in the comparisons is one of many.
#[test]
fn the_properties_of_region_check_fail_for_a_changed_block() {
    let changes: [Change; 8] = [
        (
            &["key", "checked"],
            "region[8:1] != arrived_1[8:1]",
            "region[7:1] != arrived_1[7:1]",
        ),
        (
            &["domain"],
            "region[28:9] != arrived_1[52:33]",
            "region[28:9] < arrived_1[52:33]",
        ),
        (
            &["right"],
            "region[29] & arrived_1[182]",
            "region[29] | arrived_1[182]",
        ),
        (
            &["not_before"],
            "bounds[66:3] < {32'h0, bounds[98:67]}",
            "bounds[66:3] < {33'h0, bounds[97:67]}",
        ),
        (
            &["not_longer", "not_beyond"],
            "(bounds[1] | bounds[2]) | beyond_end",
            "bounds[1]",
        ),
        (&["in_table"], "(|beyond_table) | ", ""),
        (
            &["memory", "read"],
            ".write_address(table_[3:2])",
            ".write_address(~table_[3:2])",
        ),
        (
            &["differences"],
            "{17'h0, arrived_1[148:117]}",
            "{17'h0, arrived_1[180:149]}",
        ),
    ];
    sees_changes("region_check", 8, &changes);
}

#[test]
fn psn_track_is_proved() {
    is_proved("psn_track");
}

#[test]
#[ignore = "translates a large block seven times, ten seconds of processor time each"]
fn the_properties_of_psn_track_fail_for_a_changed_block() {
    let changes: [Change; 7] = [
        (
            &["checked", "decisions"],
            "is_reason_2 = reason_3 != DropReason_None",
            "is_reason_2 = 1'b0",
        ),
        (
            &["command"],
            "command_next[29:22] = tracked[310:303]",
            "command_next[29:22] = tracked[309:302]",
        ),
        (
            &["one_each"],
            "counted_1 | (in_valid & is_fence)",
            "counted_1",
        ),
        (
            &["outcome"],
            "command_next[1] = |placed_bytes",
            "command_next[1] = |tracked[324:311]",
        ),
        (
            &["in_error", "errors"],
            "decided[640] | moves_qp_to_error",
            "decided[640]",
        ),
        (
            &["tokens"],
            "waited_next[544:0] = looked_up",
            "waited_next[544:0] = tracked",
        ),
        (
            &["forwarding"],
            "waited_valid & is_packet_of_1",
            "waited_valid & is_packet_of",
        ),
    ];
    sees_changes("psn_track", 16, &changes);
}

#[test]
fn segment_issue_is_proved() {
    is_proved("segment_issue");
}

#[test]
fn the_properties_of_segment_issue_fail_for_a_changed_block() {
    let changes: [Change; 7] = [
        (
            &["accepted", "command"],
            "(command[1] & (~command[0])) & (|command[43:30])",
            "(~command[0]) & (|command[43:30])",
        ),
        (&["pieces"], "length = 14'h1000", "length = 14'h800"),
        (
            &["position"],
            "payload_position + {5'd0, segments[13:0]}",
            "payload_position",
        ),
        (&["end"], "last_segment & (~current[0])", "last_segment"),
        (&["once"], "last_segment = ~three", "last_segment = 1'b1"),
        (
            &["turn"],
            "turn_next = Turn_Second",
            "turn_next = Turn_Third",
        ),
        (
            &["never segment_valid_withdrawn"],
            "room = (~issued) | segment_ready",
            "room = 1'b1",
        ),
    ];
    sees_changes("segment_issue", 8, &changes);
}

#[test]
fn beat_fetch_is_proved() {
    is_proved("beat_fetch");
}

/// More entries of the FIFO than there are take more than 32 cycles.
#[test]
fn the_properties_of_beat_fetch_fail_for_a_changed_block() {
    let changes: [Change; 6] = [
        (
            &["accepted"],
            "sent_beat_next[0] = current[0]",
            "sent_beat_next[0] = held",
        ),
        (&["once", "current"], "last_dword >> 5", "last_dword >> 4"),
        (&["address"], "next_beat + 12'h1", "next_beat + 12'h2"),
        (&["lane"], "if (|header[82:79])", "if (~(|header[82:79]))"),
        (&["end"], "current[2] & last", "current[2]"),
        (&["room"], "(~entries_out[5]) | (~needs_entry)", "1'b1"),
    ];
    sees_changes("beat_fetch", 40, &changes);
}

#[test]
fn dma_write_is_proved() {
    is_proved("dma_write");
}

/// The FIFO is full after more than 40 cycles.
#[test]
#[ignore = "searches fifty cycles for each of seven changes, twelve seconds of processor time each"]
fn the_properties_of_dma_write_fail_for_a_changed_block() {
    let changes: [Change; 7] = [
        (
            &["accepted", "marks"],
            "(command[1] & (~command[0])) & (|command[43:30])",
            "(~command[0]) & (|command[43:30])",
        ),
        (
            &["untranslated", "translated"],
            "issued_segment_next[75] = translated",
            "issued_segment_next[75] = ~translated",
        ),
        (
            &["passes"],
            "rotated_next[104] = rotating[114]",
            "rotated_next[104] = rotating[115]",
        ),
        (
            &["stages"],
            "rotating <= reading_out_data",
            "rotating <= fetch_beat",
        ),
        (
            &["reserved", "room"],
            "(~entries_out[5]) | (~needs_entry)",
            "1'b1",
        ),
        (&["together"], ".out_ready(taken)", ".out_ready(tlp_ready)"),
        (
            &["never tlp_valid_withdrawn"],
            "tlp_valid = beat_fifo_out_valid",
            "tlp_valid = (~tlp_ready) & beat_fifo_out_valid",
        ),
    ];
    sees_changes("dma_write", 50, &changes);
}
