//! Frames of the Linux rxe captures are accepted or refused in agreement with tshark's dissection.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use pcap_file::pcap::PcapReader;
use stellar_transport::rx::{classify_frame, DropReason, RxConfig};

/// Compares the number of frames by reason, requests to be refused under `UnsupportedOpcode`, with the counts of `tshark -T fields -e ip.proto -e infiniband.bth.opcode`.
#[track_caller]
fn check(name: &str, expected: &[(DropReason, usize)]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/data")
        .join(name);
    let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = PcapReader::new(file).expect("pcap header");
    let mut counts = BTreeMap::new();
    while let Some(packet) = reader.next_packet() {
        let data = packet.expect("pcap record").data;
        let outcome = classify_frame(&data, false, &RxConfig::default());
        let refused = outcome.headers.is_some_and(|headers| headers.refused);
        let reason = if refused {
            DropReason::UnsupportedOpcode
        } else {
            outcome.reason
        };
        *counts.entry(reason).or_insert(0) += 1;
    }
    assert_eq!(counts, expected.iter().copied().collect(), "{name}");
}

#[test]
fn writes_of_mtu_1024_are_good() {
    let (none, not_roce, unsupported) = (74 + 148 + 74, 20 + 2 + 12, 70);
    check(
        "rxe_write_bw_mtu1024.pcap",
        &reasons(none, not_roce, unsupported),
    );
}

#[test]
fn writes_of_mtu_4096_are_good() {
    let (none, not_roce, unsupported) = (8 + 106 + 7, 22 + 2 + 12, 3);
    check(
        "rxe_write_bw_mtu4096.pcap",
        &reasons(none, not_roce, unsupported),
    );
}

#[test]
fn atomics_are_unsupported() {
    let (not_roce, unsupported) = (42 + 2 + 12, 200 + 200);
    check(
        "rxe_atomic_fetch_add.pcap",
        &[
            (DropReason::NotRoce, not_roce),
            (DropReason::UnsupportedOpcode, unsupported),
        ],
    );
}

#[test]
fn of_rping_only_the_writes_are_good() {
    let (none, not_roce, unsupported) = (3, 2 + 13, 5 + 3 + 3 + 15 + 12);
    check("rxe_rping_cm.pcap", &reasons(none, not_roce, unsupported));
}

fn reasons(none: usize, not_roce: usize, unsupported: usize) -> [(DropReason, usize); 3] {
    [
        (DropReason::None, none),
        (DropReason::NotRoce, not_roce),
        (DropReason::UnsupportedOpcode, unsupported),
    ]
}
