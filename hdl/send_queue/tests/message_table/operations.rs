//! Operations. Each one is compared with the reference.

use hdl_send_queue::prefetch_state::BLOCK_ENTRIES;
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_transport::requester::Message;
use stellar_transport::rx::Psn;
use stellar_wire::host::{WcStatus, Wqe, WqeOpcode, WqeSize};
use stellar_wire::hw::messages::{
    Completion, MessageOp, MessageRequest, MessageResponse, SendQueueConfig,
};
use stellar_wire::hw::pack::{to_words, Record};

use crate::entries::{any_entry, Posted};
use crate::pair::Pair;
use crate::server::Server;

/// Most cycles that a request to the prefetch waits: for what the prefetch does, and behind a pushed entry (documentation of `MessageTable`).
const PREFETCH_BUSY: u64 = 7 + 7;

/// Cycles by which a read of entries of 128 bytes delays a request to the prefetch, at most.
const GATHER: u64 = 9;

impl Server {
    /// Returns the slot that is `ahead` of the next one to start.
    pub fn slot(&self, qp: usize, ahead: i16) -> u16 {
        (self.pairs[qp].taken() as u16).wrapping_add_signed(ahead)
    }

    fn at_most(&self, cycles: u64) {
        let is_long = |pair: &Pair| pair.ring.entry == WqeSize::Bytes128;
        let cycles = match self.pairs.iter().any(is_long) {
            true => cycles + GATHER,
            false => cycles,
        };
        assert!(
            self.took <= cycles,
            "{} cycles instead of {cycles}",
            self.took
        );
    }

    /// Configures a queue pair with other settings.
    pub fn configure(&mut self, qp: usize) {
        let pair = Pair::new(qp as u32, &mut self.rng);
        self.configure_as(qp, pair);
    }

    pub fn configure_as(&mut self, qp: usize, mut pair: Pair) {
        let settings = pair.settings();
        let request = asking(MessageOp::Configure, qp);
        self.call(request, settings, |server, now| {
            let old = &mut server.pairs[qp];
            (pair.configured, pair.keeps_old) = (now, true);
            pair.left_over = old.reads_left();
            pair.reading = std::mem::take(&mut old.reading);
            for asked in &mut pair.reading {
                asked.line = None;
            }
            // One completion may wait at the output.
            std::mem::swap(&mut pair.completions, &mut old.completions);
            let words = server.dut.words("cqe");
            let stands = server.dut.is("cqe_valid")
                && Record::<Completion>::new(&words).u64("qp") == qp as u64;
            pair.completions.truncate(stands.into());
            server.pairs[qp] = pair;
        });
        self.at_most(3 + PREFETCH_BUSY);
    }

    /// Posts random entries, as far as there is space.
    pub fn post_any(&mut self, qp: usize, entries: usize) {
        let entries = entries.min(self.pairs[qp].room());
        let producer = self.pairs[qp].producer().wrapping_add(entries as u16);
        self.doorbell(qp, producer);
    }

    /// Posts random entries up to a producer index, which may be invalid.
    pub fn doorbell(&mut self, qp: usize, producer: u16) {
        let ahead = producer.wrapping_sub(self.pairs[qp].producer());
        let first = self.pairs[qp].producer();
        let entries: Vec<_> = if self.pairs[qp].takes(producer) {
            let slots = (0..ahead).map(|i| first.wrapping_add(i));
            let size = self.pairs[qp].ring.entry;
            let entry = |slot| any_entry(&mut self.rng, slot, size);
            slots.map(entry).collect()
        } else {
            vec![]
        };
        if let Some(&last) = entries.last() {
            if last.readable && self.rng.random() {
                let entry = self.pairs[qp].posted.len() + entries.len() - 1;
                self.push(qp, entry, last);
            }
        }
        self.ring(qp, producer, entries);
    }

    /// Posts these entries.
    pub fn post(&mut self, qp: usize, entries: Vec<Posted>) {
        let producer = self.pairs[qp].producer().wrapping_add(entries.len() as u16);
        self.ring(qp, producer, entries);
    }

