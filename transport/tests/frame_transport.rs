//! Invariant CRC, opcodes, pad and payload of a frame by itself, and the headers taken from good ones.

use proptest::prelude::*;
use stellar_transport::rx::{DropReason, QpMode};
use stellar_wire::frame::reseal;
use stellar_wire::mrc::Tseth;
use stellar_wire::{icrc, Ecn, Ip, Ipv6, Opcode, Srv6Encap, UsidContainer};

use crate::common::crafted::{
    bytes, bytes_v6, classify, expect, with_byte, with_true_lengths, BTH, ETH,
};
use crate::common::{only, BASE_VA};

#[test]
fn every_flipped_bit_that_the_icrc_covers_is_noticed() {
    let good = bytes();
    for at in BTH..good.len() {
        for bit in 0..8 {
            let mut bad = good.clone();
            bad[at] ^= 1 << bit;
            // BTH byte 4 is masked.
            let reason = if at == BTH + 4 {
                DropReason::None
            } else {
                DropReason::BadIcrc
            };
            expect(&bad, reason);
        }
    }
}

#[test]
fn fields_routers_change_are_not_covered() {
    let mut bytes = bytes_v6();
    bytes[ETH + 1] = 0x2f; // traffic class and flow label
    bytes[ETH + 7] = 1; // hop limit
    expect(&bytes, DropReason::None);
}

#[test]
fn opcodes_other_than_rc_and_mrc_writes_are_unsupported_or_refused() {
    for code in 0..=255 {
        let supported = matches!(code, 0x06..=0x0b | 0xc6..=0xcb);
        let refused = matches!(code, 0x00..=0x05 | 0x0c | 0x13 | 0x14 | 0x16 | 0x17);
        let outcome = classify(&with_byte(BTH, code));
        assert_eq!(
            outcome.reason == DropReason::UnsupportedOpcode,
            !supported && !refused,
            "opcode {code:#04x} is {}",
            outcome.reason
        );
        let headers = outcome.headers;
        assert_eq!(headers.is_some_and(|h| h.refused), refused, "{code:#04x}");
    }
}

#[test]
fn an_unsupported_opcode_with_a_bad_icrc_is_bad_icrc() {
    let mut bytes = with_byte(BTH, 0x11);
    *bytes.last_mut().expect("iCRC") ^= 1;
    expect(&bytes, DropReason::BadIcrc);
}

#[test]
fn another_transport_version_is_unsupported() {
    expect(&with_byte(BTH + 1, 0x31), DropReason::UnsupportedOpcode);
}

#[test]
fn pad_is_exactly_what_completes_four_bytes() {
    for payload in 0..9 {
        let good = only(QpMode::Rc, 7, BASE_VA, payload).emit().expect("frame");
        let room = payload.next_multiple_of(4);
        for pad in 0..4 {
            let mut bytes = good.clone();
            bytes[BTH + 1] = (pad as u8) << 4;
            reseal(&mut bytes).expect("frame");
            let reason = if pad <= room {
                DropReason::None
            } else {
                DropReason::BadPayloadLength
            };
            expect(&bytes, reason);
        }
    }
    // A length that no pad completes.
    let mut odd = bytes();
    odd.insert(odd.len() - icrc::LEN, 0);
    expect(&with_true_lengths(odd), DropReason::BadPayloadLength);
}

#[test]
fn payload_is_at_most_8192_bytes() {
    let bytes = |length| only(QpMode::Rc, 7, BASE_VA, length).emit().expect("frame");
    expect(&bytes(8192), DropReason::None);
    expect(&bytes(8193), DropReason::BadPayloadLength);
}

#[test]
fn headers_carry_what_the_frame_said() {
    let mut frame = only(QpMode::Mrc, 0xabcdef, BASE_VA, 33);
    frame.bth.opcode = Opcode::MrcWriteOnlyImm;
    frame.bth.retransmit = true;
    frame.ext.imm = Some(stellar_wire::ImmDt(0xdead_beef));
    frame.ext.tseth = Some(Tseth {
        tx_timestamp: 0x1234,
        ..Tseth::default()
    });
    frame.ip = Ip::V6(Ipv6 {
        flow_label: 0xf_5678,
        ..Ipv6::default()
    });
    frame.udp.sport = 0x9abc;
    let path = UsidContainer::default();
    let ecn = Ecn::CongestionExperienced;
    frame.srv6 = Some(Srv6Encap {
        ecn,
        path,
        ..Srv6Encap::default()
    });
    let bytes = frame.emit().expect("frame");
    let headers = classify(&bytes).headers.expect("a good frame");
    assert_eq!(headers.mode, QpMode::Mrc);
    assert_eq!(headers.psn.value(), 0xabcdef);
    assert_eq!(
        (headers.reth, headers.meth),
        (frame.ext.reth, frame.ext.meth)
    );
    assert_eq!(
        (headers.immediate, headers.timestamp),
        (Some(0xdead_beef), Some(0x1234))
    );
    assert_eq!(headers.entropy.0, 0x5678_9abc);
    assert!(headers.ecn_ce && headers.retransmission && headers.ack_req && !headers.solicited);
    assert_eq!(
        (headers.payload_offset, headers.payload_length),
        (40 + 8 + 12 + 4 + 4 + 16 + 4, 33)
    );
    assert_eq!(headers.payload(&bytes), frame.payload);
}

#[test]
fn reserved_bits_mean_nothing_in_rc() {
    let headers = classify(&with_byte(BTH + 8, 0x7f))
        .headers
        .expect("a good frame");
    assert_eq!((headers.timestamp, headers.retransmission), (None, false));
}

proptest! {
    #[test]
    fn arbitrary_and_mutated_bytes_are_classified_without_panic(
        noise in proptest::collection::vec(any::<u8>(), 0..200),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
    ) {
        classify(&noise);
        let mut bytes = bytes();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let _ = reseal(&mut bytes);
        let outcome = classify(&bytes);
        prop_assert_eq!(outcome.headers.is_some(), outcome.reason == DropReason::None);
        if let Some(headers) = outcome.headers {
            prop_assert_eq!(headers.payload(&bytes).len(), usize::from(headers.payload_length));
        }
    }
}
