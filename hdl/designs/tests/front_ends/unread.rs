//! Nothing dangles: whatever a block outputs, its surroundings read, and a block reads its inputs. Verilator's rule on unused signals is switched off
//! for the other checks, because records travel whole through pipelines, and a stage reads some fields only. Here it is on, and a signal of which
//! nothing is read is an error, unless it is named below.

use std::collections::BTreeSet;
use std::process::Command;

use hdl_designs::{Shape, ALL};

use super::translated;

/// Ports that may be left alone: the beginning of the block's module name, the port, and why.
const UNREAD: &[(&str, &str, &str)] = &[
    (
        "message_table",
        "arrived_valid",
        "tells the block's own test when an entry is there",
    ),
    (
        "message_table",
        "arrived_qp",
        "tells the block's own test when an entry is there",
    ),
    (
        "message_table",
        "arrived_entries",
        "tells the block's own test how many entries are there",
    ),
    (
        "qp_schedule",
        "returns",
        "tells the block's own test when a resting tenant is moved",
    ),
    (
        "pulse_handshake_3",
        "busy",
        "a function-level reset ends long after the one before it",
    ),
    (
        "stream_skid_segment",
        "in_ready",
        "the segments of a cycle move together",
    ),
    (
        "sync_fifo_",
        "count",
        "most users of a FIFO look at ready and valid",
    ),
    (
        "block_fifo_",
        "count",
        "most users of a FIFO look at ready and valid",
    ),
    (
        "sync_fifo_",
        "in_ready",
        "the writer has reserved space, or the FIFO holds all that can be outstanding",
    ),
    (
        "block_fifo_",
        "in_ready",
        "the writer has reserved space, or the FIFO holds all that can be outstanding",
    ),
    (
        "cut_through_fifo_",
        "count",
        "most users of a FIFO look at ready and valid",
    ),
    (
        "cut_through_fifo_",
        "in_ready",
        "the writer has reserved space",
    ),
    (
        "async_fifo_",
        "in_ready",
        "rx_admit admits a frame only if all of it has room",
    ),
    (
        "async_fifo_",
        "count",
        "most users of a FIFO look at ready and valid",
    ),
    (
        "sync_fifo_",
        "out_valid",
        "a FIFO beside another one holds as many entries as it",
    ),
    (
        "block_fifo_",
        "out_valid",
        "a FIFO beside another one holds as many entries as it",
    ),
    (
        "stream_skid_",
        "out_valid",
        "a buffer beside another one holds as many entries as it",
    ),
    (
        "round_robin_",
        "index",
        "the user takes the grant as one bit per requester",
    ),
    (
        "round_robin_",
        "grant",
        "the user takes the grant as a number",
    ),
    ("round_robin_", "valid", "the user looks at the requests"),
    (
        "byte_rotator_",
        "out_valid",
        "the user's pipeline has its own valid bit, of the same latency",
    ),
    (
        "crc32_",
        "out_valid",
        "the user's pipeline has its own valid bit, of the same latency",
    ),
    (
        "header_window_",
        "out_valid",
        "the user's pipeline has its own valid bit, of the same latency",
    ),
    (
        "packet_buffer_",
        "out_valid",
        "the reader counts the cycles of a read",
    ),
    (
        "dma_write_",
        "tlp_sent",
        "the tests of the engine count its TLPs",
    ),
    (
        "dma_write_",
        "tlp_sent_bytes",
        "the tests of the engine count its bytes",
    ),
    (
        "psn_track",
        "out_payload_bytes",
        "the tests of the block compare it",
    ),
    (
        "completion_stream_",
        "rc_tkeep",
        "with straddle, tuser says where a completion begins and ends",
    ),
    (
        "completion_stream_",
        "rc_tlast",
        "with straddle, tuser says where a completion begins and ends",
    ),
    ("request_words_", "cq_tkeep", "tuser has the byte enables"),
    (
        "nic",
        "cq1_tkeep",
        "a message of ATS is whole in its first 16 bytes",
    ),
    (
        "dma_read_",
        "asked",
        "queue entries have untranslated addresses, so invalidations do not wait for the engine that reads them",
    ),
    (
        "dma_read_",
        "asked_valid",
        "queue entries have untranslated addresses, so invalidations do not wait for the engine that reads them",
    ),
    (
        "dma_read_",
        "ended",
        "queue entries have untranslated addresses, so invalidations do not wait for the engine that reads them",
    ),
    (
        "dma_read_",
        "ended_valid",
        "queue entries have untranslated addresses, so invalidations do not wait for the engine that reads them",
    ),
    (
        "pcie_endpoint",
        "message_returned",
        "endpoint 1 sends no interrupt messages",
    ),
    (
        "pcie_endpoint",
        "message_returned_valid",
        "endpoint 1 sends no interrupt messages",
    ),
    (
        "pcie_endpoint",
        "messages",
        "endpoint 1 sends no interrupt messages",
    ),
    (
        "pcie_endpoint",
        "messages_left",
        "endpoint 1 sends no interrupt messages",
    ),
];

/// Blocks of the card that a lane of a 100G board uses as well, and what only the card reads of them.
const ONLY_IN_THE_CARD: &[(&str, &[&str])] = &[
    ("dma_write_", &["placed"]),
    (
        "rx_core",
        &[
            "command1",
            "command1_valid",
            "error_ready",
            "fault_region",
            "fault_va",
            "fault_valid",
            "frame1_ready",
            "outcome_flush",
            "outcome_placed",
            "qp_count",
            "qp_count_valid",
        ],
    ),
    (
        "rx_front_",
        &["control_taken", "out_fields", "out_source", "out_transport"],
    ),
];