    fn ring(&mut self, qp: usize, producer: u16, entries: Vec<Posted>) {
        let mut request = asking(MessageOp::Doorbell, qp);
        request.slot = producer.to_bits();
        let (taken, words) = self.request(request, |pair, _| {
            let taken = pair.takes(producer);
            if taken {
                pair.posted.extend(entries);
                if pair.flushed {
                    pair.flush(None);
                }
            }
            taken
        });
        assert_eq!(Record::<MessageResponse>::new(&words).bool("found"), taken);
        self.at_most(3 + PREFETCH_BUSY);
    }

    /// Looks up the next message, and sends `eighths` of its remaining packets. Returns whether there was a message.
    pub fn current(&mut self, qp: usize, eighths: u32) -> bool {
        let mut request = asking(MessageOp::NextMessage, qp);
        request.psn = psn_bits(self.pairs[qp].next);
        // The hardware starts one NOP at a time.
        let mut nops = 0;
        let (message, words) = loop {
            self.woken[qp] = false;
            let ((message, started), words) = self.request(request, |pair, now| {
                let before = pair.nops();
                let message = pair.current(now);
                (message, pair.nops() - before)
            });
            self.at_most(6);
            nops += started;
            if nops == 0 {
                break (message, words);
            }
            nops -= 1;
            self.compare_message(&words, None);
            if self.rng.random_bool(0.1) {
                let there = self.pairs[qp].handed.len() > self.pairs[qp].taken();
                self.rest(16);
                assert!(self.woken[qp] || !there, "no wake-up after a NOP");
            }
        };
        self.compare_message(&words, message.as_ref());
        let follows = message.is_some() && Record::<MessageResponse>::new(&words).bool("follows");
        let pair = &self.pairs[qp];
        assert!(
            !follows || pair.handed.len() > pair.taken(),
            "no entry follows"
        );
        let pair = &mut self.pairs[qp];
        if let Some(message) = message {
            let left = message.packets - pair.next.distance_from(message.first);
            let sent = (u64::from(left) * u64::from(eighths) / 8) as u32;
            pair.next = pair.next.plus(sent.min(pair.space()));
        }
        message.is_some()
    }

    /// Takes the messages of up to `count` packets, and sends them. Returns the number of messages.
    pub fn take(&mut self, qp: usize, count: u32) -> usize {
        if self.pairs[qp].space() < count {
            return 0;
        }
        let mut request = asking(MessageOp::TakeMessages, qp);
        request.psn = psn_bits(self.pairs[qp].next);
        request.count = u64::from(count).to_bits();
        let only_short = self.rng.random_bool(0.3);
        request.only_short = only_short;
        self.woken[qp] = false;
        let before = (self.pairs[qp].taken(), self.pairs[qp].nops());
        let settings = SendQueueConfig::default();
        let (messages, responses) = self.call_many(request, settings, |server, now| {
            server.pairs[qp].take(count, only_short, now)
        });
        let started = self.pairs[qp].taken() - before.0;
        let nops = self.pairs[qp].nops() - before.1;
        self.at_most(8 + 2 * (started + nops) as u64);
        let expected = messages.iter().map(Some).chain([None]);
        for ((_, words), expected) in responses.iter().zip(expected) {
            self.compare_message(words, expected.map(|(message, _)| message));
            let has_nops = Record::<MessageResponse>::new(words).bool("nops");
            assert!(!has_nops || nops > 0, "NOPs that did not start");
            if let Some((_, packets)) = expected {
                let response = Record::<MessageResponse>::new(words);
                assert_eq!(response.u64("packets_here"), u64::from(*packets));
            }
        }
        let last = Record::<MessageResponse>::new(&responses[responses.len() - 1].1);
        assert_eq!(last.bool("nops"), nops > 0, "{nops} NOPs");
        let without = responses.len() - messages.len();
        assert!(without <= 1, "{} responses", responses.len());
        let sent: u32 = messages.iter().map(|(_, packets)| packets).sum();
        assert!(
            without == 0 || sent < count,
            "a response after the last packet"
        );
        let pair = &mut self.pairs[qp];
        pair.next = pair.next.plus(sent);
        messages.len()
    }

