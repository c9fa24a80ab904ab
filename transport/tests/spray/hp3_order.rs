//! No packet overtakes another one with HP3, whatever paths do; and a wrong rule that runs with few packets in flight find.

use std::collections::BTreeMap;

use proptest::prelude::*;
use stellar_transport::spray::{
    built_in, EvIndex, Feedback, PathAck, PathPolicy, Paths, PlaneMask, Policy, Spray,
};
use stellar_transport::time::Ticks;

use crate::spray::common::{config, spray, BASE_RTT};
use crate::spray::hp3::Flow;

const BASE: u32 = BASE_RTT.0;

/// A packet or probe that was sent, by path, with its mark.
#[derive(Clone, Copy)]
struct Sent {
    index: EvIndex,
    at: u32,
    arrives: u32,
    marked: bool,
}

/// What comes back: the answer to a probe, or what had arrived when a packet did.
enum Answer {
    Probe(Sent),
    Packet(usize),
}

/// Who sends, how many packets, and for how many ticks paths stay as they are.
struct Run {
    spray: Spray,
    packets: usize,
    period: u32,
}

impl Run {
    /// Hundreds of packets may be in flight, so rounds of one path see several of its delays.
    fn wide(spray: Spray) -> Self {
        Self {
            spray,
            packets: 1_500,
            period: 3_000,
        }
    }

    /// Few packets are in flight, so rounds in a row on a path need more time.
    fn narrow(spray: Spray) -> Self {
        Self {
            spray,
            packets: 200,
            period: 40_000,
        }
    }
}

fn hp3() -> Spray {
    spray(Policy::Hp3, 16)
}

/// Sends over paths whose delays and marks change with time. Returns the packets, and how often the path changed.
fn run(of: Run, seed: u32, weather: &[(u32, bool)], gap: u32, window: usize) -> (Vec<Sent>, usize) {
    let mut flow = Flow::with(of.spray);
    for _ in 0..seed % 7 {
        flow.spray
            .on_feedback(EvIndex::active(0, 0), Feedback::Timeout, Ticks(0));
    }
    let mut last_arrivals = [0; 16];
    let (mut packets, mut acknowledged, mut known, mut moves) = (Vec::<Sent>::new(), 0, 0, 0);
    let mut answers = BTreeMap::new();
    let mut order = 0;
    while packets.len() < of.packets {
        flow.now += gap;
        let now = flow.now;
        while let Some(entry) = answers.first_entry().filter(
            |entry: &std::collections::btree_map::OccupiedEntry<'_, (u32, u32), Answer>| {
                entry.key().0 <= now
            },
        ) {
            match entry.remove() {
                Answer::Probe(sent) => {
                    flow.now = sent.at;
                    flow.answer(now - sent.at, sent.index, sent.marked);
                }
                Answer::Packet(number) => {
                    let arrived = packets
                        .iter()
                        .filter(|packet| packet.arrives <= packets[number].arrives);
                    known = arrived.count().max(known);
                    let in_order = |packet: &&Sent| packet.arrives <= packets[number].arrives;
                    acknowledged += packets[acknowledged..].iter().take_while(in_order).count();
                    let hint = if packets[number].marked {
                        Feedback::Skip
                    } else {
                        Feedback::Good
                    };
                    flow.ack(acknowledged as u32, packets.len() as u32, hint);
                }
            }
        }
        let held = flow.held().is_some();
        let mut send = |index: EvIndex| {
            let (delay, marked) = weather
                [(usize::from(index.value()) * 7 + (now / of.period) as usize) % weather.len()];
            let last: &mut u32 = &mut last_arrivals[usize::from(index.value())];
            *last = (*last + 1).max(now + delay);
            Sent {
                index,
                at: now,
                arrives: *last,
                marked,
            }
        };
        for index in flow.probes() {
            let sent = send(index);
            order += 1;
            answers.insert((sent.arrives + BASE / 2, order), Answer::Probe(sent));
        }
        if held || packets.len() - acknowledged >= window {
            continue;
        }
        let path = flow.spray.choose(None, PlaneMask::BOTH).expect("a path");
        let sent = send(path.index);
        moves += usize::from(packets.last().is_some_and(|last| last.index != path.index));
        order += 1;
        answers.insert(
            (sent.arrives + BASE / 2, order),
            Answer::Packet(packets.len()),
        );
        packets.push(sent);
    }
    (packets, moves)
}

