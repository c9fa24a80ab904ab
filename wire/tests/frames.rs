//! Tests of whole frames: round trips, arbitrary bytes, and the layout of an encapsulated MRC packet.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use stellar_wire::ethernet::{ETHERTYPE_IPV6, ETHERTYPE_VLAN};
use stellar_wire::mrc::{Entropy, Meth, Tseth};
use stellar_wire::*;

use crate::support::{self, frame::frame as any_frame};

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
