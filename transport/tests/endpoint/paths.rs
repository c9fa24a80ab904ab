//! MRC: planes that die, paths that are bad, probes, SRv6, NACKs of the fabric.

use stellar_transport::endpoint::TransportConfig;
use stellar_transport::spray::{EntropyField, EvIndex, EvState, Policy, Srv6Template};
use stellar_wire::host::PathCount;
use stellar_wire::mrc::NackReason;
use stellar_wire::rows::PathUseRow;
use stellar_wire::{Opcode, RoceFrame, UsidContainer};

use crate::endpoint::network::{refusal, Fate, Refusal};
use crate::endpoint::pair::{mrc, perfect, planes, qp, spray, write, Pair};

const QP: u32 = 5;

pub fn with_policy(policy: Policy, paths: u8) -> Pair {
    let mut pair = Pair::new(perfect);
    pair.connect(|card| {
        let mut config = mrc(10);
        config.spray = spray(policy, paths, 3);
        qp(card, QP, 10, TransportConfig::Mrc(config))
    });
    pair
}

/// Sends through a plane 1 that the fabric swallows from `from` to `to` ticks after the start.
fn with_dead_plane(mut pair: Pair, from: u64, to: u64) -> Pair {
    let start = pair.now;
    pair.network.set_rule(move |seen| {
        let dead = (start + from..start + to).contains(&seen.now);
        Fate::lost_if(dead && seen.port == 1)
    });
    for i in 0..40 {
        pair.post(QP, write(i * 6000, i * 6000, 5999, i));
    }
    pair.run_for(60_000);
    for i in 0..40 {
        pair.post(QP, write(i * 6000, i * 6000, 5999, 40 + i));
    }
    pair.finish(QP, 0..80);
    pair
}

#[test]
fn one_plane_dead_mid_transfer_and_back() {
    let pair = with_dead_plane(with_policy(Policy::Obs, 128), 300, 50_000);
    let counters = pair.cards[0].qp_counters(QP).expect("counters");
    assert!(
        counters.timeouts > 0,
        "the plane carried something when it died"
    );
    // Every packet lost on plane 1 was retransmitted on plane 0 at once, so no packet was lost twice.
    assert!(counters.retransmissions <= counters.packets / 2);
}

#[test]
fn bad_paths_are_left_and_probed_and_taken_back() {
    let pair = with_dead_plane(with_policy(Policy::EvState, 32), 300, 50_000);
    let counters = pair.cards[0].qp_counters(QP).expect("counters");
    assert!(
        counters.probes > 0 && counters.probe_answers > 0,
        "{counters:?}"
    );
}

#[test]
fn a_port_that_is_down_sends_nothing_and_the_other_takes_all() {
    let mut pair = with_policy(Policy::Obs, 128);
    pair.network.log = Some(Vec::new());
    pair.post(QP, write(0, 0, 200 * 1024, 1));
    pair.run_for(200);
    for card in &mut pair.cards {
        card.set_port(1, false);
    }
    let down_at = pair.now;
    pair.run_for(40_000);
    let log = pair.network.log.as_ref().expect("log");
    let after = log
        .iter()
        .filter(|(at, _, port, _)| *at > down_at && *port == 1);
    assert_eq!(after.count(), 0, "frames on a port that is down");
    for card in &mut pair.cards {
        card.set_port(1, true);
    }
    pair.post(QP, write(0, 0, 50 * 1024, 2));
    pair.finish(QP, [1, 2]);
    let up_at = down_at + 40_000;
    let log = pair.network.log.as_ref().expect("log");
    assert!(
        log.iter()
            .any(|(at, _, port, _)| *at >= up_at && *port == 1),
        "the port is back in use"
    );
    assert!(
        pair.cards[1].counters().frames_while_down > 0,
        "some frames were on the way"
    );
}

#[test]
fn a_single_path_keeps_to_its_path() {
    let mut pair = with_policy(Policy::SinglePath, 1);
    let mut n = 0;
    pair.network.set_rule(move |seen| {
        n += u32::from(seen.is_data());
        Fate::lost_if(seen.is_data() && n % 9 == 0)
    });
    pair.post(QP, write(0, 0, 60_000, 1));
    pair.finish(QP, [1]);
    let loads = pair.cards[0].path_loads(QP).expect("loads");
    assert_eq!(loads.iter().filter(|&&packets| packets > 0).count(), 1);
    assert!(
        pair.cards[0]
            .qp_counters(QP)
            .expect("counters")
            .retransmissions
            > 5
    );
}

