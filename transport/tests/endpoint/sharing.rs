//! Many queue pairs on one card.

use stellar_transport::endpoint::{CardModel, TransportConfig};
use stellar_transport::requester::RcConfig;
use stellar_transport::rx::QpMode;

use stellar_transport::spray::Policy;

use crate::endpoint::network::Fate;
use crate::endpoint::pair::{mrc, perfect, qp, spray, write, Pair};

/// Connects queue pairs 2.. of a device each, the first `busy` of them of device 0.
fn devices(numbers: impl IntoIterator<Item = u32>, page_of: impl Fn(u32) -> u32) -> Pair {
    let mut pair = Pair::new(perfect);
    for number in numbers {
        pair.connect(|card| {
            let mut config = mrc(10);
            config.spray = spray(Policy::Obs, 16, number);
            let mut qp = qp(card, number, 10, TransportConfig::Mrc(config));
            qp.page = page_of(number);
            qp
        });
    }
    pair
}

/// Connects queue pairs of a device each, on cards whose pools have this number of blocks.
fn with_blocks(numbers: impl IntoIterator<Item = u32>, window_blocks: u32) -> Pair {
    let model = CardModel {
        window_blocks,
        ..CardModel::default()
    };
    let mut pair = Pair::of(model, perfect);
    for number in numbers {
        pair.connect(|card| qp(card, number, 10, TransportConfig::Mrc(mrc(10))));
    }
    pair
}

#[test]
fn all_finish_though_their_pool_has_fewer_blocks_than_there_are_queue_pairs() {
    for blocks in [1, 2, 3] {
        let mut pair = with_blocks(2..22, blocks);
        for number in 2..22 {
            for i in 0..3 {
                pair.post(number, write(0, 0, 50_000, i));
            }
        }
        pair.run();
        for number in 2..22 {
            let counters = pair.cards[0].qp_counters(number).expect("queue pair");
            assert_eq!((counters.packets, counters.retransmissions), (3 * 49, 0));
            for _ in 0..3 {
                assert!(
                    pair.cards[0].poll_cq(number).is_some(),
                    "queue pair {number}"
                );
            }
        }
    }
}

#[test]
fn one_whose_peer_is_silent_leaves_half_of_the_pool() {
    // Nothing of queue pair 5 arrives. It takes what its window allows, 1,024 packets, and at most as many blocks as it leaves.
    let model = CardModel {
        window_blocks: 40,
        ..CardModel::default()
    };
    let mut pair = Pair::of(model, |seen| Fate {
        lost: seen.frame.bth.dest_qp == 5,
        ..Fate::default()
    });
    for number in [5, 7] {
        pair.connect(|card| qp(card, number, 10, TransportConfig::Mrc(mrc(10))));
    }
    pair.cards[0]
        .post(5, write(0, 0, 100_000, 0))
        .expect("room");
    pair.run_for(3000);
    for i in 0..8 {
        pair.post(7, write(0, 0, 100_000, i));
    }
    pair.run_for(20_000);
    assert_eq!(packets(&pair, 7), 8 * 98);
}

fn packets(pair: &Pair, qp: u32) -> u64 {
    pair.cards[0].qp_counters(qp).expect("queue pair").packets
}

#[test]
fn devices_share_the_ports_evenly_whatever_their_number_of_queue_pairs() {
    // Device 1 has queue pairs 2 to 9, device 2 has only 10.
    let mut pair = devices(2..11, |number| if number < 10 { 1 } else { 2 });
    for number in 2..11 {
        for i in 0..10 {
            pair.cards[0]
                .post(number, write(0, 0, 100_000, i))
                .expect("room");
        }
    }
    pair.run_for(1000);
    let first: Vec<u64> = (2..10).map(|number| packets(&pair, number)).collect();
    let (total, alone) = (first.iter().sum::<u64>(), packets(&pair, 10));
    assert!(total > 100, "{total} packets");
    assert!(
        total.abs_diff(alone) <= 4,
        "{total} of device 1, {alone} of device 2"
    );
    let (least, most) = (first.iter().min(), first.iter().max());
    assert!(
        most.zip(least)
            .is_some_and(|(most, least)| most - least <= 2),
        "{first:?}"
    );
}

#[test]
fn every_queue_pair_a_card_has() {
    let mut pair = devices(2..1024, |number| number % 50);
    for number in 2..1024 {
        let at = u64::from(number) * 200;
        pair.post(number, write(at, at, 199, number.into()));
    }
    pair.run();
    pair.check_memory();
    for number in 2..1024 {
        let ids: Vec<u64> = pair
            .completions(0, number)
            .iter()
            .map(|c| c.wr_id)
            .collect();
        assert_eq!(ids, [u64::from(number)]);
    }
}

#[test]
fn both_modes_side_by_side() {
    let mut pair = Pair::new(perfect);
    for (number, mode) in [(5, QpMode::Mrc), (6, QpMode::Rc)] {
        pair.connect(|card| {
            let transport = match mode {
                QpMode::Mrc => TransportConfig::Mrc(mrc(10)),
                QpMode::Rc => TransportConfig::Rc(RcConfig {
                    plane: 1,
                    ..RcConfig::default()
                }),
            };
            qp(card, number, 10, transport)
        });
        let at = u64::from(number) * 20_000;
        pair.post(number, write(at, at, 20_000, 1));
    }
    // The reverse direction runs at the same time.
    for number in [5, 6] {
        let at = u64::from(number) * 20_000;
        pair.cards[1]
            .post(number, write(at, at, 20_000, 2))
            .expect("room");
    }
    pair.run();
    pair.check_memory();
    for (card, id) in [(0, 1), (1, 2)] {
        for number in [5, 6] {
            let ids: Vec<u64> = pair
                .completions(card, number)
                .iter()
                .map(|c| c.wr_id)
                .collect();
            assert_eq!(ids, [id]);
        }
        assert_eq!(pair.cards[card].memory().bytes_written, 40_000);
    }
}
