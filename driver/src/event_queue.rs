//! The event queue of a context.

use std::sync::Arc;

use stellar_wire::host::Eqe;
use stellar_wire::rows::{ConfigSelect, RingRow};

use crate::card::lock;
use crate::device::Interrupt;
use crate::error::Error;
use crate::limits::{CARD_EVENTS, EVENT_VECTOR};
use crate::open::{ring_row, Shared};
use crate::ring::Ring;

/// Where the card reports what happens to a context's queue pairs: an event queue of its own, or the card's, which the contexts share that found none free.
pub struct EventQueue {
    device: Arc<Shared>,
    /// Its number on the card.
    pub number: u16,
    vector: Option<u16>,
    /// The interrupt that it raises.
    pub interrupt: Arc<dyn Interrupt>,
}

impl EventQueue {
    /// Takes a free event queue, and a vector for it as long as more than half of them are free. The others stay for completion queues.
    pub fn new(device: Arc<Shared>) -> Result<Self, Error> {
        let mut queue = Self {
            number: CARD_EVENTS,
            vector: None,
            interrupt: Arc::clone(device.event_vector()),
            device,
        };
        let taken = {
            let mut pools = lock(&queue.device.pools);
            pools.event_queues.take().ok().map(|number| {
                let may = 2 * pools.vectors.left() > pools.vectors.all();
                let vector = may.then(|| pools.vectors.take().ok()).flatten();
                (number as u16, vector.map(|vector| vector as u16))
            })
        };
        let Some((number, vector)) = taken else {
            return Ok(queue);
        };
        // From here on, dropping `queue` gives both back.
        (queue.number, queue.vector) = (number, vector);
        let card = &queue.device.card;
        if let Some(vector) = vector {
            queue.interrupt = card.interrupt(vector)?;
        }
        let log2_entries = queue.device.config.event_entries.ilog2() as u8;
        let ring = Ring::new::<Eqe>(card.function(), log2_entries)?;
        let row = ring_row(&ring, Some(vector.unwrap_or(EVENT_VECTOR)), CARD_EVENTS);
        lock(&queue.device.events).add_ring(number, ring);
        card.write_row(ConfigSelect::EventQueue, number.into(), &row)?;
        Ok(queue)
    }
}

impl Drop for EventQueue {
    /// If the card does not release the ring, its memory is never freed, and its number is not used again.
    fn drop(&mut self) {
        if self.number == CARD_EVENTS {
            return;
        }
        let card = &self.device.card;
        let none = RingRow::default();
        let removed = card
            .write_row(ConfigSelect::EventQueue, self.number.into(), &none)
            .and_then(|()| card.fence());
        let ring = lock(&self.device.events).remove_ring(self.number);
        if removed.is_err() {
            std::mem::forget(ring);
            return;
        }
        let mut pools = lock(&self.device.pools);
        pools.event_queues.give_back(self.number.into());
        if let Some(vector) = self.vector {
            pools.vectors.give_back(vector.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::fake::{open, FakeCard};
    use crate::Context;

    fn row(function: &FakeCard, number: u16) -> RingRow {
        use stellar_wire::rows::Row;
        let table = ConfigSelect::EventQueue.index();
        let words = function.row(table, number.into()).expect("a row");
        let halves = words
            .iter()
            .flat_map(|word| [*word as u32, (word >> 32) as u32]);
        let halves: Vec<u32> = halves.collect();
        RingRow::unpack(&halves).expect("a row that can be")
    }

    #[test]
    fn contexts_have_event_queues_of_their_own_as_long_as_there_are_some() {
        let function = FakeCard::new();
        let first = open(function.clone());
        let device = first.device();
        let limits = device.limits();
        assert_eq!(limits.event_queues, 63);
        let more = (0..limits.event_queues + 3).map(|_| device.open().unwrap());
        let mut contexts: Vec<Context> = std::iter::once(first).chain(more).collect();
        let numbers = contexts.iter().map(|context| context.0.events.number);
        let mut own: Vec<u16> = numbers.filter(|number| *number != CARD_EVENTS).collect();
        let mut bases = BTreeSet::new();
        for &number in &own {
            let row = row(&function, number);
            assert!(row.valid && row.interrupts && bases.insert(row.base));
        }
        let vectors: BTreeSet<u16> = own
            .iter()
            .map(|&number| row(&function, number).vector)
            .collect();
        assert_eq!(
            vectors.len(),
            1 + 32,
            "that of the card, and half of the others"
        );
        own.sort_unstable();
        assert_eq!(own, (1..64).collect::<Vec<u16>>());
        assert_eq!(
            contexts.len() - own.len(),
            4,
            "these share that of the card"
        );

        // A context that goes makes room for another.
        let left = contexts.remove(7);
        let number = left.0.events.number;
        drop(left);
        assert!(!row(&function, number).valid);
        let next = device.open().unwrap();
        assert_eq!(next.0.events.number, number);
        assert!(row(&function, number).valid);
    }

    #[test]
    fn a_queue_that_the_card_does_not_release_is_not_used_again() {
        use stellar_wire::host::registers::{status, TABLE_COMMAND};
        let function = FakeCard::new();
        let first = open(function.clone());
        let device = first.device();
        let number = first.0.events.number;
        function.set_register(TABLE_COMMAND, 1 << status::BUSY_BIT);
        drop(first);
        function.set_register(TABLE_COMMAND, 0);
        let all = (0..70).map(|_| device.open().unwrap());
        let contexts: Vec<Context> = all.collect();
        assert!(contexts
            .iter()
            .all(|context| context.0.events.number != number));
    }
}
