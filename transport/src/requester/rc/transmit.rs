//! Transmission of an RC requester (hardware block `transmit_flow`).

use std::mem;

use stellar_wire::host::WcStatus;
use stellar_wire::mrc::Entropy;
use stellar_wire::{ImmDt, Reth};

use super::paths::Turn;
use super::RcRequester;
use crate::requester::{
    locate_payload, segment, Card, Message, Messages, RequestExt, RequestPacket, Segment, WriteExt,
};
use crate::rx::QpMode;
use crate::spray::EvIndex;
use crate::time::Ticks;

impl RcRequester {
    /// Passes to `leave` the packets that may leave a port at once: a probe, or up to `most` packets that are all new, or all retransmissions of one message.
    #[inline(always)]
    pub fn transmit_each(
        &mut self,
        port: u8,
        now: Ticks,
        most: u32,
        card: &mut Card<'_>,
        mut leave: impl FnMut(RequestPacket),
    ) {
        if self.error.is_some() || self.waits {
            return;
        }
        let (entropy, index) = match self.turn(port, now) {
            Turn::Nothing => return,
            Turn::Probe(path) => {
                self.counters.probes += 1;
                leave(RequestPacket::probe(
                    &self.qp,
                    path,
                    self.sent.previous(),
                    now,
                ));
                return;
            }
            Turn::Data(entropy, index) => (entropy, index),
        };
        let mut burst = mem::take(&mut self.burst);
        self.due(most, card, &mut burst);
        burst
            .iter()
            .flat_map(|&(message, packets)| (0..packets).map(move |_| message))
            .map_while(|message| self.send(&message, (entropy, index), now, card))
            .for_each(leave);
        burst.clear();
        self.burst = burst;
        self.complete(card);
    }

    /// What a port may send now: data on this path, a probe, or nothing.
    fn turn(&mut self, port: u8, now: Ticks) -> Turn {
        let empty = self.outstanding() == 0;
        let goes_back = self.next != self.sent;
        match &mut self.paths {
            Some(paths) => paths.turn(port, empty, goes_back, now),
            None if port == self.config.plane => {
                Turn::Data(Entropy(self.config.udp_sport.into()), None)
            }
            None => Turn::Nothing,
        }
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

    fn send(
        &mut self,
        message: &Message,
        (entropy, index): (Entropy, Option<EvIndex>),
        now: Ticks,
        card: &Card<'_>,
    ) -> Option<RequestPacket> {
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
        self.deadline.get_or_insert(now.plus(self.config.rto));
        let full = self.next == self.sent && self.outstanding() >= self.config.window.into();
        self.silent += 1;
        let ack_req = segment.last || full || self.silent >= self.config.ack_every;
        if ack_req {
            self.silent = 0;
        }
        match (&mut self.paths, index) {
            (Some(paths), Some(index)) => {
                paths.left(index);
                if ack_req && !again {
                    paths.time(psn, entropy, now);
                }
            }
            _ => self.path_load[0] += 1,
        }
        Some(RequestPacket {
            opcode: segment.opcode,
            psn,
            ack_req,
            retransmission: false,
            ext: extension_headers(message, &segment),
            payload,
            length: segment.length,
            entropy,
            ev: index,
            slot: Some(slot),
        })
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
