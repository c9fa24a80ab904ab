//! Transmission of packets, as records or as frames.

use super::departure::{Leaving, Line};
use super::framing::FrameSpec;
use super::{Departure, Endpoint, Memory, MemoryFault, Packet, PayloadPolicy};
use crate::requester::{Payload, RequestPacket};
use crate::rx::Psn;
use crate::time::Ticks;
use stellar_wire::rows::wire_cost;

/// A packet that leaves, and the request that it is of, if it is no answer.
struct Outgoing {
    departure: Departure,
    request: Option<RequestPacket>,
}

/// A frame for a port.
pub struct SentFrame {
    /// The queue pair that sends it.
    pub qp: u32,
    pub psn: Psn,
    /// From the destination MAC address to the iCRC.
    pub frame: Vec<u8>,
}

impl<M: Memory> Endpoint<M> {
    /// The next frame for a port that is free now: acknowledgements first, then packets of the queue pairs in turn. `None` stays so until
    /// something is received or posted, or a timer expires.
    pub fn poll_transmit(&mut self, port: usize, now: Ticks) -> Option<Vec<u8>> {
        self.poll_sent(port, now).map(|sent| sent.frame)
    }

    /// As [`Self::poll_transmit`], with the packet's names, for a port that reports when it leaves ([`Self::departed`]).
    pub fn poll_sent(&mut self, port: usize, now: Ticks) -> Option<SentFrame> {
        loop {
            let outgoing = self.next_packet(port, now, |line, leaving| Outgoing {
                departure: line.departure_of(&leaving, now),
                request: match leaving {
                    Leaving::Request(packet) => Some(packet.clone()),
                    Leaving::Answer(_) => None,
                },
            })?;
            let qp = outgoing.departure.qp;
            match self.frame(port, &outgoing)? {
                Ok(frame) => {
                    self.count_sent(port, &outgoing.departure.packet);
                    let psn = outgoing.departure.packet.psn();
                    return Some(SentFrame { qp, psn, frame });
                }
                Err(_) => self.unreadable(qp, outgoing.request.and_then(|packet| packet.slot)),
            }
        }
    }

    /// The frame of a data packet of a queue pair leaves by a port at time `at`. Round trips of MRC packets begin there; a packet of which nothing is said leaves when
    /// it is polled.
    pub fn departed(&mut self, qp: u32, psn: Psn, port: usize, at: Ticks) {
        if let Some(qp) = self.qps.get_mut(qp) {
            qp.requester.departed(psn, port as u8, at);
        }
    }

    /// As [`Self::poll_transmit`], without the frame's bytes: the same packets in the same order. The payload is not read, so a message whose memory
    /// does not answer is sent none the less.
    pub fn poll_packet(&mut self, port: usize, now: Ticks) -> Option<Departure> {
        let departure =
            self.next_packet(port, now, |line, leaving| line.departure_of(&leaving, now));
        if let Some(departure) = &departure {
            self.count_sent(port, &departure.packet);
        }
        departure
    }

    fn count_sent(&mut self, port: usize, packet: &Packet) {
        self.counters.frames_sent[port] += 1;
        self.counters.control_sent += u64::from(!packet.is_like_data());
    }

    /// Has `send` make what it needs of the next packet, which is long, so it stays where it is.
    #[inline(always)]
    fn next_packet<T>(
        &mut self,
        port: usize,
        now: Ticks,
        send: impl FnOnce(&Line<'_>, Leaving<'_>) -> T,
    ) -> Option<T> {
        if !self.port_up[port] {
            return None;
        }
        if let Some((number, answer)) = self.answers[port].pop_front() {
            if let Some(qp) = self.qps.get(number) {
                let line = Line::new(&self.config, qp, port);
                return Some(send(&line, Leaving::Answer(&answer)));
            }
        }
        self.ask_resting(now);
        while let Some(number) = self.schedules[port].front() {
            let packet = self.with_requester(number, |requester, card| {
                requester.transmit(port as u8, now, card)
            });
            let Some(Some(packet)) = &packet else {
                self.schedules[port].park();
                continue;
            };
            let cost = wire_cost(packet.length.into(), 1);
            let rests = !self.pay(port, cost, now);
            self.schedules[port].served(cost, rests);
            if let Some(qp) = self.qps.get(number) {
                let line = Line::new(&self.config, qp, port);
                return Some(send(&line, Leaving::Request(packet)));
            }
        }
        None
    }

    /// The tenant in front at a port pays for `cost` bytes. Returns whether it may send more.
    fn pay(&mut self, port: usize, cost: u32, now: Ticks) -> bool {
        if self.limits.is_empty() {
            return true;
        }
        let tenant = self.schedules[port].tenant_in_front();
        let bucket = tenant.and_then(|tenant| self.limits.get_mut(&tenant));
        bucket.is_none_or(|bucket| bucket.pay(cost, now))
    }

    /// Asks every tenant without tokens whether it has some again.
    pub(super) fn ask_resting(&mut self, now: Ticks) {
        for schedule in &mut self.schedules {
            for _ in 0..schedule.rests() {
                let tenant = schedule.resting();
                let bucket = tenant.and_then(|tenant| self.limits.get_mut(&tenant));
                schedule.asked(bucket.is_none_or(|bucket| bucket.pay(0, now)));
            }
        }
    }

    /// The frame of a packet; `None` if its queue pair does not exist.
    fn frame(&mut self, port: usize, outgoing: &Outgoing) -> Option<Result<Vec<u8>, MemoryFault>> {
        let Outgoing { departure, request } = outgoing;
        let qp = self.qps.get(departure.qp)?;
        let spec = FrameSpec::of(&self.config, &qp.peer, port, departure);
        let reads = self.model.payload == PayloadPolicy::Bytes;
        let memory = &mut self.memory;
        let length = request.as_ref().map_or(0, |packet| packet.length);
        let payload = request.as_ref().map(|packet| &packet.payload);
        Some(spec.build(length.into(), |into| match payload {
            Some(Payload::Inline(bytes)) => {
                into.copy_from_slice(&bytes[..into.len()]);
                Ok(())
            }
            Some(Payload::Memory(pieces)) if reads => {
                let mut rest = into;
                for piece in pieces {
                    let (part, after) = rest.split_at_mut(piece.length);
                    memory.read(piece.address, piece.translated, part)?;
                    rest = after;
                }
                Ok(())
            }
            _ => Ok(()),
        }))
    }

    /// The payload of a packet cannot be read: its message fails.
    fn unreadable(&mut self, number: u32, slot: Option<u16>) {
        if let Some(slot) = slot {
            self.with_requester(number, |requester, card| requester.local_fault(slot, card));
        }
    }
}
