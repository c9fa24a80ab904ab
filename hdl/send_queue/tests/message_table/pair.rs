//! A queue pair of the reference. It gets as much of its send queue as the hardware has read.

use std::collections::VecDeque;

use hdl_send_queue::prefetch_state::MAX_READ_ENTRIES;
use hdl_testkit::equivalence::TestRng;
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_transport::endpoint::{Memory, MemoryFault};
use stellar_transport::requester::{CompletionQueue, Message, Messages, SendQueue, SqRing};
use stellar_transport::rx::{Psn, WriteTlp};
use stellar_wire::host::{Cqe, WcStatus, Wqe};
use stellar_wire::hw::messages::SendQueueConfig;

use crate::entries::Posted;

/// Entries of one queue pair, in the order in which they were posted, as a ring in memory.
struct RingMemory<'a> {
    ring: SqRing,
    posted: &'a [Posted],
    /// The oldest entry in the ring.
    first: usize,
}

impl Memory for RingMemory<'_> {
    fn read(&mut self, address: u64, translated: bool, into: &mut [u8]) -> Result<(), MemoryFault> {
        assert!(!translated, "send queues are read with AT = 00");
        let entries = 1 << self.ring.log2_entries;
        let place = (address.wrapping_sub(self.ring.base) / Wqe::LEN as u64) as usize;
        let ahead = (place + entries - self.first % entries) % entries;
        let entry = self.posted[self.first + ahead];
        if !entry.readable {
            return Err(MemoryFault {
                address,
                length: into.len(),
            });
        }
        into.copy_from_slice(&entry.bytes);
        Ok(())
    }

    fn write(&mut self, _: &WriteTlp) {
        unreachable!("send queues are only read")
    }
}

/// In this many cycles after a `Configure` was accepted, an entry that arrives is still processed before it, and may start one more read of the old ring.
const OVERTAKES: u64 = 3;

pub struct Pair {
    number: u32,
    pub ring: SqRing,
    pub mtu: u32,
    pub max_wimm: u16,
    messages: Messages,
    cq: CompletionQueue,
    /// All entries before the producer index.
    pub posted: Vec<Posted>,
    /// Number of entries that the reference has seen.
    told: usize,
    /// Number of entries that the hardware has requested.
    pub asked: usize,
    /// Entries of the outstanding read, as indices of all entries ever posted. `None`: the entry was requested before the last `Configure`.
    pub reading: VecDeque<Option<usize>>,
    /// Reads from before the last `Configure`, of which one may still be issued, with the available entries of each.
    pub left_over: Vec<Vec<u64>>,
    /// Cycle of the last `Configure`.
    pub configured: u64,
    /// Number of entries that were read.
    pub came: usize,
    /// Entries that were pushed.
    pub pushed: Vec<usize>,
    /// Cycles in which entries were delivered, one at a time.
    pub handed: Vec<u64>,
    pub flushed: bool,
    /// PSN of the next new packet, and of the oldest unacknowledged one.
    pub next: Psn,
    pub una: Psn,
    /// Expected completions.
    pub completions: VecDeque<Cqe>,
}

impl Pair {
    pub fn new(number: u32, rng: &mut TestRng) -> Self {
        let ring = SqRing {
            base: rng.random::<u64>() & !63,
            log2_entries: [1, 2, 4, 7, 15][rng.random_range(0..5)],
        };
        let max_wimm = [1, 2, 5, 1024][rng.random_range(0..4)];
        let queue = SendQueue::new(Some(ring)).expect("1 to 15");
        let first = Psn::new(rng.random_range(0..1 << 24));
        Self {
            number,
            ring,
            mtu: 256 << rng.random_range(0..6),
            max_wimm,
            messages: Messages::new(queue, number, max_wimm),
            cq: CompletionQueue::new(1 << 16),
            posted: vec![],
            told: 0,
            asked: 0,
            reading: VecDeque::new(),
            left_over: vec![],
            configured: 0,
            came: 0,
            pushed: vec![],
            handed: vec![],
            flushed: false,
            next: first,
            una: first,
            completions: VecDeque::new(),
        }
    }

    /// Changes the ring, before anything is posted.
    pub fn resize(&mut self, log2_entries: u8) {
        self.ring.log2_entries = log2_entries;
        let queue = SendQueue::new(Some(self.ring)).expect("1 to 15");
        self.messages = Messages::new(queue, self.number, self.max_wimm);
    }

    pub fn settings(&self) -> SendQueueConfig {
        SendQueueConfig {
            base: self.ring.base.to_bits(),
            log2_entries: self.ring.log2_entries.to_bits(),
            mtu_log2: self.mtu.trailing_zeros().to_bits(),
            max_wimm: self.max_wimm.to_bits(),
        }
    }

    pub fn address(&self, entry: usize) -> u64 {
        let place = (entry % (1 << self.ring.log2_entries)) * Wqe::LEN;
        self.ring.base.wrapping_add(place as u64)
    }

