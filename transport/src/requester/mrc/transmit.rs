//! Transmission of an MRC requester (hardware blocks `transmit_flow`, `tx_window`, `spray_engine`).

use std::mem;

use stellar_wire::host::{PathEvent, WcStatus};
use stellar_wire::mrc::{Meth, Tseth};
use stellar_wire::rows::ASK_AFTER;
use stellar_wire::{ImmDt, Reth};

use super::timers::earlier;
use super::{Card, MrcRequester, Probe};
use crate::requester::packet::{time_stamp, ProbedPath};
use crate::requester::{
    locate_payload, segment, segment_length, Message, Messages, RequestExt, RequestPacket, Segment,
    Sent, WindowPool, WriteExt,
};
use crate::rx::{Psn, QpMode};
use crate::spray::{EvIndex, EvState, Path, PlaneMask};
use crate::time::Ticks;

impl MrcRequester {
    /// Passes to `leave` what may leave a port at once: a probe, else the lowest lost PSN, else as many new packets as a burst may have, up to `most`. They may belong to
    /// several messages. The congestion window is checked in units of the path MTU.
    #[inline(always)]
    pub fn transmit_each(
        &mut self,
        port: u8,
        now: Ticks,
        most: u32,
        card: &mut Card<'_>,
        mut leave: impl FnMut(RequestPacket),
    ) {
        if self.error.is_some() {
            return;
        }
        let mut held = self.held_until(now);
        if held.is_some() && self.window.is_empty() {
            self.spray.on_empty();
            held = self.held_until(now);
        }
        if let Some(probe) = self.probe(port, now) {
            leave(probe);
        } else {
            if let Some(until) = held {
                // The timer makes the ports ask again.
                self.deadline = earlier(self.deadline, until);
            }
            match self.lost_for(port) {
                Some(psn) if held.is_none() || self.spray.resends_while_held() => {
                    if let Some(packet) = self.retransmit(psn, port, now, card) {
                        leave(packet);
                    }
                }
                None if held.is_none() => self.send_new(port, now, most, card, leave),
                _ => {}
            }
        }
        self.complete(card);
    }

    /// The time before which the path policy lets no data leave. Does to the congestion window what it tells.
    fn held_until(&mut self, now: Ticks) -> Option<Ticks> {
        let held = self.spray.held_until(now);
        self.nscc.change(self.spray.window_change());
        held
    }

    /// The lost packet that a port sends next. A packet lost on one plane leaves on the other, while that one works and is not silent.
    fn lost_for(&self, port: u8) -> Option<Psn> {
        if !self.window.has_lost() || self.avoids(port) {
            return None;
        }
        let other = 1 - port;
        self.window.first_lost(other).or_else(|| {
            let psn = self.window.first_lost(port)?;
            (!self.plane_usable(other)).then_some(psn)
        })
    }

    fn retransmit(
        &mut self,
        psn: Psn,
        port: u8,
        now: Ticks,
        card: &Card<'_>,
    ) -> Option<RequestPacket> {
        let old = *self.window.sent(psn)?;
        let message = *self.messages.get(old.slot)?;
        // What is in flight behind the oldest packet may be lost, too, and nothing tells of it before that one arrives. With one path at a time, the oldest one is
        // more likely to be late on a path that was left.
        let is_oldest = psn == self.window.una() && self.spreads();
        let admitted = is_oldest || self.admits(&message, psn);
        if message.fault.is_some() || !admitted {
            return None;
        }
        let path = self.spray.choose(Some(old.ev), PlaneMask::only(port))?;
        let stamp = Some(time_stamp(now));
        let mut packet = self.prepare(&message, psn, path, stamp, true, card)?;
        packet.retransmission = true;
        self.window.resend(
            psn,
            Sent {
                ev: path.index,
                plane: path.plane,
                at: now,
                departed: now,
                again: true,
                ..old
            },
        );
        self.spray.on_sent(psn, path.index, old.length);
        self.counters.retransmissions += 1;
        self.start_timer(now, old.retries);
        self.count(&packet, path);
        Some(packet)
    }

