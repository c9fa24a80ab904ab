//! MRC: loss, duplication and reordering, window and numbers.

use std::collections::BTreeSet;

use stellar_transport::endpoint::TransportConfig;
use stellar_transport::requester::MrcConfig;
use stellar_transport::responder::Responder;
use stellar_transport::rx::{DropReason, Psn};
use stellar_transport::spray::Policy;
use stellar_transport::time::Ticks;
use stellar_wire::Opcode;

use crate::endpoint::network::Fate;
use crate::endpoint::pair::{mrc, perfect, qp, spray, write, Pair};

const QP: u32 = 5;

/// A pair with one MRC queue pair. `change` sets its configuration, and its PSNs start at `first`.
fn pair_with(first: u32, change: impl Fn(&mut MrcConfig)) -> Pair {
    let mut pair = Pair::new(perfect);
    pair.connect(|card| {
        let mut config = mrc(10);
        change(&mut config);
        let mut qp = qp(card, QP, 10, TransportConfig::Mrc(config));
        qp.sq_psn = Psn::new(first);
        qp.rq_psn = Psn::new(first);
        qp
    });
    pair
}

#[test]
fn without_loss_nothing_is_sent_twice() {
    let mut pair = Pair::mrc(perfect);
    pair.post(QP, write(0, 0, 100_000, 1));
    pair.post(QP, write(100_000, 100_001, 50_003, 2));
    pair.finish(QP, [1, 2]);
    let counters = *pair.cards[0].qp_counters(QP).expect("queue pair");
    assert_eq!(counters.packets, 98 + 49);
    assert_eq!((counters.retransmissions, counters.timeouts), (0, 0));
    assert_eq!(counters.bytes, 150_003);
    assert_eq!(pair.cards[1].memory().bytes_written, 150_003);
}

#[test]
fn both_planes_carry_the_same_load() {
    let mut pair = Pair::mrc(perfect);
    pair.post(QP, write(0, 0, 200 * 1024, 1));
    pair.finish(QP, [1]);
    let loads = pair.cards[0].path_loads(QP).expect("loads");
    let plane = |p: usize| loads.iter().skip(p).step_by(2).sum::<u64>();
    assert_eq!(plane(0) + plane(1), 200);
    assert!(
        plane(0).abs_diff(plane(1)) <= 2,
        "{} and {}",
        plane(0),
        plane(1)
    );
    let used = loads.iter().filter(|&&packets| packets > 0).count();
    assert_eq!(used, 128, "200 packets over 128 paths touch each");
}

#[test]
fn duplicate_data_is_placed_once() {
    let mut pair = Pair::mrc(|seen| Fate {
        again_after: seen.is_data().then_some(777),
        ..Fate::default()
    });
    pair.post(QP, write(3, 5, 60_001, 1));
    pair.finish(QP, [1]);
    assert_eq!(pair.cards[1].memory().bytes_written, 60_001);
    assert_eq!(
        pair.cards[1].rx_counters().reason(DropReason::Duplicate),
        59
    );
}

#[test]
fn lost_sacks_cost_no_data() {
    let mut count = 0;
    let mut pair = Pair::mrc(move |seen| {
        count += u32::from(seen.is(Opcode::MrcSack));
        Fate::lost_if(seen.is(Opcode::MrcSack) && count % 10 != 0 && count < 140)
    });
    pair.post(QP, write(0, 0, 150_000, 1));
    pair.finish(QP, [1]);
    assert_eq!(
        pair.cards[0]
            .qp_counters(QP)
            .expect("counters")
            .retransmissions,
        0
    );
}

