//! Counters of queue pairs, read from the registers of Verilated cards, against the reference and against the frames.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::{Mutex, PoisonError};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim_net::{Fate, Frame};
use sim_nic::{chosen_shape, host_ports};
use sim_world::pair::{connect, FIRST_QP, RECEIVER, SENDER};
use sim_world::{MrcPlan, Plan, RegionSpec, TransportPlan, Write};
use stellar_transport::rx::Owner;
use stellar_transport::spray::Policy;
use stellar_transport::time::Ticks;
use stellar_wire::host::qp_counters::group;
use stellar_wire::host::{QpCounter, QpCounters};
use stellar_wire::mrc::{NackReason, Neth};
use stellar_wire::rows::PageSize;
use stellar_wire::{ExtHeaders, Opcode, RoceFrame};

use crate::twin::Twin;

const BACK_TO_BACK: &str =
    "[defaults]\nrate_gbps = 200\ndelay_ns = 200\n[back_to_back]\nplanes = 2\n";
const QPS: u32 = 4;
/// Queue pairs whose requests become wrong.
const BAD_KEY: u32 = FIRST_QP + 1;
const BAD_LENGTH: u32 = FIRST_QP + 2;
const MTU_LOG2: u8 = 10;
const MESSAGES: [u32; 3] = [60_000, 1, 90_001];
/// Picoseconds in a microsecond.
const US: u64 = 1_000_000;
const LIMIT: u64 = 20_000 * US;

/// Packets that no queue pair should get, before packets of its peer.
pub fn errors(
    host: usize,
    number: u64,
    frame: &RoceFrame,
    sent: Option<&RoceFrame>,
) -> Option<RoceFrame> {
    if host == RECEIVER && frame.bth.opcode.is_write() {
        wrong_request(number, frame)
    } else if host == SENDER && frame.bth.opcode == Opcode::MrcSack {
        wrong_answer(number, frame, sent)
    } else {
        None
    }
}

fn wrong_request(number: u64, frame: &RoceFrame) -> Option<RoceFrame> {
    let (qp, mut wrong) = (frame.bth.dest_qp, frame.clone());
    let is_mrc = frame.bth.opcode.is_mrc();
    let middle = [Opcode::MrcWriteMiddle, Opcode::RcWriteMiddle].contains(&frame.bth.opcode);
    if number % 16 == 5 {
        wrong.bth.pkey = 0x1234;
    } else if number % 16 == 9 && is_mrc {
        wrong.bth.psn = psn(wrong.bth.psn, 5_000);
    } else if number % 16 == 13 && !is_mrc {
        wrong.bth.psn = psn(wrong.bth.psn, 1);
    } else if qp == BAD_KEY && number > 100 && wrong.ext.reth.is_some() {
        wrong.ext.reth.as_mut()?.rkey ^= 1;
    } else if qp == BAD_LENGTH && number > 100 && middle {
        wrong.payload.truncate(8);
    } else {
        return None;
    }
    Some(wrong)
}

/// SACKs of another time, and NACKs of the packet sent last.
fn wrong_answer(number: u64, sack: &RoceFrame, sent: Option<&RoceFrame>) -> Option<RoceFrame> {
    let mut wrong = sack.clone();
    let seth = wrong.ext.seth.as_mut()?;
    let nack = |reason| {
        let (seth, sent) = (sack.ext.seth?, sent?);
        let neth = Neth {
            reason,
            entropy: seth.entropy,
            src_context: seth.src_context,
            dst_context: seth.dst_context,
            nack_psn: sent.bth.psn,
            tx_timestamp: sent.ext.tseth?.tx_timestamp,
            ..Neth::default()
        };
        let mut nack = sack.clone();
        nack.bth.opcode = Opcode::MrcNack;
        nack.ext = ExtHeaders {
            neth: Some(neth),
            ..ExtHeaders::default()
        };
        Some(nack)
    };
    match number % 8 {
        // PSNs that were never sent, and PSNs of an earlier time.
        1 => seth.cack_psn = psn(seth.cack_psn, 3_000),
        3 => seth.cack_psn = psn(seth.cack_psn, 0x100_0000 - 5_000),
        5 => return nack(NackReason::Trimmed),
        7 => return nack(NackReason::NoResource),
        _ => return None,
    }
    Some(wrong)
}

/// The PSN `ahead` PSNs after `psn`.
fn psn(psn: u32, ahead: u32) -> u32 {
    (psn + ahead) & 0xff_ffff
}

/// Probabilities of what happens to a frame.
#[derive(Clone, Copy)]
struct Weather {
    lost: f64,
    late: f64,
    twice: f64,
    marked: f64,
}

