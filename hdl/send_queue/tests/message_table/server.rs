//! The Verilated message table in lockstep with one reference per queue pair, and its host.

use std::collections::VecDeque;

use hdl_testkit::equivalence::TestRng;
use hdl_testkit::Dut;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use stellar_wire::host::{Cqe, WqeSize};
use stellar_wire::hw::messages::*;
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::wqe::Wqe;
use stellar_wire::hw::FromBits;

use crate::entries::{any_entry, Posted};
use crate::pair::Pair;
use crate::{Large, Small};

/// In this many cycles after a `Configure` was accepted, a read of the old ring may still begin. A fence begins its epoch later.
const OLD_READS: u64 = 10;

pub struct Server {
    pub dut: Dut,
    pub rng: TestRng,
    pub pairs: Vec<Pair>,
    pub now: u64,
    /// The queue pair whose read is being completed, and whether its next entry is on offer.
    answering: Option<usize>,
    is_offered: bool,
    /// Outputs that were stalled.
    stalled_fetch: Option<Vec<u32>>,
    stalled_cqe: Option<Vec<u32>>,
    /// Epochs of the reads that have begun and were not accepted, and the cycles in which they began.
    begun: VecDeque<(bool, u64)>,
    /// Probabilities that a fetch or a completion is accepted, or that an entry arrives, in a cycle.
    pub fetch_taken: f64,
    pub cqe_taken: f64,
    pub answered: f64,
    /// Cycles of the last operation, and its completions.
    pub took: u64,
    /// Wake-ups by queue pair.
    pub woken: Vec<bool>,
    /// Number of reads issued, and their queue pairs in order.
    pub reads: u32,
    pub readers: Vec<usize>,
}

impl Server {
    /// Creates a table with four queue pairs, whose pool runs dry.
    pub fn new(seed: u64) -> Self {
        Self::with(Dut::new::<Small>(), seed)
    }

    /// Creates a table with four queue pairs, and a pool that does not run dry.
    pub fn large(seed: u64) -> Self {
        Self::with(Dut::new::<Large>(), seed)
    }

    fn with(dut: Dut, seed: u64) -> Self {
        let mut rng = TestRng::seed_from_u64(seed);
        let pairs = (0..4).map(|number| Pair::new(number, &mut rng)).collect();
        let chances = [0.03, 0.3, 1.0];
        let mut server = Self {
            dut,
            pairs,
            now: 0,
            answering: None,
            is_offered: false,
            stalled_fetch: None,
            stalled_cqe: None,
            begun: VecDeque::new(),
            fetch_taken: chances[rng.random_range(0..3)],
            cqe_taken: chances[rng.random_range(0..3)],
            answered: chances[rng.random_range(0..3)],
            took: 0,
            woken: vec![false; 4],
            reads: 0,
            readers: vec![],
            rng,
        };
        server.restart();
        server
    }

    /// Resets for one cycle, which discards all state, and configures all queue pairs.
    pub fn restart(&mut self) {
        self.dut.set("reset", 1);
        self.dut.set("request_valid", 0);
        self.dut.set("fetched_valid", 0);
        self.dut.clock();
        self.dut.set("reset", 0);
        // Wake-ups from before the reset come out while the rows are cleared.
        for cycle in 0.. {
            self.dut.eval();
            if cycle >= 16 && self.dut.is("request_ready") {
                break;
            }
            self.dut.clock();
            assert!(cycle < 1100, "the rows are not cleared");
        }
        (self.answering, self.is_offered) = (None, false);
        (self.stalled_fetch, self.stalled_cqe) = (None, None);
        self.begun.clear();
        for (pair, number) in self.pairs.iter_mut().zip(0..) {
            *pair = Pair::new(number, &mut self.rng);
        }
        for qp in 0..self.pairs.len() {
            self.configure(qp);
        }
    }

    /// Runs one cycle of everything but requests. `look` samples the outputs before the edge.
    fn clock<R>(&mut self, look: impl FnOnce(&mut Self) -> R) -> R {
        let fetch_ready = self.rng.random_bool(self.fetch_taken);
        let cqe_ready = self.rng.random_bool(self.cqe_taken);
        self.dut.set("fetch_ready", fetch_ready.into());
        self.dut.set("cqe_ready", cqe_ready.into());
        let epoch = self.rng.random();
        self.dut.set("epoch", u64::from(epoch));
        self.offer_answer();
        self.dut.eval();
        if self.dut.is("fetch_begun") {
            self.begun.push_back((epoch, self.now));
        }
        if self.dut.is("request_ready") {
            for pair in &mut self.pairs {
                pair.keeps_old = false;
            }
        }
        let result = look(self);
        self.take_fetch(fetch_ready);
        self.take_cqe(cqe_ready);
        self.take_arrival();
        self.take_answer();
        if self.dut.is("wake_valid") {
            let qp = self.dut.get("wake_qp") as usize;
            self.woken[qp] = true;
        }
        self.dut.clock();
        self.now += 1;
        result
    }

