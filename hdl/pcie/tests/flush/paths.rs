//! Memory behind an endpoint: a path for each target, with any delay, and completions in any order.

use std::collections::VecDeque;

use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// What is wrong with a completion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Flaw {
    Status(u64),
    Poisoned,
    /// PCIe reports an error with its last beat.
    Damaged,
}

/// What goes wrong with flush reads.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// One of so many has a completion with this flaw.
    Flawed { one_in: u32, flaw: Flaw },
    /// One of so many has no completion, or one that comes after the deadline.
    Lost { one_in: u32, late: bool },
    /// One of so many commands has written where flush reads are refused, or are never answered.
    Command { one_in: u32, lost: bool },
}

/// A request on its way to a target.
struct Travels {
    request: Request,
    /// The cycle in which it left.
    since: u64,
}

enum Request {
    Write { number: usize },
    Read { tag: u64, bad: bool },
}

/// Completions on their way back.
struct Completion {
    tag: u64,
    flaw: Option<Flaw>,
    /// First cycle in which it may arrive.
    from: u64,
}

/// Targets: host memory, and devices.
///
/// Where reads are lost, a request is on its way for at most the time after which a read is given up: generations of tags tell the completions of
/// three times that time apart, not of any time.
pub struct Paths {
    paths: Vec<VecDeque<Travels>>,
    completions: Vec<Completion>,
    /// Writes that have arrived, by number.
    pub arrived: Vec<bool>,
    fault: Option<Fault>,
    /// Cycles after which a read is given up, or 0.
    patience: u64,
    now: u64,
}

impl Paths {
    pub fn new(targets: usize, fault: Option<Fault>, patience: u64) -> Self {
        Self {
            paths: (0..targets).map(|_| VecDeque::new()).collect(),
            completions: vec![],
            arrived: vec![],
            fault,
            patience,
            now: 0,
        }
    }

    pub fn write(&mut self, target: usize) -> usize {
        let number = self.arrived.len();
        self.arrived.push(false);
        self.send(target, Request::Write { number });
        number
    }

    /// A read, of an address where reads fail if it is `bad`.
    pub fn read(&mut self, target: usize, tag: u64, bad: bool) {
        self.send(target, Request::Read { tag, bad });
    }

    /// Requests on their way to a target.
    pub fn waiting(&self, target: usize) -> usize {
        self.paths[target].len()
    }

    fn send(&mut self, target: usize, request: Request) {
        let since = self.now;
        self.paths[target].push_back(Travels { request, since });
    }

    /// One cycle: each path moves with a probability of `arrives` eighths. Returns tag and flaw of a completion, with one of `answers` eighths.
    pub fn clock(
        &mut self,
        now: u64,
        arrives: u32,
        answers: u32,
        rng: &mut ChaCha8Rng,
    ) -> Option<(u64, Option<Flaw>)> {
        self.now = now;
        for index in 0..self.paths.len() {
            let is_old = |first: &Travels| self.patience > 0 && now - first.since > self.patience;
            let is_due = self.paths[index].front().is_some_and(is_old);
            if !rng.random_ratio(arrives, 8) && !is_due {
                continue;
            }
            match self.paths[index].pop_front().map(|first| first.request) {
                Some(Request::Write { number }) => self.arrived[number] = true,
                Some(Request::Read { tag, bad }) => self.complete(tag, bad, now, rng),
                None => {}
            }
        }
        let ready: Vec<usize> = (0..self.completions.len())
            .filter(|&i| self.completions[i].from <= now)
            .collect();
        if ready.is_empty() || !rng.random_ratio(answers, 8) {
            return None;
        }
        let chosen = ready[rng.random_range(0..ready.len())];
        let completion = self.completions.swap_remove(chosen);
        Some((completion.tag, completion.flaw))
    }

    fn complete(&mut self, tag: u64, bad: bool, now: u64, rng: &mut ChaCha8Rng) {
        let (mut flaw, mut from) = (None, now);
        match self.fault {
            Some(Fault::Flawed { one_in, flaw: bad }) if rng.random_ratio(1, one_in) => {
                flaw = Some(bad);
            }
            Some(Fault::Lost { one_in, late }) if rng.random_ratio(1, one_in) => {
                if !late {
                    return;
                }
                from = now + self.patience + rng.random_range(0..100);
            }
            Some(Fault::Command { lost, .. }) if bad => {
                if lost {
                    return;
                }
                flaw = Some(Flaw::Status(1));
            }
            _ => {}
        }
        self.completions.push(Completion { tag, flaw, from });
    }
}
