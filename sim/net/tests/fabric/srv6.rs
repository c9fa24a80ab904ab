//! Paths as uSID containers.

use sim_net::{DropReason, Fabric, HostId, Topology};
use stellar_wire::{Ecn, Srv6Encap, UsidContainer};

use crate::common::{leaf_spine, parsed, run, topology, Sent};

const SPINES: usize = 4;

fn fabric() -> Fabric {
    Fabric::new(leaf_spine(SPINES, 2, ""), 9)
}

fn sent(path: UsidContainer, v6: bool) -> Sent {
    let srv6 = Some(Srv6Encap {
        path,
        ecn: Ecn::Ect0,
        src: "fd00::1".parse().unwrap(),
        ..Srv6Encap::default()
    });
    Sent {
        srv6,
        v6,
        ..Sent::new(HostId(0), HostId(2))
    }
}

/// Frames from leaf 0 to each spine.
fn uplinks(fabric: &Fabric) -> Vec<u64> {
    (0..SPINES)
        .map(|spine| {
            let link = fabric
                .topology()
                .link(&format!("p0.leaf0-spine{spine}"))
                .unwrap();
            fabric.stats(link.forward()).unwrap().sent_frames
        })
        .collect()
}

fn walk(path: UsidContainer) -> (Fabric, Option<Srv6Encap>) {
    let mut fabric = fabric();
    sent(path, false).send(&mut fabric, 0);
    let deliveries = run(&mut fabric);
    let outer = deliveries.first().map(|delivery| {
        assert_eq!((delivery.host, delivery.port), (HostId(2), 0));
        parsed(delivery)
            .srv6
            .expect("the NIC decapsulates, not the fabric")
    });
    (fabric, outer)
}

fn the_drop(fabric: &Fabric) -> (String, DropReason) {
    let drops: Vec<_> = (0..)
        .map_while(|index| Some((index, fabric.switch_drops(sim_net::SwitchId(index))?)))
        .flat_map(|(index, drops)| {
            drops
                .iter()
                .map(|(reason, n)| (index, reason, n))
                .collect::<Vec<_>>()
        })
        .collect();
    let [(switch, reason, 1)] = drops[..] else {
        panic!("{drops:?}")
    };
    assert_eq!(fabric.totals().dropped.total(), 1);
    (
        fabric.topology().switches()[switch as usize].name.clone(),
        reason,
    )
}

#[test]
fn every_spine_can_be_chosen() {
    for v6 in [false, true] {
        for spine in 0..SPINES {
            let mut fabric = fabric();
            let via = [fabric
                .topology()
                .switch(&format!("p0.spine{spine}"))
                .unwrap()];
            let path = fabric.topology().usid_path(&via, HostId(2), 0).unwrap();
            for psn in 0..10 {
                Sent {
                    psn,
                    sport: psn as u16,
                    ..sent(path, v6)
                }
                .send(&mut fabric, 0);
            }
            let deliveries = run(&mut fabric);
            assert_eq!(deliveries.len(), 10);
            for delivery in &deliveries {
                let frame = parsed(delivery);
                let outer = frame.srv6.unwrap();
                // Only the host's own uSID is left, in front, and three switches have each lowered the hop limit.
                assert_eq!(
                    outer.path,
                    UsidContainer::new(0xfcbb_bb00, &[0x1002]).unwrap()
                );
                assert_eq!(outer.hop_limit, 61);
                // The inner packet is unchanged.
                let mut as_sent = sent(path, v6)
                    .roce(fabric.topology())
                    .with_derived_fields()
                    .unwrap();
                (as_sent.bth.psn, as_sent.udp.sport) = (frame.bth.psn, frame.udp.sport);
                assert_eq!(
                    (frame.ip, frame.udp, &frame.payload),
                    (as_sent.ip, as_sent.udp, &as_sent.payload)
                );
            }
            let counts: Vec<u64> = (0..SPINES)
                .map(|at| if at == spine { 10 } else { 0 })
                .collect();
            assert_eq!(uplinks(&fabric), counts);
        }
    }
}

