//! Random transfers between two cards in random hosts: request sizes and completion boundaries of PCIe, delays, reads that overtake each other, lost and damaged
//! frames, paused links, both transports, all policies, paths that are denied and allowed, messages of any length at any place. In half of the runs a PCIe fault hits the memory of one queue
//! pair, and every other queue pair goes on. At the end a function-level reset comes in the middle of a transfer.
//!
//! `STELLAR_SEEDS` is the number of runs, and `STELLAR_FIRST_SEED` the first seed. `./stellar test --long cards` has a thousand.

mod flow;
mod surroundings;

use std::time::Duration;

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim_nic::{Link, SimHosts};
use sim_pcie::{FaultKind, FaultRule, RequestKind};
use stellar_driver::*;

use self::flow::{Flow, MESSAGES};
use self::surroundings::{pair, set_read_timeout};
use super::hosts::{bring_up, bytes, open, ports, Host};
use super::reset::change_owner;

const SEEDS: u64 = 4;
/// Longest that all messages of a run take.
const LIMIT: Duration = Duration::from_millis(40);
/// Cycles for which writes that left before the reset are under way: 20 us, several times the longest delay.
const UNDER_WAY: u64 = 5_000;
/// Cycles after them in which nothing may be written: 80 us.
const AFTER_RESET: u64 = 20_000;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| {
        let number = text.parse();
        number.unwrap_or_else(|_| panic!("{name} is {text:?}; it has to be a number"))
    })
}

/// Makes a few PCIe requests for the memory of a flow fail.
fn add_fault(pair: &SimHosts, flow: &Flow, rng: &mut ChaCha8Rng) {
    let kinds = [
        FaultKind::UnsupportedRequest,
        FaultKind::CompleterAbort,
        FaultKind::Poison,
        FaultKind::IommuFault,
        FaultKind::LostCompletion,
    ];
    let kind = *kinds.choose(rng).unwrap();
    let reads = kind == FaultKind::LostCompletion || rng.random();
    let (host, window, only) = if reads {
        (flow.from, flow.read_window(), RequestKind::Read)
    } else {
        (1 - flow.from, flow.written_window(), RequestKind::Write)
    };
    let rule = FaultRule {
        window: Some(window),
        only: Some(only),
        skip: rng.random_range(0..50),
        count: Some(rng.random_range(1..=3)),
        ..FaultRule::new(kind)
    };
    println!("host {host}: {rule:?}");
    pair.add_pcie_fault(host, rule).unwrap();
}

/// Pauses a link now and then.
#[derive(Default)]
struct Pauses {
    /// Host, port and time of the end.
    paused: Option<(usize, usize, Duration)>,
}

impl Pauses {
    fn step(&mut self, pair: &SimHosts, rng: &mut ChaCha8Rng) {
        let now = pair.function(0).now();
        match self.paused {
            None if rng.random_ratio(1, 200) => {
                let ports = pair.shape().ports();
                let (host, port) = (rng.random_range(0..2), rng.random_range(0..ports));
                pair.set_link(host, port, Link::Paused);
                let time = Duration::from_nanos(rng.random_range(100..20_000));
                self.paused = Some((host, port, now + time));
            }
            Some((_, _, end)) if now >= end => self.end(pair),
            _ => {}
        }
    }

    fn end(&mut self, pair: &SimHosts) {
        if let Some((host, port, _)) = self.paused.take() {
            pair.set_link(host, port, Link::Up);
        }
    }
}

/// Waits until all messages have completed. Only those of the queue pair `victim` may fail. Returns whether one did.
fn wait(
    pair: &SimHosts,
    hosts: &[Host; 2],
    flows: &[Flow],
    victim: Option<&Flow>,
    rng: &mut ChaCha8Rng,
) -> bool {
    let function = pair.function(0);
    let end = function.now() + LIMIT;
    let due = flows.len() * MESSAGES;
    let (mut done, mut failed) = (0, false);
    let mut pauses = Pauses::default();
    while done < due {
        assert!(
            function.now() < end,
            "{done} of {due} messages after {LIMIT:?}"
        );
        for (host, opened) in hosts.iter().enumerate() {
            for completion in opened.cq.poll(16).unwrap() {
                let may_fail =
                    victim.is_some_and(|flow| flow.pairs[host].number() == completion.qp);
                let fails = completion.status != WcStatus::Success;
                assert!(may_fail || !fails, "host {host}: {completion:?}");
                failed |= fails;
                done += usize::from(fails || !completion.opcode.is_receive());
            }
        }
        pauses.step(pair, rng);
        if rng.random_ratio(1, 50) {
            flows.choose(rng).unwrap().use_path(rng);
        }
        function.relax();
    }
    pauses.end(pair);
    failed
}

fn post_all(flows: &mut [Flow], rng: &mut ChaCha8Rng) {
    for id in 0..MESSAGES {
        for flow in &mut *flows {
            flow.post(id, rng);
        }
    }
}

fn run(seed: u64) {
    println!("seed {seed}");
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    let pair = pair(rng);
    let devices = bring_up(&pair);
    let hosts = open(&devices, false);
    for host in 0..2 {
        set_read_timeout(pair.function(host).as_ref());
    }
    let count = rng.random_range(1..=4);
    let mut flows: Vec<Flow> = (0..count).map(|_| Flow::new(&hosts, rng)).collect();
    post_all(&mut flows, rng);
    let has_fault = rng.random();
    if has_fault {
        add_fault(&pair, &flows[0], rng);
    }
    let victim = flows.first().filter(|_| has_fault);
    let failed = wait(&pair, &hosts, &flows, victim, rng);
    for flow in &flows[usize::from(has_fault)..] {
        assert!(bytes(&flow.target) == flow.expected, "other bytes arrived");
        assert_eq!(flow.pairs[flow.from].outstanding(), 0);
    }

    // A reset of a receiver in the middle of the next messages.
    let first = usize::from(failed);
    post_all(&mut flows[first..], rng);
    let receiver = flows.last().map_or(0, |flow| 1 - flow.from);
    for _ in 0..rng.random_range(0..400) {
        pair.function(0).relax();
    }
    change_owner(pair.function(receiver).as_ref(), ports(receiver as u8));
    pair.run(UNDER_WAY);
    let received = |flow: &Flow| (flow.from != receiver).then(|| bytes(&flow.target));
    let before: Vec<_> = flows.iter().map(received).collect();
    pair.run(AFTER_RESET);
    let after: Vec<_> = flows.iter().map(received).collect();
    assert!(before == after, "bytes were written after the reset");
    for host in 0..2 {
        let refused = pair.bad_accesses(host);
        assert!(
            has_fault || refused == 0,
            "host {host}: {refused} accesses to memory that is not mapped"
        );
    }
}

#[test]
fn random_transfers_in_random_hosts_arrive() {
    let first = number("STELLAR_FIRST_SEED", 1);
    for seed in first..first + number("STELLAR_SEEDS", SEEDS) {
        run(seed);
    }
}
