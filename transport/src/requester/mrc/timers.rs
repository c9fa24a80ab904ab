//! Timers, losses and the retry budget of an MRC queue pair (hardware blocks `timer_scan`, `loss_flow`).

use stellar_wire::host::WcStatus;

use super::{Card, MrcRequester};
use crate::requester::Sent;
use crate::rx::Psn;
use crate::spray::Feedback;
use crate::time::Ticks;

impl MrcRequester {
    /// Expires the packets whose timeout is over (hardware block `timer_scan`), lowest PSN first.
    ///
    /// A packet that was sent once and is not late ends the search: those behind it left later, and none has a shorter timeout.
    pub fn on_timer(&mut self, now: Ticks, card: &mut Card<'_>) {
        let due = self.deadline.is_some_and(|deadline| now.reached(deadline));
        if self.error.is_some() || !due {
            return;
        }
        self.deadline = None;
        let mut from = self.window.una();
        while let Some(psn) = self.window.next_in_flight(from) {
            from = psn.plus(1);
            let Some(&sent) = self.window.sent(psn) else {
                break;
            };
            let timeout = self.config.backoff.timeout(self.config.rto, sent.retries);
            let due = sent.at.plus(timeout);
            if !now.reached(due) {
                self.deadline = earlier(self.deadline, due);
                if sent.again {
                    continue;
                }
                return;
            }
            self.counters.timeouts += 1;
            self.spray.on_feedback(sent.ev, Feedback::Timeout);
            if !self.spend_retry(psn, &sent, card) {
                return;
            }
        }
    }

    /// Marks a packet in flight as lost: it leaves the congestion window and is sent again.
    pub(super) fn lose(&mut self, psn: Psn, retries: u8) {
        let bytes = self.window.lose(psn, retries);
        self.nscc.on_loss(bytes);
    }

    /// Marks a packet as lost and spends a retry. Returns whether the queue pair still works.
    pub(super) fn spend_retry(&mut self, psn: Psn, sent: &Sent, card: &mut Card<'_>) -> bool {
        if sent.retries >= self.config.retry_budget {
            self.fail(Some((sent.slot, WcStatus::RetryExcErr)), card);
            return false;
        }
        self.lose(psn, sent.retries + 1);
        true
    }
}

/// The earlier of an optional deadline and another one.
pub(super) fn earlier(deadline: Option<Ticks>, other: Ticks) -> Option<Ticks> {
    Some(deadline.filter(|&at| other.reached(at)).unwrap_or(other))
}