#[test]
fn a_path_may_name_every_switch_and_detours() {
    let topology = leaf_spine(SPINES, 2, "");
    // A uSID that occurs twice in a row is shifted out twice.
    let names = [
        "p0.leaf0",
        "p0.spine3",
        "p0.leaf1",
        "p0.spine0",
        "p0.spine0",
    ];
    let via = names.map(|name| topology.switch(name).unwrap());
    let path = topology.usid_path(&via, HostId(2), 0).unwrap();
    let (fabric, outer) = walk(path);
    assert_eq!(outer.unwrap().path.active(), 0x1002);
    assert_eq!(outer.unwrap().hop_limit, 64 - 5);
    assert_eq!(uplinks(&fabric), [0, 0, 0, 1]);
    let detour = fabric.topology().link("p0.leaf1-spine0").unwrap();
    for channel in detour.channels() {
        assert_eq!(fabric.stats(channel).unwrap().sent_frames, 1);
    }
}

#[test]
fn without_a_spine_the_outer_flow_label_decides() {
    let mut fabric = fabric();
    let path = fabric.topology().usid_path(&[], HostId(2), 0).unwrap();
    for flow_label in 0..400 {
        let mut frame = sent(path, true);
        frame.srv6.as_mut().unwrap().flow_label = flow_label;
        frame.send(&mut fabric, 0);
    }
    assert_eq!(run(&mut fabric).len(), 400);
    let counts = uplinks(&fabric);
    assert!(
        counts.iter().all(|&n| (60..=140).contains(&n)),
        "{counts:?}"
    );
    // The inner headers have no influence: one outer header means one path.
    let mut fabric = self::fabric();
    for sport in 0..100 {
        Sent {
            sport,
            ..sent(path, true)
        }
        .send(&mut fabric, 0);
    }
    run(&mut fabric);
    assert_eq!(uplinks(&fabric).iter().filter(|&&n| n != 0).count(), 1);
}

fn adjacency(topology: &Topology, link: &str, forward: bool) -> u16 {
    let link = topology.link(link).unwrap();
    let channel = if forward {
        link.forward()
    } else {
        link.backward()
    };
    topology.adjacency_usid(channel).unwrap()
}

#[test]
fn ports_can_be_named_up_to_the_last() {
    let topology = leaf_spine(SPINES, 2, "");
    // The path names leaf 0's port to spine 2, spine 2's port to leaf 1, and leaf 1's port to host 2, so no switch looks up a route.
    let up = adjacency(&topology, "p0.leaf0-spine2", true);
    let down = adjacency(&topology, "p0.leaf1-spine2", false);
    let last = adjacency(&topology, "p0.h2-leaf1", false);
    let path = UsidContainer::new(topology.usid_block(), &[up, down, last]).unwrap();
    let (fabric, outer) = walk(path);
    assert_eq!(uplinks(&fabric), [0, 0, 1, 0]);
    assert_eq!(
        outer.unwrap().path,
        UsidContainer::new(topology.usid_block(), &[last]).unwrap()
    );
}

#[test]
fn a_container_that_ends_at_a_switch_is_dropped_there() {
    let topology = leaf_spine(SPINES, 2, "");
    let spine = topology.switches()[topology.switch("p0.spine1").unwrap().0 as usize].usid;
    let block = topology.usid_block();
    let (fabric, none) = walk(UsidContainer::new(block, &[spine]).unwrap());
    assert_eq!(none, None);
    assert_eq!(
        the_drop(&fabric),
        ("p0.spine1".into(), DropReason::UsidExhausted)
    );

    let up = adjacency(&topology, "p0.leaf0-spine2", true);
    let (fabric, _) = walk(UsidContainer::new(block, &[up]).unwrap());
    assert_eq!(
        the_drop(&fabric),
        ("p0.leaf0".into(), DropReason::UsidExhausted)
    );

    let (fabric, _) = walk(UsidContainer {
        block,
        usids: [spine, 0, 0x1002, 0, 0, 0],
    });
    assert_eq!(
        the_drop(&fabric),
        ("p0.spine1".into(), DropReason::UsidExhausted)
    );

    let (fabric, _) = walk(UsidContainer {
        block,
        usids: [0; 6],
    });
    assert_eq!(
        the_drop(&fabric),
        ("p0.leaf0".into(), DropReason::UsidExhausted)
    );
}