#[test]
fn losses_are_counted_by_path_and_a_path_that_is_denied_is_not_used_until_it_is_allowed() {
    let mut pair = with_policy(Policy::Obs, 8);
    let bad = EvIndex::new(3).expect("a path");
    let mut n = 0;
    pair.network.set_rule(move |seen| {
        let on_it = seen.is_data() && seen.frame.udp.sport == 0xc000 + 3;
        n += u32::from(on_it);
        Fate {
            lost: on_it && n % 3 == 0,
            marked: seen.is_data() && seen.frame.udp.sport == 0xc000 + 5,
            ..Fate::default()
        }
    });
    pair.post(QP, write(0, 0, 100_000, 1));
    pair.finish(QP, [1]);
    let counters = *pair.cards[0].qp_counters(QP).expect("counters");
    let loads = pair.cards[0].path_loads(QP).expect("loads").to_vec();
    let mut take = || -> Vec<PathCount> {
        let mut take = |index| pair.cards[0].take_path_count(QP, index);
        EvIndex::all()
            .map(|index| take(index).expect("counted"))
            .collect()
    };
    let counts = take();
    let lost = counters.timeouts + counters.early_losses;
    assert!(lost > 0 && counters.ecn_marks > 0, "{counters:?}");
    for (path, count) in counts.iter().enumerate() {
        let lost = if path == 3 { lost } else { 0 };
        let marked = if path == 5 { counters.ecn_marks } else { 0 };
        let expected = [loads[path], marked, lost];
        assert_eq!(
            [count.sent, count.marked, count.lost].map(u64::from),
            expected
        );
    }
    assert!(take().iter().all(|count| *count == PathCount::default()));

    let load = |pair: &Pair| pair.cards[0].path_loads(QP).expect("loads")[3];
    let before = load(&pair);
    let denied = |denied| PathUseRow {
        index: bad.value(),
        denied,
    };
    pair.cards[0].use_path(QP, denied(true));
    assert_eq!(pair.cards[0].ev_state(QP, bad), Some(EvState::Denied));
    pair.post(QP, write(0, 0, 100_000, 2));
    pair.finish(QP, [2]);
    assert_eq!(load(&pair), before);
    pair.cards[0].use_path(QP, denied(false));
    pair.post(QP, write(0, 0, 100_000, 3));
    pair.finish(QP, [3]);
    assert!(load(&pair) > before);
}

#[test]
fn control_packets_take_paths_known_to_be_good() {
    // Card 1 writes too, so it learns which of its own paths work.
    let mut pair = with_policy(Policy::Obs, 8);
    pair.network.log = Some(Vec::new());
    let back = write(0, 200_000, 20_000, 1);
    pair.cards[1].post(QP, back).expect("room");
    pair.run();
    let learnt = pair.network.log.replace(Vec::new()).expect("log").len();
    pair.post(QP, write(0, 0, 20_000, 1));
    pair.finish(QP, [1]);
    assert_eq!(learnt, 40, "20 packets and their SACKs");
    let log = pair.network.log.take().expect("log");
    let sacks = log
        .iter()
        .filter(|(_, from, _, f)| *from == 1 && f.bth.opcode == Opcode::MrcSack);
    let mut by_port = [Vec::new(), Vec::new()];
    for (_, _, port, frame) in sacks {
        by_port[*port].push(frame.udp.sport);
    }
    for ports in &mut by_port {
        ports.dedup();
        assert_eq!(
            ports.len(),
            1,
            "one known-good value per plane while nothing new is learnt"
        );
        assert!((0xc000..0xc008).contains(&ports[0]));
    }
    assert_ne!(by_port[0], by_port[1]);
}

/// The NACK of card 1 about `data`.
fn nack(data: &RoceFrame, reason: NackReason) -> Vec<u8> {
    let frame = refusal(data, Refusal::Nack(reason));
    frame.emit().expect("a good frame")
}

/// Loses the first packet of a message and answers it with a NACK instead. Returns the pair before the last NACK arrives.
fn nacked(reason: NackReason, times: usize) -> Pair {
    nacked_with(Policy::Obs, reason, times)
}

/// As [`nacked`], with this policy.
pub fn nacked_with(policy: Policy, reason: NackReason, times: usize) -> Pair {
    let mut pair = with_policy(policy, 128);
    let mut copies = 0;
    pair.network.set_rule(move |seen| {
        let target = seen.is_data() && seen.psn() == 0x1000;
        copies += usize::from(target);
        Fate::lost_if(target && copies <= times)
    });
    pair.network.log = Some(Vec::new());
    pair.post(QP, write(0, 0, 3000, 1));
    for _ in 0..times {
        pair.run_for(600);
        let log = pair.network.log.as_ref().expect("log");
        let data = log
            .iter()
            .rev()
            .find(|(.., f)| f.bth.opcode.is_write() && f.bth.psn == 0x1000);
        let &(_, _, port, ref data) = data.expect("the packet");
        let frame = nack(data, reason);
        pair.network.deliver(pair.now, 0, port, frame);
    }
    pair
}

#[test]
fn a_packet_that_is_refused_is_sent_again_at_once() {
    for reason in [
        NackReason::Trimmed,
        NackReason::TrimmedLastHop,
        NackReason::NoBitmap,
        NackReason::NoPktBuffer,
        NackReason::NoResource,
        NackReason::PsnOutOfWindow,
    ] {
        let mut pair = nacked(reason, 20);
        pair.finish(QP, [1]);
        let counters = pair.cards[0].qp_counters(QP).expect("counters");
        let nacks = counters.nacks_trimmed + counters.nacks_recoverable;
        assert_eq!((nacks, counters.timeouts), (20, 0));
        assert_eq!(counters.retransmissions, 20);
    }
}