    /// Whether a retransmission can be left to a plane: its port is up, and it has a path that is not out of use and is not silent.
    fn plane_usable(&self, plane: u8) -> bool {
        let good = |index: EvIndex| {
            index.plane() == plane
                && matches!(self.spray.state(index), Some(EvState::Good | EvState::Skip))
        };
        !self.config.policy.traits().one_path
            && self.spray.planes_up().contains(plane)
            && !self.avoids(plane)
            && EvIndex::all().any(good)
    }

    /// Sends new packets of consecutive messages, at most `most`. All messages start before the first packet is prepared.
    ///
    /// Nothing of this is taken back: if a buffer cannot be read, its packet and those behind it keep their PSNs, and are never sent.
    #[inline(always)]
    fn send_new(
        &mut self,
        port: u8,
        now: Ticks,
        most: u32,
        card: &mut Card<'_>,
        mut leave: impl FnMut(RequestPacket),
    ) {
        let first = self.window.next();
        let Some(message) = self.messages.current(first, self.qp.mtu, card.memory) else {
            return;
        };
        if self.avoids(port) {
            return;
        }
        // A burst has one packet or more, so its limits do not matter if one is asked for.
        let (limit, only_short) = match most {
            1 => (1, false),
            _ => Messages::burst_limit(&message, self.qp.mtu),
        };
        let most = most.min(limit);
        let allowed = self.allowed(&message, first, most, card.pool);
        if allowed == 0 {
            return;
        }
        let Some(path) = self.spray.choose(None, PlaneMask::only(port)) else {
            return;
        };
        let mut burst = mem::take(card.burst);
        if allowed == 1 {
            burst.push((message, 1));
        } else {
            self.messages.take(
                first,
                allowed,
                only_short,
                self.qp.mtu,
                card.memory,
                &mut burst,
            );
        }
        let mut path = Some(path);
        let mut readable = true;
        let mut left: u32 = burst.iter().map(|&(_, packets)| packets).sum();
        for (message, packets) in &burst {
            for _ in 0..*packets {
                // A plane that had a path has one for every packet.
                let next = || self.spray.choose(None, PlaneMask::only(port));
                let Some(path) = path.take().or_else(next) else {
                    break;
                };
                let psn = self.window.next();
                left -= 1;
                let ends_message = psn.plus(1) == message.first.plus(message.packets);
                let asks = self.requests(ends_message, left == 0);
                let mut packet = None;
                if readable {
                    packet = self.prepare(message, psn, path, None, asks, card);
                }
                readable = packet.is_some();
                self.unasked = if asks { 0 } else { self.unasked + 1 };
                let sent = Sent {
                    ev: path.index,
                    plane: path.plane,
                    at: now,
                    departed: now,
                    again: false,
                    retries: 0,
                    length: self.payload_length(message, psn),
                    slot: message.wqe.slot,
                };
                self.window.push(sent, card.pool);
                self.spray.on_sent(psn, path.index, sent.length);
                self.start_timer(now, 0);
                if let Some(packet) = packet {
                    self.count(&packet, path);
                    leave(packet);
                }
            }
        }
        burst.clear();
        *card.burst = burst;
    }

    /// Decides whether a packet requests an acknowledgement: the last one of a burst, if it is the last one of a message, too, or many packets have left since the last request.
    fn requests(&self, ends_message: bool, ends_burst: bool) -> bool {
        let many = self.unasked + 1 >= ASK_AFTER;
        ends_burst && (ends_message || many) || self.nscc.cwnd() < self.config.coalesce_from
    }

    /// Packets that both windows and the pool of blocks admit, if the first one is `psn` of `message`, but not more than `most`. A queue pair that needs its
    /// first block, and finds none, waits for one.
    fn allowed(&self, message: &Message, psn: Psn, most: u32, pool: &mut WindowPool) -> u32 {
        let room = pool.room(&self.window);
        if room == 0 && self.window.is_empty() {
            pool.wait(self.qp.local);
        }
        let room = self.mpr.saturating_sub(self.window.len()).min(room);
        if room == 0 || !self.admits(message, psn) {
            return 0;
        }
        let room = room.min(most);
        if room == 1 {
            return 1;
        }
        let in_flight = self.window.in_flight_bytes();
        let by_congestion = match self.spray.window() {
            Some(_) => 1,
            None => self.nscc.cwnd().saturating_sub(in_flight) / self.qp.mtu,
        };
        room.min(by_congestion.max(1))
    }