/// Packets that arrive before one that was sent before them.
fn overtaking(packets: &[Sent]) -> usize {
    let pairs = packets.windows(2);
    pairs
        .filter(|pair| pair[1].arrives <= pair[0].arrives)
        .count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_packet_ever_overtakes_another_one(
        seed in any::<u32>(),
        weather in prop::collection::vec((BASE / 2..4 * BASE, prop::bool::weighted(0.6)), 3..20),
        gap in 5..60u32,
        window in 20..200usize,
    ) {
        let (packets, _) = run(Run::wide(hp3()), seed, &weather, gap, window);
        prop_assert_eq!(overtaking(&packets), 0);
    }

    /// A pause begins with one to four packets in flight, and mostly one of the last packets is all that it waits for.
    #[test]
    fn no_packet_overtakes_another_one_with_a_window_of_few_packets(
        seed in any::<u32>(),
        weather in prop::collection::vec((BASE / 2..4 * BASE, prop::bool::weighted(0.6)), 3..20),
        gap in 5..60u32,
        window in 1..5usize,
    ) {
        let (packets, _) = run(Run::narrow(hp3()), seed, &weather, gap, window);
        prop_assert_eq!(overtaking(&packets), 0);
    }
}

/// Weathers with slow paths that mark and faster ones that do not, with their numbers. The slowest has eight times the delay of the fastest.
fn weathers() -> impl Iterator<Item = (u32, Vec<(u32, bool)>)> {
    let path = |rank: u32| (BASE / 2 + rank * 350, rank > 3);
    (0..8).map(move |seed| (seed, (0..11).map(|i| path((i * 7 + seed) % 11)).collect()))
}

#[test]
fn the_path_does_change_in_such_runs() {
    let moves = |of: fn(Spray) -> Run, window| -> usize {
        let runs = weathers().map(|(seed, weather)| run(of(hp3()), seed, &weather, 20, window));
        runs.map(|(_, moves)| moves).sum()
    };
    let narrow = [1, 2, 4].map(|window| moves(Run::narrow, window));
    let wide = [20, 80].map(|window| moves(Run::wide, window));
    for moves in narrow.into_iter().chain(wide) {
        assert!(moves >= 10, "{narrow:?} and {wide:?} changes of the path");
    }
}

/// A wrong rule: HP3 that takes up to two packets in flight for none.
#[derive(Debug)]
struct Hasty {
    hp3: Box<dyn PathPolicy>,
    /// At the last acknowledgement. In a pause nothing is sent, so it is exact then.
    in_flight: u32,
}

impl Hasty {
    /// Moves if so few are left.
    fn look(&mut self, paths: &mut Paths) {
        if self.in_flight <= 2 {
            self.hp3.on_empty(paths);
        }
    }
}

impl PathPolicy for Hasty {
    fn on_feedback(&mut self, paths: &mut Paths, index: EvIndex, feedback: Feedback, now: Ticks) {
        self.hp3.on_feedback(paths, index, feedback, now);
    }

    fn on_ack(&mut self, paths: &mut Paths, index: Option<EvIndex>, ack: &PathAck, now: Ticks) {
        self.in_flight = ack.next_psn.distance_from(ack.una);
        self.hp3.on_ack(paths, index, ack, now);
    }

    fn on_probe(&mut self, paths: &mut Paths, index: EvIndex, round_trip: u16, now: Ticks) {
        self.hp3.on_probe(paths, index, round_trip, now);
        self.look(paths);
    }

    fn probe_due(&mut self, paths: &mut Paths, up: PlaneMask, now: Ticks) -> Option<EvIndex> {
        self.hp3.probe_due(paths, up, now)
    }

    fn on_empty(&mut self, paths: &mut Paths) {
        self.hp3.on_empty(paths);
    }

    fn held_until(&mut self, paths: &mut Paths, now: Ticks) -> Option<Ticks> {
        self.hp3.held_until(paths, now)
    }

    fn copy(&self) -> Box<dyn PathPolicy> {
        Box::new(Self {
            hp3: self.hp3.copy(),
            in_flight: self.in_flight,
        })
    }
}

#[test]
fn windows_of_few_packets_tell_that_a_rule_takes_two_in_flight_for_none_and_those_of_many_do_not() {
    let overtaken = |of: fn(Spray) -> Run, windows: &[usize]| -> Vec<usize> {
        let of_window = |&window: &usize| {
            let runs = weathers().map(|(seed, weather)| {
                let config = config(Policy::Hp3, 16);
                let policy = Hasty {
                    hp3: built_in(&config),
                    in_flight: 0,
                };
                let spray = Spray::with_policy(config, Box::new(policy)).expect("usual");
                overtaking(&run(of(spray), seed, &weather, 20, window).0)
            });
            runs.sum()
        };
        windows.iter().map(of_window).collect()
    };
    for (window, overtaken) in (2..).zip(overtaken(Run::narrow, &[2, 3, 4])) {
        assert!(overtaken > 0, "none overtaken with a window of {window}");
    }
    assert_eq!(overtaken(Run::wide, &[80, 200]), [0, 0]);
}
