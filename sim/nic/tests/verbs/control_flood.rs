//! A peer whose SACKs come faster than the requester, or the receive lane, processes them.

use sim_nic::LoneCard;
use stellar_driver::*;
use stellar_wire::receive::DropReason;

use crate::verbs::hosts::*;
use crate::verbs::old_answers::{peer, stale_sack, BUSY_PEER, PEER, PSN};

/// SACKs of the flood, which takes about 190 us. Between them come frames that are for nobody, so that the receive lane keeps up, and the requester does not.
const SACKS: usize = 6_000;
const FILLER: usize = 600;
/// Cycles after which some of them find no place any more.
const BUSY: u64 = 24_000;
/// Cycles in which another queue pair sends: each of its operations waits for sixteen SACKs of 12 cycles.
const TURNS: u64 = 3_000;

/// A card whose frames come from the test.
fn lone_host() -> (LoneCard, Device, Host) {
    let cards = LoneCard::new().unwrap();
    let probe = Probe::new(cards.function(0)).unwrap();
    let device = probe.bring_up(DeviceConfig::new(ports(0), 0)).unwrap();
    let host = Host::open(&device, false);
    (cards, device, host)
}

#[test]
fn other_queue_pairs_send_beside_a_flood_of_sacks() {
    let (cards, device, host) = lone_host();
    let qp = host.qp();
    // Numbers are of both engines in turn: the third one is of the first one's engine.
    let _other = host.qp();
    let busy = host.qp();
    assert_eq!(busy.number() % 2, qp.number() % 2, "engines");
    for (qp, number) in [(&qp, PEER), (&busy, BUSY_PEER)] {
        ready(qp, peer(number, Transport::Mrc));
        qp.modify(Modify::Rts(RtsAttributes::new(PSN))).unwrap();
    }
    for _ in 0..SACKS {
        cards.receive(0, stale_sack(0, busy.number()));
        cards.receive(0, vec![0x5a; FILLER]);
    }
    cards.run(BUSY);
    let lost = || count_of(&device.counters().unwrap(), DropReason::ControlLost);
    let lost_before = lost();
    cards.take_sent();
    let inline = Source::Inline(&[3; 8]);
    qp.post_send(&WorkRequest::write(1, inline, 0x1000, 1))
        .unwrap();
    cards.run(TURNS);
    assert_eq!(
        cards.take_sent().len(),
        1,
        "the doorbell or the packet waits"
    );
    assert!(lost() > lost_before, "the requester is not busy");
}

/// SACKs of one queue pair without a pause, about 80 M/s on one port: 150 us.
const WITHOUT_PAUSE: usize = 12_000;
/// Cycles in which they come, and those that wait are processed.
const WHOLE_FLOOD: u64 = 50_000;

#[test]
fn a_receive_lane_that_loses_frames_does_not_become_slower() {
    let (cards, device, host) = lone_host();
    let qp = host.qp();
    ready(&qp, peer(PEER, Transport::Mrc));
    qp.modify(Modify::Rts(RtsAttributes::new(PSN))).unwrap();
    for _ in 0..WITHOUT_PAUSE {
        cards.receive(0, stale_sack(0, qp.number()));
    }
    cards.run(WHOLE_FLOOD);
    let lost = count_of(&device.counters().unwrap(), DropReason::BufferFull);
    println!("{lost} of {WITHOUT_PAUSE} SACKs without space in the receive lane");
    assert!(lost > 0, "the lane is not overloaded");
    // A packet of the queue pair has 9 cycles, and the reports of those lost behind it take one each: 21 M/s, a quarter of them.
    assert!(lost < WITHOUT_PAUSE as u64 * 3 / 4, "{lost} are lost");
}
