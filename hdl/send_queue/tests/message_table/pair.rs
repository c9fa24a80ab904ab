//! A queue pair of the reference. It gets as much of its send queue as the hardware has read.

use std::collections::VecDeque;

use hdl_send_queue::prefetch_state::BLOCK_ENTRIES;
use hdl_testkit::equivalence::TestRng;
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_transport::endpoint::{Memory, MemoryFault};
use stellar_transport::requester::{
    CompletionQueue, Message, Messages, SendQueue, SqRing, MAX_OUTSTANDING,
};
use stellar_transport::rx::{Psn, WriteTlp};
use stellar_wire::host::{Cqe, WcStatus, WqeSize};
use stellar_wire::hw::messages::SendQueueConfig;

use crate::entries::Posted;

/// Maximum number of packets in flight.
const MOST_IN_FLIGHT: u32 = 1 << 22;

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
        let bytes = self.ring.entry.bytes();
        let place = address.wrapping_sub(self.ring.base) as usize / bytes;
        let ahead = (place + entries - self.first % entries) % entries;
        let entry = self.posted[self.first + ahead];
        if !entry.readable {
            return Err(MemoryFault {
                address,
                length: into.len(),
            });
        }
        into.copy_from_slice(&entry.bytes[..bytes]);
        Ok(())
    }

    fn write(&mut self, _: &WriteTlp) {
        unreachable!("send queues are only read")
    }
}

