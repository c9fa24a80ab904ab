//! Makes a stream of operations for four queue pairs, and the reference's result.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stellar_transport::responder::Answer;
use stellar_transport::rx::{
    AckBody, AckRequest, DropReason, PacketHeaders, Psn, QpMode, RcAddress, RcClass, RcOutcome,
    TrackedPacket, RECEIVE_WINDOW,
};
use stellar_transport::time::Ticks;
use stellar_wire::hw::ack;
use stellar_wire::hw::pack::to_words;
use stellar_wire::hw::receive::RxOutcome;
use stellar_wire::mrc::{Entropy, NackReason, Peth, Tseth};
use stellar_wire::NakCode;

use crate::bench::{answer_fields, Bench, Outputs, Stimulus, PARTS, QPS};
use crate::pair::{Pair, Setup};
use crate::records::{answer_record, bits, completion};

pub struct Scenario {
    pub stimuli: Vec<Stimulus>,
    pub expected: Outputs,
    pub pairs: Vec<Pair>,
    /// Packets of a queue pair's window.
    window: u32,
    planes: u8,
    now: Ticks,
    /// For values that must not matter: entropy values, marks, time stamps, ports.
    rng: ChaCha8Rng,
}

impl Scenario {
    pub fn new(setups: [Setup; 4], seed: u64) -> Self {
        Self::with_window(setups, RECEIVE_WINDOW, seed)
    }

    pub fn with_window(setups: [Setup; 4], window: u32, seed: u64) -> Self {
        let mut scenario = Self {
            stimuli: vec![],
            expected: Outputs::default(),
            pairs: vec![],
            window,
            planes: 3,
            now: Ticks(0),
            rng: ChaCha8Rng::seed_from_u64(seed),
        };
        for (number, setup) in QPS.into_iter().zip(setups) {
            scenario.pairs.push(Pair::new(number, setup, window));
            scenario.configure(scenario.pairs.len() - 1, setup);
        }
        scenario
    }

    /// Configures a queue pair, with no more immediates than its part of the stash has entries.
    pub fn configure(&mut self, at: usize, setup: Setup) {
        let qp = QPS[at];
        let setup = Setup {
            max_wimm: setup.max_wimm.min(PARTS[at].len() as u16),
            ..setup
        };
        self.pairs[at] = Pair::new(qp, setup, self.window);
        self.stimuli.push(Stimulus::Configure {
            qp,
            settings: setup.to_hw(at),
        });
    }

    /// Arms the counter for `more` from now.
    pub fn arm(&mut self, at: usize, more: u32) {
        let pair = &mut self.pairs[at];
        let threshold = pair.responder.counter().count().wrapping_add(more);
        if pair.responder.counter_mut().arm(threshold) {
            self.expected
                .thresholds
                .push((pair.number.into(), threshold.into()));
        }
        let qp = pair.number;
        self.stimuli.push(Stimulus::Arm { qp, threshold });
    }

    pub fn good(&mut self, at: usize, plane: u8) {
        let (entropy, now) = (self.rng.random(), self.now);
        self.pairs[at]
            .reverse
            .note_good(plane, Entropy(entropy), now);
        let qp = QPS[at];
        self.stimuli.push(Stimulus::Good { qp, plane, entropy });
    }

    /// Sets the ports that can send, at least one.
    pub fn planes(&mut self, up: u8) {
        self.planes = up;
        self.stimuli.push(Stimulus::Planes(up));
    }

    /// Lets this number of ticks pass.
    pub fn wait(&mut self, ticks: u32) {
        self.now = self.now.plus(Ticks(ticks));
        self.stimuli.push(Stimulus::Now(self.now.0));
    }

    /// The peer's `index`-th packet not sent yet arrives. Returns whether it was accepted.
    pub fn send(&mut self, at: usize, index: usize) -> bool {
        let pair = &mut self.pairs[at];
        pair.prepare(index + 1, &mut self.rng);
        // An RC packet that is out of order has another class, which `rc_answer` tests.
        let index = if pair.setup.mode == QpMode::Rc {
            0
        } else {
            index
        };
        let headers = pair.pending[index];
        let accepted = self.arrive(at, headers, RcClass::Expected, DropReason::None);
        if accepted {
            self.pairs[at].pending.remove(index);
        }
        accepted
    }

    /// Does what [`Self::send`] does, but with a message number that is too high by `more` if the packet has no immediate.
    pub fn send_misnumbered(&mut self, at: usize, index: usize, more: u16) {
        let pair = &mut self.pairs[at];
        pair.prepare(index + 1, &mut self.rng);
        let headers = &mut pair.pending[index];
        if let (None, Some(meth)) = (headers.immediate, &mut headers.meth) {
            meth.rqmsn = meth.rqmsn.wrapping_add(more);
        }
        self.send(at, index);
    }

    /// Makes the block report all of its counts, which must equal the reference's. An event that is armed for the present count is due at once.
    pub fn tell_counts(&mut self) {
        (0..self.pairs.len()).for_each(|at| self.arm(at, 0));
    }

