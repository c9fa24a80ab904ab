//! Requests that a memory has accepted from one of its ports: writes that are not visible yet, and reads that are not answered yet.

use std::collections::VecDeque;

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::config::CompleterConfig;
use crate::counters::Target;
use crate::delay::Delay;
use crate::link::Packet;
use crate::tlp::Completion;
use crate::Picoseconds;

/// State of a read.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The memory is not read yet.
    Asked(Target, Box<Packet>),
    /// Completions still to be sent.
    Completions(VecDeque<Completion>),
}

#[derive(Debug)]
struct Waiting {
    ready_at: Picoseconds,
    answer: Answer,
}

/// What a receiver has to do for the requests of one link.
#[derive(Debug)]
pub(crate) struct Responder {
    /// Writes in order, with the time at which each becomes visible.
    writes: VecDeque<(Picoseconds, Target, Box<Packet>)>,
    /// Reads by the time at which each can be answered.
    reads: VecDeque<Waiting>,
    most_reads: usize,
    posted_delay: Delay,
    read_delay: Delay,
    /// Chooses among the reads that can be answered, if their completions interleave.
    interleave: Option<Box<ChaCha8Rng>>,
    /// Time at which the youngest write is visible.
    visible_at: Picoseconds,
}

impl Responder {
    /// `stream` gives a random sequence for each number.
    pub fn new(config: &CompleterConfig, stream: impl Fn(u64) -> ChaCha8Rng) -> Self {
        Self {
            writes: VecDeque::new(),
            reads: VecDeque::new(),
            most_reads: config.outstanding_reads,
            posted_delay: Delay::new(config.posted_delay, stream(0)),
            read_delay: Delay::new(config.read_delay, stream(1)),
            interleave: config.interleave.then(|| Box::new(stream(2))),
            visible_at: 0,
        }
    }

    /// Whether another read can be accepted.
    pub fn has_room(&self) -> bool {
        self.reads.len() < self.most_reads
    }

    /// Whether no request has been accepted that is not done.
    pub fn is_idle(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty()
    }

    /// A write is accepted. Returns it if it is visible at once.
    pub fn write(
        &mut self,
        now: Picoseconds,
        target: Target,
        packet: Box<Packet>,
    ) -> Option<Box<Packet>> {
        let visible_at = (now + self.posted_delay.draw()).max(self.visible_at);
        self.visible_at = visible_at;
        if visible_at <= now && self.writes.is_empty() {
            return Some(packet);
        }
        self.writes.push_back((visible_at, target, packet));
        None
    }

    /// The next write that has become visible.
    pub fn next_visible(&mut self, now: Picoseconds) -> Option<(Target, Box<Packet>)> {
        if self.writes.front()?.0 > now {
            return None;
        }
        let (_, target, packet) = self.writes.pop_front()?;
        Some((target, packet))
    }

    /// A read is accepted. It is answered after the writes before it are visible, and `late` by that much.
    pub fn read(
        &mut self,
        now: Picoseconds,
        late: Picoseconds,
        target: Target,
        packet: Box<Packet>,
    ) {
        let ready_at = (now + self.read_delay.draw()).max(self.visible_at) + late;
        self.insert(ready_at, Answer::Asked(target, packet));
    }

    /// A read is to be answered by `completion` alone, without access to memory.
    pub fn answer_without_memory(&mut self, now: Picoseconds, completion: Completion) {
        self.insert(now, Answer::Completions(VecDeque::from([completion])));
    }

    fn insert(&mut self, ready_at: Picoseconds, answer: Answer) {
        let later = self.reads.iter().rev();
        let later = later.take_while(|read| read.ready_at > ready_at).count();
        let at = self.reads.len() - later;
        self.reads.insert(at, Waiting { ready_at, answer });
    }

    /// Index of the read to which the next completion belongs.
    pub fn next_read(&mut self, now: Picoseconds) -> Option<usize> {
        let ready = |read: &Waiting| read.ready_at <= now;
        self.reads.front().filter(|read| ready(read))?;
        let Some(rng) = &mut self.interleave else {
            return Some(0);
        };
        let count = self.reads.iter().take_while(|read| ready(read)).count();
        Some(rng.random_range(0..count))
    }

    /// The state of a read.
    pub fn answer(&mut self, index: usize) -> Option<&mut Answer> {
        Some(&mut self.reads.get_mut(index)?.answer)
    }

    /// A read is done.
    pub fn remove(&mut self, index: usize) {
        self.reads.remove(index);
    }

    /// Time at which a write becomes visible, or a read can be answered. A read that can be answered already waits for space in the send queue.
    pub fn next_time(&self, now: Picoseconds) -> Picoseconds {
        let write = self
            .writes
            .front()
            .map_or(Picoseconds::MAX, |write| write.0);
        let later = |read: &&Waiting| read.ready_at > now;
        // Without a wait for space the first read is later than now, and no search takes place.
        let read = self.reads.iter().find(later);
        read.map_or(write, |read| write.min(read.ready_at))
    }
}