#[test]
fn unknown_usids_are_dropped_where_they_are_met() {
    let topology = leaf_spine(SPINES, 2, "");
    let spine = topology.switches()[topology.switch("p0.spine1").unwrap().0 as usize].usid;
    let block = topology.usid_block();
    for stranger in [0x0fff, 0xdfff, 0xe000 + 2] {
        // Spine 1 has two ports, 0xe000 and 0xe001.
        let (fabric, _) = walk(UsidContainer::new(block, &[spine, stranger, 0x1002]).unwrap());
        assert_eq!(
            the_drop(&fabric),
            ("p0.spine1".into(), DropReason::UnknownUsid),
            "{stranger:#x}"
        );
    }
    // Another block is an ordinary address, which no node has.
    let (fabric, _) = walk(UsidContainer::new(0xfcbb_bb01, &[spine, 0x1002]).unwrap());
    assert_eq!(the_drop(&fabric), ("p0.leaf0".into(), DropReason::NoRoute));
}

#[test]
fn the_mark_goes_to_the_outer_header() {
    let text = "
        hosts = [{ name = 'a' }, { name = 'b' }, { name = 'c' }]
        switches = [{ name = 's', usid = 0x77 }]
        links = [{ name = 'a', ends = ['a', 's'] }, { name = 'b', ends = ['b', 's'] }, { name = 'c', ends = ['s', 'c'] }]
        fabric = { ecn_at_last_hop = true, usid_block = '2001:db8' }
        [defaults]
        rate_gbps = 100
        ecn = { min_bytes = 0, max_bytes = 0, max_probability = 1.0 }";
    let mut fabric = Fabric::new(topology(text), 1);
    let path = fabric
        .topology()
        .usid_path(&[sim_net::SwitchId(0)], HostId(2), 0)
        .unwrap();
    assert_eq!(
        (path.block, path.usids[..2].to_vec()),
        (0x2001_0db8, vec![0x77, 0x1002])
    );
    for from in [0, 1] {
        Sent {
            from: HostId(from),
            ..sent(path, true)
        }
        .send(&mut fabric, 0);
    }
    let deliveries = run(&mut fabric);
    let frame = parsed(&deliveries[1]);
    assert_eq!(frame.srv6.unwrap().ecn, Ecn::CongestionExperienced);
    assert_eq!(frame.ip.ecn(), Ecn::Ect0);
}

#[test]
fn paths_that_cannot_be_are_none() {
    let planes = topology("[defaults]\nrate_gbps = 1\n[leaf_spine]\nplanes = 2\nleaves = 1\nspines = 1\nhosts_per_leaf = 1");
    let spine = |plane| planes.switch(&format!("p{plane}.spine0")).unwrap();
    assert!(planes.usid_path(&[spine(1)], HostId(0), 1).is_some());
    assert_eq!(planes.usid_path(&[spine(0)], HostId(0), 1), None);
    assert_eq!(planes.usid_path(&[], HostId(0), 2), None);
    assert_eq!(planes.usid_path(&[], HostId(1), 0), None);
    assert!(planes.usid_path(&[spine(0); 5], HostId(0), 0).is_some());
    assert_eq!(planes.usid_path(&[spine(0); 6], HostId(0), 0), None);
}
