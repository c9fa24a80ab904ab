//! Credits: the number of sent and not yet consumed items stays within the receiver's space.

/// The sender's side of items that need space at the receiver.
#[derive(Debug)]
pub struct Outgoing {
    room: u64,
    sent: u64,
    taken: u64,
}

impl Outgoing {
    /// Credits for a receiver with this much space.
    pub const fn new(room: u64) -> Self {
        let (sent, taken) = (0, 0);
        Self { room, sent, taken }
    }

    /// Whether one more item may be sent.
    pub const fn may_send(&self) -> bool {
        self.sent - self.taken < self.room
    }

    /// Counts one more sent item; returns its number.
    pub fn send(&mut self) -> u64 {
        self.sent += 1;
        self.sent - 1
    }

    /// Takes the receiver's total of consumed items. Returns whether it changed; `None` if the total is impossible.
    pub fn learn(&mut self, taken: u64) -> Option<bool> {
        if !(self.taken..=self.sent).contains(&taken) {
            return None;
        }
        Some(std::mem::replace(&mut self.taken, taken) != taken)
    }

    /// The receiver's latest total.
    pub const fn taken(&self) -> u64 {
        self.taken
    }

    /// Number of items sent so far.
    pub const fn sent(&self) -> u64 {
        self.sent
    }
}

/// The receiver's side.
#[derive(Debug)]
pub struct Incoming {
    room: u64,
    taken: u64,
    told: u64,
    /// A write with the total is outstanding. There is one at a time, because a later one could arrive first.
    telling: Option<u64>,
}

impl Incoming {
    /// A receiver with this much space.
    pub const fn new(room: u64) -> Self {
        Self {
            room,
            taken: 0,
            told: 0,
            telling: None,
        }
    }

    /// Sets the total of consumed items.
    pub fn take_to(&mut self, taken: u64) {
        self.taken = taken;
    }

    /// Counts one more consumed item.
    pub fn take(&mut self) {
        self.taken += 1;
    }

    /// The total that the sender must get now: once half of the space has become free since the last one.
    pub fn due(&self) -> Option<u64> {
        let free = self.taken - self.told;
        (self.telling.is_none() && free >= (self.room / 2).max(1)).then_some(self.taken)
    }

    /// Records that a write with the total was posted.
    pub fn tell(&mut self, taken: u64) {
        self.telling = Some(taken);
    }

    /// Notes that this write has ended.
    pub fn told(&mut self) {
        if let Some(taken) = self.telling.take() {
            self.told = taken;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Random steps: the receiver never holds more items than its space, and neither side gets stuck.
        #[test]
        fn the_room_is_kept_and_nobody_is_stuck(room in 1u64..9, steps in prop::collection::vec(0u8..4, 0..200)) {
            let (mut out, mut into) = (Outgoing::new(room), Incoming::new(room));
            let (mut taken, mut written) = (0, 0);
            let all = steps.into_iter().chain((0..20 * room).map(|n| (n % 4) as u8));
            let mut last = 0;
            for step in all {
                match step {
                    0 if out.may_send() => last = out.send(),
                    1 if taken < out.sent() => {
                        into.take();
                        taken += 1;
                    }
                    2 => if let Some(word) = into.due() {
                        into.tell(word);
                        prop_assert_eq!(into.due(), None);
                        written = word;
                    },
                    3 => {
                        prop_assert!(out.learn(written).is_some());
                        into.told();
                    }
                    _ => {}
                }
                prop_assert!(out.sent() - taken <= room);
            }
            prop_assert!(last > room, "stuck at {last}");
            prop_assert_eq!(out.learn(out.sent() + 1), None);
            if let Some(less) = out.taken().checked_sub(1) {
                prop_assert_eq!(out.learn(less), None);
            }
        }
    }
}
