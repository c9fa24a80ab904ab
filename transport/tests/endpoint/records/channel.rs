//! Two cards and a channel that loses, reorders, duplicates, marks, trims and refuses packets, the same ones for either skin.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stellar_transport::endpoint::{
    CardModel, Endpoint, EndpointCounters, PayloadPolicy, QpConfig, Transit, PORTS,
};
use stellar_transport::requester::RequesterCounters;
use stellar_transport::time::Ticks;
use stellar_wire::host::{Cqe, Wqe};
use stellar_wire::mrc::{NackReason, Neth};
use stellar_wire::Opcode;

use super::skin::{CraftedNack, Head, Skin};
use crate::endpoint::cards::{card_of, planes, TestMemory};

/// The clock starts so that it wraps during a run.
const START: u64 = (1 << 32) - 20_000;
/// One-way delay in ticks: 2 us.
const DELAY: u64 = 250;
/// Bytes a 200G port sends in a tick.
const BYTES_PER_TICK: usize = 200;

/// Chances in 1,000, and times in ticks from the start.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    pub loss: u32,
    pub duplication: u32,
    pub marks: u32,
    pub trims: u32,
    /// Of the packets trimmed or lost: answered with a NACK.
    pub nacks: u32,
    /// Largest extra delay in ticks.
    pub jitter: u64,
    /// Port 1 of both cards is down from the first time to the second.
    pub down: Option<(u64, u64)>,
    pub seed: u64,
}

/// What is done with a pair of cards.
#[derive(Clone, Debug)]
pub struct Plan {
    pub weather: Weather,
    /// Queue pairs of either card.
    pub qps: [Vec<QpConfig>; 2],
    /// Time, card, queue pair and work request.
    pub posts: Vec<(u64, usize, u32, Wqe)>,
}

/// Everything seen of a run.
#[derive(Debug, PartialEq)]
pub struct Run {
    /// Time, card and port.
    pub sent: Vec<(u64, usize, usize, Head)>,
    pub completions: Vec<Cqe>,
    pub cards: [EndpointCounters; 2],
    pub requesters: Vec<RequesterCounters>,
    pub imm_counts: Vec<u32>,
    /// When a timer was last due.
    pub end: u64,
}

/// A packet on its way to a port of a card.
struct Arrival<P> {
    to: usize,
    port: usize,
    parcel: P,
    transit: Transit,
}

struct Channel<S: Skin> {
    cards: [Endpoint<TestMemory>; 2],
    weather: Weather,
    rng: ChaCha8Rng,
    /// By time and order.
    on_the_way: BTreeMap<(u64, u64), Arrival<S::Parcel>>,
    free: [[u64; PORTS]; 2],
    order: u64,
    sent: Vec<(u64, usize, usize, Head)>,
}

impl<S: Skin> Channel<S> {
    fn chance(&mut self, of_1000: u32) -> bool {
        self.rng.random_range(0..1000) < of_1000
    }

    fn deliver(&mut self, at: u64, to: usize, port: usize, parcel: S::Parcel, transit: Transit) {
        self.order += 1;
        let arrival = Arrival {
            to,
            port,
            parcel,
            transit,
        };
        self.on_the_way.insert((at, self.order), arrival);
    }

    /// Sends what a port has, if it is free.
    fn transmit(&mut self, from: usize, port: usize, now: u64) {
        if self.free[from][port] > now {
            return;
        }
        let ticks = Ticks(now as u32);
        let Some((head, parcel)) = S::poll(&mut self.cards[from], port, ticks) else {
            return;
        };
        self.free[from][port] = now + head.length.div_ceil(BYTES_PER_TICK) as u64;
        self.sent.push((now, from, port, head));
        let Weather {
            loss,
            duplication,
            marks,
            trims,
            nacks,
            jitter,
            ..
        } = self.weather;
        let is_data = head.opcode.is_write();
        let extra = self.rng.random_range(0..=jitter);
        let at = self.free[from][port] + DELAY + extra;
        let lost = self.chance(loss);
        let again = self.chance(duplication);
        let transit = Transit {
            marked: self.chance(marks) && (is_data || head.opcode == Opcode::MrcProbe),
            trimmed: self.chance(trims) && is_data && head.length > 200,
        };
        let refused = self.chance(nacks);
        if refused && head.opcode.is_mrc_data() && (lost || transit.trimmed) {
            let reason = if transit.trimmed {
                NackReason::Trimmed
            } else {
                NackReason::NoPktBuffer
            };
            let neth = Neth {
                reason,
                entropy: head.entropy,
                src_context: head.dest_qp as u16,
                dst_context: head.dest_qp as u16,
                nack_psn: head.psn,
                tx_timestamp: head.stamp,
                ..Neth::default()
            };
            let nack = CraftedNack {
                source: planes(1 - from as u8)[port].ip,
                destination: planes(from as u8)[port],
                dest_qp: head.dest_qp,
                neth,
            };
            self.deliver(at + DELAY, from, port, S::nack(&nack), Transit::default());
        }
        if lost {
            return;
        }
        if again {
            let later = self.rng.random_range(0..2000);
            self.deliver(at + later, 1 - from, port, parcel.clone(), transit);
        }
        self.deliver(at, 1 - from, port, parcel, transit);
    }