impl Weather {
    fn fate(self, rng: &mut ChaCha8Rng) -> Fate {
        let drawn: f64 = rng.random();
        let mut below = 0.0;
        for (share, fate) in [
            (self.lost, Fate::Drop),
            (self.late, Fate::Delay(rng.random_range(0..2 * US))),
            (self.twice, Fate::Duplicate),
            (self.marked, Fate::MarkCe),
        ] {
            below += share;
            if drawn < below {
                return fate;
            }
        }
        Fate::Pass
    }
}

/// A run between two cards: MRC on one plane, so that frames have an order, or RC.
struct Case {
    transport: TransportPlan,
    weather: Weather,
    seed: u64,
}

/// What the run counted: at the sender, and at the receiver with its reference.
struct Counted {
    qp: u32,
    sent: QpCounters,
    seen: crate::twin::Seen,
    received: QpCounters,
    reference: QpCounters,
    /// Answers that the card may have given and the reference not, or the other way round (see [`Twin`]).
    may_differ: u64,
}

fn run<const INTRUDER: usize>(case: &Case) -> Vec<Counted> {
    let mut plan = Plan::new(
        host_ports(chosen_shape())
            .topology("counters", BACK_TO_BACK)
            .unwrap(),
        case.seed,
    )
    .unwrap();
    plan.qps = QPS;
    plan.mtu_log2 = MTU_LOG2;
    plan.transport = case.transport;
    let mut world = connect::<Twin<INTRUDER>>(&plan).unwrap();
    let rng = Arc::new(Mutex::new(ChaCha8Rng::seed_from_u64(case.seed)));
    for host in [plan.sender, plan.receiver] {
        for port in 0..plan.planes() {
            let channel = world.fabric().topology().uplink(host, port).unwrap();
            let (rng, weather) = (Arc::clone(&rng), case.weather);
            let filter = move |_: &Frame, _: u64| {
                weather.fate(&mut rng.lock().unwrap_or_else(PoisonError::into_inner))
            };
            let fabric = world.fabric_mut();
            fabric.set_filter(channel, Some(Box::new(filter))).unwrap();
        }
    }
    if matches!(case.transport, TransportPlan::Mrc(_)) && plan.planes() == 2 {
        let ports = &plan.topology.hosts()[plan.sender.0 as usize].ports;
        let link = ports[1].link;
        world.fabric_mut().schedule_link(link, 0, false).unwrap();
    }
    let each: u64 = MESSAGES.iter().map(|&length| u64::from(length)).sum();
    let spec = RegionSpec {
        owner: Owner::Gpu,
        length: each * u64::from(QPS),
        page_size: PageSize::Size64K,
        skew: 0,
    };
    let local = world.register(SENDER, spec).unwrap();
    let remote = world.register(RECEIVER, spec).unwrap();
    let mut offset = 0;
    for (index, length) in MESSAGES.into_iter().enumerate() {
        for qp in FIRST_QP..FIRST_QP + QPS {
            let write = Write {
                from: SENDER,
                to: RECEIVER,
                qp,
                local: (local, offset),
                remote: (remote, offset),
                length,
                immediate: (index == 1).then_some(7),
            };
            world.at(2 * US, move |world| world.post(write).map(|_| ()));
            offset += u64::from(length);
        }
    }
    world.run(LIMIT).unwrap();
    // A retransmission or a probe may have been selected before the last SACK, and leaves the card after it. At 5 us one probe had been counted and had not left.
    let end = world.now() + 50 * US;
    world.run_until(end).unwrap();
    let qps = FIRST_QP..FIRST_QP + QPS;
    qps.map(|qp| Counted {
        qp,
        sent: world.qp_counters(SENDER, qp).unwrap(),
        seen: world
            .host(SENDER)
            .nic()
            .seen
            .get(&qp)
            .cloned()
            .unwrap_or_default(),
        received: world.qp_counters(RECEIVER, qp).unwrap(),
        reference: world.host(RECEIVER).nic().reference(qp),
        may_differ: {
            let twin = world.host(RECEIVER).nic();
            let of = |counts: &BTreeMap<u32, u64>| counts.get(&qp).copied().unwrap_or_default();
            of(&twin.in_either_epoch) + of(&twin.around_visits)
        },
    })
    .collect()
}

