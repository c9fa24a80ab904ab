//! The packets of a burst, cycle by cycle.

use std::collections::VecDeque;

use rust_hdl::prelude::*;
use stellar_transport::requester::Sent;
use stellar_transport::rx::Psn;
use stellar_wire::hw::window::SentPacket;

/// Number of idle cycles before each packet of a burst.
#[derive(Clone, Debug)]
pub struct Pace(pub Vec<u32>);

impl Pace {
    /// A pace with a packet in every cycle.
    pub fn full(packets: usize) -> Self {
        Self(vec![0; packets])
    }
}

/// Packets of a burst that have not been sent.
#[derive(Default)]
pub struct Leaving {
    pub qp: usize,
    first: u32,
    /// PSN of the next one.
    next: u32,
    beats: VecDeque<Option<Sent>>,
}

impl Leaving {
    /// All packets of the burst that starts at `first`.
    pub fn new(qp: usize, first: Psn, packets: &[Sent], pace: &Pace) -> Self {
        let mut beats = VecDeque::new();
        for (&packet, &gap) in packets.iter().zip(&pace.0) {
            beats.extend(vec![None; gap as usize]);
            beats.push_back(Some(packet));
        }
        // The last record is written in the next cycle.
        beats.push_back(None);
        Self {
            qp,
            first: first.value(),
            next: first.value(),
            beats,
        }
    }

    pub fn any(&self) -> bool {
        !self.beats.is_empty()
    }

    pub fn cycles(&self) -> u32 {
        self.beats.len() as u32
    }

    /// Returns the packet that is sent in the next cycle and its PSN, if there is one.
    pub fn next(&mut self) -> Option<(Psn, Sent)> {
        let sent = self.beats.pop_front().flatten()?;
        let psn = Psn::new(self.next);
        self.next = psn.plus(1).value();
        Some((psn, sent))
    }

    /// Ends the burst early.
    pub fn stop(&mut self) {
        self.beats.clear();
    }

    /// Returns whether these PSNs of a queue pair were sent before the burst, so their records have been written.
    pub fn is_before(&self, qp: usize, psns: &[Psn]) -> bool {
        let first = Psn::new(self.first);
        !self.any() || qp != self.qp || psns.iter().all(|psn| psn.is_behind(first))
    }
}

/// Returns the hardware's record of a packet.
pub fn record(sent: &Sent) -> SentPacket {
    SentPacket {
        ev: u64::from(sent.ev.value()).to_bits(),
        at: u64::from(sent.at.0).to_bits(),
        is_retransmit: sent.again,
        retries: u64::from(sent.retries).to_bits(),
        length: u64::from(sent.length).to_bits(),
        slot: u64::from(sent.slot).to_bits(),
    }
}
