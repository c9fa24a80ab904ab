//! Tests of control packets that must be refused.

use stellar_transport::rx::DropReason;
use stellar_wire::{Ip, MacAddr, Opcode, RoceFrame};

use crate::endpoint::network::Fate;
use crate::endpoint::pair::{perfect, write, Pair};

const QP: u32 = 5;

/// Lets card 0 send one packet into the void, and returns the SACK that card 1 would have answered.
fn unanswered() -> (Pair, RoceFrame) {
    let mut pair = Pair::mrc(|seen| Fate::lost_if(seen.is(Opcode::MrcSack)));
    pair.network.log = Some(Vec::new());
    pair.post(QP, write(0, 0, 100, 1));
    pair.run_for(1000);
    let log = pair.network.log.as_ref().expect("log");
    let sack = log
        .iter()
        .find(|(.., frame)| frame.bth.opcode == Opcode::MrcSack);
    let sack = sack.expect("a SACK").3.clone();
    pair.network.set_rule(perfect);
    (pair, sack)
}

/// Hands card 0 a SACK that `change` has spoilt; the packet stays in flight.
fn ignored(change: impl FnOnce(&mut RoceFrame)) -> Pair {
    let (mut pair, mut sack) = unanswered();
    change(&mut sack);
    let bytes = sack.emit().expect("frame");
    let now = pair.ticks();
    pair.cards[0].receive(0, &bytes, now);
    assert_eq!(
        pair.cards[0].window(QP).expect("window").len(),
        1,
        "still unacknowledged"
    );
    assert_eq!(pair.completions(0, QP), []);
    pair.finish(QP, [1]);
    pair
}

#[test]
fn a_genuine_sack_completes() {
    let (mut pair, sack) = unanswered();
    let now = pair.ticks();
    pair.cards[0].receive(0, &sack.emit().expect("frame"), now);
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
fn foreign_sacks() {
    let foreign = |pair: Pair| assert_eq!(pair.cards[0].counters().control_foreign, 1);
    foreign(ignored(|sack| {
        if let Ip::V4(ip) = &mut sack.ip {
            ip.src = [10, 0, 0, 99].into();
        }
    }));
    foreign(ignored(|sack| sack.bth.pkey = 0x8001));
    foreign(ignored(|sack| {
        sack.ext.seth.as_mut().expect("SETH").src_context = 9
    }));
    foreign(ignored(|sack| {
        sack.ext.seth.as_mut().expect("SETH").dst_context = 9
    }));
    // An RC acknowledgement on an MRC queue pair.
    foreign(ignored(|sack| {
        sack.bth.opcode = Opcode::RcAck;
        sack.ext = stellar_wire::ExtHeaders {
            aeth: Some(stellar_wire::Aeth::default()),
            ..Default::default()
        };
    }));
    let pair = ignored(|sack| sack.bth.dest_qp = 6);
    assert_eq!(pair.cards[0].counters().control_unknown_qp, 1);
}

#[test]
fn a_sack_for_another_port() {
    let pair = ignored(|sack| sack.eth.dst = MacAddr([2, 0, 0, 0, 9, 9]));
    let counters = pair.cards[0].rx_counters();
    assert_eq!(counters.reason(DropReason::ForeignDestination), 1);
}

#[test]
fn sacks_that_contradict_the_window() {
    let inconsistent = |change: fn(&mut stellar_wire::mrc::Seth)| {
        let pair = ignored(|sack| change(sack.ext.seth.as_mut().expect("SETH")));
        assert_eq!(
            pair.cards[0]
                .qp_counters(QP)
                .expect("counters")
                .sacks_inconsistent,
            1
        );
    };
    inconsistent(|seth| seth.cack_psn = 0x1001);
    inconsistent(|seth| seth.ack_psn_offset = 1);
    inconsistent(|seth| {
        seth.bitmap = 0b11 << (0x1000 - (seth.cack_psn as i64 + i64::from(seth.sack_offset)))
    });
    let pair = ignored(|sack| {
        let seth = sack.ext.seth.as_mut().expect("SETH");
        (seth.cack_psn, seth.ack_psn_offset) = (0xfff + (1 << 24) - 4097, 0);
        (seth.sack_offset, seth.bitmap) = (0, 1);
    });
    assert_eq!(
        pair.cards[0]
            .qp_counters(QP)
            .expect("counters")
            .sacks_out_of_window,
        1
    );
}

#[test]
fn a_stale_sack_is_counted_and_changes_nothing() {
    let (mut pair, sack) = unanswered();
    let bytes = sack.emit().expect("frame");
    let now = pair.ticks();
    pair.cards[0].receive(0, &bytes, now);
    pair.post(QP, write(100, 100, 5000, 2));
    pair.run();
    pair.cards[0].receive(0, &bytes, now);
    pair.finish(QP, [1, 2]);
    let counters = pair.cards[0].qp_counters(QP).expect("counters");
    assert_eq!((counters.stale_sacks, counters.retransmissions), (1, 0));
}

#[test]
fn damaged_control_packets() {
    let (mut pair, sack) = unanswered();
    let mut bytes = sack.emit().expect("frame");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let now = pair.ticks();
    pair.cards[0].receive(0, &bytes, now);
    pair.cards[0].receive(0, &bytes[..60], now);
    assert_eq!(pair.cards[0].counters().control_bad, 2);
    pair.finish(QP, [1]);
}