    /// Adds a packet that the peer should not send, or that it sends again.
    pub fn send_other(&mut self, at: usize, change: impl FnOnce(&mut PacketHeaders, Psn)) {
        let pair = &mut self.pairs[at];
        pair.prepare(1, &mut self.rng);
        let mut headers = pair.pending[0];
        change(&mut headers, pair.track.epsn());
        self.arrive(at, headers, RcClass::Duplicate, DropReason::None);
    }

    /// The peer's next packet is refused: it may not write to its address, or, over RC, its PSN is out of sequence.
    pub fn refuse(&mut self, at: usize, reason: DropReason) {
        let pair = &mut self.pairs[at];
        pair.prepare(1, &mut self.rng);
        let headers = pair.pending[0];
        self.arrive(at, headers, RcClass::Expected, reason);
    }

    /// RC: adds a packet that leaves a gap before it.
    pub fn gap(&mut self, at: usize) {
        let pair = &mut self.pairs[at];
        pair.prepare(2, &mut self.rng);
        let headers = pair.pending[1];
        self.arrive(at, headers, RcClass::Gap, DropReason::None);
    }

    fn arrive(
        &mut self,
        at: usize,
        mut headers: PacketHeaders,
        class: RcClass,
        reason: DropReason,
    ) -> bool {
        headers.entropy = Entropy(self.rng.random());
        headers.ecn_ce = self.rng.random_ratio(1, 16);
        headers.timestamp = self.rng.random::<bool>().then(|| self.rng.random());
        let port = self.rng.random_range(0..2_u8);
        let pair = &mut self.pairs[at];
        let rc = pair.setup.mode == QpMode::Rc;
        let sequence = reason == DropReason::BadSequence;
        let verdict = pair.track.receive(&TrackedPacket {
            headers: &headers,
            qp_reason: DropReason::None,
            rc: RcOutcome {
                reason: if sequence { reason } else { DropReason::None },
                class: if rc { class } else { RcClass::NotRc },
                epsn: headers.psn,
                msn: self.rng.random_range(0..1 << 24),
                address: RcAddress::default(),
            },
            access_reason: if sequence { DropReason::None } else { reason },
        });
        let accepted = verdict.reason == DropReason::None;
        let request = verdict.answer.map(|body| AckRequest {
            body,
            reason: verdict.reason,
            qp: pair.number,
            ecn_ce: headers.ecn_ce,
            entropy: headers.entropy,
            timestamp: headers.timestamp,
        });
        if !accepted && request.is_none() {
            return false;
        }
        let packet = headers.to_hw();
        self.stimuli.push(Stimulus::Outcome(to_words(RxOutcome {
            qp: bits(pair.number),
            port: port == 1,
            accepted,
            mrc: packet.mrc,
            position: packet.position,
            psn: packet.psn,
            ack_req: packet.ack_req,
            epsn: bits(pair.track.epsn().value()),
            has_immediate: packet.has_immediate,
            immediate: packet.immediate,
            msn: packet.msn,
            rqmsn: packet.rqmsn,
            dma_length: packet.dma_length,
            payload_length: packet.payload_length,
            ack_valid: request.is_some(),
            ack: request.map(|request| request.to_hw()).unwrap_or_default(),
            ..RxOutcome::default()
        })));
        if pair.failed {
            self.expected.counters[5] += 1;
            return accepted;
        }
        let exceeded = accepted && self.accept(at, &headers);
        let responder = &mut self.pairs[at].responder;
        let now = self.now;
        let due = request.and_then(|request| match accepted {
            _ if exceeded => Some(request),
            true => responder.coalesce(&headers, &request),
            false => (!responder.repeats(&request, now)).then_some(request),
        });
        if let Some(request) = due {
            self.answer(at, port, request, exceeded);
        }
        accepted
    }

    /// Does what `Endpoint::accept` does. Returns whether there are too many immediates.
    fn accept(&mut self, at: usize, headers: &PacketHeaders) -> bool {
        let pair = &mut self.pairs[at];
        let result = pair.responder.accept(headers, &pair.track, &mut pair.cq);
        while let Some(cqe) = pair.cq.pop() {
            self.expected.completions.push(completion(&cqe));
        }
        assert!(pair.cq.take_lost() == 0, "the test's queue is too small");
        if result == Ok(true) {
            let count = pair.responder.counter().count();
            self.expected
                .thresholds
                .push((pair.number.into(), count.into()));
        }
        self.expected.counters[4] += u64::from(result.is_err());
        result.is_err()
    }

