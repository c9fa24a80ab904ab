//! Transmission of packets, as records or as frames.

use super::departure::Line;
use super::framing::FrameSpec;
use super::{Departure, Endpoint, Memory, MemoryFault, Packet, PayloadPolicy};
use crate::requester::Payload;
use crate::time::Ticks;
use stellar_wire::rows::wire_cost;

/// A packet that leaves, and where its payload is.
struct Outgoing {
    departure: Departure,
    /// Payload bytes.
    length: u16,
    payload: Option<Payload>,
    /// Send queue index of its message, if it has one.
    slot: Option<u16>,
}

impl<M: Memory> Endpoint<M> {
    /// The next frame for a port that is free now: acknowledgements first, then packets of the queue pairs in turn. `None` stays so until
    /// something is received or posted, or a timer expires.
    pub fn poll_transmit(&mut self, port: usize, now: Ticks) -> Option<Vec<u8>> {
        loop {
            let outgoing = self.next_packet(port, now)?;
            let qp = outgoing.departure.qp;
            match self.frame(port, &outgoing)? {
                Ok(frame) => {
                    self.count_sent(port, &outgoing.departure.packet);
                    return Some(frame);
                }
                Err(_) => self.unreadable(qp, outgoing.slot),
            }
        }
    }

    /// As [`Self::poll_transmit`], without the frame's bytes: the same packets in the same order. The payload is not read, so a message whose memory
    /// does not answer is sent none the less.
    pub fn poll_packet(&mut self, port: usize, now: Ticks) -> Option<Departure> {
        let Outgoing { departure, .. } = self.next_packet(port, now)?;
        self.count_sent(port, &departure.packet);
        Some(departure)
    }

    fn count_sent(&mut self, port: usize, packet: &Packet) {
        self.counters.frames_sent[port] += 1;
        self.counters.control_sent += u64::from(!packet.is_like_data());
    }

    fn next_packet(&mut self, port: usize, now: Ticks) -> Option<Outgoing> {
        if !self.port_up[port] {
            return None;
        }
        self.next_answer(port, now)
            .or_else(|| self.next_request(port, now))
    }

    fn next_answer(&mut self, port: usize, now: Ticks) -> Option<Outgoing> {
        let (number, answer) = self.answers[port].pop_front()?;
        let qp = self.qps.get(number)?;
        Some(Outgoing {
            departure: Line::new(&self.config, qp, port).answer(&answer, now),
            length: 0,
            payload: None,
            slot: None,
        })
    }

    fn next_request(&mut self, port: usize, now: Ticks) -> Option<Outgoing> {
        self.ask_resting(now);
        while let Some(number) = self.schedules[port].front() {
            let packet = self.with_requester(number, |requester, card| {
                requester.transmit(port as u8, now, card)
            });
            let Some(packet) = packet.flatten() else {
                self.schedules[port].park();
                continue;
            };
            let cost = wire_cost(packet.length.into(), 1);
            let rests = !self.pay(port, cost, now);
            self.schedules[port].served(cost, rests);
            if let Some(qp) = self.qps.get(number) {
                return Some(Outgoing {
                    departure: Line::new(&self.config, qp, port).request(&packet),
                    length: packet.length,
                    payload: Some(packet.payload),
                    slot: packet.slot,
                });
            }
        }
        None
    }

    /// The tenant in front at a port pays for `cost` bytes. Returns whether it may send more.
    fn pay(&mut self, port: usize, cost: u32, now: Ticks) -> bool {
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
        let Outgoing {
            departure,
            length,
            payload,
            ..
        } = outgoing;
        let qp = self.qps.get(departure.qp)?;
        let spec = FrameSpec::of(&self.config, &qp.peer, port, departure);
        let reads = self.model.payload == PayloadPolicy::Bytes;
        let memory = &mut self.memory;
        Some(spec.build((*length).into(), |into| match payload {
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