    /// Offers the next line of an outstanding read, until it is accepted. The others of the read follow at once.
    fn offer_answer(&mut self) {
        let answer = self.rng.random_bool(self.answered);
        let first = self.rng.random_range(0..self.pairs.len());
        if self.answering.is_none() && answer {
            self.answering = (0..self.pairs.len())
                .map(|i| (first + i) % self.pairs.len())
                .find(|&qp| !self.pairs[qp].reading.is_empty());
        }
        if let Some(qp) = self.answering.filter(|_| !self.is_offered) {
            let pair = &self.pairs[qp];
            let asked = pair.reading[0];
            let (posted, line) = match asked.line {
                Some((entry, line)) => (pair.posted[entry], line),
                None => (any_entry(&mut self.rng, 0, WqeSize::Bytes64), 0),
            };
            let fetched = WqeFetched {
                qp: (qp as u64).to_bits(),
                error: !posted.readable,
                behind: (asked.behind as u64).to_bits(),
                line: posted.line(line),
            };
            self.dut.set_record("fetched", fetched);
            self.is_offered = true;
        }
        self.dut
            .set("fetched_valid", self.answering.is_some().into());
    }

    fn take_answer(&mut self) {
        let Some(qp) = self.answering else { return };
        if self.dut.is("fetched_ready") {
            self.is_offered = false;
            if self.pairs[qp].answered() == 0 {
                self.answering = None;
            }
        }
    }

    fn take_arrival(&mut self) {
        if self.dut.is("arrived_valid") {
            let pair = &mut self.pairs[self.dut.get("arrived_qp") as usize];
            if !pair.keeps_old {
                pair.arrived(self.dut.get("arrived_entries") as usize, self.now);
            }
        }
    }

    /// Returns the record at an output, which must be stable until it is accepted.
    fn offer(&self, valid: &str, port: &str, stalled: &Option<Vec<u32>>) -> Option<Vec<u32>> {
        let offer = self.dut.is(valid).then(|| self.dut.words(port));
        assert!(
            stalled.is_none() || *stalled == offer,
            "an offer that changed before it was taken"
        );
        offer
    }

    fn take_fetch(&mut self, ready: bool) {
        let offer = self.offer("fetch_valid", "fetch", &self.stalled_fetch);
        if !ready || offer.is_none() {
            self.stalled_fetch = offer;
            return;
        }
        self.stalled_fetch = None;
        let words = offer.expect("valid");
        let fetch = Record::<WqeFetch>::new(&words);
        let (qp, address) = (fetch.u64("qp") as usize, fetch.u64("address"));
        let (epoch, begun) = self.begun.pop_front().expect("a read that has begun");
        assert_eq!(fetch.bool("epoch"), epoch, "the epoch of a read");
        let pair = &mut self.pairs[qp];
        let may_be_old = begun < pair.configured + OLD_READS;
        pair.read(address, fetch.u64("lines") as usize, may_be_old);
        self.reads += 1;
        self.readers.push(qp);
    }

    fn take_cqe(&mut self, ready: bool) {
        let offer = self.offer("cqe_valid", "cqe", &self.stalled_cqe);
        if !ready || offer.is_none() {
            self.stalled_cqe = offer;
            return;
        }
        self.stalled_cqe = None;
        let words = offer.expect("valid");
        let cqe = Record::<Completion>::new(&words);
        let qp = cqe.u64("qp") as usize;
        let expected = self.pairs[qp].completions.pop_front();
        let expected =
            expected.unwrap_or_else(|| panic!("a completion nobody expects: {words:x?}"));
        assert_eq!(words, to_words(completion(&expected)), "{expected:?}");
    }

