//! Entropy profiles of queue pairs, over a fabric whose switches hash their values.

use sim_net::{Fabric, Frame};
use sim_nic::{chosen_shape, host_ports};
use sim_world::Plan;
use stellar_driver::*;
use stellar_wire::mrc::Meth;
use stellar_wire::{Bth, Ecn, Ethernet, ExtHeaders, Ip, Ipv4, Opcode, Reth, RoceFrame, Udp};

use crate::verbs::hosts::*;
use crate::verbs::path_manager::{connect_by_paths, two_spines};

/// Paths of a queue pair, half of them by each port.
const PATHS: usize = 8;
/// A message of 256 packets.
const BYTES: u32 = 64 << 10;
const MTU_LOG2: u8 = 8;
/// Frames that wait for the slow spine are marked.
const MARKS: &str = "set.ecn = { min_bytes = 0, max_bytes = 0, max_probability = 1.0 }";

/// A data packet from one host of `plan` to the other by port 0, with this UDP source port.
fn frame(plan: &Plan, sport: u16) -> Vec<u8> {
    let [source, target] =
        [plan.sender, plan.receiver].map(|host| &plan.topology.hosts()[host.0 as usize].ports[0]);
    let packet = RoceFrame {
        eth: Ethernet {
            dst: target.mac,
            src: source.mac,
            ethertype: 0,
        },
        ip: Ip::V4(Ipv4 {
            src: source.ipv4,
            dst: target.ipv4,
            ecn: Ecn::Ect0,
            ..Ipv4::default()
        }),
        udp: Udp {
            sport,
            ..Udp::default()
        },
        bth: Bth {
            opcode: Opcode::MrcWriteOnly,
            ..Bth::default()
        },
        ext: ExtHeaders {
            meth: Some(Meth::default()),
            reth: Some(Reth::default()),
            ..ExtHeaders::default()
        },
        ..RoceFrame::default()
    };
    packet.emit().unwrap()
}

/// Whether the switches of `plan` send frames with this UDP source port over the slow spine: asked of a fabric of the same kind.
pub fn is_slow(plan: &Plan, sport: u16) -> bool {
    let mut fabric = Fabric::new(plan.topology.clone(), plan.seed);
    let frame = Frame::new(frame(plan, sport));
    fabric.send(plan.sender, 0, 0, frame).unwrap();
    let delivery = fabric.next_delivery(u64::MAX).unwrap();
    assert_eq!(delivery.host, plan.receiver);
    let link = plan.topology.link("p0.leaf0-spine1").unwrap();
    let up = link.forward();
    let sent = |channel| fabric.stats(channel).unwrap().sent_frames;
    sent(up) + sent(up.opposite()) > 0
}

#[test]
fn packets_of_an_explicit_profile_take_the_paths_of_its_values_and_marks_lead_back_to_them() {
    let slow = host_ports(chosen_shape()).rate_gbps / 4;
    let (_pair, plan, devices) = two_spines(&format!("set.rate_gbps = {slow}\n{MARKS}"));
    let ports = (0..).map(|n: u32| 0x4000 + (n * 0x2f1) % 0x4000);
    let (marked, free): (Vec<u32>, Vec<u32>) = ports
        .take(64)
        .partition(|&value| is_slow(&plan, value as u16));
    let by_port_1: Vec<u32> = (0..4).map(|n| 0x9000 + 0x333 * n).collect();
    let active = |by_port_0: [u32; PATHS / 2]| -> Vec<u32> {
        let pairs = by_port_0.iter().zip(&by_port_1);
        pairs.flat_map(|(&even, &odd)| [even, odd]).collect()
    };
    let device = &devices[0];
    let over_one = active([free[0], free[1], free[2], free[3]]);
    let over_both = active([marked[0], free[4], marked[1], free[5]]);
    device.set_explicit_profile(1, &over_one, &[]).unwrap();
    device.set_explicit_profile(2, &over_both, &[]).unwrap();

    let [a, b] = open(&devices, false);
    let (source, target) = (
        a.region(BYTES as usize, false),
        b.region(BYTES as usize, true),
    );
    let to = target.remote();
    let run = |profile: u8, policy: Policy| {
        let (qa, qb) = (a.qp(), b.qp());
        let peer = PathAttributes {
            paths: PATHS as u8,
            mtu_log2: MTU_LOG2,
            policy,
            skip: SkipScope::NextTurn,
            ..PathAttributes::default()
        };
        connect_by_paths([&qa, &qb], [PathAttributes { profile, ..peer }, peer]);
        qa.path_counts().unwrap();
        // A message of 256 packets has left before the first mark comes back, so the second one is the first to skip paths.
        for id in 0..2 {
            let slice = source.slice(0, BYTES).unwrap();
            let write = WorkRequest::write(id, slice, to.address, to.rkey);
            qa.post_send(&write).unwrap();
            assert_eq!(ends(&a.completions(1)), [(id, WcStatus::Success)]);
        }
        let again = qa.counters().unwrap().get(QpCounter::Retransmissions);
        assert_eq!(again, 0, "nothing is lost");
        let in_use = device.set_explicit_profile(profile, &over_one, &[]);
        let expected = ProfileUseError::InUse(profile);
        assert!(matches!(in_use, Err(Error::ProfileUse(error)) if error == expected));
        let counts = qa.path_counts().unwrap();
        println!("profile {profile}: {counts:?}");
        counts
    };

    // Values at equal distances lead over both spines.
    let counts = run(0, Policy::Obs);
    assert!(counts.iter().any(|path| path.counts.marked > 0));
    // Those that were chosen for it lead over one only.
    let counts = run(1, Policy::Obs);
    assert_eq!(counts.len(), PATHS);
    assert!(counts
        .iter()
        .all(|path| path.counts.sent > 0 && path.counts.marked == 0));
    // Marks name the paths over the other one, and those are skipped.
    let counts = run(2, Policy::EvState);
    for path in &counts {
        let expected = [0, 4].contains(&path.index);
        assert_eq!(path.counts.marked > 0, expected, "path {}", path.index);
    }
    let sent = |indices: [usize; 2]| indices.map(|index| counts[index].counts.sent);
    let [marked, free] = [[0, 4], [2, 6]].map(|indices| sent(indices).iter().sum::<u64>());
    assert!(
        marked < free,
        "{marked} packets on marked paths, {free} on others"
    );
    // A profile that no queue pair has any more gets other values.
    device.set_explicit_profile(2, &over_one, &[]).unwrap();
}
