//! The queue of a port's acknowledgements: it never holds up its sender, and drops the oldest.

use std::collections::VecDeque;

use hdl_testkit::equivalence::TestRng;
use hdl_testkit::Dut;
use hdl_tx_pipeline::AnswerQueue;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use stellar_wire::hw::pack::to_words;

use crate::lane::items::Packet;
use crate::lane::routes::Tables;

struct Bench {
    dut: Dut,
    rng: TestRng,
    tables: Tables,
    /// Accepted and neither sent nor dropped, oldest first.
    waiting: VecDeque<Vec<u32>>,
    offered: Option<Vec<u32>>,
    accepted: Vec<Vec<u32>>,
    sent: Vec<Vec<u32>>,
    dropped: usize,
    /// Cycles since the last offer was accepted.
    stalled: usize,
}

impl Bench {
    fn new(seed: u64) -> Self {
        let mut rng = TestRng::seed_from_u64(seed);
        let tables = Tables::random(&mut rng);
        let mut dut = Dut::new::<AnswerQueue>();
        dut.set("reset", 1);
        dut.clock();
        dut.set("reset", 0);
        Self {
            dut,
            rng,
            tables,
            waiting: VecDeque::new(),
            offered: None,
            accepted: vec![],
            sent: vec![],
            dropped: 0,
            stalled: 0,
        }
    }

    /// Runs one cycle.
    fn step(&mut self, offers: bool, up: bool, ready: bool) {
        if offers && self.offered.is_none() {
            if let Packet::Answer(answer) = self.tables.answer(&mut self.rng).packet {
                self.offered = Some(to_words(*answer));
            }
        }
        self.dut.set("port_up", up.into());
        self.dut.set("in_valid", self.offered.is_some().into());
        if let Some(words) = &self.offered {
            self.dut.set_words("in", words);
        }
        self.dut.set("out_ready", ready.into());
        self.dut.eval();
        let sent = ready && self.dut.is("out_valid");
        let words = self.dut.words("out");
        let drops = self.dut.is("dropped");
        let accepts = self.offered.is_some() && self.dut.is("in_ready");
        self.dut.clock();
        if sent {
            // Everything in front of it was dropped.
            let at = self.waiting.iter().position(|w| *w == words);
            self.waiting
                .drain(..=at.expect("an acknowledgement in its order"));
            self.sent.push(words);
        }
        self.dropped += usize::from(drops);
        self.stalled = if self.offered.is_some() && !accepts {
            self.stalled + 1
        } else {
            0
        };
        assert!(self.stalled <= 2, "the sender waits");
        if accepts {
            let answer = self.offered.take().expect("an offer");
            self.waiting.push_back(answer.clone());
            self.accepted.push(answer);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn the_sender_never_waits(seed in any::<u64>(), offers in 10..=100u8, ready in 0..=100u8, up in 90..=100u8) {
        let mut bench = Bench::new(seed);
        for _ in 0..3_000 {
            let mut moves = |percent: u8| bench.rng.random_range(0..100) < percent;
            let (offers, up, ready) = (moves(offers), moves(up), moves(ready));
            bench.step(offers, up, ready);
        }
        for _ in 0..1_000 {
            bench.step(false, true, true);
        }
        prop_assert_eq!(bench.accepted.len(), bench.sent.len() + bench.dropped);
    }
}

#[test]
fn a_port_that_stops_keeps_the_newest() {
    let mut bench = Bench::new(1);
    while bench.accepted.len() < 3_000 {
        bench.step(true, true, false);
    }
    for _ in 0..600 {
        bench.step(false, true, true);
    }
    let (accepted, sent) = (&bench.accepted, &bench.sent);
    assert_eq!(accepted.len(), sent.len() + bench.dropped);
    // The register stage had taken the first ones.
    assert!(
        (512..=515).contains(&sent.len()),
        "{} were kept",
        sent.len()
    );
    assert!(sent.ends_with(&accepted[accepted.len() - 512..]));
}

#[test]
fn a_port_that_is_down_drops_everything() {
    let mut bench = Bench::new(2);
    for _ in 0..500 {
        bench.step(true, false, true);
    }
    for _ in 0..4 {
        bench.step(false, false, true);
    }
    assert!(bench.sent.is_empty());
    assert_eq!(bench.dropped, bench.accepted.len());
    for _ in 0..20 {
        bench.step(true, true, true);
    }
    assert!(bench.sent.len() > 10, "the port is up again");
}
