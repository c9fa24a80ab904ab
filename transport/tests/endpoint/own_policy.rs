//! Queue pairs with a path policy of the test's own, which has a window and rooms of paths.

use std::sync::{Arc, Mutex};

use stellar_transport::endpoint::TransportConfig;
use stellar_transport::rx::Psn;
use stellar_transport::spray::{EvIndex, PathAck, PathPolicy, Paths};
use stellar_transport::time::Ticks;

use crate::endpoint::network::Fate;
use crate::endpoint::pair::{mrc, perfect, qp, write, Pair};

const QP: u32 = 5;
const MTU_LOG2: u8 = 10;
/// The only slot that it takes.
const SLOT: u8 = 9;

/// What left: PSN, path, bytes.
type Sent = Arc<Mutex<Vec<(Psn, EvIndex, u16)>>>;

/// A window of its own; on one slot of each plane there is always room, and on all others never.
#[derive(Clone, Debug)]
struct OneSlot {
    window: u32,
    sent: Sent,
}

impl PathPolicy for OneSlot {
    fn with_room(&self, _: u8, candidates: u64) -> u64 {
        candidates & 1 << SLOT
    }

    fn on_sent(&mut self, _: &Paths, psn: Psn, index: EvIndex, length: u16) {
        self.sent.lock().unwrap().push((psn, index, length));
    }

    fn window(&self) -> Option<u32> {
        Some(self.window)
    }

    fn on_ack(&mut self, _: &mut Paths, _: Option<EvIndex>, _: &PathAck, _: Ticks) {}

    fn copy(&self) -> Box<dyn PathPolicy> {
        Box::new(self.clone())
    }
}

fn pair_of(window: u32) -> (Pair, Sent) {
    let sent = Sent::default();
    let policy = OneSlot {
        window,
        sent: Arc::clone(&sent),
    };
    let mut pair = Pair::new(perfect);
    let now = pair.ticks();
    for (number, card) in (0..).zip(&mut pair.cards) {
        let config = qp(number, QP, MTU_LOG2, TransportConfig::Mrc(mrc(MTU_LOG2)));
        let policy = Box::new(policy.clone());
        card.create_qp_with_policy(config, policy, now).unwrap();
    }
    (pair, sent)
}

#[test]
fn packets_leave_by_its_window_and_where_it_has_room() {
    for (window, most) in [(1, 1), (1 << MTU_LOG2, 1), ((3 << MTU_LOG2) + 5, 3)] {
        let (mut pair, sent) = pair_of(window);
        pair.post(QP, write(0, 0, 16 << MTU_LOG2, 1));
        for port in [0, 1].into_iter().cycle().take(40) {
            let now = pair.ticks();
            pair.cards[0].poll_transmit(port, now);
        }
        let left = sent.lock().unwrap().clone();
        assert_eq!(left.len(), most, "a window of {window} bytes");
        for (number, (psn, index, length)) in (0..).zip(left) {
            assert_eq!(psn, Psn::new(0x1000).plus(number));
            assert_eq!((index.place(), length), (SLOT, 1 << MTU_LOG2));
        }
    }
}

#[test]
fn what_is_lost_is_sent_again_on_another_path_though_that_has_no_room() {
    let (mut pair, sent) = pair_of(1 << 20);
    let mut lost = false;
    pair.network
        .set_rule(move |_| Fate::lost_if(!std::mem::replace(&mut lost, true)));
    pair.post(QP, write(0, 0, 16 << MTU_LOG2, 1));
    pair.finish(QP, 1..2);
    let sent = sent.lock().unwrap();
    let again: Vec<_> = sent.iter().skip(16).collect();
    assert_eq!(again.len(), 1);
    assert_eq!((again[0].0, again[0].2), (sent[0].0, 1 << MTU_LOG2));
    assert_ne!(again[0].1, sent[0].1);
}
