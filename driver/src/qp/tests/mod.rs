//! Queue pairs on a function that takes notes.

mod rc;

use std::sync::Arc;

use proptest::prelude::*;
use stellar_wire::host::{Cqe, CqeOpcode, Doorbell, Wqe};
use stellar_wire::hw::config::ConfigSelect;
use stellar_wire::hw::pack::Record;
use stellar_wire::hw::requester::RequesterConfig;
use stellar_wire::hw::tables::QpContext;

use super::*;
use crate::fake::FakeCard;
use crate::{
    AccessFlags, Completion, Context, Device, DeviceConfig, MemoryRegion, PortAddress, Probe,
    ProtectionDomain,
};

struct Bench {
    function: Arc<FakeCard>,
    context: Context,
    pd: ProtectionDomain,
    cq: CompletionQueue,
}

fn ports() -> [PortAddress; 2] {
    [1, 2].map(|last| PortAddress {
        mac: [2, 0, 0, 0, 0, last],
        ip: [10, 0, 0, last].into(),
    })
}

fn device(function: &Arc<FakeCard>) -> Device {
    let function = Arc::clone(function);
    let probe = Probe::new(function).unwrap();
    probe.bring_up(DeviceConfig::new(ports(), 1)).unwrap()
}

fn bench() -> Bench {
    let function = FakeCard::new();
    let context = device(&function).open().unwrap();
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

fn to_rts(qp: &QueuePair) {
    for state in [QpState::Init, QpState::Rtr, QpState::Rts] {
        qp.modify(step(state)).unwrap();
    }
}

impl Bench {
    fn words(&self, select: ConfigSelect, qp: u32) -> Vec<u32> {
        let row = self.function.row(select as u8, qp).unwrap_or(vec![0; 16]);
        row.iter()
            .flat_map(|word| [*word as u32, (word >> 32) as u32])
            .collect()
    }

    /// State of the receive context on the card, and whether the queue pair may send; as long as one of them works, both are of `transport`.
    fn on_card(&self, qp: u32, transport: Transport) -> (String, bool) {
        let context = self.words(ConfigSelect::Qp, qp);
        let requester = self.words(ConfigSelect::Requester, qp);
        let (context, requester) = (
            Record::<QpContext>::new(&context),
            Record::<RequesterConfig>::new(&requester),
        );
        let (state, valid) = (context.variant("state"), requester.bool("valid"));
        if state == "QpState::Ready" {
            let mode = context.variant("mode");
            assert_eq!(mode, format!("QpMode::{transport:?}"));
        }
        if valid {
            assert_eq!(requester.bool("rc"), transport == Transport::Rc);
        }
        (state, valid)
    }

    fn region(&self) -> MemoryRegion {
        let memory = self.context.alloc(4096).unwrap();
        self.pd.register(memory, AccessFlags::default()).unwrap()
    }
}

/// The InfiniBand architecture's table, as pairs.
const LEGAL: [(QpState, QpState); 13] = {
    use QpState::*;
    [
        (Reset, Init),
        (Reset, Reset),
        (Init, Init),
        (Init, Rtr),
        (Init, Reset),
        (Init, Error),
        (Rtr, Rts),
        (Rtr, Reset),
        (Rtr, Error),
        (Rts, Reset),
        (Rts, Error),
        (Error, Reset),
        (Error, Error),
    ]
};

proptest! {
    /// Random steps and posts against a model: its state, how much is posted, and what the card was told.
    #[test]
    fn a_queue_pair_goes_where_it_may_and_takes_the_card_along(
        transport in prop::sample::select(vec![Transport::Mrc, Transport::Rc]),
        steps in prop::collection::vec((prop::sample::select(QpState::ALL.to_vec()), 0u64..4), 1..30),
    ) {
        let bench = bench();
        let qp = bench.pd.create_qp(&bench.cq, QueuePairConfig { transport, ..config(4) }).unwrap();
        let (mut state, mut posted) = (QpState::Reset, Vec::new());
        let mut flushed: Vec<u64> = Vec::new();
        for (target, posts) in steps {
            let legal = LEGAL.contains(&(state, target));
            if matches!(target, QpState::Rtr | QpState::Rts) {
                // Attributes of the other transport are refused, and change nothing.
                let other = if transport == Transport::Mrc { Transport::Rc } else { Transport::Mrc };
                match qp.modify(step_over(other, target)) {
                    Err(Error::Transport { own, given, .. }) => {
                        prop_assert!(legal && own == transport && given == other);
                    }
                    Err(Error::Transition(_)) => prop_assert!(!legal),
                    other => return Err(TestCaseError::fail(format!("{other:?}"))),
                }
            }
            match qp.modify(step_over(transport, target)) {
                Ok(()) => {
                    prop_assert!(legal, "{state:?} to {target:?}");
                    match target {
                        QpState::Error => flushed.append(&mut posted),
                        QpState::Reset => {
                            posted.clear();
                            flushed.clear();
                        }
                        _ => {}
                    }
                    state = target;
                }
                Err(Error::Transition(illegal)) => {
                    prop_assert!(!legal, "{illegal}");
                    prop_assert_eq!(illegal, IllegalTransition { from: state, to: target });
                }
                Err(other) => return Err(TestCaseError::fail(other.to_string())),
            }
            for wr_id in 0..posts {
                let result = qp.post_send(&WorkRequest::nop(wr_id));
                match result {
                    Ok(()) => {
                        prop_assert_eq!(state, QpState::Rts);
                        posted.push(wr_id);
                    }
                    Err(PostError::State { state: said, .. }) => {
                        prop_assert!(state != QpState::Rts);
                        prop_assert_eq!(said, state);
                    }
                    Err(PostError::Full { .. }) => prop_assert_eq!(posted.len(), 4),
                    Err(other) => return Err(TestCaseError::fail(other.to_string())),
                }
            }
            prop_assert_eq!(qp.state(), state);
            prop_assert_eq!(qp.outstanding(), posted.len());
            let (context, may_send) = bench.on_card(qp.number(), transport);
            let ready = matches!(state, QpState::Rtr | QpState::Rts);
            prop_assert_eq!(context == "QpState::Ready", ready);
            prop_assert_eq!(may_send, ready);
            if posts == 3 {
                let found: Vec<u64> = bench.cq.poll(100).unwrap().iter().map(|wc| wc.wr_id).collect();
                prop_assert_eq!(found, std::mem::take(&mut flushed));
            }
        }
    }

    /// A card that completes in order, now and then one entry for several: whatever the driver posts stands in the right place with the right slot,
    /// and every completion frees what it says, over many rounds of the ring and of its 16-bit index.
    #[test]
    fn the_send_queue_wraps(
        log2_entries in 1u32..5,
        before in prop::sample::select(vec![0u32, 65_530]),
        steps in prop::collection::vec((1u32..6, 0u32..6), 1..40),
    ) {
        let entries = 1 << log2_entries;
        let mut work = Work::new(entries);
        let bench = bench();
        let ready = |slot| WorkRequest::nop(0).ready(&bench.pd.0, slot).unwrap();
        for _ in 0..before {
            work.push(ready(work.producer()));
            work.free(2, work.producer()).unwrap();
        }
        let (mut posted, mut freed) = (before, before);
        for (posts, completes) in steps {
            for _ in 0..posts {
                let room = work.check_room().is_ok();
                prop_assert_eq!(room, posted - freed < entries);
                if room {
                    prop_assert_eq!(work.producer(), posted as u16);
                    prop_assert_eq!(work.place(), (posted % entries) as usize);
                    let ready = ready(work.producer());
                    prop_assert_eq!(ready.wqe.slot, posted as u16);
                    work.push(ready);
                    posted += 1;
                }
            }
            let head = freed + completes;
            let possible = head <= posted;
            prop_assert_eq!(work.free(2, head as u16).is_ok(), possible);
            if possible {
                freed = head;
            }
            prop_assert_eq!(work.len() as u32, posted - freed);
        }
    }
}

#[test]
fn every_pair_of_states_is_in_the_table_or_refused() {
    for from in QpState::ALL {
        for to in QpState::ALL {
            let legal = LEGAL.contains(&(from, to));
            assert_eq!(from.may_become(to), legal, "{from:?} to {to:?}");
        }
    }
    let error = QpState::Reset.to(QpState::Rts).unwrap_err().to_string();
    assert!(
        error.starts_with("a queue pair in Reset cannot become Rts;"),
        "{error}"
    );
}

#[test]
fn what_the_card_cannot_do_is_refused_by_name() {
    let bench = bench();
    let qp = bench.pd.create_qp(&bench.cq, config(2)).unwrap();
    to_rts(&qp);
    bench.function.take_doorbells();
    let post = |request: &WorkRequest<'_>| qp.post_send(request).unwrap_err();
    for opcode in [
        WrOpcode::Send,
        WrOpcode::RdmaRead,
        WrOpcode::AtomicFetchAndAdd,
    ] {
        let request = WorkRequest {
            opcode,
            ..WorkRequest::nop(1)
        };
        assert!(matches!(post(&request), PostError::Opcode(named) if named == opcode));
    }
    let long = WorkRequest::write(1, Source::Inline(&[0; 17]), 0, 0);
    assert!(matches!(post(&long), PostError::Inline(17)));
    let region = bench.region();
    let beyond = Source::Region {
        region: &region,
        offset: 4000,
        length: 97,
    };
    assert!(region.slice(4000, 97).is_err());
    let beyond = WorkRequest::write(1, beyond, 0, 0);
    assert!(matches!(
        post(&beyond),
        PostError::Bounds { have: 4096, .. }
    ));
    let other = bench.context.alloc_pd().unwrap();
    let memory = bench.context.alloc(64).unwrap();
    let foreign = other.register(memory, AccessFlags::default()).unwrap();
    let foreign = WorkRequest::write(1, foreign.slice(0, 1).unwrap(), 0, 0);
    assert!(matches!(post(&foreign), PostError::Domain));
    assert_eq!(qp.outstanding(), 0);
    assert!(bench.function.take_doorbells().is_empty());

    qp.post_send(&WorkRequest::nop(1)).unwrap();
    let doorbell = Doorbell {
        qp: qp.number(),
        producer: 1,
    };
    let word = u64::from_le_bytes(doorbell.to_bytes());
    assert_eq!(bench.function.take_doorbells(), [(0, word)]);
}

#[test]
fn a_pushed_entry_goes_along_with_its_doorbell() {
    let bench = bench();
    let qp = bench.pd.create_qp(&bench.cq, config(2)).unwrap();
    to_rts(&qp);
    bench.function.take_doorbells();
    qp.post_send(&WorkRequest::nop(0x77).pushed()).unwrap();
    let written = bench.function.take_doorbells();
    let places: Vec<u64> = written.iter().map(|write| write.0).collect();
    assert_eq!(places, [64, 72, 80, 88, 96, 104, 112, 120, 128]);
    let entry: Vec<u8> = written[..8]
        .iter()
        .flat_map(|write| write.1.to_le_bytes())
        .collect();
    let entry = Wqe::from_bytes(&entry.try_into().unwrap()).unwrap();
    assert_eq!((entry.wr_id, entry.slot), (0x77, 0));
    let doorbell = Doorbell::from_bytes(&written[8].1.to_le_bytes());
    assert_eq!((doorbell.qp, doorbell.producer), (qp.number(), 1));
}

#[test]
fn attributes_that_do_not_fit_leave_the_state_as_it_was() {
    let bench = bench();
    let qp = bench.pd.create_qp(&bench.cq, config(2)).unwrap();
    qp.modify(step(QpState::Init)).unwrap();
    let good = RtrAttributes::new(peer(Transport::Mrc));
    let bad = [
        RtrAttributes {
            max_write_imm: 17,
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
                mtu_log2: 13,
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
    let window = RtsAttributes {
        window: 1025,
        ..RtsAttributes::new(0)
    };
    assert!(qp.modify(Modify::Rts(window)).is_err());
    assert_eq!(qp.state(), QpState::Rtr);
}

#[test]
fn a_posted_region_outlives_its_handle_and_is_released_by_the_completion() {
    let bench = bench();
    let qp = bench.pd.create_qp(&bench.cq, config(2)).unwrap();
    to_rts(&qp);
    let region = bench.region();
    let write = WorkRequest::write(1, region.slice(0, 64).unwrap(), 0, 0);
    qp.post_send(&write).unwrap();
    let index = region.rkey() >> 8;
    let valid = || bench.words(ConfigSelect::Mr, index)[0] & 1 == 1;
    let refused = region.deregister().unwrap_err();
    assert_eq!(
        refused.to_string(),
        "1 posted work requests use the region: poll their completions first"
    );
    drop(refused);
    assert!(valid());
    let cqe = Cqe {
        status: WcStatus::Success,
        opcode: CqeOpcode::Write,
        phase: true,
        qp: qp.number(),
        wr_id: 1,
        byte_len: 64,
        immediate: 0,
        msn: 0,
        sq_head: 1,
    };
    qp.core.shared.completed(&cqe).unwrap();
    assert!(!valid());
    let late = Cqe { sq_head: 3, ..cqe };
    assert!(matches!(
        qp.core.shared.completed(&late),
        Err(Error::BadHead { head: 3, .. })
    ));
}

#[test]
fn flushed_work_says_what_it_was() {
    let bench = bench();
    let qp = bench.pd.create_qp(&bench.cq, config(2)).unwrap();
    to_rts(&qp);
    let write = WorkRequest::write(9, Source::Inline(b"abc"), 0, 0).unsignaled();
    qp.post_send(&write).unwrap();
    qp.modify(Modify::Error).unwrap();
    let expected = Completion {
        wr_id: 9,
        status: WcStatus::WrFlushErr,
        opcode: CqeOpcode::Write,
        qp: qp.number(),
        byte_len: 3,
        immediate: None,
    };
    assert_eq!(bench.cq.poll(9).unwrap(), [expected]);
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
