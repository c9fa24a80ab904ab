//! Packets cut to their headers.

use sim_net::{DropReason, Fabric, Frame};
use stellar_wire::{
    icrc, Bth, Ecn, Ethernet, ExtHeaders, Header, Ip, Ipv6, Srv6Encap, Udp, UsidContainer,
    WireError,
};

use crate::common::{bottleneck, line, run, star, Sent, A, B, C};

const TRIM: &str = "trim = { dscp = 21 }";

/// A burst of `count` frames from `a` and `b` into a queue that holds two; returns fabric and what arrived.
fn burst(settings: &str, count: u32, sent: &Sent) -> (Fabric, Vec<sim_net::Delivery>) {
    let mut fabric = Fabric::new(star(&format!("queue_bytes = 2600, {settings}")), 1);
    for psn in 0..count {
        for from in [A, B] {
            Sent {
                from,
                psn,
                ..sent.clone()
            }
            .send(&mut fabric, 0);
        }
    }
    let deliveries = run(&mut fabric);
    (fabric, deliveries)
}

fn outer(frame: &Frame) -> (Ip, &[u8]) {
    let (eth, rest) = Ethernet::parse(frame.bytes()).unwrap();
    let (ip, rest) = Ip::parse(eth.ethertype, rest).unwrap();
    ip.check_length(rest.len()).unwrap();
    (ip, rest)
}

fn dscp(ip: &Ip) -> u8 {
    match ip {
        Ip::V4(ip) => ip.dscp,
        Ip::V6(ip) => ip.dscp,
    }
}

#[test]
fn headers_stay_whole_and_lengths_fit() {
    let path = UsidContainer::new(0xfcbb_bb00, &[0x1002]).unwrap();
    let srv6 = Some(Srv6Encap {
        path,
        ..Srv6Encap::default()
    });
    for (v6, srv6) in [(false, None), (true, None), (false, srv6), (true, srv6)] {
        let sent = Sent {
            v6,
            srv6,
            ..Sent::new(A, C)
        };
        let (fabric, deliveries) = burst(TRIM, 10, &sent);
        let stats = fabric.stats(bottleneck(fabric.topology())).unwrap();
        assert_eq!(deliveries.len(), 20, "trimmed, not dropped");
        assert!(stats.trims > 0);
        let original = sent.roce(fabric.topology());
        let mut trims = 0;
        for delivery in &deliveries {
            let (ip, mut rest) = outer(&delivery.frame);
            if dscp(&ip) == 0 {
                assert_eq!(delivery.frame.len(), sent.frame(fabric.topology()).len());
                continue;
            }
            trims += 1;
            assert_eq!(dscp(&ip), 21);
            let mut packet = &delivery.frame.bytes()[14..];
            if srv6.is_some() {
                packet = rest;
                let (inner, after) = Ip::parse(original.ip.ethertype(), rest).unwrap();
                inner.check_length(after.len()).unwrap();
                assert_eq!(dscp(&inner), 21);
                rest = after;
            }
            let (udp, transport) = Udp::parse(rest).unwrap();
            udp.check_length(transport.len()).unwrap();
            let (bth, rest) = Bth::parse(transport).unwrap();
            let (ext, rest) = ExtHeaders::parse(&bth, rest).unwrap();
            assert_eq!((bth.dest_qp, ext), (0x11, original.ext));
            // The first bytes of the payload are in the place of the iCRC.
            assert_eq!(rest, &original.payload[..icrc::LEN]);
            assert!(matches!(icrc::verify(packet), Err(WireError::Icrc { .. })));
        }
        assert_eq!(trims, stats.trims);
    }
}

#[test]
fn trimmed_packets_overtake_data() {
    let (_, deliveries) = burst(&format!("rate_gbps = 10, {TRIM}"), 5, &Sent::new(A, C));
    let lengths: Vec<bool> = deliveries.iter().map(|d| d.frame.len() > 200).collect();
    // One frame is on the line, seven are trimmed, then come the two that fit the queue.
    assert_eq!(
        lengths,
        [true, false, false, false, false, false, false, false, true, true]
    );
}

