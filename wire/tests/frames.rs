//! Whole frames: round trips, each reason for refusal, and bytes nobody should trust.

#[path = "support/frame.rs"]
mod frame_strategy;
mod support;

use frame_strategy::frame as any_frame;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use stellar_wire::ethernet::{ETHERTYPE_IPV6, ETHERTYPE_VLAN};
use stellar_wire::mrc::{Entropy, Meth, Tseth};
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

/// What the parser says to `frame` after `change`, with the IPv4 checksum (if `checksum`) and the iCRC made good.
fn refusal(frame: &RoceFrame, checksum: bool, change: impl FnOnce(&mut Vec<u8>)) -> WireError {
    let mut bytes = frame.emit().expect("valid frame");
    change(&mut bytes);
    if checksum {
        let header = bytes[IP..UDP].try_into().expect("20 bytes");
        bytes[IP + 10..IP + 12].copy_from_slice(&ipv4::header_checksum(&header).to_be_bytes());
    }
    // Not possible for every broken packet; those are refused before the iCRC matters.
    let _ = frame::reseal(&mut bytes);
    RoceFrame::parse(&bytes).expect_err("the frame is broken")
}

#[test]
fn frame_to_bytes_to_frame_to_bytes() {
    support::runner(1000)
        .run(&any_frame(), |frame| {
            let bytes = frame.emit().expect("valid frame");
            let parsed =
                RoceFrame::parse(&bytes).map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(&parsed, &frame);
            prop_assert_eq!(parsed.emit().expect("parsed frame"), bytes);
            Ok(())
        })
        .expect("frames survive the round trip");
}

#[test]
fn every_opcode_occurs_in_random_frames() {
    // Guards the tests built on the strategy: it must not leave a kind of frame out.
    let mut missing: Vec<Opcode> = Opcode::ALL.to_vec();
    let mut runner = support::runner(1);
    for _ in 0..1000 {
        let frame = any_frame()
            .new_tree(&mut runner)
            .expect("strategy")
            .current();
        missing.retain(|&opcode| opcode != frame.bth.opcode);
    }
    assert_eq!(missing, []);
}

#[test]
fn any_cut_or_appended_byte_is_refused_by_length() {
    support::runner(64)
        .run(&(any_frame(), any::<u8>()), |(frame, extra)| {
            let mut bytes = frame.emit().expect("valid frame");
            for end in 0..bytes.len() {
                let error = RoceFrame::parse(&bytes[..end]).expect_err("cut");
                prop_assert!(
                    matches!(
                        error,
                        WireError::Truncated { .. } | WireError::LengthShort { .. }
                    ),
                    "cut to {}: {}",
                    end,
                    error
                );
            }
            bytes.push(extra);
            let error = RoceFrame::parse(&bytes).expect_err("appended");
            prop_assert!(
                matches!(error, WireError::LengthLong { .. }),
                "appended: {}",
                error
            );
            Ok(())
        })
        .expect("lengths are checked");
}

#[test]
fn random_and_mutated_bytes_never_panic_and_never_pass_the_icrc() {
    let mutation = (any_frame(), any::<prop::sample::Index>(), 1..=u8::MAX);
    support::runner(2000)
        .run(
            &(mutation, prop::collection::vec(any::<u8>(), 0..200)),
            |((frame, at, flip), noise)| {
                prop_assert!(RoceFrame::parse(&noise).is_err());
                let mut bytes = frame.emit().expect("valid frame");
                let at = at.index(bytes.len());
                bytes[at] ^= flip;
                if let Ok(parsed) = RoceFrame::parse(&bytes) {
                    // Only fields outside the iCRC may differ, so what identifies and places the data is untouched.
                    prop_assert_eq!(parsed.ext, frame.ext);
                    prop_assert_eq!(parsed.payload, frame.payload);
                    prop_assert_eq!(
                        (parsed.bth.opcode, parsed.bth.psn),
                        (frame.bth.opcode, frame.bth.psn)
                    );
                    prop_assert_eq!(parsed.bth.dest_qp, frame.bth.dest_qp);
                }
                let _ = frame::reseal(&mut bytes);
                let _ = RoceFrame::parse(&bytes);
                Ok(())
            },
        )
        .expect("parser holds");
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

#[test]
fn mrc_write_through_vlan_and_srv6_has_the_documented_bytes() {
    let mut frame = RoceFrame {
        vlan: Some(Vlan {
            vid: 5,
            ..Vlan::default()
        }),
        srv6: Some(Srv6Encap {
            path: UsidContainer::new(0xfcbb_bb00, &[0x0400, 0x0300]).expect("two uSIDs"),
            ..Srv6Encap::default()
        }),
        ip: Ip::V6(Ipv6::default()),
        bth: Bth {
            opcode: Opcode::MrcWriteOnly,
            retransmit: true,
            ..Bth::default()
        },
        ext: ExtHeaders {
            meth: Some(Meth { rqmsn: 1, msn: 2 }),
            tseth: Some(Tseth {
                tx_timestamp: 3,
                own_resolution: false,
                format: 1,
            }),
            reth: Some(Reth {
                va: 4,
                rkey: 5,
                dma_len: 6,
            }),
            ..ExtHeaders::default()
        },
        payload: vec![0xaa; 6],
        ..RoceFrame::default()
    };
    Entropy(0x1234_cdef).apply(&mut frame.ip, &mut frame.udp);
    let bytes = frame.emit().expect("valid frame");
    assert_eq!(bytes.len(), 14 + 4 + 40 + 40 + 8 + 12 + 4 + 4 + 16 + 8 + 4);
    assert_eq!(bytes[12..18], [0x81, 0x00, 0x00, 0x05, 0x86, 0xdd]);
    assert_eq!(
        hex::encode(&bytes[18 + 24..18 + 40]),
        "fcbbbb00040003000000000000000000"
    );
    assert_eq!((bytes[18 + 6], bytes[58 + 6]), (41, 17));
    assert_eq!(hex::encode(&bytes[58..62]), "60001234");
    assert_eq!(hex::encode(&bytes[98..100]), "cdef");
    assert_eq!(bytes[106 + 8] & 0x30, 0x30, "RTX and TSETH bits");
    assert_eq!(
        hex::encode(&bytes[118..142]),
        "00010002000300010000000000000004".to_owned() + "0000000500000006"
    );
    let parsed = RoceFrame::parse(&bytes).expect("valid frame");
    assert_eq!(Entropy::of(&parsed.ip, &parsed.udp), Entropy(0x1234_cdef));
    assert_eq!(
        (parsed.eth.ethertype, parsed.vlan.map(|tag| tag.ethertype)),
        (ETHERTYPE_VLAN, Some(ETHERTYPE_IPV6))
    );
}

#[test]
fn usid_container_shifts_as_the_kernel_does() {
    let address = |text: &str| text.parse::<std::net::Ipv6Addr>().expect("address");
    let mut container = UsidContainer::from(address("fcbb:0:0400:0300:0200:d46::"));
    let mut seen = Vec::new();
    while let Some(next) = container.next() {
        container = next;
        seen.push(std::net::Ipv6Addr::from(container));
    }
    assert_eq!(
        seen,
        [
            "fcbb:0:0300:0200:d46::",
            "fcbb:0:0200:d46::",
            "fcbb:0:d46::"
        ]
        .map(address),
        "the last uSID has no argument left"
    );
    assert_eq!(container.active(), 0x0d46);
    assert_eq!(UsidContainer::new(0, &[1; 7]), None);
    assert_eq!(UsidContainer::new(0, &[1, 0, 2]), None);
}
