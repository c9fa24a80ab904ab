//! Tests the contents of SACKs, and a requester's handling of contents that no card here sends.

use stellar_transport::endpoint::TransportConfig;
use stellar_transport::requester::{MrcConfig, QpIdentity, SlotState};
use stellar_transport::responder::Responder;
use stellar_transport::rx::{AckBody, AckRequest, DropReason, Psn};
use stellar_wire::mrc::{CcState, Entropy, PathHint, Seth};
use stellar_wire::time::PENDING_VISIT_LOG2;
use stellar_wire::{Opcode, RoceFrame};

use crate::endpoint::network::{Fate, Seen};
use crate::endpoint::pair::{mrc, perfect, qp, write, Pair};

const QP: u32 = 5;
/// Ticks between two visits of a queue pair's pending packets.
const PERIOD: u64 = 1 << PENDING_VISIT_LOG2;

fn sacks(pair: &mut Pair) -> Vec<(Seth, CcState)> {
    let log = pair.network.log.take().expect("log");
    let parts = |frame: &RoceFrame| Some((frame.ext.seth?, frame.ext.cc_state?));
    log.iter().filter_map(|(.., frame)| parts(frame)).collect()
}

#[test]
fn bytes_order_and_path_of_what_arrived() {
    // PSNs 0x1000 to 0x1003; the second comes last.
    let mut pair = Pair::mrc(|seen| Fate {
        delay: if seen.is_data() && seen.psn() == 0x1001 {
            500
        } else {
            0
        },
        marked: seen.is_data() && seen.psn() == 0x1002,
        ..Fate::default()
    });
    pair.network.log = Some(Vec::new());
    pair.post(QP, write(0, 0, 4000, 1));
    pair.run();
    let data: Vec<RoceFrame> = {
        let log = pair.network.log.as_ref().expect("log");
        let frames = log.iter().map(|entry| entry.3.clone());
        frames.filter(|frame| frame.bth.opcode.is_write()).collect()
    };
    let mut sacks = sacks(&mut pair);
    assert_eq!(sacks.len(), 4);
    let acked = |seth: &Seth| seth.cack_psn as i32 + i32::from(seth.ack_psn_offset);
    let last = sacks.last().expect("four");
    assert_eq!((acked(&last.0), last.0.cack_psn), (0x1001, 0x1003));
    assert_eq!(last.1.rcvd_bytes, 4000 / 256);
    // Both that overtook 0x1001, and 0x1001 itself or what came before it in its place.
    assert!((2..=3).contains(&last.1.ooo_count), "{}", last.1.ooo_count);
    sacks.sort_by_key(|(seth, _)| acked(seth));
    for ((seth, cc), frame) in sacks.iter().zip(&data) {
        assert_eq!(acked(seth) as u32, frame.bth.psn);
        assert_eq!(seth.entropy, Entropy(frame.udp.sport.into()));
        assert_eq!((cc.tx_timestamp, frame.ext.tseth), (0, None));
        let marked = frame.bth.psn == 0x1002;
        assert_eq!(seth.path_hint == PathHint::SkipOnce, marked);
    }
}

#[test]
fn a_duplicate_too_old_for_an_offset_is_answered_with_the_cumulative_psn() {
    let qp = QpIdentity {
        local: 7,
        peer: 9,
        pd: 0,
        mtu: 1024,
    };
    let responder = Responder::new(qp, Psn::new(0), 4, true, 1);
    let answer = |behind: u32| {
        let cack_psn = Psn::new(100_000);
        let psn = Psn::new(100_000 - behind);
        let answer = responder.answer(&AckRequest {
            body: AckBody::Sack {
                psn,
                cack_psn,
                bitmap_base: Psn::new(psn.value() & !63),
                bitmap: u64::MAX,
            },
            reason: DropReason::Duplicate,
            qp: 7,
            ecn_ce: false,
            entropy: Entropy(1),
            timestamp: None,
        });
        assert_eq!(answer.body.opcode(), Opcode::MrcSack);
        let seth = answer.body.headers().seth.expect("SETH");
        (
            seth.cack_psn,
            seth.ack_psn_offset,
            seth.sack_offset,
            seth.bitmap,
        )
    };
    let base = |behind: u32| ((100_000 - behind) & !63) as i32 - 100_000;
    assert_eq!(
        answer(32_700),
        (100_000, -32_700, base(32_700) as i16, u64::MAX)
    );
    assert_eq!(answer(32_769), (100_000, 0, -63, u64::MAX));
    assert_eq!(answer(99_999), (100_000, 0, -63, u64::MAX));
}