#[test]
fn the_last_packet_lost_comes_after_its_timeout() {
    let mut lost = false;
    let mut pair = Pair::mrc(move |seen| {
        let first = seen.is(Opcode::MrcWriteLast) && !lost;
        lost |= first;
        Fate::lost_if(first)
    });
    pair.network.log = Some(Vec::new());
    pair.post(QP, write(0, 0, 10_000, 1));
    pair.finish(QP, [1]);
    let log = pair.network.log.take().expect("log");
    let last: Vec<_> = log
        .iter()
        .filter(|(.., frame)| frame.bth.opcode == Opcode::MrcWriteLast)
        .collect();
    let [(t0, _, plane0, first), (t1, _, plane1, second)] = last[..] else {
        panic!("{} last packets", last.len());
    };
    assert!((31_250..31_300).contains(&(t1 - t0)), "{} ticks", t1 - t0);
    assert_ne!(plane0, plane1, "a retransmission takes the other plane");
    assert!(!first.bth.retransmit && second.bth.retransmit, "RTX bit");
    assert_eq!(first.bth.psn, second.bth.psn);
    assert_eq!(
        (first.ext.reth, &first.payload),
        (second.ext.reth, &second.payload)
    );
    assert!(
        first.ext.tseth.is_none() && second.ext.tseth.is_some(),
        "a time stamp tells a transmission from the one before"
    );
}

#[test]
fn every_packet_of_a_message_lost_once() {
    let mut seen_once = BTreeSet::new();
    let mut pair =
        Pair::mrc(move |seen| Fate::lost_if(seen.is_data() && seen_once.insert(seen.psn())));
    pair.post(QP, write(1, 2, 40 * 1024 + 1, 9));
    pair.finish(QP, [9]);
    let counters = pair.cards[0].qp_counters(QP).expect("counters");
    assert_eq!((counters.retransmissions, counters.timeouts), (41, 41));
}

#[test]
fn psn_wraps_in_the_middle_of_a_message() {
    let mut pair = pair_with((1 << 24) - 20, |_| {});
    let mut n = 0;
    pair.network.set_rule(move |seen| {
        n += u64::from(seen.is_data());
        Fate {
            lost: seen.is_data() && n % 17 == 0,
            delay: n * 7919 % 300,
            ..Fate::default()
        }
    });
    pair.post(QP, write(0, 0, 60_000, 1));
    pair.post(QP, write(60_000, 60_000, 30_000, 2));
    pair.finish(QP, [1, 2]);
    assert!(
        pair.cards[0]
            .qp_counters(QP)
            .expect("counters")
            .retransmissions
            >= 4
    );
}

#[test]
fn the_window_never_spans_more_than_mpr() {
    // The first packet is held back for long: everything up to MPR leaves, and no more (the pair checks each step).
    let mut pair = pair_with(0x10, |config| config.mpr = 64);
    pair.network.set_rule(|seen| Fate {
        delay: if seen.is_data() && seen.psn() == 0x10 {
            20_000
        } else {
            0
        },
        ..Fate::default()
    });
    pair.post(QP, write(0, 0, 150 * 1024, 1));
    pair.run_for(15_000);
    assert_eq!(pair.cards[0].window(QP).expect("window").len(), 64);
    assert_eq!(pair.cards[0].qp_counters(QP).expect("counters").packets, 64);
    pair.finish(QP, [1]);
    assert_eq!(
        pair.cards[1]
            .rx_counters()
            .reason(DropReason::PsnOutsideWindow),
        0
    );
}

#[test]
fn a_full_window_of_messages_of_some_packets_drains() {
    // 64 messages of 16 packets are 1,024 packets.
    let mut pair = pair_with(0x10, |config| config.mpr = 1024);
    pair.network.set_rule(|seen| Fate {
        delay: if seen.is_data() && seen.psn() == 0x10 {
            28_000
        } else {
            0
        },
        ..Fate::default()
    });
    for i in 0..100 {
        pair.post(QP, write(i * 100, i * 100, 16 * 1024, i));
    }
    pair.run_for(20_000);
    assert_eq!(
        pair.cards[0].window(QP).expect("window").len(),
        1024,
        "MPR reached"
    );
    pair.finish(QP, 0..100);
}

#[test]
fn early_loss_detection_beats_the_timer() {
    let rule = |seen: &crate::endpoint::network::Seen<'_>| {
        Fate::lost_if(seen.is_data() && seen.psn() == 0x30 && !seen.frame.bth.retransmit)
    };
    let mut pair = pair_with(0x10, |config| config.early_loss = 16);
    pair.network.set_rule(rule);
    pair.post(QP, write(0, 0, 200 * 1024, 1));
    pair.finish(QP, [1]);
    let counters = pair.cards[0].qp_counters(QP).expect("counters");
    assert_eq!(
        (
            counters.early_losses,
            counters.timeouts,
            counters.retransmissions
        ),
        (1, 0, 1)
    );
}

