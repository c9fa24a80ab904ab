//! Captures of a run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sim_net::Topology;
use sim_world::transfer::{run, Transfer};
use sim_world::{packet, Plan};
use stellar_wire::{icrc, RoceFrame};

use crate::tshark::fields::hex;
use crate::tshark::tshark;

const LEAF_SPINE: &str = include_str!("../../../net/topologies/leaf_spine.toml");

/// The captures of a run, one file per port: path and frames.
fn captures(directory: &Path, mtu_log2: u8) -> Vec<(String, PathBuf)> {
    let topology = Topology::from_toml("leaf_spine.toml", LEAF_SPINE).expect("topology");
    let mut plan = Plan::new(topology, 5).expect("hosts");
    plan.capture = true;
    plan.mtu_log2 = mtu_log2;
    let transfer = Transfer {
        bytes: 200_001,
        messages: 2,
        immediates: false,
        interval: 0,
        limit: 1_000_000_000,
    };
    let run = run::<sim_world::ReferenceNic>(&plan, transfer).expect("a good run");
    let captures = run.world.captures().expect("captures were asked for");
    captures.write(directory).expect("files");
    let files = captures.files().expect("encodable");
    let path = |interface: &str| directory.join(format!("{interface}.pcapng"));
    files
        .into_iter()
        .map(|(interface, _)| (interface.clone(), path(&interface)))
        .collect()
}

#[test]
fn captures_of_a_run_open_in_tshark_with_sequence_addresses_and_icrc() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let fields = [
        "frame.interface_name",
        "frame.time_epoch",
        "ip.src",
        "ip.dst",
        "infiniband.bth.psn",
        "mrc.opcode",
        "mrc.seth.acked_psn",
        "mrc.seth.cack_psn",
        "mrc.reth.va",
        "mrc.icrc",
    ];
    let (mut sent, mut acked, mut told) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for (interface, path) in captures(directory.path(), 10) {
        let frames = frames_of(&path);
        let lines = tshark(&path, &fields);
        assert_eq!(lines.len(), frames.len(), "{interface}");
        assert!(lines.len() > 100, "{interface} has {} packets", lines.len());
        let plane = &interface[interface.len() - 1..];
        let mut last = 0.0;
        for (line, frame) in lines.iter().zip(&frames) {
            let [name, time, src, dst, psn, opcode, acked_psn, cack, va, crc] = line.as_slice()
            else {
                panic!("{line:?}");
            };
            assert_eq!(*name, interface);
            let time: f64 = time.parse().expect("a time");
            assert!(time >= last, "packets are in order of time");
            last = time;
            // Hosts 0 and 7 of the plane.
            let ends = [format!("10.{plane}.0.1"), format!("10.{plane}.0.8")];
            assert!(
                ends.contains(src) && ends.contains(dst) && src != dst,
                "{line:?}"
            );
            // The parser recomputes the iCRC over the masked headers; tshark shows the transmitted iCRC.
            let parsed = RoceFrame::parse(frame).expect("a good iCRC");
            let bytes = frame.last_chunk::<{ icrc::LEN }>().expect("an iCRC");
            assert_eq!(*crc, hex(u32::from_be_bytes(*bytes), 8));
            assert_eq!(psn.parse(), Ok(parsed.bth.psn));
            assert_eq!(*opcode, hex(parsed.bth.opcode.code(), 2));
            if interface.starts_with("h0.") && *src == ends[0] {
                let va = u64::from_str_radix(va.trim_start_matches("0x"), 16).expect("an address");
                sent.push((parsed.bth.psn, va));
            }
            acked.extend(acked_psn.parse::<u32>());
            told.extend(cack.parse::<u32>());
        }
    }
    // Two messages of 196 packets, back to back: each PSN occurs once, and its address is one MTU behind the one before it.
    sent.sort_unstable();
    let psns: Vec<u32> = sent.iter().map(|(psn, _)| *psn).collect();
    assert_eq!(psns, (0..392).collect::<Vec<u32>>());
    for message in sent.chunks(196) {
        for (index, (_, va)) in message.iter().enumerate() {
            assert_eq!(*va, message[0].1 + 1024 * index as u64);
        }
    }
    // SACKs acknowledge packets that were sent, several at once. The last packet of a message requests its own SACK.
    assert!(acked.iter().all(|psn| psns.contains(psn)), "{acked:?}");
    assert!(acked.len() < psns.len() / 4, "{acked:?}");
    assert!(acked.contains(&195) && acked.contains(&391), "{acked:?}");
    // Before the first packet the cumulative PSN is the one before 0.
    let cumulative = told.into_iter().filter(|&psn| psn < 1 << 23).max();
    assert_eq!(cumulative, Some(391), "every packet is acknowledged");
}

#[test]
fn frames_of_the_largest_path_mtu_are_captured_whole() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let fields = ["frame.len", "ip.len", "udp.length", "mrc.icrc"];
    let mut full = 0;
    for (interface, path) in captures(directory.path(), 13) {
        let frames = frames_of(&path);
        let lines = tshark(&path, &fields);
        assert_eq!(lines.len(), frames.len(), "{interface}");
        for (line, frame) in lines.iter().zip(&frames) {
            let parsed = RoceFrame::parse(frame).expect("a good iCRC");
            let (ip, udp) = (frame.len() - 14, frame.len() - 34);
            let crc = frame.last_chunk::<{ icrc::LEN }>().expect("an iCRC");
            let crc = hex(u32::from_be_bytes(*crc), 8);
            let lengths = [frame.len(), ip, udp].map(|length| length.to_string());
            assert_eq!(line[..3], lengths, "{interface}");
            assert_eq!(line[3], crc, "{interface}");
            full += usize::from(interface.starts_with("h0.") && parsed.payload.len() == 8_192);
        }
    }
    // 200,001 bytes are 24 full packets and one shorter packet, in each of two messages.
    assert_eq!(full, 48);
}

/// Frames of a pcapng file.
fn frames_of(path: &Path) -> Vec<Vec<u8>> {
    use pcap_file::pcapng::{Block, PcapNgReader};
    let file = std::fs::File::open(path).expect("the capture");
    let mut reader = PcapNgReader::new(std::io::BufReader::new(file)).expect("pcapng");
    let mut frames = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.expect("a block") {
            assert!(packet::bth(&packet.data).is_some());
            frames.push(packet.data.into_owned());
        }
    }
    frames
}
