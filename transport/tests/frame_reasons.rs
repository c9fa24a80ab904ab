//! Each reason a frame can be refused for by itself, with a frame made for it.

mod common;

use common::{only, BASE_VA};
use proptest::prelude::*;
use stellar_transport::rx::{classify_frame, DropReason, FrameOutcome, QpMode, RxConfig};
use stellar_wire::frame::reseal;
use stellar_wire::mrc::Tseth;
use stellar_wire::{
    icrc, Bth, Ecn, Header, Ip, Ipv4, Ipv6, Opcode, Reth, RoceFrame, Srv6Encap, Udp, UsidContainer,
    Vlan,
};

const ETH: usize = 14;
const IPV4: usize = ETH;
const UDP: usize = IPV4 + 20;
const BTH: usize = UDP + 8;

fn classify(bytes: &[u8]) -> FrameOutcome {
    classify_frame(bytes, false, &RxConfig::default())
}

#[track_caller]
fn expect(bytes: &[u8], reason: DropReason) {
    let outcome = classify(bytes);
    assert_eq!(outcome.reason, reason);
    assert_eq!(outcome.headers.is_none(), reason != DropReason::None);
}

fn frame() -> RoceFrame {
    only(QpMode::Rc, 7, BASE_VA, 61)
}

fn bytes() -> Vec<u8> {
    frame().emit().expect("frame")
}

fn bytes_v6() -> Vec<u8> {
    let ip = Ip::V6(Ipv6::default());
    RoceFrame { ip, ..frame() }.emit().expect("frame")
}

/// Makes the IPv4 header checksum right after a field was changed.
fn fix_checksum(bytes: &mut [u8]) {
    let header: [u8; 20] = bytes[IPV4..UDP].try_into().expect("20 bytes");
    let checksum = stellar_wire::ipv4::header_checksum(&header);
    bytes[IPV4 + 10..IPV4 + 12].copy_from_slice(&checksum.to_be_bytes());
}

/// Changes a byte of a good IPv4 frame and makes checksum and iCRC right again.
fn with_byte(at: usize, value: u8) -> Vec<u8> {
    let mut bytes = bytes();
    bytes[at] = value;
    fix_checksum(&mut bytes);
    let packet = &mut bytes[IPV4..];
    if packet[0] == 0x45 && packet[9] == 17 {
        icrc::seal(packet).expect("still a UDP packet");
    }
    bytes
}

/// Sets both lengths to what is there, and seals: for frames cut or grown.
fn with_true_lengths(mut bytes: Vec<u8>) -> Vec<u8> {
    let total = (bytes.len() - IPV4) as u16;
    bytes[IPV4 + 2..IPV4 + 4].copy_from_slice(&total.to_be_bytes());
    bytes[UDP + 4..UDP + 6].copy_from_slice(&(total - 20).to_be_bytes());
    fix_checksum(&mut bytes);
    // Too short for a BTH: there is nothing an iCRC could be computed over.
    let _ = icrc::seal(&mut bytes[IPV4..]);
    bytes
}

#[test]
fn good_frames_of_every_shape_are_good() {
    expect(&bytes(), DropReason::None);
    expect(&bytes_v6(), DropReason::None);
    let vlan = Some(Vlan::default());
    let srv6 = Some(Srv6Encap::default());
    for ip in [Ip::V4(Ipv4::default()), Ip::V6(Ipv6::default())] {
        for (vlan, srv6) in [(vlan, None), (None, srv6), (vlan, srv6)] {
            let shaped = RoceFrame {
                ip,
                vlan,
                srv6,
                ..frame()
            };
            expect(&shaped.emit().expect("frame"), DropReason::None);
        }
    }
}

#[test]
fn a_mac_error_comes_before_everything() {
    let outcome = classify_frame(&[], true, &RxConfig::default());
    assert_eq!(outcome.reason, DropReason::MacError);
}

#[test]
fn foreign_ethertypes_versions_options_fragments_and_protocols_are_not_roce() {
    let mut arp = bytes();
    arp[12..14].copy_from_slice(&[0x08, 0x06]);
    expect(&arp, DropReason::NotRoce);

    let double_tag = Vlan::default();
    let mut tagged = RoceFrame {
        vlan: Some(double_tag),
        ..frame()
    }
    .emit()
    .expect("frame");
    tagged[16..18].copy_from_slice(&[0x81, 0x00]);
    expect(&tagged, DropReason::NotRoce);

    expect(&with_byte(IPV4, 0x65), DropReason::NotRoce); // version 6 after EtherType 0x0800
    expect(&with_byte(IPV4, 0x46), DropReason::NotRoce); // six words of header
    expect(&with_byte(IPV4 + 6, 0x20), DropReason::NotRoce); // more fragments
    expect(&with_byte(IPV4 + 7, 0x01), DropReason::NotRoce); // fragment offset 1
    expect(&with_byte(IPV4 + 9, 6), DropReason::NotRoce); // TCP

    let mut v6 = bytes_v6();
    v6[ETH + 6] = 0; // hop-by-hop options
    expect(&v6, DropReason::NotRoce);
    let mut v6 = bytes_v6();
    v6[ETH] = 0x40;
    expect(&v6, DropReason::NotRoce);
}

