//! Work requests that fail, and what becomes of the others.

use stellar_transport::endpoint::TransportConfig;
use stellar_transport::requester::{MrcConfig, RcConfig};
use stellar_transport::rx::{DropReason, MrRow, TableWrite};
use stellar_wire::host::{EventKind, WcStatus, Wqe};

use WcStatus::{LocLenErr, LocProtErr, RemOpErr, RetryExcErr, Success, WrFlushErr};

use crate::endpoint::network::Fate;
use crate::endpoint::pair::{
    locate, mrc, perfect, qp, statuses, write, Pair, REGION, SOURCE_KEY, SOURCE_VA, TARGET_KEY,
};

const QP: u32 = 5;

fn modes() -> [TransportConfig; 2] {
    [
        TransportConfig::Mrc(mrc(10)),
        TransportConfig::Rc(RcConfig::default()),
    ]
}

/// A good message, `bad`, and another good one, on both modes: the first completes, `bad` with its status, the last is
/// flushed. Nothing of `bad` is placed.
fn fails_alone(bad: Wqe, status: WcStatus) {
    for transport in modes() {
        let mut pair = Pair::new(perfect);
        pair.connect(|card| qp(card, QP, 10, transport.clone()));
        pair.post(QP, write(0, 0, 5000, 1));
        for wqe in [Wqe { wr_id: 2, ..bad }, write(0, 0, 50, 3)] {
            pair.cards[0].post(QP, wqe).expect("room");
        }
        pair.run();
        pair.check_memory();
        let completions = pair.completions(0, QP);
        assert_eq!(
            statuses(&completions),
            [(1, Success), (2, status), (3, WrFlushErr)]
        );
        assert_eq!(
            completions.iter().map(|c| c.sq_head).collect::<Vec<_>>(),
            [1, 2, 3]
        );
        let event = pair.cards[0].poll_event().expect("an event");
        assert_eq!(
            (event.kind, event.source, event.data),
            (EventKind::QpError, QP, status.code().into())
        );
        // Work posted to a queue pair in error is flushed at once.
        pair.cards[0].post(QP, write(0, 0, 50, 4)).expect("room");
        assert_eq!(statuses(&pair.completions(0, QP)), [(4, WrFlushErr)]);
    }
}

#[test]
fn a_local_buffer_that_may_not_be_read() {
    fails_alone(
        Wqe {
            lkey: SOURCE_KEY ^ 1,
            ..write(0, 0, 10, 0)
        },
        LocProtErr,
    );
    fails_alone(
        Wqe {
            lkey: 4096 << 8,
            ..write(0, 0, 10, 0)
        },
        LocProtErr,
    );
    // The end of the message is out of bounds, so no part of it is sent.
    fails_alone(write(REGION - 5000, 0, 5001, 0), LocProtErr);
    fails_alone(
        Wqe {
            local_va: SOURCE_VA - 1,
            ..write(0, 0, 10, 0)
        },
        LocProtErr,
    );
    fails_alone(
        Wqe {
            local_va: u64::MAX,
            ..write(0, 0, 10, 0)
        },
        LocProtErr,
    );
}

#[test]
fn a_work_request_that_makes_no_sense() {
    fails_alone(
        Wqe {
            inline: true,
            ..write(0, 0, 65, 0)
        },
        LocLenErr,
    );
    fails_alone(write(0, 0, u32::MAX, 0), LocLenErr);
}

#[test]
fn a_local_buffer_of_another_protection_domain() {
    let mut pair = Pair::mrc(perfect);
    let entry = MrRow {
        valid: true,
        pd: 0x78,
        key: 1,
        base_va: SOURCE_VA,
        length: REGION,
        first_emtt: 100,
        on_demand: false,
        ..MrRow::default()
    };
    let index = 20;
    pair.cards[0]
        .write_table(&TableWrite::Mr { index, entry })
        .expect("region");
    pair.cards[0]
        .post(
            QP,
            Wqe {
                lkey: 20 << 8 | 1,
                ..write(0, 0, 10, 7)
            },
        )
        .expect("room");
    pair.run();
    assert_eq!(statuses(&pair.completions(0, QP)), [(7, LocProtErr)]);
}

