//! Timers, losses and the retry budget of an MRC queue pair (hardware blocks `timer_scan`, `loss_flow`).

use stellar_wire::host::{PathEvent, WcStatus};

use super::{Card, MrcRequester, Probe};
use crate::requester::{Sent, SlotState};
use crate::rx::Psn;
use crate::spray::{Feedback, PlaneMask};
use crate::time::Ticks;

impl MrcRequester {
    /// Expires the packets whose timeout is over (hardware block `timer_scan`), lowest PSN first.
    ///
    /// A packet that was sent once and is not late ends the search: those behind it left later, and none has a shorter timeout. The first packet that is not late
    /// decides whether a tail probe is due.
    pub fn on_timer(&mut self, now: Ticks, card: &mut Card<'_>) {
        let due = self.deadline.is_some_and(|deadline| now.reached(deadline));
        if self.error.is_some() || !due {
            return;
        }
        self.deadline = None;
        let mut may_probe = self.config.early_loss != 0;
        let mut from = self.window.una();
        while let Some(psn) = self.window.next_in_flight(from) {
            from = psn.plus(1);
            let Some(&sent) = self.window.sent(psn) else {
                break;
            };
            let timeout = self.config.backoff.timeout(self.config.rto, sent.retries);
            let due = sent.at.plus(timeout);
            if !now.reached(due) {
                let examines = std::mem::take(&mut may_probe);
                if examines && sent.again && self.tail_is_over(&sent, now) {
                    // Something finds it lost each time before its timeout. That must end, too.
                    if !self.spend_retry(&sent, now, card) {
                        return;
                    }
                }
                let (next, probes) = if examines {
                    self.tail_probe(psn, &sent, due, now)
                } else {
                    (due, false)
                };
                self.deadline = earlier(self.deadline, next);
                if sent.again || self.window.state(psn) == SlotState::Lost {
                    continue;
                }
                if !probes {
                    self.ask_silent_plane();
                }
                return;
            }
            self.counters.timeouts += 1;
            self.spray.on_feedback(sent.ev, Feedback::Timeout, now);
            self.count_on_path(sent.ev, PathEvent::Lost);
            if !self.spend_retry(&sent, now, card) {
                return;
            }
            self.losses.lost(sent.plane, self.spray.planes_up());
            self.lose(psn, sent.retries.saturating_add(1));
        }
    }

    /// Whether a tail probe that asks for the packet is due.
    fn tail_is_over(&self, sent: &Sent, now: Ticks) -> bool {
        let wait = self.estimate.tail_probe_after();
        wait.is_some_and(|wait| now.reached(sent.at.plus(wait)))
    }

    /// Sends a tail probe if it is due, or takes the packet for lost at once. `oldest` is the lowest packet in flight that is not late, and expires at `due`. Returns when the timers
    /// are to be examined again, and whether a probe was due.
    fn tail_probe(&mut self, psn: Psn, oldest: &Sent, due: Ticks, now: Ticks) -> (Ticks, bool) {
        let Some(wait) = self.estimate.tail_probe_after() else {
            return (due, false);
        };
        if !self.tail_is_over(oldest, now) {
            return (oldest.at.plus(wait), false);
        }
        let is_lost = self.keeps_all_paths()
            && self.estimate.trusts_tail()
            && !oldest.again
            && self.unasked == 0;
        if is_lost {
            self.counters.early_losses += 1;
            self.count_on_path(oldest.ev, PathEvent::Lost);
            self.losses.lost(oldest.plane, self.spray.planes_up());
            self.lose(psn, oldest.retries);
        } else if let Some(waiting) = &mut self.probe_waiting {
            waiting.is_tail = true;
        } else {
            let other = 1 - oldest.plane;
            let plane = if self.spray.planes_up().contains(other) && !self.avoids(other) {
                other
            } else {
                oldest.plane
            };
            let path = self.spray.choose(Some(oldest.ev), PlaneMask::only(plane));
            self.probe_waiting = path.map(|path| Probe {
                index: path.index,
                is_tail: true,
            });
        }
        self.estimate.probed(self.config.rto);
        let next = self.estimate.tail_probe_after().map_or(due, |wait| {
            earlier(Some(now.plus(wait)), due).unwrap_or(due)
        });
        (next, true)
    }

    /// How long after a transmission the timers are examined. If nothing was waited for and a plane is silent, it is asked for a sign of life at once: the message
    /// may be over before a packet can be late.
    pub(super) fn first_wait(&self, retries: u8) -> Ticks {
        if self.deadline.is_none() && self.losses.any_silent() {
            Ticks(0)
        } else if self.config.early_loss == 0 {
            self.config.backoff.timeout(self.config.rto, retries)
        } else {
            self.estimate.tail()
        }
    }

    /// Marks a packet in flight as lost: it leaves the congestion window and is sent again.
    pub(super) fn lose(&mut self, psn: Psn, retries: u8) {
        let bytes = self.window.lose(psn, retries);
        self.nscc.on_loss(bytes);
    }

    /// Spends a retry for a packet that is lost. Returns whether the queue pair still works.
    ///
    /// A retry covers everything that is lost until the next one is due, which is a timeout later. So the losses of a burst do not add up, and the budget is a
    /// time without progress, whatever the losses are found by.
    pub(super) fn spend_retry(&mut self, sent: &Sent, now: Ticks, card: &mut Card<'_>) -> bool {
        if self.retries != 0 && !now.reached(self.next_retry) {
            return true;
        }
        if self.retries >= self.config.retry_budget {
            self.fail(Some((sent.slot, WcStatus::RetryExcErr)), card);
            return false;
        }
        self.retries += 1;
        let gap = self.config.backoff.timeout(self.config.rto, self.retries);
        self.next_retry = now.plus(gap);
        true
    }
}

/// The earlier of an optional deadline and another one.
pub(super) fn earlier(deadline: Option<Ticks>, other: Ticks) -> Option<Ticks> {
    Some(deadline.filter(|&at| other.reached(at)).unwrap_or(other))
}
