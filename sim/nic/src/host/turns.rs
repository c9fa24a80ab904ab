//! The lock of simulated hosts: threads that use the cards at once take turns.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::hosts::Hosts;

/// Hosts that several threads use. A thread that polls a card locks them again and again, and the standard library's lock lets it pass before another that
/// waits; that one would hardly get on, although simulated time passes. Here, a thread that waits comes before one that has just had them.
pub struct TurnLock<M> {
    /// Held by the thread that comes next, until it has the hosts.
    next: Mutex<()>,
    hosts: Mutex<Hosts<M>>,
}

impl<M> TurnLock<M> {
    pub const fn new(hosts: Hosts<M>) -> Self {
        Self {
            next: Mutex::new(()),
            hosts: Mutex::new(hosts),
        }
    }

    /// The hosts, also after a thread died in the middle of a cycle. The state that it left is as good as any state of a card.
    pub fn lock(&self) -> MutexGuard<'_, Hosts<M>> {
        let _next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
