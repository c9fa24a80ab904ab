//! A queue of TLPs under PCIe's ordering rules.

use std::collections::VecDeque;

use crate::tlp::FlowClass;

/// Number of classes: as many entries may be the next to leave.
pub(crate) const CLASSES: usize = FlowClass::ALL.len();

/// Entries in order of arrival, of which some may leave before older ones (base specification, table 2-40, without relaxed or ID-based ordering):
/// nothing passes a posted write that is older; a posted write passes reads and completions that are stuck; reads and completions pass each other;
/// each class stays in order.
///
/// So no more than the oldest entry of each class can leave, and each class has a queue of its own.
#[derive(Debug)]
pub(crate) struct ClassQueues<T> {
    /// Entries with their number in the order of arrival.
    queues: [VecDeque<(u64, T)>; CLASSES],
    next: u64,
    /// Bit per class that has entries. Most queues have those of one class.
    classes: u8,
}

impl<T> ClassQueues<T> {
    pub fn new() -> Self {
        Self {
            queues: Default::default(),
            next: 0,
            classes: 0,
        }
    }

    pub fn push(&mut self, class: FlowClass, entry: T) {
        self.queues[class as usize].push_back((self.next, entry));
        self.next += 1;
        self.classes |= 1 << class as u8;
    }

    /// How many entries of a class wait.
    pub fn len(&self, class: FlowClass) -> usize {
        self.queues[class as usize].len()
    }

    pub fn is_empty(&self) -> bool {
        self.classes == 0
    }

    /// The class whose oldest entry leaves: the oldest one for which `leaves` holds and that nothing before it keeps from leaving.
    #[inline]
    pub fn find(&self, mut leaves: impl FnMut(FlowClass, &T) -> bool) -> Option<FlowClass> {
        if self.is_empty() {
            return None;
        }
        let front = |class: FlowClass| self.queues[class as usize].front();
        if self.classes.is_power_of_two() {
            let class = FlowClass::ALL[self.classes.trailing_zeros() as usize];
            let (_, entry) = front(class)?;
            return leaves(class, entry).then_some(class);
        }
        let posted = front(FlowClass::Posted);
        // Reads and completions that are younger than a posted write wait for it, so at most two entries come before it.
        let limit = posted.map_or(u64::MAX, |entry| entry.0);
        let before = |class| front(class).filter(|entry| entry.0 < limit);
        let read = before(FlowClass::NonPosted);
        let completion = before(FlowClass::Completion);
        let mut first = (FlowClass::NonPosted, read);
        let mut second = (FlowClass::Completion, completion);
        if let (Some(read), Some(completion)) = (read, completion) {
            if completion.0 < read.0 {
                std::mem::swap(&mut first, &mut second);
            }
        }
        for (class, entry) in [first, second, (FlowClass::Posted, posted)] {
            if entry.is_some_and(|entry| leaves(class, &entry.1)) {
                return Some(class);
            }
        }
        None
    }

    /// Removes the oldest entry of a class.
    pub fn pop(&mut self, class: FlowClass) -> Option<T> {
        let queue = &mut self.queues[class as usize];
        let (_, entry) = queue.pop_front()?;
        if queue.is_empty() {
            self.classes &= !(1 << class as u8);
        }
        Some(entry)
    }

    /// Removes everything, class by class.
    pub fn drain(&mut self) -> impl Iterator<Item = T> + '_ {
        self.classes = 0;
        let queues = self.queues.iter_mut();
        queues.flat_map(|queue| queue.drain(..).map(|entry| entry.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use FlowClass::{Completion, NonPosted, Posted};

    /// Index of the entry that leaves a queue of these classes when some classes are stuck.
    fn next(queue: &[FlowClass], stuck: &[FlowClass]) -> Option<usize> {
        let mut queues = ClassQueues::new();
        for (index, &class) in queue.iter().enumerate() {
            queues.push(class, index);
        }
        let leaves = queues.find(|class, _| !stuck.contains(&class))?;
        queues.pop(leaves)
    }

    #[test]
    fn ordering_rules() {
        assert_eq!(next(&[NonPosted, Posted], &[]), Some(0));
        assert_eq!(
            next(&[Posted, NonPosted], &[Posted]),
            None,
            "a read does not pass a write"
        );
        assert_eq!(
            next(&[Posted, Completion], &[Posted]),
            None,
            "nor does a completion"
        );
        assert_eq!(
            next(&[NonPosted, Completion, Posted], &[NonPosted, Completion]),
            Some(2)
        );
        assert_eq!(next(&[NonPosted, Completion], &[NonPosted]), Some(1));
        assert_eq!(next(&[Completion, NonPosted], &[Completion]), Some(1));
    }

    #[test]
    fn a_class_stays_in_order() {
        assert_eq!(next(&[NonPosted, NonPosted], &[]), Some(0));
        assert_eq!(next(&[NonPosted, NonPosted], &[NonPosted]), None);
    }

    #[test]
    fn a_read_between_two_writes_waits_for_the_first_only() {
        let mut queues = ClassQueues::new();
        for (class, name) in [(Posted, 'a'), (NonPosted, 'r'), (Posted, 'b')] {
            queues.push(class, name);
        }
        assert_eq!(queues.pop(Posted), Some('a'));
        let mut seen = Vec::new();
        let leaves = queues.find(|_, &name| {
            seen.push(name);
            false
        });
        assert_eq!((leaves, seen), (None, vec!['r', 'b']));
    }
}