/// Sends 20 packets of 256 bytes and hands card 0 their SACKs as `change` leaves them.
fn with_changed_sacks(change: fn(&mut Seth, &mut CcState)) -> Pair {
    let mut pair = Pair::new(|seen: &Seen<'_>| Fate::lost_if(seen.is(Opcode::MrcSack)));
    let config = MrcConfig {
        mpr: 1024,
        ..mrc(8)
    };
    pair.connect(|card| qp(card, QP, 8, TransportConfig::Mrc(config.clone())));
    pair.network.log = Some(Vec::new());
    pair.post(QP, write(0, 0, 20 * 256, 1));
    pair.run_for(2000);
    let log = pair.network.log.replace(Vec::new()).expect("log");
    pair.network.set_rule(perfect);
    for (.., frame) in log {
        let mut frame = frame;
        if let (Some(seth), Some(cc)) = (&mut frame.ext.seth, &mut frame.ext.cc_state) {
            change(seth, cc);
            let bytes = frame.emit().expect("frame");
            let now = pair.ticks();
            pair.cards[0].receive(0, &bytes, now);
        }
    }
    pair
}

#[test]
fn a_receiver_penalty_shrinks_the_window() {
    let plain = with_changed_sacks(|_, _| {});
    let halved = with_changed_sacks(|_, cc| cc.rcv_cwnd_pen = 64);
    let cwnd = |pair: &Pair| pair.cards[0].congestion(QP).expect("congestion").cwnd;
    assert_eq!(cwnd(&halved), cwnd(&plain) / 2);
}

#[test]
fn a_receiver_may_narrow_the_window_and_not_widen_it() {
    for (said, holds) in [(1, 128), (255, 1024)] {
        let mut pair = match said {
            1 => with_changed_sacks(|seth, _| seth.mpr = 1),
            _ => with_changed_sacks(|seth, _| seth.mpr = 255),
        };
        // No more acknowledgements come, so 1,100 packets pile up after the next one.
        let next = pair.cards[0].window(QP).expect("window").next().value();
        pair.network.set_rule(move |seen| {
            let held = seen.is_data() && seen.psn() == next;
            Fate {
                delay: if held { 25_000 } else { 0 },
                lost: seen.is(Opcode::MrcSack),
                ..Fate::default()
            }
        });
        for i in 0..44 {
            pair.post(QP, write(i * 100, 30_000 + i * 100, 25 * 256, i));
        }
        pair.run_for(20_000);
        assert_eq!(pair.cards[0].window(QP).expect("window").len(), holds);
    }
}

/// The bitmap may be a snapshot from before the packet that is answered (UET 1.0, section 3.5.11.4, where MRC's SACK is from): its PSN counts by itself, and a clear
/// bit says nothing.
#[test]
fn the_packet_that_a_sack_names_is_acknowledged_whatever_the_bitmap_says() {
    let pair = with_changed_sacks(|seth, _| {
        seth.cack_psn = 0x1005;
        seth.ack_psn_offset = 4;
        seth.sack_offset = 1;
        seth.bitmap = 0;
    });
    let counters = pair.cards[0].qp_counters(QP).expect("counters");
    assert!(counters.sacks > 0, "{counters:?}");
    assert_eq!(counters.sacks_inconsistent, 0);
    let window = pair.cards[0].window(QP).expect("window");
    let acknowledged: Vec<u32> = (0x1000..0x1014)
        .filter(|&psn| {
            let psn = Psn::new(psn);
            psn.is_behind(window.una()) || window.state(psn) == SlotState::Acked
        })
        .collect();
    assert_eq!(
        acknowledged,
        [0x1000, 0x1001, 0x1002, 0x1003, 0x1004, 0x1005, 0x1009]
    );
}

/// A sender need not set AckReq in the last packet that it has.
#[test]
fn a_message_whose_last_packet_asks_for_nothing_completes_before_the_timeout() {
    let mut pair = Pair::mrc(|seen: &Seen<'_>| Fate::lost_if(seen.is_data()));
    pair.network.log = Some(Vec::new());
    pair.post(QP, write(0, 0, 3000, 1));
    pair.run_for(100);
    let log = pair.network.log.replace(Vec::new()).expect("log");
    pair.network.set_rule(perfect);
    assert_eq!(log.len(), 3);
    let now = pair.ticks();
    for (.., port, mut frame) in log {
        frame.bth.ack_req = false;
        pair.cards[1].receive(port, &frame.emit().expect("frame"), now);
    }
    pair.run_for(PERIOD);
    assert_eq!(pair.completions(0, QP), [], "not before the second visit");
    pair.run_for(PERIOD + 1000);
    pair.finish(QP, [1]);
    let counters = pair.cards[0].qp_counters(QP).expect("counters");
    assert_eq!(
        (counters.sacks, counters.timeouts, counters.retransmissions),
        (1, 0, 0)
    );
    // The wait is no round trip.
    assert_eq!(
        pair.cards[0].congestion(QP).expect("congestion").last_rtt,
        None
    );
}
