//! Tests SACKs that cover several packets: every packet is reported in the end, and no sender waits forever for a SACK.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stellar_transport::congestion::NsccParams;
use stellar_transport::endpoint::TransportConfig;
use stellar_transport::requester::{CompletionQueue, QpIdentity, RequesterCounters, NO_COALESCING};
use stellar_transport::responder::{default_sack_every, Responder, MAX_SACK_EVERY};
use stellar_transport::rx::{
    AckBody, AckRequest, DropReason, PacketHeaders, Psn, PsnTrack, QpMode, RcAddress, RcClass,
    RcOutcome, TrackedPacket,
};
use stellar_wire::mrc::{Entropy, Meth, Seth};
use stellar_wire::rows::ASK_AFTER;
use stellar_wire::time::PENDING_VISIT_LOG2;
use stellar_wire::{Opcode, Position, Reth};

use crate::endpoint::network::Fate;
use crate::endpoint::pair::{mrc, qp, write, Pair, SACK_EVERY};

const QP: u32 = 5;

/// A receiver, and what its SACKs have reported.
struct Receiver {
    track: PsnTrack,
    responder: Responder,
    cq: CompletionQueue,
    /// A cumulative PSN has reported everything before this distance from `first`.
    told_below: u32,
    told: BTreeSet<u32>,
    arrived: BTreeSet<u32>,
    first: Psn,
    sacks: u32,
    /// Number of these SACKs that answered accepted packets.
    fresh: u32,
}

impl Receiver {
    fn new(first: Psn, sack_every: u8) -> Self {
        let identity = QpIdentity {
            local: QP,
            peer: QP,
            pd: 0,
            mtu: 1024,
        };
        Self {
            track: PsnTrack::new(first),
            responder: Responder::new(identity, first, 4, true, sack_every),
            cq: CompletionQueue::new(1),
            told_below: 0,
            told: BTreeSet::new(),
            arrived: BTreeSet::new(),
            first,
            sacks: 0,
            fresh: 0,
        }
    }

    /// The `index`-th packet arrives.
    fn receive(&mut self, index: u32, ack_req: bool, ecn_ce: bool) {
        let headers = headers(self.first.plus(index), ack_req, ecn_ce);
        let verdict = self.track.receive(&TrackedPacket {
            headers: &headers,
            qp_reason: DropReason::None,
            rc: RcOutcome {
                reason: DropReason::None,
                class: RcClass::NotRc,
                epsn: headers.psn,
                msn: 0,
                address: RcAddress::default(),
            },
            access_reason: DropReason::None,
        });
        let Some(body) = verdict.answer else {
            panic!("packet {index} is not to be answered");
        };
        let request = AckRequest {
            body,
            reason: verdict.reason,
            qp: QP,
            ecn_ce,
            entropy: Entropy(1),
            timestamp: None,
        };
        if verdict.reason != DropReason::None {
            self.hear(&request);
            return;
        }
        self.arrived.insert(index);
        let accepted = self.responder.accept(&headers, &self.track, &mut self.cq);
        assert_eq!(accepted, Ok(false), "no packet has an immediate");
        if let Some(request) = self.responder.coalesce(&headers, &request) {
            self.fresh += 1;
            self.hear(&request);
        }
    }

    /// The sender processes a SACK.
    fn hear(&mut self, request: &AckRequest) {
        let answer = self.responder.answer(request);
        assert_eq!(answer.body.opcode(), Opcode::MrcSack);
        let Some(seth) = answer.body.headers().seth else {
            panic!("a SACK without SETH");
        };
        let cack = seth.cack_psn;
        let from_cack = |offset: i16| Psn::new(cack.wrapping_add(offset as i32 as u32));
        let AckBody::Sack { psn, .. } = request.body else {
            panic!("no SACK");
        };
        assert_eq!(from_cack(seth.ack_psn_offset), psn);
        self.note(&seth);
    }

    /// Visits the pending packets. Returns whether the sender got a SACK.
    fn visit(&mut self) -> bool {
        let answer = self.responder.visit();
        let seth = answer.and_then(|answer| answer.body.headers().seth);
        if let Some(seth) = seth {
            assert_eq!(seth.entropy, Entropy(1));
            self.note(&seth);
        }
        seth.is_some()
    }

    fn note(&mut self, seth: &Seth) {
        let cack = seth.cack_psn;
        let from_cack = |offset: i16| Psn::new(cack.wrapping_add(offset as i32 as u32));
        let below = Psn::new(cack).plus(1).distance_from(self.first);
        self.told_below = self.told_below.max(below);
        let base = from_cack(seth.sack_offset);
        for bit in (0..64).filter(|bit| seth.bitmap >> bit & 1 == 1) {
            self.told.insert(base.plus(bit).distance_from(self.first));
        }
        self.sacks += 1;
    }

