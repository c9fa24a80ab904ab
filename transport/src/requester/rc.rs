//! The RC requester of one queue pair: one path, go-back-N (InfiniBand architecture volume 1, section 9.7.5).

use std::mem;

use stellar_wire::aeth::rnr_wait;
use stellar_wire::config::RNR_RETRY_FOREVER;
use stellar_wire::host::WcStatus;
use stellar_wire::mrc::Entropy;
use stellar_wire::{Aeth, ImmDt, NakCode, Reth, Syndrome};

use super::{
    locate_payload, segment, Card, Message, Messages, QpIdentity, RcConfig, RequestExt,
    RequestPacket, RequesterCounters, Segment, WriteExt,
};
use crate::rx::{Psn, QpMode};
use crate::time::Ticks;

/// An RC requester.
///
/// PSNs `una` to `sent - 1` may be unreceived; `next` is the one to send, behind `sent` after going back.
#[derive(Clone, Debug)]
pub struct RcRequester {
    qp: QpIdentity,
    config: RcConfig,
    messages: Messages,
    /// Buffer for the messages of a burst, and how many packets it has of each.
    burst: Vec<(Message, u32)>,
    una: Psn,
    next: Psn,
    sent: Psn,
    /// Timeouts and sequence NAKs since the last progress.
    retries: u8,
    /// RNR NAKs that were waited for since the last progress.
    rnr_retries: u8,
    /// The peer was not ready for the packet `una`. Nothing is sent until the deadline, or until there is progress.
    waits: bool,
    /// When the oldest unacknowledged packet was sent or progress was made, whichever is later, and the timeout. If the queue pair waits: when it sends again.
    deadline: Option<Ticks>,
    /// Packets since the last one that requested an acknowledgement.
    silent: u16,
    path_load: [u64; 1],
    counters: RequesterCounters,
    error: Option<WcStatus>,
}

impl RcRequester {
    /// A requester without work whose first packet will be `first`.
    pub fn new(qp: QpIdentity, config: RcConfig, messages: Messages, first: Psn) -> Self {
        Self {
            qp,
            config,
            messages,
            burst: Vec::new(),
            una: first,
            next: first,
            sent: first,
            retries: 0,
            rnr_retries: 0,
            waits: false,
            deadline: None,
            silent: 0,
            path_load: [0],
            counters: RequesterCounters::default(),
            error: None,
        }
    }

    const fn outstanding(&self) -> u32 {
        self.sent.distance_from(self.una)
    }

    /// The next packet for a port, if there is one that may leave there now.
    pub fn transmit(&mut self, port: u8, now: Ticks, card: &mut Card<'_>) -> Option<RequestPacket> {
        let mut packet = None;
        self.transmit_each(port, now, 1, card, |sent| packet = Some(sent));
        packet
    }

    /// Does what [`Self::transmit`] does, but returns as many packets as may be sent at once, up to `most`: all new, or all retransmissions of one message.
    pub fn transmit_burst(
        &mut self,
        port: u8,
        now: Ticks,
        most: u32,
        card: &mut Card<'_>,
    ) -> Vec<RequestPacket> {
        let mut packets = Vec::new();
        self.transmit_each(port, now, most, card, |packet| packets.push(packet));
        packets
    }

    /// Does what [`Self::transmit_burst`] does, and passes each packet to `leave`.
    fn transmit_each(
        &mut self,
        port: u8,
        now: Ticks,
        most: u32,
        card: &mut Card<'_>,
        leave: impl FnMut(RequestPacket),
    ) {
        if self.error.is_some() || self.waits || port != self.config.plane {
            return;
        }
        let mut burst = mem::take(&mut self.burst);
        self.due(most, card, &mut burst);
        burst
            .iter()
            .flat_map(|&(message, packets)| (0..packets).map(move |_| message))
            .map_while(|message| self.send(&message, now, card))
            .for_each(leave);
        burst.clear();
        self.burst = burst;
        self.complete(card);
    }

    /// The messages of the next packets, at most `most`: all retransmissions, of one message, or all new. Each with the number of its packets.
    fn due(&mut self, most: u32, card: &mut Card<'_>, due: &mut Vec<(Message, u32)>) {
        let psn = self.next;
        if psn == self.sent {
            let window = u32::from(self.config.window);
            let room = window.saturating_sub(self.outstanding());
            // The first message starts even if the window is full, as hardware looks it up first.
            if let Some(message) = self.messages.current(psn, self.qp.mtu, card.memory) {
                let (limit, only_short) = Messages::burst_limit(&message, self.qp.mtu);
                let packets = room.min(limit).min(most);
                self.messages
                    .take(psn, packets, only_short, self.qp.mtu, card.memory, due);
            }
        } else if let Some(&message) = self.messages.holding(psn) {
            let left = message.packets - psn.distance_from(message.first);
            let (limit, _) = Messages::burst_limit(&message, self.qp.mtu);
            let packets = self.sent.distance_from(psn).min(left).min(limit);
            let packets = packets.min(most);
            due.extend(message.fault.is_none().then_some((message, packets)));
        }
    }

