//! A FIFO between two clocks, and the queue that it has to be.
use std::collections::VecDeque;

use hdl_crossings::async_fifo::RESET_EDGES;
use hdl_testkit::Dut;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::clocks::{Clocks, Periods};

/// Entries of the FIFO under test.
pub const DEPTH: usize = 16;

const CLOCKS: [&str; 2] = ["write_clock", "read_clock"];
const RESETS: [&str; 2] = ["write_reset", "read_reset"];
const WRITE: usize = 0;
const READ: usize = 1;

/// In how many of 8 cycles a side moves.
#[derive(Clone, Copy)]
pub struct Stalls {
    pub offer: u32,
    pub take: u32,
}

/// Sides are in the order write, read.
pub struct Bench {
    dut: Dut,
    clocks: Clocks,
    queue: VecDeque<u64>,
    next_word: u64,
    /// Which sides the last step was an edge of.
    rose: [bool; 2],
    refused: bool,
    /// Entries that enter are lost: `read_reset` has risen, and `write_reset` not yet fallen.
    loses: bool,
    /// An offer that has to stay.
    waits: Option<u64>,
    /// Edges of each clock.
    pub edges: [usize; 2],
    /// Entries that entered and left.
    pub moved: [usize; 2],
    /// Edges at which the FIFO refused an entry, and at which it had none.
    pub was: [usize; 2],
}

impl Bench {
    /// A FIFO that is empty.
    pub fn new(dut: Dut, periods: Periods, rng: &mut ChaCha8Rng) -> Self {
        let mut bench = Self {
            dut,
            clocks: Clocks::new(periods, rng),
            queue: VecDeque::new(),
            next_word: 1,
            rose: [true; 2],
            refused: false,
            loses: false,
            waits: None,
            edges: [0; 2],
            moved: [0; 2],
            was: [0; 2],
        };
        bench.dut.eval();
        bench
    }

    /// The FIFO's `count`.
    pub fn count(&self) -> usize {
        self.dut.get("count") as usize
    }

    /// Whether the last edge of the write clock had an offer that was not taken.
    pub fn refused(&self) -> bool {
        self.refused
    }

    /// Drives the inputs of the sides that had an edge: those of the other side stay until its next edge.
    pub fn offer(&mut self, word: Option<u64>, ready: bool) {
        if self.rose[WRITE] {
            self.dut.set("in_valid", word.is_some().into());
            self.dut.set("in_data", word.unwrap_or(0xDEAD));
        }
        if self.rose[READ] {
            self.dut.set("out_ready", ready.into());
        }
        self.dut.eval();
    }

    /// Runs to the next edge. Returns what entered and what left.
    pub fn edge(&mut self) -> (Option<u64>, Option<u64>) {
        let rise = self.clocks.rise();
        let dut = &mut self.dut;
        let offered = rise[WRITE] && dut.is("in_valid");
        let taken = (offered && dut.is("in_ready")).then(|| dut.get("in_data"));
        let left = (rise[READ] && dut.moves("out_valid", "out_ready")).then(|| dut.get("out_data"));
        self.refused = offered && taken.is_none();
        self.was[0] += usize::from(self.refused);
        self.was[1] += usize::from(rise[READ] && dut.is("out_ready") && left.is_none());
        for level in [1, 0] {
            for (name, _) in CLOCKS.iter().zip(rise).filter(|(_, rises)| *rises) {
                dut.set(name, level);
            }
            dut.eval();
        }
        for (edges, rises) in self.edges.iter_mut().zip(rise) {
            *edges += usize::from(rises);
        }
        self.moved[WRITE] += usize::from(taken.is_some());
        self.moved[READ] += usize::from(left.is_some());
        self.rose = rise;
        (taken, left)
    }

    /// Runs to the next edge with random stalls, and compares.
    fn step(&mut self, stalls: Stalls, rng: &mut ChaCha8Rng) -> Result<(), String> {
        let offers = rng.random_ratio(stalls.offer, 8);
        self.offer(
            offers.then_some(self.next_word),
            rng.random_ratio(stalls.take, 8),
        );
        let resets = RESETS.map(|reset| self.dut.is(reset));
        let offered = self.dut.is("out_valid").then(|| self.dut.get("out_data"));
        if let (Some(word), false) = (self.waits, resets[READ]) {
            if offered != Some(word) {
                return Err(format!("the offer of {word} became {offered:?}"));
            }
        }
        let (taken, left) = self.edge();
        if self.rose[READ] {
            self.waits = offered.filter(|_| left.is_none() && !resets[READ]);
        }
        // The entry that leaves was there before the edge, the one that enters is there after it.
        if let (Some(left), false) = (left, resets[READ]) {
            match self.queue.pop_front() {
                Some(due) if due == left => {}
                due => return Err(format!("{left} left where {due:?} was due")),
            }
        }
        if let Some(taken) = taken {
            self.next_word += 1;
            if resets[WRITE] {
                return Err("an entry was taken in reset".into());
            }
            if !self.loses {
                self.queue.push_back(taken);
            }
        }
        if self.loses {
            return Ok(());
        }
        let (held, count) = (self.queue.len(), self.count());
        if held > DEPTH {
            return Err(format!("{held} entries are in a FIFO of {DEPTH}"));
        }
        if !(held..=DEPTH).contains(&count) {
            return Err(format!("the count is {count} of {held} entries"));
        }
        Ok(())
    }

