//! Slots for messages: which of them are free at the receiver, and what was sent in them.
//!
//! Message number n of a link goes to slot n modulo the number of slots. A slot may be written again when the receiver has consumed its message and
//! the sender has both that information and the completion of its own write.

use std::collections::{BTreeSet, VecDeque};

use stellar_wire::transfer::MessageKind;

use crate::credit::Outgoing;
use crate::ids::TransferId;
use crate::sequence::Sequence;

/// A message to be sent.
pub struct Letter {
    pub kind: MessageKind,
    pub tag: u32,
    pub bytes: Vec<u8>,
    /// The transfer that ends when it has been sent.
    pub id: TransferId,
}

/// Messages to a peer.
pub struct Outbox {
    slots: u16,
    pub window: Outgoing,
    /// Numbers of the messages whose writes have ended.
    ended: Sequence,
    queue: VecDeque<Letter>,
}

impl Outbox {
    /// Messages to a peer with this number of slots.
    pub fn new(slots: u16) -> Self {
        Self {
            slots,
            window: Outgoing::new(slots.into()),
            ended: Sequence::default(),
            queue: VecDeque::new(),
        }
    }

    /// Queues a message.
    pub fn push(&mut self, letter: Letter) {
        self.queue.push_back(letter);
    }

    /// Slot of a message.
    pub fn slot(&self, number: u64) -> u16 {
        (number % u64::from(self.slots)) as u16
    }

    /// The next message with its number, if there is one and its slot is free.
    pub fn pop(&mut self) -> Option<(u64, Letter)> {
        let next = self.window.sent();
        if !self.window.may_send() || next >= self.ended.floor() + u64::from(self.slots) {
            return None;
        }
        let letter = self.queue.pop_front()?;
        Some((self.window.send(), letter))
    }

    /// Records the end of a message's write.
    pub fn end(&mut self, number: u64) {
        self.ended.insert(number);
    }

    /// Returns the messages that will not be sent.
    pub fn drain(&mut self) -> impl Iterator<Item = Letter> + '_ {
        self.queue.drain(..)
    }
}

/// Messages from a peer.
pub struct Inbox {
    slots: u16,
    /// Numbers of the messages that the application has consumed.
    taken: Sequence,
    /// Messages that it has not consumed, by slot.
    open: BTreeSet<u64>,
}

impl Inbox {
    /// Messages in this number of slots.
    pub fn new(slots: u16) -> Self {
        Self {
            slots,
            taken: Sequence::default(),
            open: BTreeSet::new(),
        }
    }

    /// A message has arrived in a slot. Returns its number, or `None` if there is no such slot or the slot is not free.
    pub fn receive(&mut self, slot: u16) -> Option<u64> {
        if slot >= self.slots {
            return None;
        }
        let (slots, floor) = (u64::from(self.slots), self.taken.floor());
        let number = floor + (u64::from(slot) + slots - floor % slots) % slots;
        let is_free = !self.taken.contains(number) && self.open.insert(number);
        is_free.then_some(number)
    }

    /// The application consumes a message; returns how many are consumed without a gap.
    pub fn take(&mut self, number: u64) -> u64 {
        if self.open.remove(&number) {
            self.taken.insert(number);
        }
        self.taken.floor()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn letter(number: u64) -> Letter {
        Letter {
            kind: MessageKind::Message,
            tag: 0,
            bytes: number.to_le_bytes().to_vec(),
            id: TransferId(number),
        }
    }

    proptest! {
        /// Messages arrive, are consumed and end in random order. No message meets a slot in use, and each keeps its number.
        #[test]
        fn a_slot_holds_one_message(slots in 1u16..6, steps in prop::collection::vec((0u8..4, any::<prop::sample::Index>()), 0..200)) {
            let (mut outbox, mut inbox) = (Outbox::new(slots), Inbox::new(slots));
            (0..50).for_each(|number| outbox.push(letter(number)));
            let (mut flying, mut here, mut unended) = (Vec::new(), Vec::new(), Vec::new());
            let mut taken = 0;
            for (step, which) in steps {
                let pick = |from: &mut Vec<u64>| (!from.is_empty()).then(|| from.swap_remove(which.index(from.len())));
                match step {
                    0 => if let Some((number, letter)) = outbox.pop() {
                        prop_assert_eq!(&letter.bytes, &number.to_le_bytes());
                        let in_use = flying.iter().chain(&here).chain(&unended);
                        let slots: Vec<u16> = in_use.map(|&other| outbox.slot(other)).collect();
                        prop_assert!(!slots.contains(&outbox.slot(number)));
                        flying.push(number);
                    },
                    1 => if let Some(number) = pick(&mut flying) {
                        prop_assert_eq!(inbox.receive(outbox.slot(number)), Some(number));
                        prop_assert_eq!(inbox.receive(outbox.slot(number)), None);
                        here.push(number);
                        unended.push(number);
                    },
                    2 => if let Some(number) = pick(&mut here) {
                        taken = inbox.take(number);
                        prop_assert!(outbox.window.learn(taken).is_some());
                    },
                    _ => if let Some(number) = pick(&mut unended) {
                        outbox.end(number);
                    },
                }
                prop_assert!(flying.len() + here.len() <= slots.into());
            }
            prop_assert_eq!(inbox.receive(slots), None);
            prop_assert!(taken <= 50);
        }
    }
}
