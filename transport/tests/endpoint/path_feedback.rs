//! What NACKs, probes and ports that go down tell about paths (OCP MRC 1.0, states of entropy values).

use stellar_transport::endpoint::Endpoint;
use stellar_transport::spray::{EvIndex, EvState, Policy};
use stellar_transport::time::Ticks;
use stellar_wire::mrc::NackReason;
use stellar_wire::{Opcode, RoceFrame};

use crate::endpoint::network::Fate;
use crate::endpoint::pair::{write, Pair, TestMemory};
use crate::endpoint::paths::{nacked_with, with_policy};

const QP: u32 = 5;

/// The index of a frame's entropy value.
fn index_of(frame: &RoceFrame) -> EvIndex {
    EvIndex::new((frame.udp.sport - 0xc000) as u8).expect("a value of the profile")
}

/// The values that are assumed bad.
fn assumed_bad(card: &Endpoint<TestMemory>) -> Vec<EvIndex> {
    EvIndex::all()
        .filter(|&index| card.ev_state(QP, index) == Some(EvState::AssumedBad))
        .collect()
}

/// The queue at the last hop is the same whatever path a packet takes there.
#[test]
fn a_path_is_skipped_when_a_packet_is_trimmed_on_it_and_not_when_at_the_last_hop() {
    for (reason, state) in [
        (NackReason::Trimmed, EvState::Skip),
        (NackReason::TrimmedLastHop, EvState::Good),
    ] {
        let mut pair = nacked_with(Policy::EvState, reason, 1);
        let log = pair.network.log.as_ref().expect("log");
        let trimmed = log
            .iter()
            .find(|(.., frame)| frame.bth.opcode.is_write() && frame.bth.psn == 0x1000);
        let index = index_of(&trimmed.expect("the packet").3);
        pair.run_for(10);
        let counters = *pair.cards[0].qp_counters(QP).expect("counters");
        assert_eq!((counters.nacks_trimmed, counters.retransmissions), (1, 1));
        assert_eq!(pair.cards[0].ev_state(QP, index), Some(state), "{reason:?}");
        pair.finish(QP, [1]);
    }
}

/// Loses what plane 1 carries, then lets it come back with every probe marked. Returns the number of values of the plane that are assumed bad before and after
/// the second half of the work.
fn assumed_bad_around_marked_probes() -> (Pair, [usize; 2]) {
    let mut pair = with_policy(Policy::EvState, 32);
    let start = pair.now;
    pair.network.set_rule(move |seen| Fate {
        lost: (start + 300..start + 50_000).contains(&seen.now) && seen.port == 1,
        marked: seen.is(Opcode::MrcProbe),
        ..Fate::default()
    });
    let batch = |pair: &mut Pair| {
        for i in 0..40 {
            pair.post(QP, write(i * 6000, i * 6000, 5999, i));
        }
        pair.run_for(60_000);
        assumed_bad(&pair.cards[0]).len()
    };
    let before = batch(&mut pair);
    let after = batch(&mut pair);
    (pair, [before, after])
}

/// A probe that comes back proves that its path works; its mark says that the path is congested.
#[test]
fn a_marked_answer_to_a_probe_brings_the_path_back() {
    let (pair, [before, after]) = assumed_bad_around_marked_probes();
    let counters = pair.cards[0].qp_counters(QP).expect("counters");
    assert!(before > 0 && counters.probe_answers > 0, "{counters:?}");
    assert!(after < before, "{before} values assumed bad, then {after}");
}

#[test]
fn a_probe_whose_plane_goes_down_leaves_its_turn_to_the_other_plane() {
    let mut pair = with_policy(Policy::EvState, 8);
    let card = &mut pair.cards[0];
    let start = Ticks(pair.now as u32);
    card.post(QP, write(0, 0, 20_000, 1)).expect("room");
    let mut sent = 0;
    for round in 0..20 {
        sent += usize::from(card.poll_transmit(round % 2, start).is_some());
    }
    assert_eq!(sent, 20);
    // All packets are late, so both planes have values that are assumed bad.
    let late = start.plus(card.next_deadline().expect("a timer").since(start));
    card.on_timer(late);
    let planes: Vec<u8> = assumed_bad(card).iter().map(|i| i.plane()).collect();
    assert!(planes.contains(&0) && planes.contains(&1));
    // The first probe that is due belongs to plane 0, and waits for its port.
    let frame = card.poll_transmit(1, late).expect("a retransmission");
    assert_ne!(
        RoceFrame::parse(&frame).expect("good").bth.opcode,
        Opcode::MrcProbe
    );
    card.set_port(0, false);
    let mut probed = Vec::new();
    for round in 1..40 {
        let now = late.plus(Ticks::from_us(20 * round));
        while let Some(frame) = card.poll_transmit(1, now) {
            let frame = RoceFrame::parse(&frame).expect("good");
            if frame.bth.opcode == Opcode::MrcProbe {
                probed.push(index_of(&frame).plane());
            }
        }
    }
    assert!(!probed.is_empty() && probed.iter().all(|&plane| plane == 1));
}

/// A queue pair that only receives hears nothing about its own paths. It must not hold on to one that has died.
#[test]
fn answers_leave_a_path_that_died_after_it_was_known_to_be_good() {
    let mut pair = with_policy(Policy::Obs, 128);
    for card in &mut pair.cards {
        card.set_port(1, false);
    }
    pair.network.log = Some(Vec::new());
    pair.cards[1]
        .post(QP, write(0, 200_000, 1000, 1))
        .expect("room");
    pair.run_for(2_000);
    let log = pair.network.log.take().expect("log");
    let learnt = log.first().expect("the packet").3.udp.sport;
    pair.network.set_rule(move |seen| {
        Fate::lost_if(seen.is(Opcode::MrcSack) && seen.frame.udp.sport == learnt)
    });
    for i in 0..20 {
        pair.post(QP, write(i * 6000, i * 6000, 5999, i));
    }
    pair.finish(QP, 0..20);
    let counters = pair.cards[0].qp_counters(QP).expect("counters");
    assert!(counters.timeouts > 0, "answers were lost: {counters:?}");
}