#[test]
fn a_nack_of_an_earlier_transmission_or_an_unknown_reason_changes_nothing() {
    let mut pair = nacked(NackReason::Other(99), 1);
    pair.finish(QP, [1]);
    let counters = *pair.cards[0].qp_counters(QP).expect("counters");
    assert_eq!(
        (counters.nacks_ignored, counters.timeouts),
        (1, 1),
        "left to the timer"
    );

    let mut pair = nacked(NackReason::Trimmed, 1);
    pair.run_for(50);
    let sent = pair.network.log.iter().flatten();
    let copies = sent.filter(|(.., frame)| frame.bth.opcode.is_write() && frame.bth.psn == 0x1000);
    let [(port, first), (_, second)] = &copies
        .map(|(_, _, port, frame)| (*port, frame.clone()))
        .collect::<Vec<_>>()[..]
    else {
        panic!("the first packet and its retransmission");
    };
    assert!(first.ext.tseth.is_none() && second.ext.tseth.is_some());
    let stale = nack(first, NackReason::Trimmed);
    pair.network.deliver(pair.now, 0, *port, stale);
    pair.finish(QP, [1]);
    let counters = *pair.cards[0].qp_counters(QP).expect("counters");
    assert_eq!((counters.nacks_ignored, counters.retransmissions), (1, 1));
}

#[test]
fn srv6_paths_follow_from_plane_and_entropy() {
    let path = UsidContainer::new(0xfcbb_bb00, &[0x1000, 0x2000, 0x3001]).expect("path");
    let template =
        Srv6Template::new(path, 0x100, 1, EntropyField { low: 1, bits: 4 }).expect("template");
    let mut pair = Pair::new(perfect);
    let v6 = |card: u8| {
        planes(card).map(|mut plane| {
            let host = u16::from(plane.mac.0[5]) << 8 | u16::from(card);
            plane.ip = [0xfd00, 0, 0, 0, 0, 0, 0, host].into();
            plane
        })
    };
    pair.cards = [0, 1].map(|number| crate::endpoint::pair::card_at(number, v6(number)));
    pair.connect(|card| {
        let mut qp = qp(card, QP, 10, TransportConfig::Mrc(mrc(10)));
        qp.srv6 = Some(template);
        qp.peer.planes = v6(1 - card);
        qp
    });
    pair.network.log = Some(Vec::new());
    pair.post(QP, write(7, 9, 150_000, 1));
    pair.finish(QP, [1]);
    for (_, _, port, frame) in pair.network.log.take().expect("log") {
        let outer = frame.srv6.expect("encapsulated");
        let uplink = frame.udp.sport >> 1 & 15;
        let step = 0x100 * port as u16;
        let expected = [
            0x1000 + step,
            0x2000 + step + uplink,
            0x3001 + step,
            0,
            0,
            0,
        ];
        assert_eq!(outer.path.usids, expected);
    }
}

/// HP3: the first path is marked without end. Data pauses, paths are probed, and another one carries the rest, in order.
#[test]
fn a_path_that_stays_congested_is_left_when_nothing_is_in_flight() {
    let mut pair = with_policy(Policy::Hp3, 32);
    let mut congested = None;
    pair.network.set_rule(move |seen| {
        let port = seen.frame.udp.sport;
        let marked = seen.is_data() && *congested.get_or_insert(port) == port;
        Fate {
            marked,
            // The probe of the congested path comes back late.
            delay: if congested == Some(port) { 900 } else { 0 },
            ..Fate::default()
        }
    });
    pair.network.log = Some(Vec::new());
    for i in 0..8 {
        pair.post(QP, write(0, 0, 200 * 1024, i));
    }
    let cwnd = |pair: &Pair| pair.cards[0].congestion(QP).expect("its state").cwnd;
    let probes = |pair: &Pair| pair.cards[0].qp_counters(QP).expect("counters").probes;
    let paths = |pair: &Pair| {
        let log = pair.network.log.as_ref().expect("log");
        let data = log.iter().filter(|(.., frame)| frame.bth.opcode.is_write());
        let mut paths: Vec<u16> = data.map(|(.., frame)| frame.udp.sport).collect();
        paths.dedup();
        paths
    };
    let most = cwnd(&pair);
    let mut saved = most;
    while probes(&pair) == 0 {
        saved = cwnd(&pair);
        pair.run_for(1);
    }
    while paths(&pair).len() == 1 {
        pair.run_for(1);
    }
    assert!(saved < most, "{saved} of {most}");
    // The window has fractions of a byte.
    let raised = (saved * 3 / 2).min(most);
    assert!(
        cwnd(&pair).abs_diff(raised) <= 1,
        "{} of {raised}",
        cwnd(&pair)
    );
    pair.finish(QP, 0..8);
    let counters = *pair.cards[0].qp_counters(QP).expect("counters");
    // Probes that have not left when the first one is answered are dropped.
    assert!((2..=8).contains(&counters.probes), "{counters:?}");
    assert_eq!(counters.retransmissions, 0);
    assert_eq!(paths(&pair).len(), 2, "one change of the path");
}