    /// Returns the addresses of the posted entries from `first` on.
    fn readable(&self, first: usize) -> impl Iterator<Item = u64> + '_ {
        (first..self.posted.len()).map(|entry| self.address(entry))
    }

    /// Processes a read of the hardware. Returns whether it is one of the ring before the last `Configure`.
    pub fn read(&mut self, address: u64, entries: usize) -> bool {
        let number = self.number;
        assert!(self.reading.is_empty(), "two reads of queue pair {number}");
        assert!((1..=MAX_READ_ENTRIES as usize).contains(&entries));
        let addresses: Vec<_> = (0..entries as u64)
            .map(|ahead| address.wrapping_add(ahead * Wqe::LEN as u64))
            .collect();
        let mut left_over = std::mem::take(&mut self.left_over);
        left_over.retain(|there| there.starts_with(&addresses));
        if let Some(mut there) = left_over.pop() {
            self.reading = vec![None; entries].into();
            // If this read is answered before the prefetch executes the `Configure`.
            self.left_over = vec![there.split_off(entries)];
            return true;
        }
        // The block reads entries after pushed ones before a wake-up shows that the pushed ones were used.
        while self.pushed.contains(&self.asked) && address != self.address(self.asked) {
            self.use_pushed();
        }
        let first = self.asked;
        let there: Vec<_> = self.readable(first).take(entries).collect();
        assert_eq!(
            there.len(),
            entries,
            "a read beyond the doorbell of queue pair {number}"
        );
        assert_eq!(
            addresses, there,
            "entries from {first} of queue pair {number}"
        );
        self.asked = first + entries;
        self.reading = (first..self.asked).map(Some).collect();
        false
    }

    /// Processes the arrival of the next entry of the outstanding read.
    pub fn answered(&mut self, now: u64) {
        let entry = self.reading.pop_front().expect("an outstanding read");
        self.came += usize::from(entry.is_some());
        if now >= self.configured + OVERTAKES {
            self.left_over.clear();
        }
    }

    /// Uses the next entry without a read.
    pub fn use_pushed(&mut self) {
        assert!(self.reading.is_empty());
        self.came += 1;
        self.asked += 1;
    }

    /// Returns the reads of which one may be issued after a `Configure`: one is pending, or the end of the outstanding read starts it.
    pub fn reads_left(&mut self) -> Vec<Vec<u64>> {
        let mut left = std::mem::take(&mut self.left_over);
        left.push(self.readable(self.asked).collect());
        // It is not known yet whether pushed entries were used.
        if self.reading.is_empty() {
            let used = (self.asked..).take_while(|entry| self.pushed.contains(entry));
            left.extend(used.map(|entry| self.readable(entry + 1).collect()));
        }
        left
    }

    /// Returns the producer index.
    pub fn producer(&self) -> u16 {
        self.posted.len() as u16
    }

    /// Returns the number of entries that the reference took.
    pub fn taken(&self) -> usize {
        self.told - usize::from(self.messages.queue().pending())
    }

    /// Returns the number of entries that may be posted.
    pub fn room(&self) -> usize {
        (1 << self.ring.log2_entries) - (self.posted.len() - self.taken())
    }

    /// Returns whether the reference accepts a producer index.
    pub fn takes(&self, producer: u16) -> bool {
        let mut queue = self.messages.queue().clone();
        queue
            .ring_doorbell(self.producer())
            .expect("was taken before");
        queue.ring_doorbell(producer).is_ok()
    }

    fn tell(&mut self, entries: usize) {
        let queue = self.messages.queue_mut();
        queue
            .ring_doorbell(entries as u16)
            .expect("entries that were posted");
        self.told = entries;
    }

    fn with<R>(
        &mut self,
        run: impl FnOnce(&mut Messages, &mut dyn Memory, &mut CompletionQueue) -> R,
    ) -> R {
        let mut memory = RingMemory {
            ring: self.ring,
            posted: &self.posted,
            first: self.told - usize::from(self.messages.queue().pending()),
        };
        let result = run(&mut self.messages, &mut memory, &mut self.cq);
        self.completions
            .extend(std::iter::from_fn(|| self.cq.pop()));
        result
    }

    /// Returns the next message. Only entries that were delivered before a cycle count.
    pub fn current(&mut self, before: u64) -> Option<Message> {
        let there = self.handed.iter().filter(|&&at| at < before).count();
        // All entries of a flushed queue pair have been seen.
        self.tell(there.max(self.told));
        let (next, mtu) = (self.next, self.mtu);
        self.with(|messages, memory, _| messages.current(next, mtu, memory))
    }

    pub fn get(&self, slot: u16) -> Option<Message> {
        self.messages.get(slot).copied()
    }

    /// Returns the message of a packet. For a PSN before a message, the reference names the next one.
    pub fn holding(&self, psn: Psn) -> Option<Message> {
        let found = self.messages.holding(psn).copied();
        found.filter(|message| psn.distance_from(message.first) < message.packets)
    }

    pub fn fault(&mut self, slot: u16, status: WcStatus) {
        self.messages.fault(slot, status);
    }

    pub fn complete(&mut self) -> Result<(), (u16, WcStatus)> {
        let una = self.una;
        self.with(|messages, _, cq| messages.complete(una, cq))
    }

    pub fn flush(&mut self, failed: Option<(u16, WcStatus)>) {
        self.flushed = true;
        self.tell(self.posted.len());
        self.with(|messages, memory, cq| messages.flush(failed, memory, cq));
    }

    /// Returns the number of outstanding messages.
    pub fn outstanding(&self) -> usize {
        let next = self.taken() as u16;
        (1..=66)
            .filter(|&i| self.get(next.wrapping_sub(i)).is_some())
            .count()
    }

    /// Returns whether everything that was posted has completed.
    pub fn is_drained(&self) -> bool {
        self.flushed || (self.taken() == self.posted.len() && self.outstanding() == 0)
    }

    /// Local queue pair number.
    pub const fn number(&self) -> u32 {
        self.number
    }
}