    /// When something happens next that no card asks for.
    fn next(&self, now: u64) -> Option<u64> {
        let arrival = self.on_the_way.keys().next().map(|key| key.0);
        let free = self.free.iter().flatten().copied().filter(|&at| at > now);
        free.chain(arrival).min()
    }
}

/// Carries out a plan on cards of a payload policy.
pub fn run<S: Skin>(plan: &Plan, payload: PayloadPolicy) -> Run {
    let model = CardModel {
        payload,
        ..CardModel::default()
    };
    let mut channel = Channel::<S> {
        cards: [0, 1].map(|number| card_of(number, planes(number), model)),
        weather: plan.weather,
        rng: ChaCha8Rng::seed_from_u64(plan.weather.seed),
        on_the_way: BTreeMap::new(),
        free: Default::default(),
        order: 0,
        sent: Vec::new(),
    };
    let mut numbers = Vec::new();
    for (number, qps) in plan.qps.iter().enumerate() {
        for qp in qps.clone() {
            numbers.push((number, qp.number));
            let card = &mut channel.cards[number];
            card.create_qp(qp, Ticks(START as u32)).expect("queue pair");
        }
    }
    let mut commands: Vec<Reverse<(u64, usize)>> = (0..plan.posts.len())
        .map(|post| Reverse((START + plan.posts[post].0, post)))
        .collect();
    commands.sort();
    let mut switches: Vec<(u64, bool)> = match plan.weather.down {
        Some((down, up)) => vec![(START + up, true), (START + down, false)],
        None => Vec::new(),
    };
    let mut now = START;
    let mut end = START;
    for _ in 0..2_000_000 {
        let ticks = Ticks(now as u32);
        while let Some(&(_, up)) = switches.last().filter(|(at, _)| *at <= now) {
            switches.pop();
            channel
                .cards
                .iter_mut()
                .for_each(|card| card.set_port(1, up));
        }
        while let Some(&Reverse((_, post))) = commands.last().filter(|next| next.0 .0 <= now) {
            commands.pop();
            let (_, card, qp, wqe) = plan.posts[post];
            channel.cards[card].post(qp, wqe).expect("room");
        }
        while let Some(entry) = channel
            .on_the_way
            .first_entry()
            .filter(|e| e.key().0 <= now)
        {
            let Arrival {
                to,
                port,
                parcel,
                transit,
            } = entry.remove();
            S::receive(&mut channel.cards[to], port, &parcel, transit, ticks);
        }
        for card in &mut channel.cards {
            if card.next_deadline().is_some_and(|at| ticks.reached(at)) {
                end = now;
            }
            card.on_timer(ticks);
        }
        for card in 0..2 {
            for port in 0..PORTS {
                channel.transmit(card, port, now);
            }
        }
        let deadlines = channel.cards.iter().filter_map(Endpoint::next_deadline);
        let timer = deadlines.map(|at| now + u64::from(at.since(ticks).0));
        let others = [
            switches.last().map(|(at, _)| *at),
            commands.last().map(|next| next.0 .0),
            channel.next(now),
        ];
        match timer.chain(others.into_iter().flatten()).min() {
            Some(next) => now = next,
            None => return report(channel, &numbers, end),
        }
    }
    panic!("still busy at {} ticks", now - START);
}

fn report<S: Skin>(mut channel: Channel<S>, numbers: &[(usize, u32)], end: u64) -> Run {
    let cards = &mut channel.cards;
    let mut completions = Vec::new();
    for &(card, qp) in numbers {
        completions.extend(std::iter::from_fn(|| cards[card].poll_cq(qp)));
    }
    let each = |value: fn(&Endpoint<TestMemory>, u32) -> Option<RequesterCounters>| {
        let values = numbers.iter().map(|&(card, qp)| value(&cards[card], qp));
        values.map(|value| value.expect("a queue pair")).collect()
    };
    Run {
        requesters: each(|card, qp| card.qp_counters(qp).copied()),
        imm_counts: numbers
            .iter()
            .filter_map(|&(card, qp)| cards[card].imm_count(qp))
            .collect(),
        cards: [*cards[0].counters(), *cards[1].counters()],
        completions,
        sent: channel.sent,
        end,
    }
}
