//! Each reason for refusing a frame, and for refusing to send one.

use stellar_wire::mrc::Tseth;
use stellar_wire::*;

/// A small RC WRITE Only over IPv4 whose parts lie at known places.
fn write_only() -> RoceFrame {
    RoceFrame {
        bth: Bth {
            opcode: Opcode::RcWriteOnly,
            dest_qp: 0x11,
            psn: 7,
            ..Bth::default()
        },
        ext: ExtHeaders {
            reth: Some(Reth {
                va: 0x1000,
                rkey: 5,
                dma_len: 6,
            }),
            ..ExtHeaders::default()
        },
        payload: vec![1, 2, 3, 4, 5, 6],
        ..RoceFrame::default()
    }
}

const IP: usize = 14;
const UDP: usize = IP + 20;
const BTH: usize = UDP + 8;

/// Returns the parser's error for `frame` after `change`. The iCRC is corrected, and the IPv4 checksum too if `checksum` is set.
fn refusal(frame: &RoceFrame, checksum: bool, change: impl FnOnce(&mut Vec<u8>)) -> WireError {
    let mut bytes = frame.emit().expect("valid frame");
    change(&mut bytes);
    if checksum {
        let header = bytes[IP..UDP].try_into().expect("20 bytes");
        bytes[IP + 10..IP + 12].copy_from_slice(&ipv4::header_checksum(&header).to_be_bytes());
    }
    // A broken packet may have no place for an iCRC. Such a packet is refused before its iCRC is checked.
    let _ = frame::reseal(&mut bytes);
    RoceFrame::parse(&bytes).expect_err("the frame is broken")
}

#[test]
fn each_broken_layer_has_its_own_reason() {
    let frame = write_only();
    let ethertype = refusal(&frame, true, |b| b[12..14].copy_from_slice(&[0x89, 0x15]));
    assert_eq!(ethertype, WireError::EtherType(0x8915));
    assert_eq!(
        refusal(&frame, true, |b| b[IP] = 0x55),
        WireError::IpVersion {
            expected: 4,
            found: 5
        }
    );
    assert_eq!(
        refusal(&frame, true, |b| b[IP] = 0x46),
        WireError::Ipv4Options { ihl: 6 }
    );
    assert!(matches!(
        refusal(&frame, false, |b| b[IP + 8] ^= 1),
        WireError::Ipv4Checksum { .. }
    ));
    assert_eq!(
        refusal(&frame, true, |b| b[IP + 6] |= 0x20),
        WireError::Ipv4Fragment
    );
    assert_eq!(
        refusal(&frame, true, |b| b[IP + 7] = 1),
        WireError::Ipv4Fragment
    );
    assert_eq!(
        refusal(&frame, true, |b| b[IP + 9] = 6),
        WireError::IpProtocol(6)
    );
    let port = refusal(&frame, true, |b| b[UDP + 3] ^= 1);
    assert_eq!(
        port,
        WireError::UdpPort {
            expected: 4791,
            found: 4790
        }
    );
    assert!(matches!(
        refusal(&frame, true, |b| b[IP + 3] += 1),
        WireError::LengthShort { layer: "IPv4", .. }
    ));
    assert!(matches!(
        refusal(&frame, true, |b| b[IP + 3] -= 1),
        WireError::LengthLong { layer: "IPv4", .. }
    ));
    assert!(matches!(
        refusal(&frame, true, |b| b[UDP + 5] += 1),
        WireError::LengthShort { layer: "UDP", .. }
    ));
    assert!(matches!(
        refusal(&frame, true, |b| b[UDP + 5] -= 1),
        WireError::LengthLong { layer: "UDP", .. }
    ));
    assert_eq!(
        refusal(&frame, true, |b| b[BTH] = 0x3f),
        WireError::UnknownOpcode(0x3f)
    );
    assert_eq!(
        refusal(&frame, true, |b| b[BTH + 1] |= 1),
        WireError::TransportVersion(1)
    );
    let mut bytes = frame.emit().expect("valid frame");
    *bytes.last_mut().expect("not empty") ^= 1;
    assert!(matches!(
        RoceFrame::parse(&bytes),
        Err(WireError::Icrc { .. })
    ));
}