    /// Whether the `index`-th packet has been reported to the sender.
    fn is_told(&self, index: u32) -> bool {
        index < self.told_below || self.told.contains(&index)
    }

    fn untold(&self) -> usize {
        let untold = |index: &&u32| !self.is_told(**index);
        self.arrived.iter().filter(untold).count()
    }
}

fn headers(psn: Psn, ack_req: bool, ecn_ce: bool) -> PacketHeaders {
    PacketHeaders {
        mode: QpMode::Mrc,
        position: Position::Middle,
        reth: Some(Reth::default()),
        immediate: None,
        meth: Some(Meth::default()),
        timestamp: None,
        ack_req,
        solicited: false,
        retransmission: false,
        pkey: 0xffff,
        dest_qp: QP,
        refused: false,
        psn,
        ecn_ce,
        entropy: Entropy(1),
        payload_offset: 58,
        payload_length: 1024,
    }
}

/// Parameters of a random pattern of arrivals.
#[derive(Clone, Copy, Debug)]
struct Course {
    first: u32,
    sack_every: u8,
    /// Number of packets. The last one requests a SACK.
    packets: u32,
    /// Chances in 1,000.
    loss: u32,
    duplication: u32,
    marks: u32,
    asks: u32,
    /// Largest delay in packets.
    jitter: u32,
    seed: u64,
}

fn course() -> impl Strategy<Value = Course> {
    let first = prop_oneof![Just(0), 0xff_fc00..=0xff_ffff_u32, 0..=0xff_ffff_u32];
    let chance = |most: u32| prop_oneof![Just(0), 0..=most];
    (
        (first, 1..=MAX_SACK_EVERY, 1..600_u32, any::<u64>()),
        (chance(150), chance(150), chance(50), chance(50)),
        prop_oneof![Just(0), 0..20_u32, 0..500_u32],
    )
        .prop_map(
            |((first, sack_every, packets, seed), (loss, duplication, marks, asks), jitter)| {
                Course {
                    first,
                    sack_every,
                    packets,
                    loss,
                    duplication,
                    marks,
                    asks,
                    jitter,
                    seed,
                }
            },
        )
}

impl Course {
    /// The packets in the order of their arrival: number, AckReq, mark. What is lost comes again after everything else,
    /// asking, in any order.
    fn arrivals(self) -> Vec<(u32, bool, bool)> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let mut arrivals = vec![];
        let mut lost = vec![];
        for index in 0..self.packets {
            let mut chance = |of: u32| rng.random_range(0..1000) < of;
            let asks = index + 1 == self.packets || chance(self.asks);
            let (marked, gone, twice) = (
                chance(self.marks),
                chance(self.loss),
                chance(self.duplication),
            );
            if gone {
                lost.push((index, true, false));
            }
            for _ in 0..u32::from(!gone) + u32::from(twice && !gone) {
                let at = index + rng.random_range(0..=self.jitter);
                arrivals.push((at, (index, asks, marked)));
            }
        }
        arrivals.sort_by_key(|&(at, _)| at);
        lost.shuffle(&mut rng);
        let came = arrivals.into_iter().map(|(_, arrival)| arrival);
        came.chain(lost).collect()
    }
}

proptest! {
    #[test]
    fn every_packet_is_told_of(course in course()) {
        let mut receiver = Receiver::new(Psn::new(course.first), course.sack_every);
        let mut asked = None;
        for (index, asks, marked) in course.arrivals() {
            receiver.receive(index, asks, marked);
            asked = asked.max(asks.then_some(index));
            prop_assert!(receiver.untold() < usize::from(course.sack_every), "{}", receiver.untold());
            let complete = receiver.track.epsn().distance_from(receiver.first);
            if let Some(asked) = asked.filter(|&asked| asked < complete) {
                prop_assert_eq!((0..=asked).find(|&index| !receiver.is_told(index)), None);
            }
        }
        prop_assert_eq!(receiver.arrived.len(), course.packets as usize);
        prop_assert_eq!(receiver.untold(), 0);
    }

    /// Nothing asks, as with a sender that does not set AckReq in its last packet.
    #[test]
    fn what_stays_pending_is_told_of_at_the_second_visit(course in course(), visited in any::<bool>()) {
        let mut receiver = Receiver::new(Psn::new(course.first), course.sack_every);
        for (index, _, marked) in course.arrivals() {
            receiver.receive(index, false, marked);
        }
        let pending = receiver.untold();
        if visited {
            prop_assert!(!receiver.visit(), "no packet has been pending for long");
            // A SACK since then restarts the wait.
            receiver.receive(course.packets, true, false);
            prop_assert!(!receiver.visit());
            prop_assert_eq!(receiver.untold(), 0);
        } else if pending > 0 {
            let told: Vec<bool> = (0..4).map(|_| receiver.visit()).collect();
            prop_assert!(!told[0] && told[1] && !told[3], "{:?}", told);
        }
        prop_assert_eq!(receiver.untold(), 0);
        prop_assert!(!receiver.visit());
    }

    #[test]
    fn moderate_reordering_makes_no_more_than_twice_the_sacks(
        course in course(), jitter in 0..32_u32, packets in 64..600_u32,
    ) {
        let calm = Course { loss: 0, duplication: 0, marks: 0, asks: 0, jitter, packets, ..course };
        let mut receiver = Receiver::new(Psn::new(calm.first), calm.sack_every);
        let (mut late, mut asked) = (0, false);
        for (index, asks, _) in calm.arrivals() {
            late += u32::from(asked);
            asked |= asks;
            receiver.receive(index, asks, false);
        }
        let every = packets / u32::from(calm.sack_every);
        // One more SACK is sent when a word begins while the word before the previous one is pending.
        prop_assert!(
            receiver.fresh <= every * 2 + packets / 64 + late + 2,
            "{} SACKs, {late} late", receiver.fresh
        );
        if jitter == 0 {
            prop_assert_eq!(receiver.fresh, packets.div_ceil(calm.sack_every.into()));
        }
    }

    #[test]
    fn a_sack_for_every_packet_tells_of_its_own_word(course in course()) {
        let course = Course { sack_every: 1, ..course };
        let mut receiver = Receiver::new(Psn::new(course.first), 1);
        let arrivals = course.arrivals();
        for &(index, asks, marked) in &arrivals {
            receiver.receive(index, asks, marked);
            prop_assert_eq!(receiver.untold(), 0);
        }
        prop_assert_eq!(receiver.sacks as usize, arrivals.len());
    }
}