#[test]
fn early_loss_detection_does_not_blame_a_retransmission_for_what_was_sent_before_it() {
    // The retransmission is lost too: packets sent before it and acknowledged after say nothing about it.
    let mut copies = 0;
    let mut pair = pair_with(0x10, |config| config.early_loss = 8);
    pair.network.set_rule(move |seen| {
        let target = seen.is_data() && seen.psn() == 0x20;
        copies += u32::from(target);
        Fate::lost_if(target && copies <= 2)
    });
    pair.post(QP, write(0, 0, 60 * 1024, 1));
    pair.finish(QP, [1]);
    let counters = pair.cards[0].qp_counters(QP).expect("counters");
    assert_eq!(counters.retransmissions, 2);
    assert_eq!(counters.spurious_losses, 0);
}

#[test]
fn reordering_within_the_threshold_loses_nothing() {
    let mut n = 0u64;
    let mut pair = pair_with(0x10, |config| config.early_loss = 200);
    pair.network.set_rule(move |_| {
        n += 1;
        Fate {
            delay: n * 7919 % 400,
            ..Fate::default()
        }
    });
    pair.post(QP, write(0, 0, 200 * 1024, 1));
    pair.finish(QP, [1]);
    assert_eq!(
        pair.cards[0]
            .qp_counters(QP)
            .expect("counters")
            .retransmissions,
        0
    );
}

#[test]
fn messages_of_no_byte_one_byte_and_unaligned_ends() {
    let mut pair = Pair::mrc(perfect);
    let lengths = [
        0u32, 1, 2, 3, 4095, 4096, 4097, 0, 1023, 1024, 1025, 5000, 1,
    ];
    let mut at = 1;
    for (i, &length) in (0..).zip(&lengths) {
        pair.post(QP, write(at, at + 5, length, i));
        at += u64::from(length) + 3;
    }
    pair.finish(QP, 0..lengths.len() as u64);
    let written: u32 = lengths.iter().sum();
    assert_eq!(pair.cards[1].memory().bytes_written, u64::from(written));
}

#[test]
fn every_path_mtu() {
    for mtu_log2 in 8..=13 {
        let mut pair = Pair::new(perfect);
        pair.connect(|card| qp(card, QP, mtu_log2, TransportConfig::Mrc(mrc(mtu_log2))));
        let mtu = 1u64 << mtu_log2;
        pair.post(QP, write(0, 1, 10 * mtu as u32 + 1, 1));
        pair.finish(QP, [1]);
        assert_eq!(pair.cards[0].qp_counters(QP).expect("counters").packets, 11);
    }
}

#[test]
fn ecn_on_every_packet_slows_but_does_not_stop() {
    // The delay alone, above target but not by much, leaves the window where it is.
    let windows = [false, true].map(|marked| {
        let mut pair = Pair::mrc(move |seen| Fate {
            marked: marked && seen.is_data(),
            delay: 700,
            ..Fate::default()
        });
        let before = pair.cards[0].congestion(QP).expect("congestion").cwnd;
        pair.post(QP, write(0, 0, 250 * 1024, 1));
        pair.finish(QP, [1]);
        let counters = *pair.cards[0].qp_counters(QP).expect("counters");
        let marks = if marked { 250 } else { 0 };
        assert_eq!((counters.ecn_marks, counters.retransmissions), (marks, 0));
        let after = pair.cards[0].congestion(QP).expect("congestion").cwnd;
        (before, after)
    });
    let [(before, unmarked), (_, marked)] = windows;
    assert_eq!(unmarked, before);
    assert!(marked < before, "window {before} -> {marked}");
}

#[test]
fn round_trips_are_measured() {
    let mut pair = Pair::mrc(|_| Fate {
        delay: 100,
        ..Fate::default()
    });
    pair.post(QP, write(0, 0, 1000, 1));
    pair.finish(QP, [1]);
    let rtt = pair.cards[0].congestion(QP).expect("congestion").last_rtt;
    // Twice 350 ticks and the serialisation of 1,102 and 110 bytes.
    let Ticks(rtt) = rtt.expect("a sample");
    assert!((706..=710).contains(&rtt), "{rtt} ticks");
}

