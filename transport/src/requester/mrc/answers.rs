//! Effects of SACKs and NACKs (hardware block `sack_flow`).

use stellar_wire::config::MPR_UNIT;
use stellar_wire::host::{PathEvent, WcStatus};
use stellar_wire::mrc::{CcState, NackReason, Neth, PathHint, Peth, Seth};
use stellar_wire::Aeth;

use super::estimate::Answer;
use super::{Card, MrcRequester};
use crate::congestion::AckSample;
use crate::requester::{SackRefusal, SackView, Sent, SlotState};
use crate::rx::Psn;
use crate::spray::{EvIndex, Feedback, PathAck};
use crate::time::Ticks;

/// A SACK as it arrived.
#[derive(Clone, Copy, Debug)]
pub struct Sack<'a> {
    pub seth: &'a Seth,
    pub cc: &'a CcState,
}

impl MrcRequester {
    /// Processes a SACK. Returns the path that it reflects, if the SACK is accepted and the path has no mark.
    pub fn on_sack(&mut self, sack: Sack<'_>, now: Ticks, card: &mut Card<'_>) -> Option<EvIndex> {
        if self.error.is_some() {
            return None;
        }
        let Sack { seth, cc } = sack;
        let mut view = SackView::of(seth);
        if seth.probe_response {
            // The offset is the identifier of the probe; the SACK acknowledges no packet of its own.
            view.acked = view.cack;
        }
        match view.check(&self.window) {
            Ok(()) => self.counters.sacks += 1,
            Err(SackRefusal::OutOfWindow) => {
                self.counters.sacks_out_of_window += 1;
                return None;
            }
            Err(SackRefusal::Inconsistent) => {
                self.counters.sacks_inconsistent += 1;
                return None;
            }
        }
        self.estimate.fold(self.config.rto);
        let probe_id = seth.ack_psn_offset as u16;
        let (answered, at) = if seth.probe_response {
            // The answer reflects when the probe left. It is no sample: it is short, and it may acknowledge what arrived long before. A probe of the path policy
            // overtakes the packets of a path that is slow, so what its answer shows to be missing is late and not lost.
            let left = now.since(now.round_trip(cc.tx_timestamp));
            let is_tail = probe_id & Peth::TAIL_PROBE != 0;
            (None, is_tail.then_some(left))
        } else {
            let answered = self.answered(&view, cc.tx_timestamp);
            (answered, answered.map(|sent| sent.at))
        };
        if let Some(sent) = answered {
            self.losses.heard(sent.plane);
        }
        let overtaken = view.cack.is_behind(self.window.una().previous());
        let before = self.window.state(view.acked);
        let known = before != SlotState::Free;
        let spurious_before = self.counters.spurious_losses;
        let (packets, bytes) = self.acknowledge(&view);
        if overtaken && packets == 0 {
            self.counters.stale_sacks += 1;
        }
        // Timers begin when packets are selected; what waits at the own port is no delay of the network.
        let age = answered.map(|sent| now.since(sent.at));
        let round_trip = answered.map(|sent| now.since(sent.departed));
        let reflected = if seth.probe_response {
            let round_trip = now.round_trip(cc.tx_timestamp);
            self.probe_answered(probe_id, seth.path_hint, round_trip, now);
            self.spray.index_of(seth.entropy)
        } else {
            self.path_ack(seth, packets, age, now)
        };
        if packets > 0 || known {
            self.last_rtt = round_trip.or(self.last_rtt);
            self.nscc.on_ack(
                AckSample {
                    acked_bytes: bytes,
                    rtt: round_trip,
                    ecn: seth.path_hint == PathHint::SkipOnce,
                    in_flight: self.window.in_flight_bytes(),
                },
                now,
            );
        }
        let outstanding = matches!(before, SlotState::InFlight | SlotState::Lost);
        self.estimate.record(Answer {
            round_trip: age,
            spurious: self.counters.spurious_losses != spurious_before
                || (!seth.probe_response
                    && if outstanding {
                        answered.is_none()
                    } else {
                        cc.tx_timestamp != 0
                    }),
            progress: packets > 0,
            probe: seth.probe_response,
        });
        self.nscc.on_receiver_penalty(cc.rcv_cwnd_pen);
        if seth.mpr != 0 {
            self.mpr = (u32::from(seth.mpr) * MPR_UNIT).min(self.config.mpr.into());
        }
        if let Some(at) = at {
            self.find_early_losses(&view, at);
        }
        self.complete(card);
        reflected.filter(|_| seth.path_hint == PathHint::Good)
    }

    /// The record of the packet a SACK answers, if it answers its last transmission.
    fn answered(&self, view: &SackView, stamp: u16) -> Option<Sent> {
        self.window
            .sent(view.acked)
            .filter(|sent| sent.is_answered_by(stamp))
            .copied()
    }

    /// Marks the PSNs that a SACK acknowledges. Returns the number of packets that are acknowledged for the first time, and their bytes.
    fn acknowledge(&mut self, view: &SackView) -> (u32, u32) {
        let una = self.window.una();
        let cumulative = if view.cack.is_behind(una) {
            0
        } else {
            view.cack.distance_from(una) + 1
        };
        // Most bits of a bitmap repeat what earlier SACKs have told.
        let news = SackView {
            bitmap: view.bitmap & self.window.maybe_unacknowledged(view.base),
            ..*view
        };
        let (mut packets, mut bytes) = (0, 0);
        let cumulative = (0..cumulative).map(|i| una.plus(i));
        for psn in cumulative.chain(news.bits()).chain([view.acked]) {
            if let Some((sent, state)) = self.window.acknowledge(psn) {
                packets += 1;
                bytes += u32::from(sent.length);
                self.counters.spurious_losses += u64::from(state == SlotState::Lost);
            }
        }
        (packets, bytes)
    }

