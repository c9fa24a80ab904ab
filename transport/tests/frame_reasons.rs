//! Each reason of Ethernet, IP and UDP a frame can be refused for by itself, with a frame made for it.

use stellar_transport::rx::{classify_frame, DropReason, RxConfig};
use stellar_wire::ip::IPV6_FRAGMENT;
use stellar_wire::{
    icrc, Bth, ExtHeaders, Header, Ip, Ipv4, Ipv6, Opcode, Reth, RoceFrame, Srv6Encap, Udp, Vlan,
};

use crate::common::crafted::{
    bytes, bytes_v6, expect, fix_checksum, frame, with_byte, with_true_lengths, BTH, ETH, IPV4, UDP,
};

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
fn foreign_ethertypes_versions_options_and_protocols_are_not_roce() {
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
    expect(&with_byte(IPV4 + 9, 6), DropReason::NotRoce); // TCP

    let mut v6 = bytes_v6();
    v6[ETH + 6] = 0; // hop-by-hop options
    expect(&v6, DropReason::NotRoce);
    let mut v6 = bytes_v6();
    v6[ETH] = 0x40;
    expect(&v6, DropReason::NotRoce);
}

#[test]
fn a_fragment_is_told_apart_from_foreign_packets_and_from_damaged_ones() {
    let more = with_byte(IPV4 + 6, 0x20);
    let at_8 = with_byte(IPV4 + 7, 0x01);
    for fragment in [&more, &at_8] {
        let mut wrong_length = fragment.clone();
        wrong_length.push(0);
        expect(fragment, DropReason::IpFragment);
        expect(&wrong_length, DropReason::IpFragment);
        let mut tcp = fragment.clone();
        tcp[IPV4 + 9] = 6;
        expect(&tcp, DropReason::NotRoce);
        let mut damaged = fragment.clone();
        damaged[IPV4 + 10] ^= 1;
        expect(&damaged, DropReason::BadIpChecksum);
    }
    let mut v6 = bytes_v6();
    v6[ETH + 6] = IPV6_FRAGMENT;
    expect(&v6, DropReason::IpFragment);
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

/// A SEND without payload over IPv4 has 44 bytes of IP, and comes with the 46 that Ethernet demands; behind a tag that a switch has added, too.
#[test]
fn a_frame_that_ethernet_has_padded_is_read_by_its_ip_length() {
    for vlan in [None, Some(Vlan::default())] {
        let send = RoceFrame {
            vlan,
            bth: Bth {
                opcode: Opcode::RcSendOnly,
                ..frame().bth
            },
            ext: ExtHeaders::default(),
            payload: vec![],
            ..frame()
        };
        let bytes = send.emit().expect("frame");
        let at = bytes.len() - 44;
        for padding in [[0, 0], [0xa5, 0x5a]] {
            let padded = [&bytes[..], &padding].concat();
            expect(&padded, DropReason::None);
            let headers = classify_frame(&padded, false, &RxConfig::default()).headers;
            assert!(headers.is_some_and(|headers| headers.refused && headers.payload_length == 0));
            assert_eq!(
                RoceFrame::parse(&padded),
                Ok(send.clone().with_derived_fields().expect("frame"))
            );

            let mut damaged = padded.clone();
            damaged[at + 43] ^= 1;
            expect(&damaged, DropReason::BadIcrc);
            expect(&padded[..padded.len() - 1], DropReason::BadLength);
            expect(&[&padded[..], &[0]].concat(), DropReason::BadLength);
        }
    }
}

/// What is shorter than the headers of IPv4 and UDP is no packet, however long the frame is.
#[test]
fn a_padded_frame_has_to_contain_ip_and_udp() {
    let whole = with_true_lengths(bytes()[..UDP + 8].to_vec());
    for length in 0..=u16::from(u8::MAX) {
        let mut padded = [&whole[..], &[0; 18]].concat();
        padded[IPV4 + 2..IPV4 + 4].copy_from_slice(&length.to_be_bytes());
        padded[UDP + 4..UDP + 6].copy_from_slice(&length.saturating_sub(20).to_be_bytes());
        fix_checksum(&mut padded);
        padded[UDP + 2..UDP + 4].copy_from_slice(&53_u16.to_be_bytes());
        let reason = if (28..=46).contains(&length) {
            DropReason::WrongUdpPort
        } else {
            DropReason::BadLength
        };
        expect(&padded, reason);
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