#[test]
fn extension_header_cut_off_by_a_short_packet_is_truncated() {
    // WRITE Middle has no RETH; calling it WRITE Only leaves eight bytes for one.
    let frame = RoceFrame {
        bth: Bth {
            opcode: Opcode::RcWriteMiddle,
            ..Bth::default()
        },
        payload: vec![0; 8],
        ..RoceFrame::default()
    };
    let error = refusal(&frame, true, |b| b[BTH] = Opcode::RcWriteOnly.code());
    assert_eq!(
        error,
        WireError::Truncated {
            header: "RETH",
            need: 16,
            have: 8
        }
    );
    // A UDP datagram with no room for BTH and iCRC.
    let short = refusal(&frame, true, |b| {
        b.truncate(BTH + 8);
        b[IP + 3] = 36;
        b[UDP + 5] = 16;
    });
    assert_eq!(
        short,
        WireError::Truncated {
            header: "BTH and iCRC",
            need: 16,
            have: 8
        }
    );
}

#[test]
fn pad_that_does_not_fit_is_refused() {
    let empty = RoceFrame {
        bth: Bth {
            opcode: Opcode::RcSendOnly,
            ..Bth::default()
        },
        ..RoceFrame::default()
    };
    let error = refusal(&empty, true, |b| b[BTH + 1] |= 0x10);
    assert_eq!(
        error,
        WireError::BadPad {
            pad: 1,
            after_headers: 0
        }
    );
    // Payload and pad together must fill whole words.
    let ragged = refusal(&write_only(), true, |b| {
        b.insert(BTH + 12, 0);
        b[IP + 3] += 1;
        b[UDP + 5] += 1;
    });
    assert_eq!(
        ragged,
        WireError::BadPad {
            pad: 2,
            after_headers: 9
        }
    );
}

#[test]
fn outer_header_is_checked_too() {
    let frame = RoceFrame {
        srv6: Some(Srv6Encap::default()),
        ..write_only()
    };
    let payload_len_low = IP + 5;
    assert!(matches!(
        refusal(&frame, false, |b| b[payload_len_low] += 1),
        WireError::LengthShort { .. }
    ));
    assert_eq!(
        refusal(&frame, false, |b| b[IP + 6] = 43),
        WireError::IpProtocol(43)
    );
    let version = refusal(&frame, false, |b| b[IP + 6] = 41);
    assert_eq!(
        version,
        WireError::IpVersion {
            expected: 6,
            found: 4
        }
    );
}

#[test]
fn frame_on_another_port_parses_only_when_asked_for() {
    let frame = RoceFrame {
        udp: Udp {
            dport: 4971,
            ..Udp::default()
        },
        ..write_only()
    };
    let bytes = frame.emit().expect("valid frame");
    assert_eq!(
        RoceFrame::parse(&bytes),
        Err(WireError::UdpPort {
            expected: 4791,
            found: 4971
        })
    );
    assert!(RoceFrame::parse_on_port(&bytes, 4971).is_ok());
}

#[test]
fn frame_that_cannot_be_sent_says_why() {
    let no_reth = RoceFrame {
        ext: ExtHeaders::default(),
        ..write_only()
    };
    let mismatch = |problem, kind| WireError::ExtMismatch {
        opcode: "RcWriteOnly",
        kind,
        problem,
    };
    assert_eq!(no_reth.emit(), Err(mismatch("missing", "RETH")));
    let mut stamped = write_only();
    stamped.ext.tseth = Some(Tseth::default());
    assert_eq!(stamped.emit(), Err(mismatch("not part of it", "TSETH")));
    let huge = RoceFrame {
        payload: vec![0; 65_500],
        ..write_only()
    };
    assert!(matches!(huge.emit(), Err(WireError::TooLong { .. })));
}