#[test]
fn memory_that_does_not_answer() {
    for transport in modes() {
        let mut pair = Pair::new(perfect);
        pair.connect(|card| qp(card, QP, 10, transport.clone()));
        // The fourth page of the message is gone from the bus, though its translation is valid.
        let (gpu, address) = locate(SOURCE_VA, SOURCE_VA + 3 * 4096);
        pair.cards[0]
            .memory_mut()
            .pages
            .remove(&(gpu, address >> 12));
        pair.cards[0]
            .post(QP, write(0, 0, 30_000, 1))
            .expect("room");
        pair.run();
        assert_eq!(statuses(&pair.completions(0, QP)), [(1, LocProtErr)]);
    }
}

#[test]
fn a_region_deregistered_while_its_packets_are_in_flight() {
    let mut pair = Pair::mrc(perfect);
    pair.cards[0]
        .post(QP, write(0, 0, 200_000, 1))
        .expect("room");
    pair.run_for(500);
    let entry = MrRow::default();
    let index = TARGET_KEY >> 8;
    pair.cards[1]
        .write_table(&TableWrite::Mr { index, entry })
        .expect("region");
    let written = pair.cards[1].memory().bytes_written;
    pair.run();
    assert_eq!(statuses(&pair.completions(0, QP)), [(1, RemOpErr)]);
    assert!(written > 0 && pair.cards[1].memory().bytes_written == written);
    assert_eq!(pair.cards[1].rx_counters().reason(DropReason::BadKey), 1);
    assert_eq!(
        pair.cards[1].poll_event().map(|e| e.kind),
        Some(EventKind::QpError)
    );
}

#[test]
fn a_refused_address_fails_the_message_that_has_it() {
    let mut pair = Pair::mrc(perfect);
    pair.cards[0].post(QP, write(0, 0, 2000, 1)).expect("room");
    pair.run();
    pair.cards[0]
        .post(QP, write(0, REGION - 1500, 3000, 2))
        .expect("room");
    pair.cards[0].post(QP, write(0, 0, 10, 3)).expect("room");
    pair.run();
    let found = statuses(&pair.completions(0, QP));
    assert_eq!(found, [(1, Success), (2, RemOpErr), (3, WrFlushErr)]);
}

#[test]
fn a_spent_retry_budget_fails_one_queue_pair_and_no_other() {
    let mut pair = Pair::new(|seen| Fate::lost_if(seen.is_data() && seen.frame.bth.dest_qp == 6));
    for number in [5, 6, 7] {
        let budget = |config: &mut MrcConfig| config.retry_budget = 3;
        pair.connect(|card| {
            let mut config = mrc(10);
            budget(&mut config);
            qp(card, number, 10, TransportConfig::Mrc(config))
        });
    }
    for i in 0..4 {
        pair.post(5, write(i * 20_000, i * 20_000, 20_000, i));
        pair.cards[0].post(6, write(0, 0, 2000, i)).expect("room");
        pair.post(
            7,
            write(100_000 + i * 20_000, 100_000 + i * 20_000, 20_000, i),
        );
    }
    pair.run();
    pair.check_memory();
    for good in [5, 7] {
        let expected: Vec<_> = (0..4).map(|i| (i, Success)).collect();
        assert_eq!(statuses(&pair.completions(0, good)), expected);
        assert_eq!(
            pair.cards[0].qp_counters(good).expect("counters").timeouts,
            0
        );
    }
    let found = statuses(&pair.completions(0, 6));
    assert_eq!(
        found,
        [
            (0, RetryExcErr),
            (1, WrFlushErr),
            (2, WrFlushErr),
            (3, WrFlushErr)
        ]
    );
    let event = pair.cards[0].poll_event().expect("an event");
    assert_eq!((event.source, event.data), (6, RetryExcErr.code().into()));
    assert_eq!(pair.cards[0].poll_event(), None);
}
