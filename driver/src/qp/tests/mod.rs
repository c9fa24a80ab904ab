//! Queue pairs on a recording mock PCI function.

mod path_counts;
mod path_use;
mod posting;
mod profiles;
mod rc;
mod states;
mod vectors;

use std::sync::Arc;

use proptest::prelude::*;
use stellar_wire::config::{MAX_MPR, MOST_IMMEDIATES, RECEIVE_WINDOW};
use stellar_wire::host::registers::{
    DataPath, Features, Immediates, DATA_PATH, FEATURES, IMMEDIATES,
};
use stellar_wire::rows::{
    self, ConfigSelect, MrRow, QpMode, QpRow, RequesterRow, ResponderRow, Row, SendQueueRow,
};

use super::*;
use crate::fake::{open, ports, FakeCard};
use crate::{AccessFlags, Completion, Context, MemoryRegion, ProtectionDomain};

struct Bench {
    function: Arc<FakeCard>,
    context: Context,
    pd: ProtectionDomain,
    cq: CompletionQueue,
}

fn bench() -> Bench {
    bench_of(FakeCard::new())
}

fn bench_of(function: Arc<FakeCard>) -> Bench {
    let context = open(Arc::clone(&function) as _);
    Bench {
        pd: context.alloc_pd().unwrap(),
        cq: context.create_cq(4, false).unwrap(),
        context,
        function,
    }
}

fn config(send_entries: u32) -> QueuePairConfig {
    QueuePairConfig {
        send_entries,
        ..QueuePairConfig::default()
    }
}

fn peer(transport: Transport) -> Connection {
    Connection {
        qp: 5,
        psn: 77,
        transport,
        ports: ports(),
    }
}

fn step_over(transport: Transport, to: QpState) -> Modify {
    let peer = peer(transport);
    match (to, transport) {
        (QpState::Reset, _) => Modify::Reset,
        (QpState::Init, _) => Modify::Init(InitAttributes::default()),
        (QpState::Rtr, Transport::Mrc) => Modify::Rtr(RtrAttributes::new(peer)),
        (QpState::Rts, Transport::Mrc) => Modify::Rts(RtsAttributes::new(4)),
        (QpState::Rtr, Transport::Rc) => Modify::RcRtr(RcRtrAttributes::new(peer)),
        (QpState::Rts, Transport::Rc) => Modify::RcRts(RcRtsAttributes::new(4)),
        (QpState::Error, _) => Modify::Error,
    }
}

fn step(to: QpState) -> Modify {
    step_over(Transport::Mrc, to)
}

#[test]
fn a_card_with_one_port_gets_the_rows_of_one() {
    for (card, ports) in [(FakeCard::new(), 2), (FakeCard::one_port(), 1)] {
        let bench = bench_of(card);
        let qp = bench.pd.create_qp(&bench.cq, config(4)).unwrap();
        to_rts(&qp);
        let rows = |select: ConfigSelect| bench.function.last_rows(select.index()).len();
        assert_eq!(rows(ConfigSelect::Port), ports);
        assert_eq!(
            (rows(ConfigSelect::Address0), rows(ConfigSelect::Address1)),
            (1, ports - 1)
        );
        let over_rc = QueuePairConfig {
            transport: Transport::Rc,
            ..config(4)
        };
        let qp = bench.pd.create_qp(&bench.cq, over_rc).unwrap();
        qp.modify(step(QpState::Init)).unwrap();
        let by_port1 = RcRtrAttributes {
            port: 1,
            ..RcRtrAttributes::new(peer(Transport::Rc))
        };
        let allowed = qp
            .modify(Modify::RcRtr(by_port1))
            .map_err(|error| error.to_string());
        assert_eq!(allowed.is_ok(), ports == 2, "{allowed:?}");
    }
}

fn to_rts(qp: &QueuePair) {
    for state in [QpState::Init, QpState::Rtr, QpState::Rts] {
        qp.modify(step(state)).unwrap();
    }
}

impl Bench {
    /// The row that the card has; a table that was never written holds zeros.
    fn row<R: Row>(&self, select: ConfigSelect, qp: u32) -> R {
        let row = self.function.row(select.index(), qp).unwrap_or(vec![0; 16]);
        let halves = |word: u64| [word as u32, (word >> 32) as u32];
        let words: Vec<u32> = row.into_iter().flat_map(halves).collect();
        R::unpack(&words).expect("the driver writes rows that can be read")
    }