/// Blocks of two lanes in a card with one port, and what they say about the second one.
const OF_THE_SECOND_PORT: &[(&str, &[&str])] = &[
    ("ack_order_queue", &["flushed1_ready"]),
    ("read_faults", &["flush1_ready", "payload1_ready"]),
    ("requester_pair", &["tx1", "tx1_valid"]),
    ("rx_core", &["command1", "command1_valid", "frame1_ready"]),
    ("stream_merge_control_packet", &["in1_ready"]),
];

/// A signal that nothing reads, as the port of a block.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Unread {
    module: String,
    port: String,
}

impl Unread {
    /// Its entry in [`UNREAD`].
    fn named(&self) -> Option<usize> {
        let same = |(module, port, _): &(&str, &str, &str)| {
            self.module.starts_with(module) && self.port == *port
        };
        UNREAD.iter().position(same)
    }

    /// Whether it is in a list of blocks and ports.
    fn is_among(&self, list: &[(&str, &[&str])]) -> bool {
        list.iter().any(|(module, ports)| {
            self.module.starts_with(module) && ports.contains(&self.port.as_str())
        })
    }
}

/// The names of the signals in Verilator's warnings, with the line of their declaration.
fn warnings(file: &std::path::Path, top: &str) -> Vec<(usize, String)> {
    let mut command = Command::new("verilator");
    command
        .args([
            "--lint-only",
            "-Wno-fatal",
            "-Wwarn-UNUSED",
            "--top-module",
            top,
        ])
        .arg(file);
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}; `./stellar setup` installs it"));
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let at = format!("%Warning-UNUSEDSIGNAL: {}:", file.display());
    let unread = said.lines().filter_map(|line| {
        let (place, name) = line
            .strip_prefix(&at)?
            .split_once(": Signal is not used: '")?;
        let line = place.split(':').next()?.parse().ok()?;
        Some((line, name.trim_end_matches('\'').to_owned()))
    });
    unread.collect()
}

/// The port that `signal` is, in the text of its module `lines`: an input of the module, or an output of a block in it. A signal of the module itself is neither:
/// arrays of registers have elements that nothing reads.
fn port_of(lines: &[&str], declared: &str, signal: &str) -> Option<Unread> {
    let unread = |module: &str, port: &str| {
        Some(Unread {
            module: module.to_owned(),
            port: port.to_owned(),
        })
    };
    if declared.trim_start().starts_with("input ") {
        let header = lines.first()?.strip_prefix("module ")?;
        return unread(header.split([' ', '(', ';']).next()?, signal);
    }
    let connected = format!("({signal})");
    let mut block = "";
    for line in lines {
        let line = line.trim_start();
        if line.contains(" u_") && line.ends_with('(') {
            block = line.split(' ').next()?;
        }
        if let Some((port, connection)) =
            line.strip_prefix('.').and_then(|line| line.split_once('('))
        {
            if connection.trim_end_matches(',') == &connected[1..] {
                return unread(block, port);
            }
        }
    }
    None
}

/// The ports of which nothing is read in the Verilog `text`.
fn dangling(text: &str, top: &str) -> BTreeSet<Unread> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("design.v");
    std::fs::write(&file, text).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let mut found = BTreeSet::new();
    for (line, signal) in warnings(&file, top) {
        let begin = lines[..line]
            .iter()
            .rposition(|line| line.starts_with("module "))
            .expect("a module around it");
        let end = lines[line..]
            .iter()
            .position(|line| line.starts_with("endmodule"))
            .expect("its end");
        found.extend(port_of(&lines[begin..line + end], lines[line - 1], &signal));
    }
    found
}

#[test]
fn every_output_is_read() {
    let mut complaints = vec![];
    let mut met = BTreeSet::new();
    let designs = translated();
    for (name, design) in designs {
        let is_lane = name.starts_with("rx_lane_");
        let has_one_port = *name == Shape::OnePort512.design();
        for unread in dangling(&design.text(), &design.top) {
            match unread.named() {
                Some(entry) => drop(met.insert(entry)),
                None if is_lane && unread.is_among(ONLY_IN_THE_CARD) => {}
                None if has_one_port && unread.is_among(OF_THE_SECOND_PORT) => {}
                None => complaints.push(format!(
                    "{name}: nothing reads port {} of {}",
                    unread.port, unread.module
                )),
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    if designs.len() < ALL.len() - 1 {
        return;
    }
    let stale: Vec<_> = (0..UNREAD.len())
        .filter(|entry| !met.contains(entry))
        .map(|entry| UNREAD[entry])
        .collect();
    assert!(
        stale.is_empty(),
        "everything reads these, or there is no such port: {stale:?}"
    );
}

#[test]
fn an_output_that_nothing_reads_is_found() {
    let text = "
module part (
  input wire a,
  input wire b,
  output wire x,
  output wire y
);
  assign x = a;
  assign y = a;
endmodule
module whole (
  input wire a,
  output wire x
);
  wire part_y;
  part u_part (
    .a(a),
    .b(a),
    .x(x),
    .y(part_y)
  );
endmodule
";
    let found = dangling(text, "whole");
    let ports: Vec<_> = found
        .iter()
        .map(|unread| (unread.module.as_str(), unread.port.as_str()))
        .collect();
    assert_eq!(ports, [("part", "b"), ("part", "y")]);
}