    /// Pushes the entry of the next doorbell.
    pub fn push(&mut self, qp: usize, entry: usize, posted: Posted) {
        let said = Wqe::from_bits(posted.line(0));
        let pair = &self.pairs[qp];
        let has_rest = pair.ring.entry == WqeSize::Bytes128
            && said.inline
            && said.length.to_u64() > WqeSize::Bytes64.inline() as u64;
        // An entry that names another slot, or has more than the doorbell carries, is read from memory.
        if said.slot == u64::from(entry as u16) && !has_rest {
            self.pairs[qp].pushed.push(entry);
        }
        let producer = (entry as u16).wrapping_add(1);
        self.dut.set("pushed_producer", producer.into());
        let pushed = WqeFetched {
            qp: (qp as u64).to_bits(),
            error: false,
            behind: 0_u64.to_bits(),
            line: posted.line(0),
        };
        self.dut.set_record("pushed", pushed);
        self.dut.set("pushed_valid", 1);
        self.rest(1);
        self.dut.set("pushed_valid", 0);
    }

    /// Runs cycles without a request, with noise at its port.
    pub fn rest(&mut self, cycles: usize) {
        self.dut.set("request_valid", 0);
        for _ in 0..cycles {
            self.make_noise();
            self.clock(|server| {
                assert!(
                    !server.dut.is("response_valid"),
                    "an answer nobody asked for"
                );
            });
        }
    }

    fn make_noise(&mut self) {
        for port in ["request", "settings"] {
            let words = self.dut.words(port).len();
            let noise: Vec<u32> = (0..words).map(|_| self.rng.random()).collect();
            self.dut.set_words(port, &noise);
        }
    }

    /// Executes a request that has one response. `take` runs the reference in the cycle in which the request is accepted.
    pub fn request<R>(
        &mut self,
        request: MessageRequest,
        take: impl FnOnce(&mut Pair, u64) -> R,
    ) -> (R, Vec<u32>) {
        let qp = request.qp.index();
        let take = |server: &mut Self, now| take(&mut server.pairs[qp], now);
        self.call(request, SendQueueConfig::default(), take)
    }

    pub fn call<R>(
        &mut self,
        request: MessageRequest,
        settings: SendQueueConfig,
        take: impl FnOnce(&mut Self, u64) -> R,
    ) -> (R, Vec<u32>) {
        let (result, mut responses) = self.call_many(request, settings, take);
        assert_eq!(responses.len(), 1, "responses to {:?}", request.op);
        (result, responses.remove(0).1)
    }

    /// Executes a request. Returns its responses, each with the number of cycles since it was accepted.
    pub fn call_many<R>(
        &mut self,
        request: MessageRequest,
        settings: SendQueueConfig,
        take: impl FnOnce(&mut Self, u64) -> R,
    ) -> (R, Vec<(u64, Vec<u32>)>) {
        self.dut.set_record("settings", settings);
        self.dut.set_record("request", request);
        self.dut.set("request_valid", 1);
        let mut waited = 0;
        let mut take = Some(take);
        let result = loop {
            let taken = self.clock(|server| {
                assert!(
                    !server.dut.is("response_valid"),
                    "an answer nobody asked for"
                );
                let ready = server.dut.is("request_ready");
                let now = server.now;
                ready.then(|| take.take().expect("taken once")(server, now))
            });
            if let Some(result) = taken {
                break result;
            }
            waited += 1;
            assert!(waited < 24, "{:?} is not taken", request.op);
        };
        self.took = 0;
        let mut responses = vec![];
        loop {
            self.took += 1;
            assert!(self.took < 50_000, "{:?}: no answer", request.op);
            self.make_noise();
            let valid = self.rng.random();
            self.dut.set("request_valid", valid);
            let words = self.clock(|server| {
                assert!(
                    !server.dut.is("request_ready"),
                    "ready before the answer is over"
                );
                let answers = server.dut.is("response_valid");
                answers.then(|| server.dut.words("response"))
            });
            if let Some(words) = words {
                let is_last = Record::<MessageResponse>::new(&words).bool("last");
                responses.push((self.took, words));
                if is_last {
                    break;
                }
            }
        }
        self.dut.set("request_valid", 0);
        (result, responses)
    }
}

fn completion(cqe: &Cqe) -> Completion {
    Completion {
        qp: cqe.qp.to_bits(),
        status: cqe.status.code().to_bits(),
        opcode: cqe.opcode.code().to_bits(),
        wr_id: cqe.wr_id.to_bits(),
        byte_len: cqe.byte_len.to_bits(),
        immediate: cqe.immediate.to_bits(),
        msn: cqe.msn.to_bits(),
        sq_head: cqe.sq_head.to_bits(),
    }
}
