//! A queue pair with HP3, over a network whose paths have different delays, marks and losses: no packet overtakes another one.

use std::collections::BTreeMap;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stellar_transport::requester::{MrcRequester, Requester, RequesterCounters};
use stellar_transport::time::Ticks;
use stellar_wire::rows::DRAIN_RAISE_HALVES;
use stellar_wire::Psn;

use crate::core::lockstep::Bench;
use crate::core::path_feedback::{post, QP, REGISTERS};
use crate::core::peer::InFlight;

/// HP3, and early loss detection from 3 PSNs on.
const HP3: u64 = REGISTERS | 1 << 63 | 2 << 45 | 2 << 22;
/// Delivers a packet, with a mark.
const DELIVERS: u64 = 1 << 21 | 1 << 25;
const PATHS: usize = 16;
const FIRST_ENTROPY: u32 = 0xc000;
/// Time of an answer from the receiver to the sender, in ticks.
const BACK: u32 = 20;
/// Ticks between two transmissions of a port.
const GAP: u32 = 24;

/// The dice of the mark of a packet that is delivered.
fn hint(marked: bool) -> u64 {
    if marked {
        0
    } else {
        5 << 28
    }
}

/// A direction of a path: packets stay in order.
#[derive(Clone, Copy, Default)]
struct Wire {
    delay: u32,
    marks: bool,
    last_arrival: u32,
}

/// Delay of a path: a congested one is slower, mostly.
fn delay(marks: bool, rng: &mut ChaCha8Rng) -> u32 {
    if marks {
        rng.random_range(40..200)
    } else {
        rng.random_range(20..60)
    }
}

struct Network {
    bench: Bench,
    rng: ChaCha8Rng,
    wires: [Wire; PATHS],
    start: Ticks,
    /// Packets by the time and order of their answers, with their marks.
    flying: BTreeMap<(u32, usize), (InFlight, bool)>,
    sent: usize,
    next: Option<Psn>,
    /// Arrival of the last new packet since the last timeout. A timeout leaves the path at once.
    last_arrival: u32,
    timeouts: u64,
    path: Option<usize>,
    /// Changes of the path.
    moves: usize,
}

impl Network {
    fn new(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let wires = [(); PATHS].map(|()| {
            let marks = rng.random_ratio(2, 3);
            Wire {
                delay: delay(marks, &mut rng),
                marks,
                last_arrival: 0,
            }
        });
        let bench = Bench::new(HP3 | (rng.random::<u64>() >> 1 & 0xff) << 32);
        Self {
            start: bench.now,
            bench,
            rng,
            wires,
            flying: BTreeMap::new(),
            sent: 0,
            next: None,
            last_arrival: 0,
            timeouts: 0,
            path: None,
            moves: 0,
        }
    }

    fn now(&self) -> u32 {
        self.bench.now.since(self.start).0
    }

    /// Answers what has arrived.
    fn deliver(&mut self) {
        let now = self.now();
        while let Some(entry) = self.flying.first_entry().filter(|at| at.key().0 <= now) {
            let (packet, marked) = entry.remove();
            self.bench.pairs[QP].flying = vec![packet];
            self.bench.deliver_mrc(QP, DELIVERS | hint(marked));
        }
    }

    /// Passes what a port sends to its paths.
    fn transmit(&mut self, port: u8) {
        self.bench.transmit(QP, port);
        let now = self.now();
        for packet in std::mem::take(&mut self.bench.pairs[QP].flying) {
            let path = (packet.entropy.0 - FIRST_ENTROPY) as usize;
            let wire = &mut self.wires[path];
            wire.last_arrival = (now + wire.delay).max(wire.last_arrival + 1);
            let arrives = wire.last_arrival;
            let marked = wire.marks && self.rng.random_ratio(1, 2);
            let is_new =
                packet.probe_id.is_none() && self.next.is_none_or(|next| next == packet.psn);
            let is_lost = is_new && self.rng.random_ratio(1, 60);
            if is_new {
                self.next = Some(packet.psn.plus(1));
                self.moves += usize::from(self.path.is_some_and(|before| before != path));
                self.path = Some(path);
                if !is_lost {
                    assert!(
                        arrives > self.last_arrival,
                        "PSN {:?} overtakes another one on path {path}",
                        packet.psn
                    );
                    self.last_arrival = arrives;
                }
            }
            if !is_lost {
                self.sent += 1;
                self.flying
                    .insert((arrives + BACK, self.sent), (packet, marked));
            }
        }
    }

