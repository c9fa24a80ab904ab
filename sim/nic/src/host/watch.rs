//! What happens between cards on a fabric, for a report.

use std::collections::BTreeMap;

use sim_net::{Fabric, Time};
use sim_world::{packet, CongestionState, Record};
use stellar_transport::endpoint::Memory;

use super::card::Card;

/// Seen from some moment on, which is time 0 of the record.
pub struct Watch {
    pub record: Record,
    began: Time,
    /// Bytes that lay in each host's memory then.
    before: Vec<u64>,
    /// Data packets that left the first card, by port and UDP source port.
    loads: [BTreeMap<u16, u64>; 2],
}

impl Watch {
    /// From `now` on; `placed` are the bytes that each card has written at final addresses so far.
    pub fn new(now: Time, fabric: &Fabric, placed: Vec<u64>) -> Self {
        Self {
            record: Record::new(fabric.topology()),
            began: now,
            before: placed,
            loads: Default::default(),
        }
    }

    /// The cards do not show their windows.
    pub fn sample<M: Memory>(&mut self, now: Time, fabric: &Fabric, cards: &[Card<M>]) {
        let before = &self.before;
        self.record.sample_until(now - self.began, fabric, || {
            let placed = cards
                .iter()
                .zip(before)
                .map(|(card, &old)| card.placed - old);
            (placed.collect(), CongestionState::default())
        });
    }

    /// A frame has arrived at a card.
    pub fn arrived(&mut self, card: usize, frame: &[u8]) {
        if let Some(bth) = packet::bth(frame) {
            self.record.arrived(card, &bth);
        }
    }

    /// A frame has left a card.
    pub fn left(&mut self, card: usize, port: usize, frame: &[u8]) {
        if card != 0 {
            return;
        }
        let Ok(frame) = stellar_wire::RoceFrame::parse(frame) else {
            return;
        };
        if frame.bth.opcode.is_write() {
            *self.loads[port].entry(frame.udp.sport).or_default() += 1;
        }
    }

    /// Data packets of the first card's paths: even indices are plane 0, odd ones plane 1, each in order of its entropy values.
    pub fn path_loads(&self) -> Vec<u64> {
        let [even, odd] = [0, 1].map(|plane: usize| self.loads[plane].values());
        let most = self.loads.iter().map(BTreeMap::len).max().unwrap_or(0);
        let planes = [even, odd].map(|loads| loads.copied().chain(std::iter::repeat(0)));
        let [even, odd] = planes;
        even.zip(odd)
            .take(most)
            .flat_map(<[u64; 2]>::from)
            .collect()
    }
}
