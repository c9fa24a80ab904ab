//! Deadlines of a card's queue pairs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::qp::QueuePair;
use super::scheduler::{Schedule, TokenBucket};
use super::{Endpoint, Memory};
use crate::responder::Responder;
use crate::time::Ticks;

/// Deadlines in order of time. A queue pair's deadline may move later or away without notice, so an entry is a time before which nothing is due.
#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    /// Time on a clock that does not wrap, and queue pair.
    entries: BinaryHeap<Reverse<(i64, u32)>>,
    /// The deadline added last.
    newest: i64,
}

impl Timers {
    /// Adds the deadline of a queue pair, unless an entry of it is not later.
    pub fn arm(&mut self, qp: &mut QueuePair) {
        let entry = qp.timer;
        let deadline = qp.deadline();
        if let Some(deadline) = deadline.filter(|at| !entry.is_some_and(|entry| at.reached(entry)))
        {
            qp.timer = Some(deadline);
            self.add(deadline, qp.number);
        }
    }

    /// Adds a deadline, which is less than half the range of [`Ticks`] from the others.
    fn add(&mut self, deadline: Ticks, qp: u32) {
        if self.entries.is_empty() {
            self.newest = deadline.0.into();
        }
        let ahead = deadline.0.wrapping_sub(self.newest as u32) as i32;
        self.newest += i64::from(ahead);
        self.entries.push(Reverse((self.newest, qp)));
    }

    /// The place of the earliest entry.
    pub fn peek(&self) -> Option<&Reverse<(i64, u32)>> {
        self.entries.peek()
    }

    /// The earliest entry.
    fn first(&self) -> Option<(Ticks, u32)> {
        let Reverse((at, qp)) = *self.entries.peek()?;
        Some((Ticks(at as u32), qp))
    }

    /// Removes the earliest entry.
    fn remove_first(&mut self) {
        self.entries.pop();
    }
}

impl<M: Memory> Endpoint<M> {
    /// Does what is due, in the order of the queue pairs' numbers.
    pub fn on_timer(&mut self, now: Ticks) {
        if !self.next_deadline().is_some_and(|at| now.reached(at)) {
            return;
        }
        self.ask_resting(now);
        let mut due = Vec::new();
        while let Some((at, number)) = self.timers.first().filter(|&(at, _)| now.reached(at)) {
            self.timers.remove_first();
            let Some(qp) = self.qps.get_mut(number).filter(|qp| qp.timer == Some(at)) else {
                continue;
            };
            qp.timer = None;
            let deadline = qp.deadline();
            if deadline.is_some_and(|deadline| now.reached(deadline)) {
                due.push(number);
            } else {
                self.timers.arm(qp);
            }
        }
        due.sort_unstable();
        for number in due {
            self.visit(number, now);
            self.expire(number, now);
        }
        self.skip_stale_timers();
    }

    /// Expires the requester's timer, if it is due.
    fn expire(&mut self, number: u32, now: Ticks) {
        let qp = self.qps.get(number);
        let deadline = qp.and_then(|qp| qp.requester.deadline());
        if deadline.is_some_and(|at| now.reached(at)) {
            self.with_requester(number, |requester, card| requester.on_timer(now, card));
            self.wake(number);
        }
    }

    /// Visits the responder's pending packets, if that is due.
    fn visit(&mut self, number: u32, now: Ticks) {
        let bits = self.model.queue_pair_bits();
        let qp = self.qps.get_mut(number);
        let Some(qp) = qp.filter(|qp| qp.visit.is_some_and(|at| now.reached(at))) else {
            return;
        };
        let answer = qp.responder.visit().filter(|_| !qp.failed);
        qp.visit = qp.responder.next_visit(now, bits);
        self.timers.arm(qp);
        if let Some(answer) = answer {
            self.push_answer(Responder::visit_port(now, bits), number, answer);
        }
    }

    /// Brings the earliest entry to a deadline that exists.
    fn skip_stale_timers(&mut self) {
        while let Some((at, number)) = self.timers.first() {
            let qp = self.qps.get_mut(number).filter(|qp| qp.timer == Some(at));
            if qp.as_ref().is_some_and(|qp| qp.deadline() == Some(at)) {
                return;
            }
            self.timers.remove_first();
            if let Some(qp) = qp {
                qp.timer = None;
                self.timers.arm(qp);
            }
        }
    }

    /// Latest time of the next call of [`Self::on_timer`]: no timer expires, and no tenant has tokens again, earlier.
    #[inline]
    pub fn next_deadline(&self) -> Option<Ticks> {
        let timer = self.timers.first().map(|(at, _)| at);
        self.rest_ends().into_iter().chain(timer).reduce(earlier)
    }

    /// The time at which the first tenant has tokens again.
    #[inline]
    fn rest_ends(&self) -> Option<Ticks> {
        // This is asked with every packet, and hardly ever does a tenant rest.
        if self.schedules.iter().all(|schedule| schedule.rests() == 0) {
            return None;
        }
        self.first_rest_end()
    }

    /// The same, if a tenant rests.
    #[cold]
    fn first_rest_end(&self) -> Option<Ticks> {
        let resting = self.schedules.iter().flat_map(Schedule::all_resting);
        let ends = resting.filter_map(|tenant| self.limits.get(&tenant));
        ends.map(TokenBucket::ready_at).reduce(earlier)
    }
}

/// The earlier one of two times that are less than half the range of [`Ticks`] apart.
pub(super) fn earlier(a: Ticks, b: Ticks) -> Ticks {
    if b.reached(a) {
        a
    } else {
        b
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_in_order_of_time_around_the_wrap_of_the_clock() {
        let mut timers = Timers::default();
        for (deadline, qp) in [
            (5, 1),
            (u32::MAX, 2),
            (1 << 30, 3),
            (u32::MAX - 9, 4),
            (5, 0),
        ] {
            timers.add(Ticks(deadline), qp);
        }
        let order: Vec<u32> = std::iter::from_fn(|| {
            let (_, qp) = timers.first()?;
            timers.remove_first();
            Some(qp)
        })
        .collect();
        assert_eq!(order, [4, 2, 0, 1, 3]);
        timers.add(Ticks(0xf000_0000), 7);
        timers.add(Ticks(3), 8);
        assert_eq!(timers.first(), Some((Ticks(0xf000_0000), 7)));
    }
}