    /// Does what `Endpoint::queue_answer` does.
    fn answer(&mut self, at: usize, port: u8, mut request: AckRequest, exceeded: bool) {
        if exceeded {
            request.body = AckBody::Nack {
                psn: request.body.psn(),
                reason: NackReason::UnexpectedEvent,
            };
        }
        let pair = &mut self.pairs[at];
        let answer = pair.responder.answer(&request);
        let fatal = match request.body {
            AckBody::Nak { code, .. } => code != NakCode::PsnSequenceError,
            AckBody::Nack { reason, .. } => reason == NackReason::UnexpectedEvent,
            _ => false,
        };
        if fatal {
            pair.failed = true;
            self.expected.failed.push(pair.number.into());
        }
        self.expected.counters[usize::from(request.body.kind().index())] += 1;
        self.push_answer(at, port, &answer);
    }

    /// Does what `Endpoint::push_answer` and `frame_answer` do.
    fn push_answer(&mut self, at: usize, port: u8, answer: &Answer) {
        let pair = &self.pairs[at];
        let plane = if self.planes >> port & 1 == 1 {
            port
        } else {
            1 - port
        };
        let entropy = match pair.setup.mode {
            QpMode::Mrc => pair.reverse.pick(plane, self.now),
            QpMode::Rc => None,
        }
        .unwrap_or(answer.reflected);
        let record = answer_record(pair.number, plane, entropy, answer);
        self.expected.answers.push(answer_fields(&to_words(record)));
    }

    /// Adds a packet whose payload may not have reached memory.
    pub fn lose(&mut self, at: usize) {
        let pair = &mut self.pairs[at];
        let expected = pair.track.epsn();
        self.stimuli.push(Stimulus::Outcome(to_words(RxOutcome {
            qp: bits(pair.number),
            mrc: pair.setup.mode == QpMode::Mrc,
            psn: bits(expected.value()),
            epsn: bits(expected.value()),
            lost: true,
            ..RxOutcome::default()
        })));
        if pair.failed {
            self.expected.counters[5] += 1;
            return;
        }
        pair.failed = true;
        self.expected.failed.push(pair.number.into());
    }

    /// Visits the pending packets of a queue pair.
    pub fn visit(&mut self, at: usize) {
        let (qp, port) = (QPS[at], self.rng.random_range(0..2_u8));
        self.stimuli.push(Stimulus::Visit {
            qp,
            port,
            forgets: false,
        });
        let pair = &mut self.pairs[at];
        let answer = pair.responder.visit().filter(|_| !pair.failed);
        if let Some(answer) = answer {
            self.expected.counters[2] += 1;
            self.push_answer(at, port, &answer);
        }
    }

    /// Adds a probe.
    pub fn probe(&mut self, at: usize) {
        let pair = &mut self.pairs[at];
        let probe = Peth {
            probe_id: self.rng.random(),
            timestamp: Tseth {
                tx_timestamp: self.rng.random(),
                ..Tseth::default()
            },
            ..Peth::default()
        };
        let (entropy, ecn_ce) = (Entropy(self.rng.random()), self.rng.random());
        let port = self.rng.random_range(0..2_u8);
        let epsn = pair.track.epsn();
        let (base, bitmap) = pair.track.bitmap_around(epsn);
        self.stimuli.push(Stimulus::Outcome(to_words(RxOutcome {
            qp: bits(pair.number),
            port: port == 1,
            mrc: pair.setup.mode == QpMode::Mrc,
            epsn: bits(epsn.value()),
            ack_valid: true,
            ack: ack::AckRequest {
                kind: ack::AckKind::Sack,
                qp: bits(pair.number),
                psn: bits(epsn.value()),
                cack_psn: bits(epsn.previous().value()),
                bitmap_base: bits(base.value()),
                bitmap: bits(bitmap),
                ecn_ce,
                entropy: bits(entropy.0),
                timestamp: bits(probe.timestamp.tx_timestamp),
                ..ack::AckRequest::default()
            },
            probe: true,
            probe_id: bits(probe.probe_id),
            ..RxOutcome::default()
        })));
        if pair.failed {
            self.expected.counters[5] += 1;
            return;
        }
        let answer = pair
            .responder
            .answer_probe(&probe, entropy, ecn_ce, &pair.track);
        self.expected.counters[2] += 1;
        self.push_answer(at, port, &answer);
    }

    /// Runs the block and compares it with the expectation. Up to `gap` cycles pass between two operations. Before that run, the first `spoilt`
    /// operations run once and a reset interrupts them.
    pub fn compare(&self, seed: u64, eagerness: u32, gap: u32, spoilt: usize) {
        let mut bench = Bench::with_window(self.window, seed, eagerness);
        self.stimuli
            .iter()
            .take(spoilt)
            .for_each(|s| bench.apply(s));
        bench.reset();
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 1);
        for stimulus in &self.stimuli {
            bench.idle(rng.random_range(0..=gap));
            bench.apply(stimulus);
        }
        bench.drain();
        let pairs = bench.outputs.answers.iter().zip(&self.expected.answers);
        for (n, (answer, expected)) in pairs.enumerate() {
            assert_eq!(answer, expected, "answer {n}");
        }
        assert_eq!(bench.outputs, self.expected);
    }
}