/// Someone sends an old packet again and again. All that its acknowledgements say has been said by the first one.
#[test]
fn a_packet_that_is_replayed_is_answered_once_in_an_epoch() {
    for mut pair in [Pair::mrc(perfect), Pair::rc(perfect)] {
        pair.network.log = Some(Vec::new());
        pair.post(QP, write(0, 0, 4000, 1));
        pair.finish(QP, [1]);
        let log = pair.network.log.take().expect("log");
        let old = log.iter().find(|(.., frame)| frame.bth.opcode.is_write());
        let old = old.expect("data").3.emit().expect("a good frame");
        let answers = |pair: &mut Pair, times: u32| {
            let sent = |pair: &Pair| pair.cards[1].counters().control_sent;
            let (before, now) = (sent(pair), pair.ticks());
            (0..times).for_each(|_| pair.cards[1].receive(0, &old, now));
            pair.run();
            sent(pair) - before
        };
        let epoch = Responder::REPEATED.0;
        pair.run_for(u64::from(epoch - pair.ticks().0 % epoch));
        assert_eq!(answers(&mut pair, 1000), 1);
        // The peer may have lost that one, and sends again after a timeout.
        pair.run_for(u64::from(epoch));
        assert_eq!(answers(&mut pair, 1), 1);
        pair.post(QP, write(0, 0, 4000, 2));
        pair.finish(QP, [2]);
        assert_eq!(answers(&mut pair, 1), 1, "there is news");
    }
}

/// The last packets of a message are lost, in messages of 16 packets; the round trip is about 600 ticks.
#[test]
fn a_loss_at_the_tail_is_sent_again_without_a_probe_and_costs_two_round_trips() {
    for (policy, probes) in [(Policy::Obs, false), (Policy::EvState, true)] {
        let mut pair = pair_with(0, |config| {
            config.spray = spray(policy, 128, 3);
            config.early_loss = 128;
        });
        let time = |pair: &mut Pair, wr_id| {
            let start = pair.now;
            pair.post(QP, write(0, 0, 16 * 1024, wr_id));
            while pair.completions(0, QP).is_empty() {
                pair.run_for(10);
            }
            pair.now - start
        };
        let clean = (0..20).map(|id| time(&mut pair, id)).max().expect("times");
        let mut seen_last = false;
        pair.network.set_rule(move |seen| {
            let lost = seen.is_data() && seen.psn() == 20 * 16 + 15 && !seen_last;
            seen_last |= lost;
            Fate::lost_if(lost)
        });
        let slow = time(&mut pair, 20);
        let counters = *pair.cards[0].qp_counters(QP).expect("counters");
        assert_eq!(
            (counters.early_losses, counters.retransmissions),
            (1, 1),
            "{counters:?}"
        );
        assert_eq!(counters.probes > 0, probes, "{counters:?}");
        let round_trips = slow as f64 / clean as f64;
        assert!(
            (if probes { 3.0..4.2 } else { 2.0..3.0 }).contains(&round_trips),
            "{policy:?}: {round_trips}"
        );
        assert_eq!(counters.timeouts, 0);
    }
}

/// The path becomes slow in two steps. Each packet on it is overtaken by probes of other paths, which tell what has not arrived yet. The packets of the second step
/// are late by more than any round trip that was measured before the probes were answered.
#[test]
fn answers_to_probes_of_the_path_policy_lose_nothing() {
    let mut pair = pair_with(0x10, |config| {
        config.spray = spray(Policy::Hopper, 128, 3);
        config.early_loss = 128;
    });
    let start = pair.now;
    pair.network.set_rule(move |seen| Fate {
        delay: match seen.now - start {
            _ if !seen.is_data() => 0,
            ..1000 => 0,
            1000..1130 => 1000,
            _ => 1480,
        },
        ..Fate::default()
    });
    for i in 0..4 {
        pair.post(QP, write(0, 0, 250 * 1024, i));
    }
    pair.finish(QP, 0..4);
    let counters = pair.cards[0].qp_counters(QP).expect("counters");
    assert!(counters.probe_answers > 0, "{counters:?}");
    assert_eq!(
        (counters.early_losses, counters.retransmissions),
        (0, 0),
        "{counters:?}"
    );
}
