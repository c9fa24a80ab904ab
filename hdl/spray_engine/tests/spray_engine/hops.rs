//! How far Hopper lets packets overtake each other, with random delays of paths. The engine and its reference choose the same paths, so this holds for both.
//!
//! The bound: a packet `p` of the new path arrives before a packet `q` of the old one by no more than what the round trips of `q` and `p` differ beyond those that
//! were measured, or beyond two base round trips. If the round trip grows ever more slowly, as that of a path whose queue fills up does, by less than two base round
//! trips, and the new path does not become faster than its probe, then no packet overtakes another one.

use std::collections::BTreeMap;

use proptest::prelude::*;
use stellar_transport::spray::{Feedback, Policy};
use stellar_transport::time::Ticks;

use crate::spray_engine::bench::{Bench, News, Registers};
use crate::spray_engine::{profile, registers};

const BASE: u32 = 400;
/// Time of an answer from the receiver to the sender.
const BACK: u32 = BASE / 2;
const PATHS: u8 = 16;

/// One direction of a path: packets stay in order.
struct Wire {
    /// What the delay of every next packet exceeds that of the one before by. Then it stays.
    growth: Vec<i32>,
    sent: usize,
    delay: u32,
    last_arrival: u32,
}

impl Wire {
    fn arrival(&mut self, now: u32) -> u32 {
        let more = self.growth.get(self.sent).copied().unwrap_or(0);
        self.sent += 1;
        self.delay = self.delay.saturating_add_signed(more).max(BASE - BACK);
        self.last_arrival = self.last_arrival.max(now + self.delay);
        self.last_arrival
    }
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    at: u32,
    arrives: u32,
    path: u8,
    /// Hops before it was sent.
    era: usize,
}

impl Packet {
    fn round_trip(&self) -> u32 {
        self.arrives + BACK - self.at
    }
}

/// A change of path: when it was decided, and the round trips that the decision saw, in order of the eras that it ends.
#[derive(Clone, Copy, Debug)]
struct Hop {
    from: u32,
    probed: Option<u32>,
}

enum Answer {
    Ack(usize),
    Probe(u8, u32),
}

struct Flow {
    bench: Bench,
    start: u32,
    wires: Vec<Wire>,
    packets: Vec<Packet>,
    /// Packets before the first one that is not acknowledged, and all that are.
    acknowledged: usize,
    known: usize,
    answers: BTreeMap<(u32, usize), Answer>,
    probed: [Option<u32>; PATHS as usize],
    hops: Vec<Hop>,
    held: Option<u32>,
}

impl Flow {
    fn new(wires: Vec<Wire>, seed: u32) -> Self {
        let mut bench = Bench::new(vec![profile()]);
        bench.configure(
            0,
            Registers {
                paths: PATHS,
                seed,
                base_rtt: BASE,
                ..registers(Policy::Hopper)
            },
        );
        Self {
            start: bench.now.0,
            bench,
            wires,
            packets: vec![],
            acknowledged: 0,
            known: 0,
            answers: BTreeMap::new(),
            probed: [None; PATHS as usize],
            hops: vec![],
            held: None,
        }
    }

    fn set_time(&mut self, now: u32) {
        self.bench.now = Ticks(self.start.wrapping_add(now));
    }

    /// Asks whether data may be sent, and records a decision.
    fn ask(&mut self, sample: Option<u32>) {
        let held = self.bench.query(0, 0);
        if let (None, Some(_), Some(from)) = (self.held, held, sample) {
            self.hops.push(Hop { from, probed: None });
        }
        self.held = held;
    }

    fn answer(&mut self, now: u32, answer: Answer) {
        self.set_time(now);
        match answer {
            Answer::Probe(path, sent) => {
                self.probed[usize::from(path)] = Some(now - sent);
                self.bench.probe_answered(0, path, (now - sent) as u16);
            }
            Answer::Ack(number) => {
                let packet = self.packets[number];
                let arrived = |packet: &&Packet| packet.arrives + BACK <= now;
                let (before, known) = (self.acknowledged, self.known);
                self.acknowledged += self.packets[before..].iter().take_while(arrived).count();
                self.known = self.packets.iter().filter(arrived).count();
                let news = News {
                    hint: Feedback::Good,
                    packets: (self.known - known) as u16,
                    advance: (self.acknowledged - before) as u16,
                    round_trip: Some(packet.round_trip() as u16),
                    ahead: (self.packets.len() - self.acknowledged) as u16,
                };
                let entropy = self.bench.entropy(0, packet.path);
                self.bench.ack(0, 0, entropy, news);
                self.ask(Some(packet.round_trip()));
            }
        }
    }

    /// Sends a packet or probes, if the queue pair may.
    fn send(&mut self, now: u32, every: usize) {
        self.set_time(now);
        self.ask(None);
        while let Some(path) = self.bench.probe(0, 0) {
            let arrives = self.wires[usize::from(path)].arrival(now);
            let at = (arrives + BACK, self.answers.len() + self.packets.len());
            self.answers.insert(at, Answer::Probe(path, now));
        }
        if self.held.is_some() {
            return;
        }
        let path = [0, 1]
            .into_iter()
            .find_map(|plane| self.bench.choose(0, plane, None));
        let path = path.expect("a path");
        if let Some(Hop { probed, .. }) = self.hops.last_mut() {
            *probed = probed.or(self.probed[usize::from(path)]);
        }
        let arrives = self.wires[usize::from(path)].arrival(now);
        let number = self.packets.len();
        self.packets.push(Packet {
            at: now,
            arrives,
            path,
            era: self.hops.len(),
        });
        if number.is_multiple_of(every) {
            self.answers
                .insert((arrives + BACK, number), Answer::Ack(number));
        }
    }

