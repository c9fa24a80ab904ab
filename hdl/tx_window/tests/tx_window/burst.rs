//! The packets of a burst, cycle by cycle.

use std::collections::VecDeque;

use rust_hdl::prelude::*;
use stellar_transport::requester::Sent;
use stellar_transport::rx::Psn;
use stellar_wire::hw::window::SentPacket;

/// Cycles without a packet before each of a burst.
#[derive(Clone, Debug)]
pub struct Pace(pub Vec<u32>);

impl Pace {
    /// Every cycle.
    pub fn full(packets: usize) -> Self {
        Self(vec![0; packets])
    }
}

/// Packets of a burst that are still to leave.
#[derive(Default)]
pub struct Leaving {
    pub qp: usize,
    first: u32,
    beats: VecDeque<Option<Sent>>,
}

impl Leaving {
    /// All of the burst that begins at `first`.
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
            beats,
        }
    }

    pub fn any(&self) -> bool {
        !self.beats.is_empty()
    }

    pub fn cycles(&self) -> u32 {
        self.beats.len() as u32
    }

    /// The packet that leaves in the next cycle, if one does.
    pub fn next(&mut self) -> Option<Sent> {
        self.beats.pop_front().flatten()
    }

    /// Nothing more leaves; packets that were still to.
    pub fn stop(&mut self) -> Vec<Sent> {
        self.beats.drain(..).flatten().collect()
    }

    /// These PSNs of a queue pair were sent before the burst, so their records are there.
    pub fn is_before(&self, qp: usize, psns: &[Psn]) -> bool {
        let first = Psn::new(self.first);
        !self.any() || qp != self.qp || psns.iter().all(|psn| psn.is_behind(first))
    }
}

/// As the window keeps it.
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
