//! Every RoCE frame of the Linux rxe captures parses, has a good iCRC, and re-emits byte for byte.

use std::fs::File;
use std::path::Path;

use pcap_file::pcap::PcapReader;
use stellar_wire::{RoceFrame, WireError};

/// RoCE frames of a capture in order, and the number of its other frames: those the parser refuses because they are
/// not IP, not UDP, or addressed to another port.
fn read(name: &str) -> (Vec<Vec<u8>>, usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/data")
        .join(name);
    let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = PcapReader::new(file).expect("pcap header");
    let (mut roce, mut other) = (Vec::new(), 0);
    while let Some(packet) = reader.next_packet() {
        let data = packet.expect("pcap record").data.into_owned();
        match RoceFrame::parse(&data) {
            Err(WireError::EtherType(_) | WireError::IpProtocol(_) | WireError::UdpPort { .. }) => {
                other += 1
            }
            _ => roce.push(data),
        }
    }
    (roce, other)
}

/// Checks a capture against the numbers tshark reports for it.
fn check(name: &str, roce: usize, other: usize) {
    let (frames, skipped) = read(name);
    assert_eq!(
        (frames.len(), skipped),
        (roce, other),
        "{name}: RoCE frames, other frames"
    );
    for (index, frame) in frames.iter().enumerate() {
        let parsed = RoceFrame::parse(frame)
            .unwrap_or_else(|error| panic!("{name} RoCE frame {index}: {error}"));
        assert_eq!(
            &parsed.emit().expect("parsed frame"),
            frame,
            "{name} RoCE frame {index}"
        );
    }
}

#[test]
fn rxe_atomic_fetch_add() {
    check("rxe_atomic_fetch_add.pcap", 400, 56);
}

#[test]
fn rxe_rping_cm() {
    check("rxe_rping_cm.pcap", 41, 15);
}

#[test]
fn rxe_write_bw_mtu1024() {
    check("rxe_write_bw_mtu1024.pcap", 366, 34);
}

#[test]
fn rxe_write_bw_mtu4096() {
    check("rxe_write_bw_mtu4096.pcap", 124, 36);
}