    /// Sends so many packets, one in `gap` ticks, at most `window` in flight, with a SACK for each `every` packets.
    fn run(&mut self, packets: usize, gap: u32, window: usize, every: usize) {
        let mut now = 0;
        while self.packets.len() < packets {
            while let Some(entry) = self
                .answers
                .first_entry()
                .filter(|entry| entry.key().0 <= now)
            {
                let (at, _) = *entry.key();
                let answer = entry.remove();
                self.answer(at, answer);
            }
            if self.packets.len() - self.acknowledged < window {
                self.send(now, every);
            } else if self.answers.is_empty() {
                // A SACK may have overtaken packets before its own. The receiver acknowledges what is pending after a time.
                let number = self.acknowledged;
                let at = self.packets[number].arrives + BACK;
                self.answers.insert((at, number), Answer::Ack(number));
            }
            now += gap;
        }
    }

    /// Checks the bound for packets of consecutive eras. `beyond` returns what the round trips of two packets may differ without one overtaking the other. Returns the
    /// number of packets that were overtaken.
    fn check(&self, beyond: impl Fn(&Hop) -> u32) -> usize {
        let mut overtaken = 0;
        for (number, q) in self.packets.iter().enumerate() {
            let mut early = 0;
            for p in self.packets[number + 1..]
                .iter()
                .take_while(|p| p.at < q.arrives)
            {
                if p.arrives >= q.arrives || p.era != q.era + 1 {
                    assert!(
                        p.era > q.era || p.arrives >= q.arrives,
                        "a path is in order"
                    );
                    continue;
                }
                early += 1;
                let hop = &self.hops[q.era];
                let differ = q.round_trip().saturating_sub(p.round_trip());
                let bound = differ.saturating_sub(beyond(hop));
                let late = q.arrives - p.arrives;
                assert!(
                    late <= bound,
                    "{late} ticks, not {bound}: {q:?} {p:?} {hop:?}"
                );
            }
            overtaken += usize::from(early > 0);
        }
        overtaken
    }
}

fn wire(extra: u32, growth: Vec<i32>) -> Wire {
    Wire {
        growth,
        sent: 0,
        delay: BASE - BACK + extra,
        last_arrival: 0,
    }
}

/// Growth that never increases, to 600 ticks at most: a queue that fills up. A delay of two base round trips is long enough for that.
fn filling() -> impl Strategy<Value = Vec<i32>> {
    prop::collection::vec((0..40_i32, 1..60_usize), 1..6).prop_map(|mut pieces| {
        pieces.sort_unstable_by_key(|&(growth, _)| -growth);
        let repeat = |(growth, times)| std::iter::repeat_n(growth, times);
        let mut left = 600;
        let fits = |growth: &i32| {
            left -= growth;
            left >= 0
        };
        pieces
            .into_iter()
            .flat_map(repeat)
            .take_while(fits)
            .collect()
    })
}

fn random() -> impl Strategy<Value = Vec<i32>> {
    prop::collection::vec((-60..60_i32, 1..40_usize), 0..20).prop_map(|pieces| {
        let repeat = |(growth, times)| std::iter::repeat_n(growth, times);
        pieces.into_iter().flat_map(repeat).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn packets_overtake_no_more_than_the_paths_changed_since_they_were_measured(
        wires in prop::collection::vec((0..800_u32, random()), PATHS as usize),
        seed in 1..u32::MAX,
        gap in 8..40_u32,
        window in 8..120_usize,
        every in 1..5_usize,
    ) {
        let wires = wires.into_iter().map(|(extra, growth)| wire(extra, growth)).collect();
        let mut flow = Flow::new(wires, seed);
        flow.run(600, gap, window, every);
        flow.check(|hop| {
            let probed = hop.probed.expect("a hop leads to a path that was probed");
            (hop.from - probed).min(2 * BASE)
        });
    }

    #[test]
    fn packets_stay_in_order_if_queues_fill_up_and_the_delay_is_not_limited(
        filling in prop::collection::vec(filling(), PATHS as usize),
        extra in prop::collection::vec(0..100_u32, PATHS as usize),
        seed in 1..u32::MAX,
        gap in 8..40_u32,
        window in 8..120_usize,
    ) {
        // A path that was left stays as it is: its queue fills up as long as it is in use, and probes find it so.
        let wires = extra.into_iter().zip(filling).map(|(extra, growth)| wire(extra, growth)).collect();
        let mut flow = Flow::new(wires, seed);
        flow.run(300, gap, window, 1);
        prop_assert_eq!(flow.check(|_| 2 * BASE), 0);
    }
}

#[test]
fn a_queue_that_fills_up_is_left_in_order_for_the_faster_of_two_paths() {
    let wires = (0..PATHS)
        .map(|path| wire(10 * u32::from(path), vec![10; 70]))
        .collect();
    let mut flow = Flow::new(wires, 7);
    flow.run(300, 10, 100, 1);
    assert!(!flow.hops.is_empty(), "a hop");
    assert_eq!(flow.check(|_| 2 * BASE), 0, "packets that were overtaken");
}