    /// Whether the congestion window admits a packet.
    fn admits(&self, message: &Message, psn: Psn) -> bool {
        let size = u32::from(self.payload_length(message, psn));
        let in_flight = self.window.in_flight_bytes();
        match self.spray.window() {
            Some(window) => in_flight == 0 || window.saturating_sub(in_flight) >= size,
            None => self.nscc.may_send(in_flight, size),
        }
    }

    fn payload_length(&self, message: &Message, psn: Psn) -> u16 {
        segment_length(message, psn, self.qp.mtu)
    }

    /// A packet that leaves by `path`, unless its buffer cannot be read.
    #[inline(always)]
    fn prepare(
        &mut self,
        message: &Message,
        psn: Psn,
        path: Path,
        tseth: Option<Tseth>,
        ack_req: bool,
        card: &Card<'_>,
    ) -> Option<RequestPacket> {
        let segment = segment(message, psn, self.qp.mtu, QpMode::Mrc);
        let Ok(payload) = locate_payload(card.tables, self.qp.pd, &message.wqe, &segment) else {
            self.messages.fault(message.wqe.slot, WcStatus::LocProtErr);
            return None;
        };
        Some(RequestPacket {
            opcode: segment.opcode,
            psn,
            ack_req,
            retransmission: false,
            ext: extension_headers(message, &segment, tseth),
            payload,
            length: segment.length,
            entropy: path.entropy,
            ev: Some(path.index),
            slot: Some(message.wqe.slot),
        })
    }

    /// Counts a packet that leaves.
    fn count(&mut self, packet: &RequestPacket, path: Path) {
        self.counters.packets += 1;
        self.counters.bytes += u64::from(packet.length);
        if let Some(load) = self.path_loads.get_mut(usize::from(path.index.value())) {
            *load += 1;
        }
        self.count_on_path(path.index, PathEvent::Sent);
    }

    fn start_timer(&mut self, now: Ticks, retries: u8) {
        let due = now.plus(self.first_wait(retries));
        self.deadline = earlier(self.deadline, due);
    }

    fn probe(&mut self, port: u8, now: Ticks) -> Option<RequestPacket> {
        // A probe whose plane went down must not keep the values of the other plane from being probed.
        let planes = self.spray.planes_up();
        self.probe_waiting = self
            .probe_waiting
            .filter(|probe| planes.contains(probe.index.plane()));
        if self.probe_waiting.is_none() {
            let due = self.spray.probe_due(now);
            self.probe_waiting = due.map(|index| Probe {
                index,
                is_tail: false,
            });
        }
        let Probe { index, is_tail } = self
            .probe_waiting
            .filter(|probe| probe.index.plane() == port)?;
        self.probe_waiting = None;
        let entropy = self.spray.entropy(index)?;
        self.counters.probes += 1;
        let path = ProbedPath {
            index,
            entropy,
            is_tail,
        };
        let last = self.window.next().previous();
        Some(RequestPacket::probe(&self.qp, path, last, now))
    }
}

/// Extension headers of a data packet.
fn extension_headers(message: &Message, segment: &Segment, tseth: Option<Tseth>) -> RequestExt {
    let wqe = &message.wqe;
    RequestExt::Write(WriteExt {
        meth: Some(Meth {
            rqmsn: message.rqmsn,
            msn: message.msn as u16,
        }),
        reth: Some(Reth {
            va: wqe.remote_va.wrapping_add(segment.offset.into()),
            rkey: wqe.rkey,
            dma_len: wqe.length,
        }),
        imm: segment.opcode.has_imm().then_some(ImmDt(wqe.immediate)),
        tseth,
    })
}
