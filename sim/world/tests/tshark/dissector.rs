//! `tools/mrc.lua` on frames of every kind.

use std::collections::BTreeSet;
use std::time::Duration;

use pcap_file::pcap::{PcapPacket, PcapWriter};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stellar_wire::Opcode;

use crate::tshark::fields::{expected, Fields};
use crate::tshark::random::random_frame;
use crate::tshark::tshark;

const OPCODES: [Opcode; 10] = [
    Opcode::MrcWriteFirst,
    Opcode::MrcWriteMiddle,
    Opcode::MrcWriteLast,
    Opcode::MrcWriteLastImm,
    Opcode::MrcWriteOnly,
    Opcode::MrcWriteOnlyImm,
    Opcode::MrcAck,
    Opcode::MrcSack,
    Opcode::MrcNack,
    Opcode::MrcProbe,
];

#[test]
fn the_dissector_reads_every_field_as_it_was_written() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let directory = tempfile::tempdir().expect("temporary directory");
    let capture = directory.path().join("frames.pcap");
    let file = std::fs::File::create(&capture).expect("capture file");
    let mut writer = PcapWriter::new(file).expect("pcap header");
    let mut wanted: Vec<Fields> = Vec::new();
    for opcode in OPCODES.iter().cycle().take(OPCODES.len() * 12) {
        let frame = random_frame(*opcode, &mut rng);
        let bytes = frame.emit().expect("a valid frame");
        let packet = PcapPacket::new(Duration::ZERO, bytes.len() as u32, &bytes);
        writer.write_packet(&packet).expect("pcap record");
        wanted.push(expected(&frame, &bytes));
    }
    let names: BTreeSet<&str> = wanted.iter().flatten().map(|(name, _)| *name).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let lines = tshark(&capture, &names);
    assert_eq!(lines.len(), wanted.len());
    for (index, (line, wanted)) in lines.iter().zip(&wanted).enumerate() {
        for (name, found) in names.iter().zip(line) {
            // A field of a header that the packet does not have is empty.
            let value = wanted.iter().find(|(wanted, _)| wanted == name);
            let value = value.map_or("", |(_, value)| value);
            assert_eq!(found, value, "frame {index}, {name}");
        }
    }
}
