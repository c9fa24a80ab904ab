//! Two connected cards, and the invariants that are checked at every step.

use std::collections::BTreeMap;

use stellar_transport::endpoint::{CardModel, Endpoint, QpConfig, TransportConfig, PORTS};
use stellar_transport::requester::{RcConfig, SlotState};
use stellar_transport::time::Ticks;
use stellar_wire::host::{Cqe, Wqe, WqeOpcode};

pub use crate::endpoint::cards::*;
use crate::endpoint::network::{Fate, Network, Seen};

/// The clock starts so that it wraps during a test.
const START: u64 = (1 << 32) - 20_000;

pub struct Pair {
    pub cards: [Endpoint<TestMemory>; 2],
    pub network: Network,
    pub now: u64,
    /// Largest window span allowed, by queue pair.
    pub mpr: BTreeMap<u32, u32>,
    /// Bytes the target of card 1 must hold where they differ from the start.
    expected: TestMemory,
}

impl Pair {
    pub fn new(rule: impl FnMut(&Seen<'_>) -> Fate + 'static) -> Self {
        Self::of(CardModel::default(), rule)
    }

    /// A pair of cards of this model.
    pub fn of(model: CardModel, rule: impl FnMut(&Seen<'_>) -> Fate + 'static) -> Self {
        let cards = [0, 1].map(|number| card_of(number, planes(number), model));
        let mut expected = TestMemory::default();
        expected.pages.clone_from(&cards[1].memory().pages);
        Self {
            cards,
            network: Network::new(rule),
            now: START,
            mpr: BTreeMap::new(),
            expected,
        }
    }

    /// A pair with one MRC queue pair, number 5, of MTU 1,024.
    pub fn mrc(rule: impl FnMut(&Seen<'_>) -> Fate + 'static) -> Self {
        let mut pair = Self::new(rule);
        pair.connect(|card| qp(card, 5, 10, TransportConfig::Mrc(mrc(10))));
        pair
    }

    /// A pair with one RC queue pair, number 5, of MTU 1,024.
    pub fn rc(rule: impl FnMut(&Seen<'_>) -> Fate + 'static) -> Self {
        let mut pair = Self::new(rule);
        pair.connect(|card| qp(card, 5, 10, TransportConfig::Rc(RcConfig::default())));
        pair
    }

    pub fn ticks(&self) -> Ticks {
        Ticks(self.now as u32)
    }

    /// Creates a queue pair on both cards.
    pub fn connect(&mut self, config: impl Fn(u8) -> QpConfig) {
        for number in 0..2 {
            let config = config(number);
            let mpr = match &config.transport {
                TransportConfig::Mrc(mrc) => mrc.mpr.into(),
                TransportConfig::Rc(_) => 0,
            };
            self.mpr.insert(config.number, mpr);
            let now = self.ticks();
            let card = &mut self.cards[usize::from(number)];
            card.create_qp(config, now).expect("queue pair");
        }
    }

    /// Records the bytes that a write of card 0 must leave in card 1's memory.
    pub fn expect_write(&mut self, wqe: &Wqe) {
        for i in 0..u64::from(wqe.length) {
            let byte = if wqe.inline {
                wqe.inline_data[i as usize]
            } else {
                let (gpu, address) = locate(SOURCE_VA, wqe.local_va + i);
                *self.cards[0]
                    .memory_mut()
                    .byte_mut(gpu, address)
                    .expect("source")
            };
            let (gpu, address) = locate(TARGET_VA, wqe.remote_va + i);
            *self.expected.byte_mut(gpu, address).expect("target") = byte;
        }
    }

    /// Posts a work request on card 0 that must succeed.
    pub fn post(&mut self, qp: u32, wqe: Wqe) {
        if wqe.opcode != WqeOpcode::Nop {
            self.expect_write(&wqe);
        }
        self.cards[0]
            .post(qp, wqe)
            .expect("room for a work request");
    }

    /// Runs until nothing is left to happen.
    #[track_caller]
    pub fn run(&mut self) {
        for _ in 0..2_000_000 {
            if !self.step(u64::MAX) {
                return;
            }
        }
        panic!("still busy at {} ticks", self.now - START);
    }

    /// Runs for this number of ticks, or until no event is left.
    pub fn run_for(&mut self, ticks: u64) {
        let end = self.now + ticks;
        while self.step(end) {}
        self.now = self.now.max(end);
    }

    /// One round: arrivals, timers, transmission; then on to the next time something happens, no later than `end`.
    fn step(&mut self, end: u64) -> bool {
        let now = self.ticks();
        while let Some(arrival) = self.network.arrival(self.now) {
            self.cards[arrival.to].receive(arrival.port, &arrival.frame, now);
        }
        for card in &mut self.cards {
            card.on_timer(now);
        }
        for (number, card) in self.cards.iter_mut().enumerate() {
            for port in 0..PORTS {
                if self.network.is_free(number, port, self.now) {
                    if let Some(frame) = card.poll_transmit(port, now) {
                        self.network.send(number, port, self.now, frame);
                    }
                }
            }
        }
        self.check();
        let deadlines = self.cards.iter().filter_map(Endpoint::next_deadline);
        // A deadline that is due was expired just now; the next one lies ahead.
        let timer = deadlines
            .map(|at| self.now + u64::from(at.since(now).0))
            .min();
        match self.network.next(self.now).into_iter().chain(timer).min() {
            Some(next) if next <= end => {
                self.now = next;
                true
            }
            _ => false,
        }
    }

    /// Checks the invariants.
    fn check(&self) {
        for card in &self.cards {
            for (&number, &mpr) in &self.mpr {
                let Some(window) = card.window(number) else {
                    continue;
                };
                assert!(
                    window.len() <= mpr,
                    "{} PSNs in a window of {mpr}",
                    window.len()
                );
                let mut bytes = 0;
                for i in 0..window.len() {
                    let psn = window.una().plus(i);
                    let sent = window.sent(psn).expect("a PSN of the window");
                    match window.state(psn) {
                        SlotState::InFlight => bytes += u32::from(sent.length),
                        SlotState::Free => panic!("PSN {psn:?} of the window is free"),
                        SlotState::Lost => {}
                        SlotState::Acked => assert!(i > 0, "una has been acknowledged"),
                    }
                }
                assert_eq!(bytes, window.in_flight_bytes(), "in-flight account");
                assert_eq!(window.state(window.next()), SlotState::Free);
            }
        }
    }

    /// Completions of a card's queue pair so far.
    pub fn completions(&mut self, card: usize, qp: u32) -> Vec<Cqe> {
        std::iter::from_fn(|| self.cards[card].poll_cq(qp)).collect()
    }

    /// Checks that card 1's memory holds exactly what was expected, in every byte of every page.
    #[track_caller]
    pub fn check_memory(&self) {
        let found = &self.cards[1].memory().pages;
        for (key, page) in &self.expected.pages {
            let differs = page.iter().zip(&found[key]).position(|(a, b)| a != b);
            assert_eq!(differs, None, "first wrong byte of page {key:x?}");
        }
    }

    /// Runs to the end; then memory is exact, and card 0 has successful completions with these identifiers, in order.
    #[track_caller]
    pub fn finish(&mut self, qp: u32, wr_ids: impl IntoIterator<Item = u64>) {
        self.run();
        self.check_memory();
        let completions = self.completions(0, qp);
        let failed = completions
            .iter()
            .find(|c| c.status != stellar_wire::host::WcStatus::Success);
        assert_eq!(failed, None);
        let found: Vec<u64> = completions.iter().map(|c| c.wr_id).collect();
        assert_eq!(found, Vec::from_iter(wr_ids));
    }
}

/// A network that does nothing wrong.
pub fn perfect(_: &Seen<'_>) -> Fate {
    Fate::default()
}