    fn set(&mut self, path: usize, marks: bool) {
        self.wires[path].marks = marks;
        self.wires[path].delay = delay(marks, &mut self.rng);
    }

    fn run(mut self, steps: usize) -> usize {
        for _ in 0..steps {
            self.bench.now = self.bench.now.plus(Ticks(GAP));
            self.deliver();
            let deadline = self.bench.pairs[QP].reference.deadline();
            if deadline.is_some_and(|deadline| self.bench.now.reached(deadline)) {
                self.bench.act(55, 0);
            }
            let timeouts = counters(&self.bench).timeouts;
            if timeouts != self.timeouts {
                self.timeouts = timeouts;
                self.last_arrival = 0;
            }
            let messages = self.bench.pairs[QP].reference.messages_mut();
            if messages.queue().pending() < 3 {
                post(&mut self.bench, 7);
            }
            for port in [0, 1] {
                self.transmit(port);
            }
            // Delays change, and the path in use becomes congested.
            let other = self.rng.random_range(0..PATHS);
            if self.path != Some(other) {
                let marks = self.rng.random_ratio(1, 4);
                self.set(other, marks);
            }
            if let Some(path) = self.path.filter(|_| self.rng.random_ratio(1, 16)) {
                self.set(path, true);
            }
        }
        self.bench.compare_counters();
        self.moves
    }
}

#[test]
fn no_packet_overtakes_another_one() {
    let moves: usize = (0..4).map(|seed| Network::new(seed).run(250)).sum();
    assert!(moves >= 3, "{moves} changes of the path");
}

fn mrc(bench: &Bench) -> &MrcRequester {
    match &bench.pairs[QP].reference {
        Requester::Mrc(mrc) => mrc,
        Requester::Rc(_) => panic!("it uses MRC"),
    }
}

fn counters(bench: &Bench) -> RequesterCounters {
    *bench.pairs[QP].reference.counters()
}

/// Sends a message of seven packets.
fn send(bench: &mut Bench) {
    post(bench, 7);
    transmit(bench);
}

fn transmit(bench: &mut Bench) {
    for port in [0, 1].repeat(10) {
        bench.transmit(QP, port);
    }
}

/// Delivers these packets, with or without a mark.
fn deliver(bench: &mut Bench, packets: Vec<InFlight>, marked: bool) {
    let rest = std::mem::replace(&mut bench.pairs[QP].flying, packets);
    while !bench.pairs[QP].flying.is_empty() {
        bench.deliver_mrc(QP, DELIVERS | hint(marked));
    }
    bench.pairs[QP].flying = rest;
}

fn cwnd(bench: &Bench) -> u32 {
    mrc(bench).nscc().cwnd()
}

/// Sends two messages of 7 packets, and delivers all packets but the second one.
fn lose_the_second_of_14_packets(bench: &mut Bench, marked: bool) {
    send(bench);
    bench.now = bench.now.plus(Ticks(60));
    send(bench);
    let mut packets = std::mem::take(&mut bench.pairs[QP].flying);
    assert_eq!(packets.len(), 14);
    let late = packets.split_off(7);
    packets.remove(1);
    bench.now = bench.now.plus(Ticks(40));
    deliver(bench, packets, marked);
    bench.now = bench.now.plus(Ticks(60));
    deliver(bench, late, marked);
}

