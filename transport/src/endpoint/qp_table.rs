//! The queue pairs of a card, by number.

use super::qp::QueuePair;

/// Queue pairs by number. A number that is not used costs a pointer, up to the highest one used.
#[derive(Clone, Debug, Default)]
pub(super) struct QpTable(Vec<Option<Box<QueuePair>>>);

impl QpTable {
    pub fn get(&self, number: u32) -> Option<&QueuePair> {
        self.0.get(number as usize)?.as_deref()
    }

    pub fn get_mut(&mut self, number: u32) -> Option<&mut QueuePair> {
        self.0.get_mut(number as usize)?.as_deref_mut()
    }

    /// Asks for the memory of the entry of a number.
    pub fn fetch(&self, number: u32) {
        stellar_fetch::fetch_at(&self.0, number as usize);
    }

    pub fn insert(&mut self, qp: QueuePair) {
        let index = qp.number as usize;
        if self.0.len() <= index {
            self.0.resize_with(index + 1, || None);
        }
        self.0[index] = Some(Box::new(qp));
    }

    /// All of them in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &QueuePair> {
        self.0.iter().flatten().map(|qp| &**qp)
    }
}