/// A packet that was trimmed at the first switch is control at the second, too.
#[test]
fn trimmed_packets_stay_control() {
    let mut fabric = Fabric::new(
        line(&format!("queue_bytes = 2600, {TRIM}"), "rate_gbps = 1"),
        1,
    );
    for _ in 0..5 {
        for from in [A, B] {
            Sent::new(from, C).send(&mut fabric, 0);
        }
    }
    let deliveries = run(&mut fabric);
    let whole: Vec<bool> = deliveries.iter().map(|d| d.frame.len() > 200).collect();
    let trims = whole.iter().filter(|&&whole| !whole).count();
    // The first whole frame is on the line when trimmed ones arrive. The other whole frames wait for all trimmed ones.
    assert!(trims >= 3);
    assert!(whole[0]);
    assert!(whole[1..=trims].iter().all(|&whole| !whole), "{whole:?}");
}

#[test]
fn the_last_hop_has_a_code_point_of_its_own() {
    let (_, deliveries) = burst(
        "trim = { dscp = 21, last_hop_dscp = 22 }",
        5,
        &Sent::new(A, C),
    );
    let codes: Vec<u8> = deliveries
        .iter()
        .map(|d| dscp(&outer(&d.frame).0))
        .collect();
    assert!(codes.contains(&22) && !codes.contains(&21));
}

#[test]
fn what_is_not_roce_or_has_nothing_to_cut_is_dropped() {
    // Packets to other ports are not trimmed.
    let mut fabric = Fabric::new(star(&format!("queue_bytes = 2600, {TRIM}")), 1);
    let mut frame = Sent::new(A, C).roce(fabric.topology());
    frame.udp.dport = 5000;
    let bytes = frame.emit().unwrap();
    for _ in 0..5 {
        for from in [A, B] {
            fabric
                .send(from, 0, 0, Frame::from(bytes.as_slice()))
                .unwrap();
        }
    }
    run(&mut fabric);
    let stats = fabric.stats(bottleneck(fabric.topology())).unwrap();
    assert_eq!(stats.trims, 0);
    assert!(stats.drops.of(DropReason::QueueFull) > 0);

    // Trimming would leave four bytes of payload.
    let sent = Sent {
        payload: 0,
        ..Sent::new(A, C)
    };
    let mut fabric = Fabric::new(star(&format!("queue_bytes = 100, {TRIM}")), 1);
    for _ in 0..5 {
        for from in [A, B] {
            Sent {
                from,
                ..sent.clone()
            }
            .send(&mut fabric, 0);
        }
    }
    run(&mut fabric);
    let stats = fabric.stats(bottleneck(fabric.topology())).unwrap();
    assert_eq!(stats.trims, 0);
    assert!(stats.drops.of(DropReason::QueueFull) > 0);
}

#[test]
fn a_full_control_queue_drops_trimmed_packets() {
    let settings = format!("rate_gbps = 1, control_queue_bytes = 200, {TRIM}");
    let (fabric, deliveries) = burst(&settings, 10, &Sent::new(A, C));
    let stats = fabric.stats(bottleneck(fabric.topology())).unwrap();
    assert_eq!(stats.trims, 17);
    // 78 bytes each: two fit the control queue.
    assert_eq!(stats.drops.of(DropReason::QueueFull), 15);
    assert_eq!(deliveries.len(), 5);
}

#[test]
fn an_elided_payload_is_trimmed_alike() {
    let lengths = |elide: bool| -> Vec<usize> {
        let mut fabric = Fabric::new(star(&format!("queue_bytes = 2600, {TRIM}")), 1);
        for _ in 0..6 {
            for from in [A, B] {
                let frame = Sent {
                    from,
                    v6: true,
                    ecn: Ecn::NotEct,
                    ..Sent::new(from, C)
                }
                .frame(fabric.topology());
                let headers = 14 + Ipv6::LEN + Udp::LEN + Bth::LEN + 4 + 16;
                let frame = if elide {
                    Frame::elided(&frame.bytes()[..headers], frame.len())
                } else {
                    frame
                };
                fabric.send(from, 0, 0, frame).unwrap();
            }
        }
        run(&mut fabric).iter().map(|d| d.frame.len()).collect()
    };
    let whole = lengths(false);
    assert!(whole.iter().any(|&len| len < 200));
    assert_eq!(whole, lengths(true));
}