    /// Runs `edges` edges.
    pub fn run(
        &mut self,
        edges: usize,
        stalls: Stalls,
        rng: &mut ChaCha8Rng,
    ) -> Result<(), String> {
        (0..edges).try_for_each(|_| self.step(stalls, rng))
    }

    /// Takes everything that is in the FIFO.
    pub fn drain(&mut self, rng: &mut ChaCha8Rng) -> Result<(), String> {
        self.run(300, Stalls { offer: 0, take: 8 }, rng)?;
        match self.queue.len() {
            0 => Ok(()),
            left => Err(format!("{left} entries never came out")),
        }
    }

    /// Runs until `side` had an edge, and sets its reset after that.
    fn set_reset(
        &mut self,
        side: usize,
        value: bool,
        stalls: Stalls,
        rng: &mut ChaCha8Rng,
    ) -> Result<(), String> {
        loop {
            self.step(stalls, rng)?;
            if self.rose[side] {
                self.dut.set(RESETS[side], value.into());
                self.dut.eval();
                return Ok(());
            }
        }
    }

    /// Resets both sides in the order that is allowed, at random distances.
    pub fn reset(&mut self, stalls: Stalls, rng: &mut ChaCha8Rng) -> Result<(), String> {
        self.set_reset(READ, true, stalls, rng)?;
        self.queue.clear();
        self.waits = None;
        self.loses = true;
        if rng.random() {
            self.run(rng.random_range(0..60), stalls, rng)?;
        }
        self.set_reset(WRITE, true, stalls, rng)?;
        let both = self.edges;
        while (0..2).any(|side| self.edges[side] < both[side] + RESET_EDGES) {
            self.step(stalls, rng)?;
            if self.edges[READ] > both[READ] && self.dut.is("out_valid") {
                return Err("an entry is offered in reset".into());
            }
        }
        let first = rng.random_range(0..2);
        for side in [first, 1 - first] {
            self.set_reset(side, false, stalls, rng)?;
            if side == WRITE {
                self.loses = false;
            }
            if rng.random() {
                self.run(rng.random_range(0..60), stalls, rng)?;
            }
        }
        Ok(())
    }

    /// Resets both sides by the pin `asynchronous` of [`Chained`](crate::chained::Chained), which is high for `edges` edges of each clock.
    pub fn reset_by_chain(
        &mut self,
        edges: usize,
        stalls: Stalls,
        rng: &mut ChaCha8Rng,
    ) -> Result<(), String> {
        self.dut.set("asynchronous", 1);
        self.dut.eval();
        let before = self.edges;
        let mut rises = RESETS.map(|_| false);
        while self.loses || !rises[WRITE] {
            if (0..2).all(|side| self.edges[side] >= before[side] + edges) {
                self.dut.set("asynchronous", 0);
                self.dut.eval();
            }
            self.step(stalls, rng)?;
            let are = RESETS.map(|reset| self.dut.is(reset));
            if are[READ] && !rises[READ] {
                assert!(!are[WRITE], "the reset of the read side is first");
                self.queue.clear();
                self.waits = None;
                self.loses = true;
            }
            self.loses &= are[WRITE] || !rises[WRITE];
            rises = [0, 1].map(|side| rises[side] || are[side]);
        }
        Ok(())
    }

    /// Puts one entry in after a random time. Returns the edges of the read clock until it is offered.
    pub fn edges_until_offered(&mut self, rng: &mut ChaCha8Rng) -> usize {
        for _ in 0..rng.random_range(0..20) {
            self.offer(None, true);
            self.edge();
        }
        while self.moved[WRITE] == 0 {
            self.offer(Some(1), false);
            self.edge();
        }
        let entered = self.edges[READ];
        while !self.dut.is("out_valid") {
            self.offer(None, false);
            self.edge();
        }
        self.edges[READ] - entered
    }
}