/// Transfers a message of `packets` packets of 1,024 bytes between two cards whose congestion window is at most `window` bytes. Nothing is lost.
/// Returns the sender's counters and the ticks until the end.
fn transfer(
    window: Option<u32>,
    coalesce_from: u32,
    every: u8,
    packets: u32,
) -> (RequesterCounters, u64) {
    let mut pair = Pair::new(|_| Fate::default());
    pair.connect(|card| {
        let mut config = mrc(10);
        if let Some(bytes) = window {
            let mut registers = *config.nscc.registers();
            registers.max_cwnd = bytes;
            config.nscc = NsccParams::new(registers).expect("registers");
        }
        config.coalesce_from = coalesce_from;
        let mut qp = qp(card, QP, 10, TransportConfig::Mrc(config));
        qp.sack_every = every;
        qp
    });
    let start = pair.now;
    pair.post(QP, write(0, 0, packets * 1024, 1));
    pair.finish(QP, [1]);
    let counters = *pair.cards[0].qp_counters(QP).expect("queue pair");
    (counters, pair.now - start)
}

#[test]
fn a_window_of_one_packet_never_waits() {
    let (counters, ticks) = transfer(Some(1024), 64 * 1024, 32, 100);
    assert_eq!((counters.timeouts, counters.sacks), (0, 100));
    assert!(ticks < 10 << PENDING_VISIT_LOG2, "{ticks} ticks");
    // Without the threshold the sender waits for the visits of the receiver's pending packets, so the result above is due to the threshold.
    let (counters, ticks) = transfer(Some(1024), 0, 32, 100);
    assert_eq!((counters.timeouts, counters.sacks), (0, 100));
    assert!(ticks > 99 << PENDING_VISIT_LOG2, "{ticks} ticks");
}

#[test]
fn a_sack_answers_about_as_many_bytes_whatever_the_path_mtu() {
    let every = [256, 512, 1024, 2048, 4096, 8192].map(default_sack_every);
    assert_eq!(every, [MAX_SACK_EVERY, 32, 16, 16, 16, 16]);
}

#[test]
fn sixteen_packets_end_with_one_sack() {
    let (counters, _) = transfer(None, 64 * 1024, 32, 16);
    assert_eq!((counters.timeouts, counters.retransmissions), (0, 0));
    assert!((1..=2).contains(&counters.sacks), "{}", counters.sacks);
}

#[test]
fn a_long_message_requests_a_sack_from_time_to_time() {
    let (counters, _) = transfer(None, 64 * 1024, MAX_SACK_EVERY, 10 * ASK_AFTER);
    assert_eq!((counters.timeouts, counters.retransmissions), (0, 0));
    assert_eq!(counters.sacks, 10);
}

#[test]
fn a_long_message_has_a_sack_for_every_so_many_packets() {
    let (counters, _) = transfer(None, 64 * 1024, SACK_EVERY, 200);
    assert_eq!((counters.timeouts, counters.retransmissions), (0, 0));
    let every = 200 / u64::from(SACK_EVERY);
    assert!(
        (every..=2 * every).contains(&counters.sacks),
        "{}",
        counters.sacks
    );
    let (counters, _) = transfer(None, NO_COALESCING, SACK_EVERY, 200);
    assert_eq!(counters.sacks, 200);
}
