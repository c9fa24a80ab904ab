//! Frames that switches forward, and frames that they cannot forward.

use sim_net::{DropReason, Fabric, Frame, HostId, SwitchId};
use stellar_wire::{Ethernet, Header, Ip, Ipv4, MacAddr, Vlan};

use crate::common::{leaf_spine, parsed, run, star, topology, Sent, A, C};

#[test]
fn hops_and_addresses_change_and_nothing_else() {
    for v6 in [false, true] {
        let mut fabric = Fabric::new(leaf_spine(2, 1, ""), 1);
        let sent = Sent {
            v6,
            ..Sent::new(HostId(0), HostId(1))
        };
        sent.send(&mut fabric, 0);
        let deliveries = run(&mut fabric);
        let mut frame = parsed(&deliveries[0]);
        let hosts = fabric.topology().hosts();
        assert_eq!(frame.eth.dst, hosts[1].ports[0].mac);
        let leaf = fabric.topology().switch("p0.leaf1").unwrap();
        assert_eq!(
            frame.eth.src,
            fabric.topology().switches()[leaf.0 as usize].mac
        );
        let hops = match &mut frame.ip {
            Ip::V4(ip) => &mut ip.ttl,
            Ip::V6(ip) => &mut ip.hop_limit,
        };
        assert_eq!(std::mem::replace(hops, 64), 61);
        let mut as_sent = sent.roce(fabric.topology()).with_derived_fields().unwrap();
        as_sent.eth = frame.eth;
        assert_eq!(frame, as_sent);
    }
}

#[test]
fn a_tagged_frame_is_forwarded_with_its_tag() {
    let mut fabric = Fabric::new(star(""), 1);
    let mut frame = Sent::new(A, C).roce(fabric.topology());
    frame.vlan = Some(Vlan {
        pcp: 5,
        vid: 42,
        ..Vlan::default()
    });
    fabric
        .send(A, 0, 0, Frame::new(frame.emit().unwrap()))
        .unwrap();
    let deliveries = run(&mut fabric);
    assert_eq!(parsed(&deliveries[0]).vlan.unwrap().vid, 42);
}

/// Sends `bytes` through the switch of a star; returns why they did not arrive, or `None` if they did.
fn fate(bytes: Vec<u8>) -> Option<DropReason> {
    let mut fabric = Fabric::new(star(""), 1);
    fabric.send(A, 0, 0, Frame::new(bytes)).unwrap();
    let delivered = run(&mut fabric).len();
    let drops: Vec<_> = fabric.switch_drops(SwitchId(0)).unwrap().iter().collect();
    assert_eq!(delivered + drops.len(), 1);
    assert_eq!(fabric.totals().dropped.total() as usize, drops.len());
    drops.first().map(|&(reason, count)| {
        assert_eq!(count, 1);
        reason
    })
}

#[test]
fn what_cannot_be_forwarded_is_counted_by_its_reason() {
    let topology = star("");
    let good = Sent::new(A, C).roce(&topology);
    let with_ip = |change: &dyn Fn(&mut Ipv4)| {
        let mut frame = good.clone();
        let Ip::V4(ip) = &mut frame.ip else { panic!() };
        change(ip);
        frame.emit().unwrap()
    };
    let with_byte = |at: usize, value: u8| {
        let mut bytes = good.emit().unwrap();
        bytes[at] = value;
        bytes
    };
    assert_eq!(fate(good.emit().unwrap()), None);
    assert_eq!(fate(with_ip(&|ip| ip.ttl = 2)), None);
    assert_eq!(fate(with_ip(&|ip| ip.ttl = 1)), Some(DropReason::HopLimit));
    assert_eq!(fate(with_ip(&|ip| ip.ttl = 0)), Some(DropReason::HopLimit));
    assert_eq!(
        fate(with_ip(&|ip| ip.dst = [10, 9, 9, 9].into())),
        Some(DropReason::NoRoute)
    );
    assert_eq!(fate(with_byte(13, 0x06)), Some(DropReason::NotIp)); // ARP
    assert_eq!(fate(with_byte(14, 0x46)), Some(DropReason::Malformed)); // options
    assert_eq!(fate(with_byte(14, 0x65)), Some(DropReason::Malformed)); // version
    assert_eq!(
        fate(with_byte(24, !good.emit().unwrap()[24])),
        Some(DropReason::Malformed)
    ); // checksum
    let header = Ethernet {
        ethertype: 0x0800,
        ..Ethernet::default()
    };
    assert_eq!(fate(header.to_bytes()), Some(DropReason::Malformed)); // cut off
                                                                      // The NIC checks the iCRC, not the switch.
    let last = good.emit().unwrap().len() - 1;
    assert_eq!(fate(with_byte(last, !good.emit().unwrap()[last])), None);
}

