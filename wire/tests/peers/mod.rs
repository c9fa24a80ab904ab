//! Checks random frames of every kind with tshark and scapy. Both must read the fields that we wrote, and scapy must compute the iCRC that we sent.
//!
//! A test fails if tshark or scapy is missing. The Python with scapy is `STELLAR_PYTHON`, or else the repository's `.venv/bin/python`.

mod scapy;
mod tshark;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use pcap_file::pcap::{PcapPacket, PcapWriter};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use stellar_wire::{icrc, Opcode, RoceFrame};

use crate::support;

/// Enough that every opcode comes several times; the peers take a few seconds for them.
const FRAMES: usize = 500;

/// Frames, and the capture file they were written to.
struct Sample {
    frames: Vec<RoceFrame>,
    bytes: Vec<Vec<u8>>,
    capture: PathBuf,
    _directory: tempfile::TempDir,
}

/// Random frames of every opcode. QP 1 is avoided: tshark looks for management datagrams there.
fn sample() -> Sample {
    let mut runner = support::runner(1);
    let strategy = support::frame::frame().prop_filter("QP 1", |frame| frame.bth.dest_qp != 1);
    let frames: Vec<RoceFrame> = (0..FRAMES)
        .map(|_| strategy.new_tree(&mut runner).expect("strategy").current())
        .collect();
    let seen: BTreeSet<Opcode> = frames.iter().map(|frame| frame.bth.opcode).collect();
    assert_eq!(
        seen.len(),
        Opcode::ALL.len(),
        "every opcode is shown to the peers"
    );
    let bytes: Vec<Vec<u8>> = frames
        .iter()
        .map(|frame| frame.emit().expect("valid frame"))
        .collect();

    let directory = tempfile::tempdir().expect("temporary directory");
    let capture = directory.path().join("frames.pcap");
    let mut writer =
        PcapWriter::new(File::create(&capture).expect("capture file")).expect("pcap header");
    for frame in &bytes {
        writer
            .write_packet(&PcapPacket::new(Duration::ZERO, frame.len() as u32, frame))
            .expect("pcap record");
    }
    Sample {
        frames,
        bytes,
        capture,
        _directory: directory,
    }
}

/// Output of a peer, line by line. Fails with what to do if the peer is not there.
fn run(peer: &str, program: &OsStr, arguments: &[&OsStr]) -> Vec<String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| {
            panic!(
                "{peer} is missing ({}: {error}); `./stellar setup` installs it",
                program.to_string_lossy()
            )
        });
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{peer} failed; if it is not installed, `./stellar setup` installs it. It says: {errors}"
    );
    String::from_utf8(output.stdout)
        .expect("text")
        .lines()
        .map(str::to_owned)
        .collect()
}

/// iCRC as a big-endian number of its four bytes on the wire.
fn transmitted_icrc(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(
        *bytes
            .last_chunk::<{ icrc::LEN }>()
            .expect("a frame ends in its iCRC"),
    )
}