    /// Returns the state of the receive context on the card, and whether the queue pair may send. If either of them works, both must be of
    /// `transport`.
    fn on_card(&self, qp: u32, transport: Transport) -> (rows::QpState, bool) {
        let context: QpRow = self.row(ConfigSelect::Qp, qp);
        let requester: RequesterRow = self.row(ConfigSelect::Requester, qp);
        let is_rc = transport == Transport::Rc;
        if context.state == rows::QpState::Ready {
            assert_eq!(context.mode == QpMode::Rc, is_rc);
        }
        if requester.valid {
            assert_eq!(requester.rc, is_rc);
        }
        (context.state, requester.valid)
    }

    fn region(&self) -> MemoryRegion {
        let memory = self.context.alloc(4096).unwrap();
        self.pd.register(memory, AccessFlags::default()).unwrap()
    }
}

#[test]
fn attributes_that_do_not_fit_leave_the_state_as_it_was() {
    let bench = bench();
    let qp = bench.pd.create_qp(&bench.cq, config(2)).unwrap();
    qp.modify(step(QpState::Init)).unwrap();
    let good = RtrAttributes::new(peer(Transport::Mrc));
    let bad = [
        RtrAttributes {
            max_write_imm: MOST_IMMEDIATES + 1,
            ..good
        },
        RtrAttributes {
            peer: Connection {
                psn: 1 << 24,
                ..good.peer
            },
            ..good
        },
        RtrAttributes {
            path: PathAttributes {
                mtu_log2: 14,
                ..good.path
            },
            ..good
        },
        RtrAttributes {
            path: PathAttributes {
                mtu_log2: 0,
                ..good.path
            },
            ..good
        },
        RtrAttributes {
            path: PathAttributes {
                paths: 3,
                ..good.path
            },
            ..good
        },
    ];
    for attributes in bad {
        assert!(
            qp.modify(Modify::Rtr(attributes)).is_err(),
            "{attributes:?}"
        );
        assert_eq!(qp.state(), QpState::Init);
        assert!(!bench.on_card(qp.number(), Transport::Mrc).1);
    }
    qp.modify(Modify::Rtr(good)).unwrap();
    for window in [0, MAX_MPR as u16 + 1] {
        let window = RtsAttributes {
            window,
            ..RtsAttributes::new(0)
        };
        assert!(qp.modify(Modify::Rts(window)).is_err());
        assert_eq!(qp.state(), QpState::Rtr);
    }
}

/// A card says in FEATURES how wide the windows are that it sends with. One that says nothing has 1,024 packets.
#[test]
fn the_window_is_no_wider_than_the_card_says() {
    for (log2, most) in [(0, 1024), (9, 512), (10, 1024), (63, MAX_MPR)] {
        let function = FakeCard::new();
        let features = Features {
            log2_send_window: log2,
            ..FakeCard::FEATURES
        };
        function.set_register(FEATURES, features.to_word());
        let context = open(Arc::clone(&function) as _);
        assert_eq!(context.device().limits().send_window, most);
        assert_eq!(context.device().limits().receive_window, RECEIVE_WINDOW);
        let pd = context.alloc_pd().unwrap();
        let cq = context.create_cq(4, false).unwrap();
        let qp = pd.create_qp(&cq, config(2)).unwrap();
        qp.modify(step(QpState::Init)).unwrap();
        let rtr = RtrAttributes::new(peer(Transport::Mrc));
        qp.modify(Modify::Rtr(rtr)).unwrap();
        let rts = |window| {
            Modify::Rts(RtsAttributes {
                window,
                ..RtsAttributes::new(0)
            })
        };
        let error = qp.modify(rts(most as u16 + 1)).unwrap_err().to_string();
        assert!(error.contains("window"), "{error}");
        assert!(error.contains(&most.to_string()), "{error}");
        qp.modify(rts(most as u16)).unwrap();
    }
}

#[test]
fn a_queue_pair_without_counters_is_told_apart_and_named() {
    let function = FakeCard::new();
    let few = DataPath {
        log2_counted: 2,
        ..FakeCard::DATA_PATH
    };
    function.set_register(DATA_PATH, few.to_word());
    let bench = bench_of(function);
    let [counted, not_counted] =
        [(); 2].map(|()| bench.pd.create_qp(&bench.cq, config(4)).unwrap());
    assert_eq!((counted.number(), not_counted.number()), (3, 4));
    assert!(counted.counters().unwrap().is_zero());
    let error = not_counted.counters().unwrap_err().to_string();
    assert_eq!(
        error,
        "no counters of queue pair 4: the card counts for 0 to 3"
    );
    let device = bench.context.device();
    let by_number = device.probe().qp_counters(1023).unwrap_err();
    assert!(
        matches!(
            by_number,
            Error::NotCounted {
                qp: 1023,
                counted: 4
            }
        ),
        "{by_number}"
    );
    assert!(device.probe().active_qp_counters().unwrap().is_empty());
}