#[test]
fn other_protocols_are_data() {
    let mut frame = Sent::new(A, C).frame(&star("")).bytes().to_vec();
    // TCP; the checksum has to agree.
    let (mut ip, _) = Ipv4::parse(&frame[14..]).unwrap();
    ip.protocol = 6;
    frame[14..34].copy_from_slice(&ip.to_bytes());
    assert_eq!(fate(frame), None);
}

#[test]
fn planes_are_separate() {
    let mut fabric = Fabric::new(
        topology("[defaults]\nrate_gbps = 100\n[leaf_spine]\nplanes = 2\nleaves = 2\nspines = 2\nhosts_per_leaf = 1"),
        1,
    );
    for port in 0..2 {
        let mut sent = Sent::new(HostId(0), HostId(1));
        sent.port = port;
        sent.send(&mut fabric, 0);
    }
    let deliveries = run(&mut fabric);
    assert_eq!(
        deliveries.iter().map(|d| d.port).collect::<Vec<_>>(),
        [0, 1]
    );
    // The address of plane 1, sent into plane 0.
    let mut sent = Sent::new(HostId(0), HostId(1));
    sent.port = 1;
    let frame = sent.frame(fabric.topology());
    fabric.send(HostId(0), 0, fabric.now(), frame).unwrap();
    assert_eq!(run(&mut fabric).len(), 0);
    let leaf = fabric.topology().switch("p0.leaf0").unwrap();
    assert_eq!(
        fabric.switch_drops(leaf).unwrap().of(DropReason::NoRoute),
        1
    );
}

#[test]
fn addresses_follow_from_index_and_plane() {
    let topology = topology("[defaults]\nrate_gbps = 100\n[leaf_spine]\nplanes = 2\nleaves = 2\nspines = 2\nhosts_per_leaf = 150");
    let port = &topology.hosts()[299].ports[1];
    assert_eq!(port.mac, MacAddr([0x02, 0, 1, 0, 1, 0x2c]));
    assert_eq!(port.ipv4.to_string(), "10.1.1.44");
    assert_eq!(port.ipv6.to_string(), "fd00:0:0:1::12c");
    assert_eq!(port.usid, 0x1000 + 299);
    assert_eq!(
        topology.switches()[topology.switch("p1.spine1").unwrap().0 as usize].usid,
        4
    );
}

#[test]
fn an_elided_payload_costs_the_same_time() {
    let run_with = |elide: bool| {
        let mut fabric = Fabric::new(leaf_spine(2, 1, ""), 1);
        let frame = Sent::new(HostId(0), HostId(1)).frame(fabric.topology());
        let frame = if elide {
            Frame::elided(&frame.bytes()[..74], frame.len())
        } else {
            frame
        };
        for _ in 0..3 {
            fabric.send(HostId(0), 0, 0, frame.clone()).unwrap();
        }
        run(&mut fabric)
    };
    let (whole, elided) = (run_with(false), run_with(true));
    assert_eq!(whole.len(), 3);
    for (whole, elided) in whole.iter().zip(&elided) {
        assert_eq!(
            (whole.time, whole.frame.len()),
            (elided.time, elided.frame.len())
        );
        assert_eq!(whole.frame.bytes()[..74], *elided.frame.bytes());
        assert!(elided.frame.is_elided() && !whole.frame.is_elided());
    }
}