    pub fn get(&mut self, qp: usize, ahead: i16) {
        let slot = self.slot(qp, ahead);
        let mut request = asking(MessageOp::LookupBySlot, qp);
        request.slot = slot.to_bits();
        let (message, words) = self.request(request, |pair, _| pair.get(slot));
        self.compare_message(&words, message.as_ref());
        let blocks = self.pairs[qp].outstanding() as u64 / BLOCK_ENTRIES + 2;
        self.at_most(4 + blocks);
    }

    /// Looks up the message of the packet that is `ahead` of the oldest unacknowledged one. Returns whether there is one.
    pub fn holding(&mut self, qp: usize, ahead: i32) -> bool {
        let psn = self.pairs[qp].una.plus(ahead.rem_euclid(1 << 24) as u32);
        let mut request = asking(MessageOp::LookupByPsn, qp);
        request.psn = psn_bits(psn);
        let (message, words) = self.request(request, |pair, _| pair.holding(psn));
        self.compare_message(&words, message.as_ref());
        let blocks = self.pairs[qp].outstanding() as u64 / BLOCK_ENTRIES + 2;
        self.at_most(5 + 2 * blocks + 3 * 4);
        message.is_some()
    }

    fn compare_message(&self, words: &[u32], expected: Option<&Message>) {
        let response = Record::<MessageResponse>::new(words);
        assert_eq!(
            response.bool("found"),
            expected.is_some(),
            "found, {expected:?}"
        );
        let Some(expected) = expected else { return };
        let wanted = to_words(record(expected));
        let wanted = Record::<stellar_wire::hw::messages::Message>::new(&wanted);
        for field in FIELDS {
            let found = response.u64(&format!("message.{field}"));
            assert_eq!(found, wanted.u64(field), "{field} of {expected:?}");
        }
        let wqe = &expected.wqe;
        // What lies behind a local buffer, or behind the inline data, has no meaning.
        let bytes = match (expected.packets, wqe.inline) {
            (0, _) => 0,
            (_, false) => 12,
            (_, true) => wqe.length as usize,
        };
        let source: Vec<u8> = (response.words("message.source").iter())
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let wanted = &wqe.to_long_bytes()[Wqe::SOURCE..];
        assert_eq!(source[..bytes], wanted[..bytes], "source of {expected:?}");
    }

    pub fn fault(&mut self, qp: usize, ahead: i16, status: WcStatus) {
        let slot = self.slot(qp, ahead);
        let mut request = asking(MessageOp::Fault, qp);
        request.slot = slot.to_bits();
        request.status = status.code().to_bits();
        self.request(request, |pair, _| pair.fault(slot, status));
        let blocks = self.pairs[qp].outstanding() as u64 / BLOCK_ENTRIES + 2;
        self.at_most(4 + blocks);
    }

    /// Acknowledges `eighths` of the packets in flight. Returns the oldest message, if it cannot be executed.
    pub fn complete(&mut self, qp: usize, eighths: u32) -> Option<(u16, WcStatus)> {
        let pair = &mut self.pairs[qp];
        let flying = u64::from(pair.next.distance_from(pair.una));
        pair.una = pair.una.plus((flying * u64::from(eighths) / 8) as u32);
        let mut request = asking(MessageOp::Complete, qp);
        request.psn = psn_bits(pair.una);
        let ((completed, failed), words) = self.request(request, |pair, _| {
            let before = pair.outstanding();
            let failed = pair.complete().err();
            (before - pair.outstanding(), failed)
        });
        let response = Record::<MessageResponse>::new(&words);
        assert_eq!(response.bool("found"), failed.is_some(), "{failed:?}");
        if let Some((slot, status)) = failed {
            assert_eq!(response.u64("slot"), u64::from(slot));
            assert_eq!(response.u64("status"), u64::from(status.code()));
        }
        if self.cqe_taken == 1.0 {
            self.at_most(6 + 2 * completed as u64);
        }
        failed
    }