#[test]
fn what_is_lost_is_sent_again_in_a_pause_and_the_window_is_raised_on_the_new_path() {
    let mut bench = Bench::new(HP3);
    let most = cwnd(&bench);
    // The first and the last acknowledgement of a message each end a round.
    for marked in [false, false, true] {
        send(&mut bench);
        bench.now = bench.now.plus(Ticks(100));
        let packets = std::mem::take(&mut bench.pairs[QP].flying);
        deliver(&mut bench, packets, marked);
    }
    let first = mrc(&bench).spray().home();
    // The first acknowledgement ends the third round in a row with a mark.
    lose_the_second_of_14_packets(&mut bench, true);
    assert_eq!(counters(&bench).early_losses, 1);

    let before = counters(&bench);
    post(&mut bench, 7);
    transmit(&mut bench);
    let after = counters(&bench);
    assert_eq!(after.retransmissions, 1);
    assert_eq!(
        after.packets,
        before.packets + 1,
        "no other data in a pause"
    );
    assert!((2..=8).contains(&after.probes), "{} probes", after.probes);
    let saved = cwnd(&bench);

    // Another path answers first. The path changes when what was lost has arrived.
    let mut packets = std::mem::take(&mut bench.pairs[QP].flying);
    let index = |packet: &InFlight| packet.probe_id.map(|id| id as u8);
    let answers = |packet: &InFlight| index(packet).is_some_and(|id| id != first.value());
    let other = packets.iter().position(answers).expect("a probe");
    let other = packets.remove(other);
    bench.now = bench.now.plus(Ticks(30));
    deliver(&mut bench, vec![other], false);
    transmit(&mut bench);
    assert_eq!(counters(&bench).packets, after.packets, "it drains");
    packets.retain(|packet| packet.probe_id.is_none());
    deliver(&mut bench, packets, true);
    let drained = cwnd(&bench);
    transmit(&mut bench);
    assert_eq!(counters(&bench).packets, after.packets + 7);
    assert_eq!(Some(mrc(&bench).spray().home().value()), index(&other));
    // Nothing was acknowledged on the new path yet, so the window is exactly what the rule says: here, its limit, which the loss had taken it below.
    let raised = (saved / 2 * DRAIN_RAISE_HALVES).min(most);
    assert!(raised > saved.max(drained));
    assert_eq!(cwnd(&bench), raised);
    bench.compare_counters();
}

/// A queue pair whose window is that of 14 packets: after a loss, quick adapt shrinks it to what was acknowledged in its period.
fn with_a_window_of_14_packets() -> Bench {
    let mut bench = Bench::new(HP3);
    let most = cwnd(&bench);
    lose_the_second_of_14_packets(&mut bench, false);
    transmit(&mut bench);
    assert_eq!(counters(&bench).retransmissions, 1);
    bench.now = bench.now.plus(Ticks(2_000));
    let packets = std::mem::take(&mut bench.pairs[QP].flying);
    deliver(&mut bench, packets, false);
    assert_eq!(cwnd(&bench) / 256, 14);
    assert!(most > 100 * cwnd(&bench));
    bench
}

/// Delivers the first packet in flight, and lets both ports send.
fn deliver_first(bench: &mut Bench, marked: bool) {
    let first = bench.pairs[QP].flying.remove(0);
    bench.now = bench.now.plus(Ticks(40));
    deliver(bench, vec![first], marked);
    transmit(bench);
}

#[test]
fn below_its_limit_the_window_is_raised_by_half_once_the_last_packet_has_arrived() {
    let mut bench = with_a_window_of_14_packets();
    post(&mut bench, 60);
    post(&mut bench, 60);
    transmit(&mut bench);
    assert_eq!(bench.pairs[QP].flying.len(), 14, "the window is full");
    while counters(&bench).probes == 0 {
        deliver_first(&mut bench, true);
    }
    let saved = cwnd(&bench);
    let old = mrc(&bench).spray().home();
    let is_probe = |packet: &InFlight| packet.probe_id.is_some();
    let packets = std::mem::take(&mut bench.pairs[QP].flying);
    let (probes, data): (Vec<_>, Vec<_>) = packets.into_iter().partition(is_probe);
    assert_eq!(probes.len(), 8);
    let before = counters(&bench).packets;

    // Another path answers first. Nothing leaves as long as one packet is in flight.
    let index = |packet: &InFlight| packet.probe_id.map(|id| id as u8);
    let mut probes = probes.into_iter();
    let other = probes.find(|probe| index(probe) != Some(old.value()));
    let other = other.expect("a probe of another path");
    deliver(&mut bench, vec![other], false);
    bench.pairs[QP].flying = data;
    while bench.pairs[QP].flying.len() > 1 {
        deliver_first(&mut bench, false);
        assert_eq!(counters(&bench).packets, before, "it drains");
        assert_eq!(mrc(&bench).spray().home(), old);
    }
    deliver_first(&mut bench, false);
    assert_eq!(Some(mrc(&bench).spray().home().value()), index(&other));
    // The window is half as large again (it has a fraction of a byte), far below its limit, and as many packets leave as it has room for.
    let raised = cwnd(&bench);
    assert!((saved * 3 / 2..=(saved + 1) * 3 / 2).contains(&raised));
    assert_eq!(counters(&bench).packets - before, u64::from(raised / 256));
    bench.compare_counters();
}
