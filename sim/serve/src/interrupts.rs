//! Eventfds of a peer, by vector.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;

use rustix::event::{poll, PollFd, PollFlags, Timespec};

/// The eventfd of each vector.
#[derive(Default)]
pub struct Interrupts {
    events: BTreeMap<u16, File>,
}

impl Interrupts {
    /// Sets the eventfd of a vector.
    pub fn set(&mut self, vector: u16, event: File) {
        self.events.insert(vector, event);
    }

    /// Removes the eventfd of a vector.
    pub fn remove(&mut self, vector: u16) {
        self.events.remove(&vector);
    }

    /// Removes the eventfds of all vectors.
    pub fn clear(&mut self) {
        self.events.clear();
    }

    /// Vectors that have an eventfd.
    pub fn vectors(&self) -> Vec<u16> {
        self.events.keys().copied().collect()
    }

    /// Signals the eventfds of the vectors whose bits are set in the mask.
    pub fn raise(&self, vectors: u64) {
        let mut rest = vectors;
        while rest != 0 {
            let vector = rest.trailing_zeros() as u16;
            rest &= rest - 1;
            if let Some(event) = self.events.get(&vector) {
                signal(vector, event);
            }
        }
    }
}

/// Signals an eventfd, unless its counter is full. A full one would block the simulation, and its peer has a signal to read anyway.
fn signal(vector: u16, event: &File) {
    let mut events = [PollFd::new(event, PollFlags::OUT)];
    let now = Timespec::default();
    let has_room = matches!(poll(&mut events, Some(&now)), Ok(1))
        && events[0].revents().contains(PollFlags::OUT);
    let mut event = event;
    if !has_room || event.write(&1u64.to_ne_bytes()).is_err() {
        tracing::debug!("vector {vector} was raised, and its eventfd takes no more");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{eventfd, EventfdFlags};
    use std::io::Read;

    #[test]
    fn a_vector_signals_its_event_and_a_full_event_holds_nobody_up() {
        // A blocking eventfd, which a peer may pass.
        let event = File::from(eventfd(0, EventfdFlags::CLOEXEC).unwrap());
        let mut interrupts = Interrupts::default();
        interrupts.set(5, event.try_clone().unwrap());
        interrupts.raise(1 << 4 | 1 << 6);
        interrupts.raise(1 << 5);
        interrupts.raise(1 << 5);
        let read = || {
            let mut count = [0; 8];
            (&event).read_exact(&mut count).unwrap();
            u64::from_ne_bytes(count)
        };
        assert_eq!(read(), 2);
        (&event).write_all(&(u64::MAX - 1).to_ne_bytes()).unwrap();
        interrupts.raise(1 << 5);
        assert_eq!(read(), u64::MAX - 1);
        interrupts.remove(5);
        interrupts.raise(1 << 5);
        assert!(interrupts.vectors().is_empty());
    }
}
