//! The path of a WRITE through records takes no memory from the allocator once its queues have their size.

use allocation_counter::measure;
use stellar_transport::endpoint::{CardModel, Endpoint, PayloadPolicy, Transit, TransportConfig};
use stellar_transport::time::Ticks;

use crate::endpoint::cards::{card_of, mrc, planes, qp, write, TestMemory};

const QP: u32 = 5;

/// Hands packets from card to card until both are silent.
fn exchange(cards: &mut [Endpoint<TestMemory>; 2], now: &mut Ticks) {
    let mut silent = false;
    while !silent {
        silent = true;
        for (from, port) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            if let Some(departure) = cards[from].poll_packet(port, *now) {
                silent = false;
                let to = &mut cards[1 - from];
                to.receive_packet(port, &departure.packet, Transit::default(), *now);
            }
        }
        *now = now.plus(Ticks(20));
        cards.iter_mut().for_each(|card| card.on_timer(*now));
    }
}

fn send(cards: &mut [Endpoint<TestMemory>; 2], now: &mut Ticks) {
    for card in &mut *cards {
        card.post(QP, write(0, 0, 100_000, 1)).expect("room");
    }
    exchange(cards, now);
    for card in &mut *cards {
        assert!(card.poll_cq(QP).is_some(), "the message has arrived");
    }
}

#[test]
fn a_write_allocates_nothing() {
    for payload in [PayloadPolicy::Checked, PayloadPolicy::Unchecked] {
        let model = CardModel {
            payload,
            ..CardModel::default()
        };
        let mut now = Ticks(0);
        let mut cards = [0, 1].map(|number| card_of(number, planes(number), model));
        for (card, number) in cards.iter_mut().zip(0..) {
            let config = qp(number, QP, 10, TransportConfig::Mrc(mrc(10)));
            card.create_qp(config, now).expect("queue pair");
        }
        send(&mut cards, &mut now);
        let second = measure(|| send(&mut cards, &mut now));
        assert_eq!(second.count_total, 0, "{payload:?}");
    }
}