#[test]
fn an_encapsulation_must_announce_the_version_it_carries() {
    let srv6 = Some(Srv6Encap::default());
    let mut bytes = RoceFrame { srv6, ..frame() }.emit().expect("frame");
    expect(&bytes, DropReason::None);
    bytes[ETH + 6] = 41; // IPv6, but IPv4 is inside
    expect(&bytes, DropReason::NotRoce);
    bytes[ETH + 6] = 43; // segment routing header: not decapsulated
    expect(&bytes, DropReason::NotRoce);
}

#[test]
fn do_not_fragment_and_the_reserved_flag_do_not_matter() {
    expect(&with_byte(IPV4 + 6, 0x00), DropReason::None);
    expect(&with_byte(IPV4 + 6, 0xc0), DropReason::None);
}

#[test]
fn every_flipped_bit_of_the_ipv4_checksum_is_noticed_before_lengths() {
    for bit in 0..16 {
        let mut bytes = bytes();
        bytes[IPV4 + 10 + bit / 8] ^= 1 << (bit % 8);
        bytes.push(0); // a wrong length too
        expect(&bytes, DropReason::BadIpChecksum);
    }
}

#[test]
fn a_frame_longer_or_shorter_than_its_lengths_say_is_bad_length() {
    for good in [bytes(), bytes_v6()] {
        let mut long = good.clone();
        long.push(0);
        expect(&long, DropReason::BadLength);
        expect(&good[..good.len() - 1], DropReason::BadLength);
    }
}

#[test]
fn ip_and_udp_length_must_agree() {
    expect(&with_byte(UDP + 5, 0xff), DropReason::BadLength);
}

#[test]
fn a_frame_cut_anywhere_is_bad_length() {
    for good in [bytes(), bytes_v6()] {
        for length in 0..good.len() {
            expect(&good[..length], DropReason::BadLength);
        }
    }
}

#[test]
fn headers_that_do_not_fit_a_consistent_length_are_bad_length() {
    let reth_end = BTH + Bth::LEN + Reth::LEN;
    for end in UDP + 8..reth_end + icrc::LEN {
        expect(
            &with_true_lengths(bytes()[..end].to_vec()),
            DropReason::BadLength,
        );
    }
    expect(
        &with_true_lengths(bytes()[..reth_end + icrc::LEN].to_vec()),
        DropReason::BadPayloadLength,
    );
}

#[test]
fn a_short_datagram_to_another_port_is_that_ports_business() {
    let mut dns = with_true_lengths(bytes()[..BTH + 2].to_vec());
    dns[UDP + 2..UDP + 4].copy_from_slice(&53u16.to_be_bytes());
    expect(&dns, DropReason::WrongUdpPort);
}

#[test]
fn the_udp_port_is_a_register() {
    let udp = Udp {
        dport: 4971,
        ..Udp::default()
    };
    let bytes = RoceFrame { udp, ..frame() }.emit().expect("frame");
    expect(&bytes, DropReason::WrongUdpPort);
    let config = RxConfig {
        udp_port: 4971,
        ..RxConfig::default()
    };
    assert_eq!(
        classify_frame(&bytes, false, &config).reason,
        DropReason::None
    );
}

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
fn opcodes_other_than_rc_and_mrc_writes_are_unsupported() {
    for code in 0..=255 {
        let supported = matches!(code, 0x06..=0x0b | 0xc6..=0xcb);
        let reason = classify(&with_byte(BTH, code)).reason;
        assert_eq!(
            reason == DropReason::UnsupportedOpcode,
            !supported,
            "opcode {code:#04x} is {reason}"
        );
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
fn payload_is_at_most_4096_bytes() {
    let bytes = |length| only(QpMode::Rc, 7, BASE_VA, length).emit().expect("frame");
    expect(&bytes(4096), DropReason::None);
    expect(&bytes(4097), DropReason::BadPayloadLength);
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