    pub fn flush(&mut self, qp: usize, failed: Option<(u16, WcStatus)>) {
        let mut request = asking(MessageOp::Flush, qp);
        request.failed = failed.is_some();
        if let Some((slot, status)) = failed {
            request.slot = slot.to_bits();
            request.status = status.code().to_bits();
        }
        self.request(request, |pair, _| pair.flush(failed));
        self.at_most(3);
    }

    /// Waits until all background work is done that needs no block of a queue pair with outstanding messages.
    pub fn quiesce(&mut self) {
        let (fetch, cqe, answered) = (self.fetch_taken, self.cqe_taken, self.answered);
        (self.fetch_taken, self.cqe_taken, self.answered) = (1.0, 1.0, 1.0);
        let work: usize = self.pairs.iter().map(|pair| pair.completions.len()).sum();
        // One flush step per completion, and as many for entries that are being read.
        self.rest((work + 8) * 2 * 4 * 40);
        (self.fetch_taken, self.cqe_taken, self.answered) = (fetch, cqe, answered);
    }

    /// Waits until all background work is done.
    pub fn settle(&mut self) {
        self.quiesce();
        for pair in &self.pairs {
            assert_eq!(pair.completions, [], "queue pair {}", pair.number());
            assert!(pair.reading.is_empty());
        }
    }

    /// Executes or flushes everything that was posted. A queue pair that misses an entry is not tried again before its wake-up.
    pub fn drain(&mut self) {
        self.quiesce();
        (self.fetch_taken, self.cqe_taken, self.answered) = (1.0, 1.0, 1.0);
        let mut tries = vec![true; self.pairs.len()];
        let mut idle = 0;
        while !self.pairs.iter().all(Pair::is_drained) {
            idle += 1;
            for (qp, tries) in tries.iter_mut().enumerate() {
                if self.pairs[qp].is_drained() || !(*tries || self.woken[qp]) {
                    continue;
                }
                let before = (self.pairs[qp].taken(), self.pairs[qp].outstanding());
                let started = self.current(qp, 8);
                if let Some(failed) = self.complete(qp, 8) {
                    self.flush(qp, Some(failed));
                }
                let after = (self.pairs[qp].taken(), self.pairs[qp].outstanding());
                *tries = started || before != after;
                if *tries {
                    idle = 0;
                }
            }
            self.rest(if idle == 0 { 16 } else { 100 });
            assert!(idle < 50, "queue pairs are stuck");
        }
        self.settle();
    }
}

fn asking(op: MessageOp, qp: usize) -> MessageRequest {
    MessageRequest {
        op,
        qp: (qp as u64).to_bits(),
        ..MessageRequest::default()
    }
}

fn psn_bits(psn: Psn) -> Bits<24> {
    u64::from(psn.value()).to_bits()
}

/// Fields of a message but `source`.
const FIELDS: [&str; 12] = [
    "has_immediate",
    "inline",
    "fault",
    "slot",
    "length",
    "remote_va",
    "rkey",
    "immediate",
    "first",
    "packets",
    "msn",
    "rqmsn",
];

/// Returns the hardware's record of a message, without its `source`.
fn record(message: &Message) -> stellar_wire::hw::messages::Message {
    let wqe = &message.wqe;
    stellar_wire::hw::messages::Message {
        has_immediate: wqe.opcode == WqeOpcode::WriteImm,
        inline: wqe.inline,
        fault: message.fault.is_some(),
        slot: wqe.slot.to_bits(),
        length: wqe.length.to_bits(),
        remote_va: wqe.remote_va.to_bits(),
        rkey: wqe.rkey.to_bits(),
        immediate: wqe.immediate.to_bits(),
        first: psn_bits(message.first),
        packets: message.packets.to_bits(),
        msn: u64::from(message.msn & 0xffff).to_bits(),
        rqmsn: message.rqmsn.to_bits(),
        ..Default::default()
    }
}
