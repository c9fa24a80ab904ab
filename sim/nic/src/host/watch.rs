//! Records samples and packets of the cards on a fabric, from which a report is made.

use sim_net::{Fabric, Time};
use sim_world::{packet, Record};
use stellar_transport::endpoint::Memory;

use super::card::Card;

/// A record from some moment on, which is its time 0.
pub struct Watch {
    pub record: Record,
    began: Time,
    /// Bytes in each host's memory at that moment.
    before: Vec<u64>,
    /// UDP source port of entropy value 0; the other values follow.
    first_entropy: u16,
    /// Data packets that left the first card, by entropy value, up to the last value in use.
    pub path_loads: Vec<u64>,
}

impl Watch {
    /// A record from `now` on; `placed` are the bytes that each card has written at final addresses so far.
    pub fn new(now: Time, fabric: &Fabric, placed: Vec<u64>, first_entropy: u16) -> Self {
        Self {
            record: Record::new(fabric.topology()),
            began: now,
            before: placed,
            first_entropy,
            path_loads: Vec::new(),
        }
    }

    /// Takes the samples that are due before `now`. The window is that of the first card's first queue pair.
    pub fn sample<M: Memory>(&mut self, now: Time, fabric: &Fabric, cards: &[Box<Card<M>>]) {
        let before = &self.before;
        self.record.sample_until(now - self.began, fabric, || {
            let placed = cards
                .iter()
                .zip(before)
                .map(|(card, &old)| card.placed - old);
            let window = cards.first().and_then(|card| card.windows.first());
            (placed.collect(), window.unwrap_or_default())
        });
    }

    /// Records a frame that has arrived at a card.
    pub fn arrived(&mut self, card: usize, frame: &[u8]) {
        if let Some(bth) = packet::bth(frame) {
            self.record.arrived(card, &bth);
        }
    }

    /// Records a frame that has left a card.
    pub fn left(&mut self, card: usize, frame: &[u8]) {
        if card != 0 {
            return;
        }
        let Ok(frame) = stellar_wire::RoceFrame::parse(frame) else {
            return;
        };
        if !frame.bth.opcode.is_write() {
            return;
        }
        if let Some(path) = frame.udp.sport.checked_sub(self.first_entropy) {
            let path = usize::from(path);
            if self.path_loads.len() <= path {
                self.path_loads.resize(path + 1, 0);
            }
            self.path_loads[path] += 1;
        }
    }
}