/// Checks a run, and adds the counters that are not zero to `reached`.
fn check(counted: &[Counted], reached: &mut BTreeSet<QpCounter>) {
    for of in counted {
        let qp = of.qp;
        // A packet right behind the one that fails its queue pair meets the context from before: its mode and P_Key are checked, where the reference already finds
        // the queue pair in error.
        let early = of.received.get(QpCounter::Refused) - of.reference.get(QpCounter::Refused);
        let mut expected = of.reference;
        expected.set(QpCounter::Refused, expected.get(QpCounter::Refused) + early);
        let in_error = expected.get(QpCounter::WrongState) - early;
        expected.set(QpCounter::WrongState, in_error);
        assert!(
            early <= 1,
            "{early} packets of queue pair {qp} were refused early"
        );
        // The answer to a duplicate depends on the epoch, and what is pending on the last visit. The card meets both a little later. A SACK that only one of them
        // sends may echo a mark.
        for answers in [
            QpCounter::AcksSent,
            QpCounter::SacksSent,
            QpCounter::EcnEchoed,
        ] {
            let found = of.received.get(answers);
            let differ = found.abs_diff(expected.get(answers));
            assert!(
                differ <= of.may_differ,
                "{answers} of queue pair {qp} differ by {differ}, with {} packets at the end of an epoch or at a visit",
                of.may_differ
            );
            expected.set(answers, found);
        }
        let received = |counters: &QpCounters| -> Vec<(QpCounter, u64)> {
            counters.iter().skip(group::ACCEPTED).collect()
        };
        assert_eq!(
            received(&of.received),
            received(&expected),
            "queue pair {qp} at the receiver"
        );
        for counter in [
            QpCounter::PacketsSent,
            QpCounter::BytesSent,
            QpCounter::Retransmissions,
            QpCounter::ProbesSent,
        ] {
            let (found, expected) = (of.sent.get(counter), of.seen.counts.get(counter));
            assert_eq!(
                found, expected,
                "{counter} of queue pair {qp} at the sender"
            );
        }
        let sum = |counters: &[QpCounter]| counters.iter().map(|&c| of.sent.get(c)).sum::<u64>();
        // A queue pair that failed counts no more answers.
        if of.sent.get(QpCounter::NacksFatal) + of.sent.get(QpCounter::Naks) == 0 {
            let sacks = [
                QpCounter::Sacks,
                QpCounter::SacksOutOfWindow,
                QpCounter::SacksInconsistent,
            ];
            assert_eq!(sum(&sacks), of.seen.sacks, "SACKs of queue pair {qp}");
            let nacks = [
                QpCounter::NacksTrimmed,
                QpCounter::NacksRecoverable,
                QpCounter::NacksFatal,
                QpCounter::NacksIgnored,
            ];
            assert_eq!(sum(&nacks), of.seen.nacks, "NACKs of queue pair {qp}");
        }
        let acks = [QpCounter::Acks, QpCounter::Naks, QpCounter::AcksIgnored];
        assert!(sum(&acks) <= of.seen.acks, "ACKs of queue pair {qp}");
        for counters in [&of.sent, &of.received] {
            let counted = counters.iter().filter(|(_, value)| *value > 0);
            reached.extend(counted.map(|(counter, _)| counter));
        }
        println!("{qp}: sent {:?}", nonzero(&of.sent));
        println!("{qp}: received {:?}", nonzero(&of.received));
    }
}

fn nonzero(counters: &QpCounters) -> Vec<(QpCounter, u64)> {
    counters.iter().filter(|(_, value)| *value > 0).collect()
}

fn mrc(policy: Policy) -> TransportPlan {
    TransportPlan::Mrc(MrcPlan {
        policy,
        early_loss: 16,
        rto: Ticks::from_us(30),
        ..MrcPlan::default()
    })
}

const STORM: Weather = Weather {
    lost: 0.04,
    late: 0.1,
    twice: 0.03,
    marked: 0.2,
};
const RAIN: Weather = Weather {
    lost: 0.01,
    late: 0.0,
    twice: 0.01,
    marked: 0.1,
};

#[test]
fn counters_of_queue_pairs_are_those_of_the_reference() {
    let mut reached = BTreeSet::new();
    let policies = [
        (1, Policy::Obs),
        (2, Policy::EvState),
        (4, Policy::Mixed),
        (5, Policy::FlowBender),
        (6, Policy::Hopper),
    ];
    for (seed, policy) in policies {
        let case = Case {
            transport: mrc(policy),
            weather: STORM,
            seed,
        };
        check(&run::<0>(&case), &mut reached);
    }
    let mut case = Case {
        transport: TransportPlan::Rc,
        weather: RAIN,
        seed: 3,
    };
    check(&run::<0>(&case), &mut reached);
    check(&run::<1>(&case), &mut reached);
    case.transport = mrc(Policy::Obs);
    check(&run::<1>(&case), &mut reached);
    let missing: Vec<_> = QpCounter::ALL
        .into_iter()
        .filter(|counter| !reached.contains(counter))
        .collect();
    // Regions on demand are the driver's: `verbs::on_demand` reads this counter.
    assert_eq!(missing, [QpCounter::PagesAbsent]);
}