/// A line of an outstanding read.
#[derive(Clone, Copy)]
pub struct Asked {
    /// Its entry, by index of all entries ever posted, and which line it is of that. `None`: it was requested before the last `Configure`.
    pub line: Option<(usize, usize)>,
    /// Lines of the same read behind it.
    pub behind: usize,
}

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
    /// Lines of the outstanding reads.
    pub reading: VecDeque<Asked>,
    /// Lines of the first of these reads were answered.
    is_mid_read: bool,
    /// Reads from before the last `Configure` that may still be issued: the addresses of the lines that the old rings had left.
    pub left_over: Vec<Vec<u64>>,
    /// Cycle of the last `Configure`.
    pub configured: u64,
    /// No request was accepted since, so entries of the old ring may still enter the table, and new ones cannot.
    pub keeps_old: bool,
    /// Number of entries that were read and have not entered the table.
    due: usize,
    /// Entries that were pushed.
    pub pushed: Vec<usize>,
    /// Cycles in which entries entered the table, in order.
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
            entry: [WqeSize::Bytes64, WqeSize::Bytes128][rng.random_range(0..2)],
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
            is_mid_read: false,
            left_over: vec![],
            configured: 0,
            keeps_old: false,
            due: 0,
            pushed: vec![],
            handed: vec![],
            flushed: false,
            next: first,
            una: first,
            completions: VecDeque::new(),
        }
    }

    /// Changes the ring, before anything is posted.
    pub fn resize(&mut self, log2_entries: u8, entry: WqeSize) {
        (self.ring.log2_entries, self.ring.entry) = (log2_entries, entry);
        let queue = SendQueue::new(Some(self.ring)).expect("1 to 15");
        self.messages = Messages::new(queue, self.number, self.max_wimm);
    }

    pub fn settings(&self) -> SendQueueConfig {
        SendQueueConfig {
            base: self.ring.base.to_bits(),
            log2_entries: self.ring.log2_entries.to_bits(),
            long_entries: self.ring.entry == WqeSize::Bytes128,
            mtu_log2: self.mtu.trailing_zeros().to_bits(),
            max_wimm: self.max_wimm.to_bits(),
        }
    }

    /// Lines of an entry.
    fn lines(&self) -> usize {
        self.ring.entry.bytes() / 64
    }

    /// Returns the addresses of the lines of the posted entries from `first` on.
    fn readable(&self, first: usize) -> impl Iterator<Item = u64> + '_ {
        (first..self.posted.len()).flat_map(|entry| {
            let address = self.ring.address_of(entry as u16);
            (0..self.lines() as u64).map(move |line| address.wrapping_add(64 * line))
        })
    }

    /// Processes a read of the hardware. `may_be_old`: it may be one of a ring before the last `Configure`.
    pub fn read(&mut self, address: u64, lines: usize, may_be_old: bool) {
        let number = self.number;
        assert!((1..=BLOCK_ENTRIES as usize).contains(&lines));
        let addresses: Vec<_> = (0..lines as u64)
            .map(|ahead| address.wrapping_add(64 * ahead))
            .collect();
        let first = self.asked;
        let there: Vec<_> = self.readable(first).take(lines).collect();
        if addresses != there && may_be_old {
            let old = self
                .left_over
                .iter_mut()
                .find(|there| there.starts_with(&addresses));
            if let Some(old) = old {
                old.drain(..lines);
                self.asks((0..lines).map(|_| None));
                return;
            }
        }
        assert_eq!(
            addresses, there,
            "entries from {first} of queue pair {number}"
        );
        let each = self.lines();
        assert_eq!(lines % each, 0, "a read of a part of an entry");
        self.asked = first + lines / each;
        let last = self.asked - 1;
        let block = |entry: usize| entry / BLOCK_ENTRIES as usize;
        assert_eq!(block(first), block(last), "a read of two blocks");
        self.asks((0..lines).map(|line| Some((first + line / each, line % each))));
    }

    /// Adds a read.
    fn asks(
        &mut self,
        lines: impl DoubleEndedIterator<Item = Option<(usize, usize)>> + ExactSizeIterator,
    ) {
        let asked = lines.rev().enumerate();
        let asked = asked.map(|(behind, line)| Asked { line, behind });
        self.reading.extend(asked.rev());
    }

    /// Processes the answer to the oldest line that is being read, and returns how many lines of its read are behind it. Their entries arrive together.
    pub fn answered(&mut self) -> usize {
        let Asked { line, behind } = self.reading.pop_front().expect("an outstanding read");
        if !self.is_mid_read && line.is_some() {
            self.due += (behind + 1) / self.lines();
        }
        self.is_mid_read = behind > 0;
        behind
    }

    /// Processes the arrival of entries in the table.
    pub fn arrived(&mut self, entries: usize, now: u64) {
        if self.due > 0 {
            assert!(
                entries <= self.due,
                "{entries} entries, and {} are due",
                self.due
            );
            self.due -= entries;
        } else {
            assert_eq!(entries, 1, "one entry is pushed at a time");
            let next = self.asked;
            assert!(self.pushed.contains(&next), "entry {next} was not read");
            let is_next = self.reading.iter().all(|asked| asked.line.is_none());
            assert!(is_next, "a pushed entry overtakes a read");
            self.asked += 1;
        }
        self.handed.extend((0..entries).map(|_| now));
        assert!(self.handed.len() <= self.posted.len());
    }

    /// Returns the reads that may be issued after a `Configure`: some wait to leave.
    pub fn reads_left(&mut self) -> Vec<Vec<u64>> {
        let mut left = std::mem::take(&mut self.left_over);
        // It is not known yet whether a pushed entry is used.
        let used = (self.asked..).take_while(|entry| self.pushed.contains(entry));
        let firsts: Vec<_> = used.map(|entry| entry + 1).chain([self.asked]).collect();
        left.extend(
            firsts
                .into_iter()
                .map(|first| self.readable(first).collect()),
        );
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

    /// The reference learns of the entries that entered the table before a cycle.
    fn tell_before(&mut self, cycle: u64) {
        let there = self.handed.partition_point(|&at| at < cycle);
        // All entries of a flushed queue pair have been seen.
        self.tell(there.max(self.told));
    }

    /// Returns the outstanding messages, from the last one on.
    fn under_way(&self) -> impl Iterator<Item = &Message> {
        let next = self.taken() as u16;
        (1..=MAX_OUTSTANDING as u16).filter_map(move |i| self.messages.get(next.wrapping_sub(i)))
    }

    /// Returns the number of outstanding NOPs.
    pub fn nops(&self) -> usize {
        let is_nop = |message: &&Message| message.packets == 0 && message.fault.is_none();
        self.under_way().filter(is_nop).count()
    }

    /// Returns the next message. Only entries that entered the table before a cycle count.
    pub fn current(&mut self, before: u64) -> Option<Message> {
        self.tell_before(before);
        let (next, mtu) = (self.next, self.mtu);
        self.with(|messages, memory, _| messages.current(next, mtu, memory))
    }

    /// Returns the messages of new packets. Only entries that entered the table before a cycle count.
    pub fn take(&mut self, count: u32, only_short: bool, before: u64) -> Vec<(Message, u32)> {
        self.tell_before(before);
        let (next, mtu) = (self.next, self.mtu);
        self.with(|messages, memory, _| {
            let mut taken = vec![];
            messages.take(next, count, only_short, mtu, memory, &mut taken);
            taken
        })
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

    /// Returns how many packets may be sent: fewer than half of all PSNs may be in flight.
    pub fn space(&self) -> u32 {
        MOST_IN_FLIGHT.saturating_sub(self.next.distance_from(self.una))
    }

    /// Returns the number of outstanding messages.
    pub fn outstanding(&self) -> usize {
        self.under_way().count()
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
