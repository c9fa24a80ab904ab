//! The completer's side of the bench: the order of completions, beat by beat.

use std::collections::VecDeque;

use rand::Rng;

use crate::read::bench::Bench;
use crate::read::completer::{answer, Outcome, Packet};
use crate::read::reference::{requests, Segment};

/// A tag between its request and the completion that frees it.
pub struct Outstanding {
    pub packets: VecDeque<Packet>,
    pub ready_at: u64,
    /// The cycle of the second timeout: from then on, the engine may use the tag again.
    pub reused_from: u64,
}

/// Cycles from the start of a timeout in the engine to the cycle in which the request is accepted, and a few more.
pub const BEFORE_REUSE: u64 = 8;

impl Bench {
    /// Sends a completion without a request, with the tag that was freed last, if this tag will not be used again soon.
    pub fn send_stray(&mut self) {
        let Some(&tag) = self.freed.last() else {
            return;
        };
        if self.sending.is_none()
            && self.outstanding.len() < 100
            && !self.outstanding.contains_key(&tag)
        {
            let request = requests(
                &[Segment {
                    address: 0x1000,
                    length: 300,
                    translated: false,
                }],
                4096,
            );
            let cut = self.load.cut;
            let mut packets = answer(&request[0], tag, cut, None, self.bytes, &mut self.rng);
            let mut packet = packets.pop_back().expect("a completion");
            packet.outcome = Outcome::Unexpected;
            packet.frees_tag = false;
            self.sending = Some((packet, 0));
        }
    }

    /// Puts the next completion beat on the stream, if there is one.
    pub fn drive_completion(&mut self) -> bool {
        if self.sending.is_none() {
            self.sending = self.next_packet().map(|p| (p, 0));
        }
        let Some((packet, beat)) = self.sending.take() else {
            return false;
        };
        let beats = packet.data.len().div_ceil(self.bytes).max(1);
        if beat == 0 {
            let tag = packet.header.tag as u8;
            match packet.outcome {
                Outcome::Good => {}
                Outcome::Bad => self.bad += 1,
                Outcome::Unexpected => self.unexpected += 1,
            }
            if packet.frees_tag {
                self.outstanding.remove(&tag);
                self.freed.push(tag);
            }
            self.dut.set_record("completion", packet.to_hw());
        }
        let from = (beat * self.bytes).min(packet.data.len());
        let to = (from + self.bytes).min(packet.data.len());
        let mut lanes = packet.data[from..to].to_vec();
        lanes.resize(self.bytes, 0xA5);
        let words: Vec<u32> = lanes
            .chunks(4)
            .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
            .collect();
        self.dut.set_words("completion_data", &words);
        self.dut.set("completion_last", (beat + 1 == beats).into());
        // On other beats the field has no meaning.
        let error = if beat + 1 == beats {
            packet.damaged
        } else {
            self.rng.random()
        };
        self.dut.set("completion_error", error.into());
        self.report.completion_beats.push(self.clock);
        self.sending = (beat + 1 < beats).then_some((packet, beat + 1));
        true
    }

    fn next_packet(&mut self) -> Option<Packet> {
        let clock = self.clock;
        if self.load.races {
            for outstanding in self.outstanding.values_mut() {
                if clock + BEFORE_REUSE >= outstanding.reused_from {
                    outstanding.packets.clear();
                }
            }
        }
        let ready = |o: &Outstanding| !o.packets.is_empty() && o.ready_at <= clock;
        let tag = if self.load.in_order {
            let empty = |o: Option<&Outstanding>| o.is_none_or(|o| o.packets.is_empty());
            while self
                .order
                .front()
                .is_some_and(|t| empty(self.outstanding.get(t)))
            {
                self.order.pop_front();
            }
            let tag = *self.order.front()?;
            self.outstanding.get(&tag).filter(|o| ready(o)).map(|_| tag)
        } else {
            let tags: Vec<u8> = self
                .outstanding
                .iter()
                .filter(|(_, o)| ready(o))
                .map(|(t, _)| *t)
                .collect();
            (!tags.is_empty()).then(|| tags[self.rng.random_range(0..tags.len())])
        }?;
        self.outstanding.get_mut(&tag)?.packets.pop_front()
    }
}
