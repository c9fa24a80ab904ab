//! Effects of acknowledgements and of time on an RC requester (hardware block `rc_flow`).

use std::mem;

use stellar_wire::aeth::rnr_wait;
use stellar_wire::config::RNR_RETRY_FOREVER;
use stellar_wire::host::WcStatus;
use stellar_wire::{Aeth, NakCode, Syndrome};

use super::paths::Told;
use super::RcRequester;
use crate::requester::{Card, Sack};
use crate::rx::Psn;
use crate::time::Ticks;

impl RcRequester {
    /// Processes an ACK or NAK.
    pub fn on_ack(&mut self, psn: Psn, aeth: &Aeth, now: Ticks, card: &mut Card<'_>) {
        if self.error.is_some() {
            return;
        }
        let steps = psn.distance_from(self.una);
        if steps >= self.outstanding() {
            self.counters.acks_ignored += 1;
            return;
        }
        match aeth.syndrome {
            Syndrome::Ack { .. } => {
                self.counters.acks += 1;
                self.progress(psn.plus(1), Told::Arrived(psn), now, card);
            }
            Syndrome::Nak(NakCode::PsnSequenceError) => {
                self.counters.naks += 1;
                // What the peer misses while the queue pair waits is sent again anyway.
                if self.progress(psn, Told::Lost, now, card) && !self.waits {
                    self.go_back(now, card);
                }
            }
            Syndrome::RnrNak { timer } => {
                self.counters.naks += 1;
                // Another one about the same packet is for a transmission before the wait.
                if self.progress(psn, Told::Nothing, now, card) && !self.waits {
                    self.wait_for_receiver(timer, now, card);
                }
            }
            syndrome @ (Syndrome::Nak(_) | Syndrome::Reserved(_)) => {
                let Some(status) = syndrome.refusal() else {
                    self.counters.acks_ignored += 1;
                    return;
                };
                self.counters.naks += 1;
                if self.progress(psn, Told::Nothing, now, card) {
                    self.fail_oldest(status, card);
                }
            }
        }
    }

    /// Processes the answer to a probe of its path policy: it tells what has arrived, too, and comes when data pauses and no packet asks for an acknowledgement.
    pub fn on_probe_answer(&mut self, answer: Sack<'_>, now: Ticks, card: &mut Card<'_>) {
        let Sack { seth, cc } = answer;
        let Some(paths) = self.paths.as_mut().filter(|_| self.error.is_none()) else {
            return;
        };
        self.counters.probe_answers += 1;
        let round_trip = now.round_trip(cc.tx_timestamp);
        paths.probe_answered(seth, round_trip, now);
        let arrived = Psn::new(seth.cack_psn);
        if arrived.distance_from(self.una) < self.outstanding() {
            self.progress(arrived.plus(1), Told::Nothing, now, card);
        }
    }

    /// Records that everything before `una` has arrived, and how that is `told`. Returns whether the queue pair still works.
    fn progress(&mut self, una: Psn, told: Told, now: Ticks, card: &mut Card<'_>) -> bool {
        if una == self.una {
            return true;
        }
        if let Some(paths) = &mut self.paths {
            let packets = una.distance_from(self.una);
            paths.acknowledged(una, self.sent, packets, told, now);
        }
        if self.next.distance_from(self.una) < una.distance_from(self.una) {
            self.next = una;
        }
        self.una = una;
        self.retries = 0;
        self.rnr_retries = 0;
        self.waits = false;
        self.deadline = (self.outstanding() > 0).then(|| now.plus(self.config.rto));
        self.complete(card);
        self.error.is_none()
    }

    /// Sends everything unacknowledged again and spends a retry.
    fn go_back(&mut self, now: Ticks, card: &mut Card<'_>) {
        if self.outstanding() == 0 {
            return;
        }
        if self.retries >= self.config.retry_count {
            self.fail_oldest(WcStatus::RetryExcErr, card);
            return;
        }
        self.retries += 1;
        self.send_again();
        self.deadline = Some(now.plus(self.config.rto));
    }

    /// The peer has no receive work request for the message of the packet `una`: it is sent again after the time that the RNR NAK names, at the cost of an RNR
    /// retry.
    fn wait_for_receiver(&mut self, timer: u8, now: Ticks, card: &mut Card<'_>) {
        let limited = self.config.rnr_retry != RNR_RETRY_FOREVER;
        if limited && self.rnr_retries >= self.config.rnr_retry {
            self.fail_oldest(WcStatus::RnrRetryExcErr, card);
            return;
        }
        self.rnr_retries = self.rnr_retries.saturating_add(1);
        self.send_again();
        self.waits = true;
        self.deadline = Some(now.plus(rnr_wait(timer)));
    }

    /// Everything unacknowledged is sent again. What acknowledges it is no sample of a round trip then.
    fn send_again(&mut self) {
        self.next = self.una;
        if let Some(paths) = &mut self.paths {
            paths.forget_time();
        }
    }

    /// Ends a wait for the receiver, or goes back if there was no progress for the timeout. The ports ask again afterwards whether the path policy lets data leave.
    pub fn on_timer(&mut self, now: Ticks, card: &mut Card<'_>) {
        if let Some(paths) = &mut self.paths {
            paths.on_timer(now);
        }
        let due = self.deadline.is_some_and(|deadline| now.reached(deadline));
        if self.error.is_some() || !due {
            return;
        }
        if mem::take(&mut self.waits) {
            self.deadline = Some(now.plus(self.config.rto));
        } else {
            self.counters.timeouts += 1;
            if let Some(paths) = &mut self.paths {
                paths.timed_out(now);
            }
            self.go_back(now, card);
        }
    }
}