/// The card says how many WRITEs with immediate may be in flight; each queue pair has a part of its stash until it is stopped.
#[test]
fn queue_pairs_share_the_stash_of_the_card() {
    let function = FakeCard::new();
    let limits = Immediates {
        log2_most: 7,
        log2_stash: 8,
    };
    function.set_register(IMMEDIATES, limits.to_word());
    let bench = bench_of(function);
    let stated = bench.context.device().limits();
    assert_eq!((stated.write_imm, stated.write_imm_stash), (128, 256));
    let ready = |max_write_imm| {
        Modify::Rtr(RtrAttributes {
            max_write_imm,
            ..RtrAttributes::new(peer(Transport::Mrc))
        })
    };
    let pairs: Vec<_> = (0..4)
        .map(|_| bench.pd.create_qp(&bench.cq, config(2)).unwrap())
        .collect();
    for qp in &pairs {
        qp.modify(step(QpState::Init)).unwrap();
    }
    let error = pairs[0].modify(ready(129)).unwrap_err().to_string();
    assert!(error.contains("max_write_imm is 129"), "{error}");
    // 65 need as many entries as 128.
    for (qp, most) in pairs.iter().zip([65, 64, 17]) {
        qp.modify(ready(most)).unwrap();
    }
    let parts = |pairs: &[QueuePair]| -> Vec<_> {
        let row = |qp: &QueuePair| bench.row::<ResponderRow>(ConfigSelect::Responder, qp.number());
        let part = |row: ResponderRow| (row.stash, row.log2_stash, row.max_wimm);
        pairs.iter().map(|qp| part(row(qp))).collect()
    };
    assert_eq!(parts(&pairs[..3]), [(0, 7, 65), (128, 6, 64), (192, 5, 17)]);
    let error = pairs[3].modify(ready(64)).unwrap_err().to_string();
    assert!(error.contains("immediate in flight"), "{error}");
    assert_eq!(pairs[3].state(), QpState::Init);
    pairs[3].modify(ready(32)).unwrap();
    pairs[1].modify(Modify::Error).unwrap();
    pairs[3].modify(Modify::Reset).unwrap();
    pairs[3].modify(step(QpState::Init)).unwrap();
    pairs[3].modify(ready(64)).unwrap();
    assert_eq!(parts(&pairs[3..]), [(128, 6, 64)]);
}

#[test]
fn the_card_is_reset_when_the_last_object_goes_whatever_it_is() {
    let bench = bench();
    let qp = bench.pd.create_qp(&bench.cq, config(2)).unwrap();
    to_rts(&qp);
    let region = bench.region();
    let function = bench.function;
    drop((bench.context, bench.pd, bench.cq));
    let resets = function.resets();
    qp.post_send(&WorkRequest::write(1, region.slice(0, 1).unwrap(), 0, 0))
        .unwrap();
    drop(qp);
    assert_eq!(function.resets(), resets);
    drop(region);
    assert_eq!(function.resets(), resets + 1);
}

#[test]
fn objects_of_two_contexts_do_not_mix() {
    let bench = bench();
    let other = bench.context.device().open().unwrap();
    assert_ne!(other.page(), bench.context.page());
    let mixed = bench
        .pd
        .create_qp(&other.create_cq(4, false).unwrap(), config(2));
    assert!(matches!(mixed.err(), Some(Error::OtherContext(_))));
    let qp = bench.pd.create_qp(&bench.cq, config(2)).unwrap();
    assert!(other.arm_immediates(&qp, 1).is_err());
    for (entries, send) in [(3, 4), (4, 3), (4, 1), (4, 1 << 16)] {
        let cq = bench.context.create_cq(entries, false);
        let qp = bench.pd.create_qp(&bench.cq, config(send));
        let bad = |error: Option<Error>| matches!(error, Some(Error::QueueSize { .. }));
        assert!(bad(cq.err()) || bad(qp.err()), "{entries}, {send}");
    }
}