    fn send(&mut self, message: &Message, now: Ticks, card: &Card<'_>) -> Option<RequestPacket> {
        let psn = self.next;
        let again = psn != self.sent;
        let segment = segment(message, psn, self.qp.mtu, QpMode::Rc);
        let slot = message.wqe.slot;
        let Ok(payload) = locate_payload(card.tables, self.qp.pd, &message.wqe, &segment) else {
            self.messages.fault(slot, WcStatus::LocProtErr);
            return None;
        };
        self.next = psn.plus(1);
        if again {
            self.counters.retransmissions += 1;
        } else {
            self.sent = self.next;
        }
        self.counters.packets += 1;
        self.counters.bytes += u64::from(segment.length);
        self.path_load[0] += 1;
        self.deadline.get_or_insert(now.plus(self.config.rto));
        let full = self.next == self.sent && self.outstanding() >= self.config.window.into();
        self.silent += 1;
        let ack_req = segment.last || full || self.silent >= self.config.ack_every;
        if ack_req {
            self.silent = 0;
        }
        Some(RequestPacket {
            opcode: segment.opcode,
            psn,
            ack_req,
            retransmission: false,
            ext: extension_headers(message, &segment),
            payload,
            length: segment.length,
            entropy: Entropy(self.config.udp_sport.into()),
            ev: None,
            slot: Some(slot),
        })
    }

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
                self.progress(psn.plus(1), now, card);
            }
            Syndrome::Nak(NakCode::PsnSequenceError) => {
                self.counters.naks += 1;
                // What the peer misses while the queue pair waits is sent again anyway.
                if self.progress(psn, now, card) && !self.waits {
                    self.go_back(now, card);
                }
            }
            Syndrome::RnrNak { timer } => {
                self.counters.naks += 1;
                // Another one about the same packet is for a transmission before the wait.
                if self.progress(psn, now, card) && !self.waits {
                    self.wait_for_receiver(timer, now, card);
                }
            }
            Syndrome::Nak(code) => {
                self.counters.naks += 1;
                if !self.progress(psn, now, card) {
                    return;
                }
                let status = match code {
                    NakCode::RemoteAccessError => WcStatus::RemAccessErr,
                    NakCode::InvalidRequest => WcStatus::RemInvReqErr,
                    _ => WcStatus::RemOpErr,
                };
                self.fail_oldest(status, card);
            }
            Syndrome::Reserved(_) => self.counters.acks_ignored += 1,
        }
    }

    /// Records that everything before `una` has arrived. Returns whether the queue pair still works.
    fn progress(&mut self, una: Psn, now: Ticks, card: &mut Card<'_>) -> bool {
        if una == self.una {
            return true;
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
        self.next = self.una;
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
        self.next = self.una;
        self.waits = true;
        self.deadline = Some(now.plus(rnr_wait(timer)));
    }

    /// Ends a wait for the receiver, or goes back if there was no progress for the timeout.
    pub fn on_timer(&mut self, now: Ticks, card: &mut Card<'_>) {
        let due = self.deadline.is_some_and(|deadline| now.reached(deadline));
        if self.error.is_some() || !due {
            return;
        }
        if mem::take(&mut self.waits) {
            self.deadline = Some(now.plus(self.config.rto));
        } else {
            self.counters.timeouts += 1;
            self.go_back(now, card);
        }
    }

    /// Fails the message of the oldest unacknowledged packet.
    fn fail_oldest(&mut self, status: WcStatus, card: &mut Card<'_>) {
        let slot = self.messages.holding(self.una);
        self.fail(slot.map(|message| (message.wqe.slot, status)), card);
    }

    fn complete(&mut self, card: &mut Card<'_>) {
        if let Err(failed) = self.messages.complete(self.una, card.cq) {
            self.fail(Some(failed), card);
        }
    }

    /// Records that a message's local buffer cannot be read.
    pub fn local_fault(&mut self, slot: u16, card: &mut Card<'_>) {
        self.messages.fault(slot, WcStatus::LocProtErr);
        self.complete(card);
    }

    /// Puts the queue pair in error and flushes its work, as [`super::MrcRequester::fail`].
    pub fn fail(&mut self, failed: Option<(u16, WcStatus)>, card: &mut Card<'_>) {
        let status = failed.map_or(WcStatus::WrFlushErr, |(_, status)| status);
        self.error.get_or_insert(status);
        self.deadline = None;
        self.messages.flush(failed, card.memory, card.cq);
    }

    /// Status that put the queue pair in error.
    pub const fn error(&self) -> Option<WcStatus> {
        self.error
    }

    /// Time before which no timer expires.
    pub const fn deadline(&self) -> Option<Ticks> {
        self.deadline
    }

    /// The requester's send queue.
    pub fn messages_mut(&mut self) -> &mut Messages {
        &mut self.messages
    }

    /// Data packets sent, on its one path.
    pub fn path_loads(&self) -> &[u64] {
        &self.path_load
    }

    /// The requester's counters.
    pub const fn counters(&self) -> &RequesterCounters {
        &self.counters
    }
}

/// RETH and ImmDt of a packet.
fn extension_headers(message: &Message, segment: &Segment) -> RequestExt {
    let wqe = &message.wqe;
    RequestExt::Write(WriteExt {
        reth: segment.opcode.has_reth().then_some(Reth {
            va: wqe.remote_va,
            rkey: wqe.rkey,
            dma_len: wqe.length,
        }),
        imm: segment.opcode.has_imm().then_some(ImmDt(wqe.immediate)),
        ..WriteExt::default()
    })
}
