//! Start-up, loss of the link, resets, and a MAC that stops.
use rand::Rng;

use crate::bench::{Bench, Pace, CARD_SIDE, WIRE};
use crate::model::{instance, CARD, MAC, TOLERANCES};
use crate::wire::random_bytes;

/// The levels at the core's pins, and the card's `port_up`.
fn levels(bench: &Bench) -> [bool; 4] {
    [
        "ctl_rx_enable",
        "ctl_tx_send_rfi",
        "ctl_tx_enable",
        "port_up",
    ]
    .map(|port| bench.dut.is(port))
}

const SOON: u64 = 20 * CARD;

#[test]
fn the_core_starts_in_order() {
    let mut bench = Bench::cold(instance(1), [CARD, MAC], 1);
    bench.dut.set("usr_rx_reset", 1);
    bench.dut.set("usr_tx_reset", 1);
    bench.dut.set("stat_rx_aligned", 1);
    bench.run(SOON, Pace::FULL);
    assert_eq!(levels(&bench), [false; 4], "in reset");
    bench.dut.set("stat_rx_aligned", 0);
    bench.dut.set("usr_tx_reset", 0);
    bench.run(SOON, Pace::FULL);
    assert_eq!(levels(&bench), [false; 4], "both resets have to fall");
    bench.dut.set("usr_rx_reset", 0);
    bench.run(SOON, Pace::FULL);
    let aligns = [true, true, false, false];
    assert_eq!(
        levels(&bench),
        aligns,
        "remote faults until the receiver is aligned"
    );
    bench.dut.set("stat_rx_aligned", 1);
    bench.dut.set("stat_rx_remote_fault", 1);
    bench.run(SOON, Pace::FULL);
    assert_eq!(
        levels(&bench),
        [true, false, true, false],
        "the peer does not receive yet"
    );
    bench.dut.set("stat_rx_remote_fault", 0);
    bench.run(SOON, Pace::FULL);
    let up = [true, false, true, true];
    assert_eq!(levels(&bench), up);
    bench.dut.set("stat_rx_aligned", 0);
    bench.run(SOON, Pace::FULL);
    assert_eq!(levels(&bench), aligns, "alignment was lost");
    bench.dut.set("stat_rx_aligned", 1);
    bench.run(SOON, Pace::FULL);
    assert_eq!(levels(&bench), up);
}

#[test]
fn frames_for_a_link_that_is_down_are_dropped() {
    let mut bench = Bench::nominal(2);
    bench.dut.set("stat_rx_aligned", 0);
    bench.run(SOON, Pace::FULL);
    for _ in 0..50 {
        bench.send(CARD_SIDE, 2_000);
    }
    bench.drain(Pace::FULL, 4_000 * CARD);
    assert_eq!(bench.to_wire.frames.len(), 0);
    bench.dut.set("stat_rx_aligned", 1);
    bench.run(SOON, Pace::FULL);
    bench.send(CARD_SIDE, 100);
    bench.drain(Pace::FULL, 100 * CARD);
    let new = &bench.sent[CARD_SIDE][50..];
    assert_eq!(
        (bench.to_wire.frames.len(), bench.to_wire.whole_of(new)),
        (1, (1, 0))
    );
}

/// The MAC takes nothing: the card waits when the FIFO is full. A reset of the MAC, and frames go on.
#[test]
fn a_mac_that_stops_holds_up_the_card_until_its_reset() {
    let mut bench = Bench::nominal(3);
    let stopped = Pace {
        mac_ready: 0,
        ..Pace::FULL
    };
    for _ in 0..20 {
        bench.send(CARD_SIDE, 9_000);
    }
    bench.run(4_000 * CARD, stopped);
    assert!(bench.card_waits() > 15 && !bench.dut.is("tx_ready"));
    bench.reset_mac(stopped);
    let before = bench.sent[CARD_SIDE].len();
    bench.drain(Pace::FULL, 8_000 * CARD);
    let new = &bench.sent[CARD_SIDE][before + 1..];
    assert!(new.len() > 10 && bench.to_wire.frames.len() >= new.len());
    assert_eq!(bench.to_wire.whole_of(&bench.sent[CARD_SIDE]).1, 0);
    let last = bench.to_wire.frames.len() - new.len();
    bench.to_wire.frames.drain(..last);
    assert_eq!(
        bench.to_wire.whole_of(new),
        (new.len(), 0),
        "every frame after the reset"
    );
}

/// Resets of the MAC at random times, in some of which its clock stands: frames are lost or cut with an error, and none is wrong.
#[test]
fn resets_of_the_mac_lose_frames_and_mix_none() {
    for seed in 0..12 {
        let mut bench = Bench::new(TOLERANCES[seed as usize % 4], 100 + seed);
        let pace = Pace {
            rx: bench.rng.random_range(1..=6),
            mac_ready: bench.rng.random_range(4..=8),
            tx: bench.rng.random_range(1..=8),
        };
        for _ in 0..4 {
            for _ in 0..20 {
                for side in [WIRE, CARD_SIDE] {
                    let bytes = random_bytes(&mut bench.rng);
                    bench.send(side, bytes);
                }
            }
            let time = bench.rng.random_range(1..2_000) * CARD;
            bench.run(time, pace);
            if bench.rng.random() {
                bench.stopped = true;
                bench.run(300 * CARD, pace);
                bench.stopped = false;
            }
            bench.reset_mac(pace);
        }
        bench.drain(pace, 100_000 * CARD);
        assert!(bench.to_card.is_between() && bench.to_wire.is_between());
        let (arrived, cut) = bench.to_card.whole_of(&bench.sent[WIRE]);
        assert!(cut <= 4 && arrived > 0, "{arrived} arrived, {cut} cut");
        let (left, cut) = bench.to_wire.whole_of(&bench.sent[CARD_SIDE]);
        assert!(cut == 0 && left > 0);
        let before = [bench.to_card.frames.len(), bench.to_wire.frames.len()];
        for side in [WIRE, CARD_SIDE] {
            for _ in 0..10 {
                bench.send(side, 1_000);
            }
        }
        bench.drain(pace, 100_000 * CARD);
        let after = [bench.to_card.frames.len(), bench.to_wire.frames.len()];
        assert_eq!(
            after,
            before.map(|frames| frames + 10),
            "frames after the resets arrive"
        );
    }
}

/// A reset of the card cuts the frame that it is sending: it leaves with an error. Those after it are whole.
#[test]
fn a_reset_of_the_card_ends_its_frame_with_an_error() {
    let mut cut = 0;
    for seed in 0..10 {
        let mut bench = Bench::nominal(200 + seed);
        bench.send(CARD_SIDE, 9_000);
        let time = bench.rng.random_range(1..160) * CARD;
        bench.run(time, Pace::FULL);
        bench.forget(CARD_SIDE);
        bench.dut.set("reset", 1);
        bench.run(130 * CARD, Pace::FULL);
        bench.dut.set("reset", 0);
        bench.run(CARD, Pace::FULL);
        for _ in 0..5 {
            bench.send(CARD_SIDE, 500);
        }
        bench.drain(Pace::FULL, 1_000 * CARD);
        let (whole, broken) = bench.to_wire.whole_of(&bench.sent[CARD_SIDE]);
        assert!(bench.to_wire.is_between());
        assert_eq!(whole, bench.sent[CARD_SIDE].len());
        cut += broken;
    }
    assert!((1..=10).contains(&cut), "{cut} frames were cut");
}
