//! Asks for the memory of what comes next. See [`stellar_fetch`]; nothing here changes a card.
//!
//! Every function needs the memory that the one before it asked for, so a caller goes through many cards with one function before it calls the next.

use stellar_fetch::fetch;

use super::{Endpoint, Memory, PORTS};
use crate::requester::Requester;
use crate::rx::Psn;

impl<M: Memory> Endpoint<M> {
    /// The queue pair that sends next at a port, if none is woken before.
    pub fn next_sender(&self, port: usize) -> Option<u32> {
        self.schedules[port].front()
    }

    /// Asks for the card itself.
    pub fn fetch_card(&self) {
        fetch(self);
    }

    /// Asks for the card's queues.
    pub fn fetch_queues(&self) {
        if let Some(first) = self.timers.peek() {
            fetch(first);
        }
        for port in 0..PORTS {
            self.schedules[port].fetch_lists();
            if let Some(answer) = self.answers[port].front() {
                fetch(answer);
            }
        }
    }

    /// Asks for the queue pairs in the card's schedules.
    pub fn fetch_senders(&self) {
        for schedule in &self.schedules {
            schedule.fetch_queue();
        }
    }

    /// Asks for the places of a queue pair in the card's tables.
    pub fn fetch_entries(&self, qp: u32) {
        self.qps.fetch(qp);
        std::hint::black_box(self.lane.tables().qp(qp).state);
    }

    /// Asks for a queue pair.
    pub fn fetch_qp(&self, qp: u32) {
        if let Some(track) = self.lane.psn_track(qp) {
            fetch(track);
        }
        if let Some(qp) = self.qps.get(qp) {
            fetch(qp);
        }
    }

    /// Asks for the requester of a queue pair.
    pub fn fetch_requester(&self, qp: u32) {
        if let Some(Requester::Mrc(mrc)) = self.qps.get(qp).map(|qp| &qp.requester) {
            fetch(&**mrc);
        }
    }

    /// Asks for what the arrival of a data packet changes.
    pub fn fetch_arrival(&self, qp: u32, psn: Psn) {
        if let Some(track) = self.lane.psn_track(qp) {
            track.fetch(psn);
        }
        if let Some(qp) = self.qps.get(qp) {
            qp.received.fetch();
        }
    }

    /// Asks for what a requester has beside itself: the records of the packets at both ends of the window, and of the one that is answered, and the message that is sent.
    pub fn fetch_window(&self, qp: u32, answered: Option<Psn>) {
        if let Some(Requester::Mrc(mrc)) = self.qps.get(qp).map(|qp| &qp.requester) {
            mrc.window().fetch(answered);
            mrc.messages().fetch();
        }
    }
}