    /// Tells the path policy of a SACK that acknowledges `packets` for the first time. Returns the path that it reflects.
    fn path_ack(
        &mut self,
        seth: &Seth,
        packets: u32,
        round_trip: Option<Ticks>,
        now: Ticks,
    ) -> Option<EvIndex> {
        let hint = match seth.path_hint {
            PathHint::Good => Feedback::Good,
            PathHint::SkipOnce => Feedback::Skip,
            PathHint::AlwaysSkip => Feedback::AlwaysSkip,
        };
        self.counters.ecn_marks += u64::from(hint == Feedback::Skip);
        let ack = PathAck {
            entropy: seth.entropy.0,
            hint,
            sampled: round_trip.is_some(),
            round_trip: round_trip.map_or(0, |ticks| ticks.0.min(u16::MAX.into()) as u16),
            packets: packets as u16,
            una: self.window.first_unacknowledged(),
            next_psn: self.window.next(),
            in_flight: self.window.in_flight_bytes(),
        };
        let index = self.spray.on_ack(&ack, now);
        if let Some(index) = index.filter(|_| hint == Feedback::Skip) {
            self.count_on_path(index, PathEvent::Marked);
        }
        index
    }

    /// A probe came back: its plane is not silent.
    fn probe_answered(&mut self, id: u16, hint: PathHint, round_trip: Ticks, now: Ticks) {
        self.counters.probe_answers += 1;
        let working = self.spray.on_probe_answer(id, hint, round_trip, now);
        if let Some(index) = working {
            self.losses.heard(index.plane());
        }
    }

    /// Detects losses early: `view` tells what had arrived when a packet or probe did that was sent at time `at`.
    ///
    /// A packet in flight is lost if the SACK shows that it is missing, and it was sent earlier than `at` by more than the spread of path delays. A packet that was
    /// sent once, and is not that old, ends the search: those behind it left later.
    fn find_early_losses(&mut self, view: &SackView, at: Ticks) {
        let Some(window) = self.estimate.reordering() else {
            return;
        };
        let threshold = u32::from(self.config.early_loss);
        if threshold == 0 {
            return;
        }
        let horizon = at.since(window);
        let mut from = self.window.una();
        while let Some(psn) = self.window.next_in_flight(from) {
            from = psn.plus(1);
            let Some(&sent) = self.window.sent(psn) else {
                break;
            };
            if !horizon.reached(sent.at) {
                if sent.again {
                    continue;
                }
                break;
            }
            if view.shows_missing(psn, threshold) {
                self.counters.early_losses += 1;
                self.estimate.lost();
                self.count_on_path(sent.ev, PathEvent::Lost);
                self.losses.lost(sent.plane, self.spray.planes_up());
                self.lose(psn, sent.retries);
            } else if psn.is_behind(view.base) && view.base.is_behind(self.window.next()) {
                // Nothing between this packet and the bitmap is told.
                from = view.base;
            } else {
                break;
            }
        }
    }

    /// Processes a NACK.
    pub fn on_nack(&mut self, neth: &Neth, now: Ticks, card: &mut Card<'_>) {
        if self.error.is_some() {
            return;
        }
        let psn = Psn::new(neth.nack_psn);
        let sent = self.window.sent(psn).copied();
        let current = sent.filter(|sent| {
            self.window.state(psn) == SlotState::InFlight && sent.is_answered_by(neth.tx_timestamp)
        });
        match (neth.reason, sent, current) {
            (NackReason::UnexpectedEvent, Some(sent), _) => {
                self.counters.nacks_fatal += 1;
                self.fail(Some((sent.slot, WcStatus::RemOpErr)), card);
            }
            (NackReason::Trimmed | NackReason::TrimmedLastHop, _, Some(sent)) => {
                self.counters.nacks_trimmed += 1;
                // At the last hop every path ends in the same queue, so the path is not to blame.
                if neth.reason == NackReason::Trimmed {
                    self.spray.on_feedback(sent.ev, Feedback::Trimmed, now);
                    self.count_on_path(sent.ev, PathEvent::Lost);
                }
                if self.spend_retry(&sent, now, card) {
                    self.lose(psn, sent.retries);
                }
            }
            (
                NackReason::NoBitmap
                | NackReason::NoPktBuffer
                | NackReason::NoResource
                | NackReason::PsnOutOfWindow,
                _,
                Some(sent),
            ) => {
                self.counters.nacks_recoverable += 1;
                if self.spend_retry(&sent, now, card) {
                    self.lose(psn, sent.retries);
                }
            }
            _ => self.counters.nacks_ignored += 1,
        }
    }

    /// Processes a Transport ACK. A NAK that refuses a request names why its message fails, which a NACK cannot. All other contents change nothing, because SACKs
    /// say what has arrived.
    pub fn on_transport_ack(&mut self, psn: Psn, aeth: &Aeth, card: &mut Card<'_>) {
        if self.error.is_some() {
            return;
        }
        match (aeth.syndrome.refusal(), self.window.sent(psn)) {
            (Some(status), Some(sent)) => {
                let slot = sent.slot;
                self.counters.nacks_fatal += 1;
                self.fail(Some((slot, status)), card);
            }
            _ => self.counters.nacks_ignored += 1,
        }
    }
}
