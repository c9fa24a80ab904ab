//! Reception of packets, as records or as frames.

use stellar_wire::host::EventKind;
use stellar_wire::mrc::{NackReason, Peth};
use stellar_wire::{NakCode, RoceFrame};

use super::control::looks_like_control;
use super::qp::QueuePair;
use super::{Endpoint, Memory, Packet, PayloadPolicy, Transit};
use crate::requester::{Requester, Sack};
use crate::responder::{Answer, WimmExceeded};
use crate::rx::{
    classify_frame, AckBody, AckRequest, Addressing, ControlBody, ControlPacket, DropReason,
    PacketHeaders, PsnTrack, QpMode,
};
use crate::time::Ticks;

impl<M: Memory> Endpoint<M> {
    /// A frame arrived on a port and the MAC found it good. It is given from the destination address to the iCRC.
    pub fn receive(&mut self, port: usize, frame: &[u8], now: Ticks) {
        if !self.arrives(port) {
            return;
        }
        let addressing = Addressing {
            own: self.config.planes[port],
            peer: &|qp| self.qps.get(qp).map(QueuePair::control_peer),
        };
        if looks_like_control(frame) {
            let parsed = RoceFrame::parse_on_port(frame, self.config.rx.udp_port);
            match parsed.ok().as_ref().and_then(ControlPacket::of) {
                Some(_) if !addressing.is_for_us(frame) => {
                    self.lane.refuse(DropReason::ForeignDestination);
                }
                Some(packet) => self.receive_control(port, &packet, now),
                None => self.counters.control_bad += 1,
            }
            return;
        }
        let classified = classify_frame(frame, false, &self.config.rx);
        let classified = addressing.check(frame, classified);
        let outcome = self.lane.receive_classified(frame, classified);
        if self.model.payload == PayloadPolicy::Bytes {
            for tlp in &outcome.tlps {
                self.memory.write(tlp);
            }
        }
        if let Some(headers) = outcome.headers {
            self.receive_data(port, &headers, outcome.reason, outcome.ack, now);
        }
    }

    /// As [`Self::receive`], for a packet that left another card by [`Self::poll_packet`]. No payload is written.
    pub fn receive_packet(&mut self, port: usize, packet: &Packet, transit: Transit, now: Ticks) {
        if !self.arrives(port) {
            return;
        }
        match packet {
            Packet::Data(_) if transit.trimmed => self.lane.refuse(DropReason::BadIcrc),
            Packet::Data(headers) => {
                let marked = transit.marked.then_some(PacketHeaders {
                    ecn_ce: true,
                    ..*headers
                });
                let headers = marked.as_ref().unwrap_or(headers);
                let decision = self.lane.receive_headers(headers);
                self.receive_data(port, headers, decision.reason, decision.ack, now);
            }
            Packet::Control(control) => {
                let marked = transit.marked.then_some(ControlPacket {
                    ecn_ce: true,
                    ..*control
                });
                self.receive_control(port, marked.as_ref().unwrap_or(control), now);
            }
        }
    }

    /// Counts a frame that arrives. Returns whether its port is up.
    fn arrives(&mut self, port: usize) -> bool {
        let up = self.port_up[port];
        if up {
            self.counters.frames_received[port] += 1;
        } else {
            self.counters.frames_while_down += 1;
        }
        up
    }

    /// A data packet about which the lane has decided.
    fn receive_data(
        &mut self,
        port: usize,
        headers: &PacketHeaders,
        reason: DropReason,
        ack: Option<AckRequest>,
        now: Ticks,
    ) {
        self.count_data(headers, reason, ack.is_some());
        let accepted = reason == DropReason::None;
        let exceeded = accepted && self.accept(headers).is_err();
        let due = ack.and_then(|request| match accepted {
            _ if exceeded => Some(refuse_immediate(&request)),
            true => self.coalesce(headers, &request, now),
            false => self.unless_repeated(request, now),
        });
        if let Some(request) = due {
            self.queue_answer(port, &request);
        }
    }

    /// The acknowledgement to send now for an accepted packet.
    fn coalesce(
        &mut self,
        headers: &PacketHeaders,
        request: &AckRequest,
        now: Ticks,
    ) -> Option<AckRequest> {
        let qp = self.qps.get_mut(request.qp)?;
        let due = qp.responder.coalesce(headers, request);
        if due.is_none() && qp.visit.is_none() {
            qp.visit = qp.responder.next_visit(now, self.model.queue_pair_bits());
            self.timers.arm(qp);
        }
        due
    }

    /// The answer to a packet that was not accepted, unless the same has been said just before.
    fn unless_repeated(&mut self, request: AckRequest, now: Ticks) -> Option<AckRequest> {
        let qp = self.qps.get_mut(request.qp)?;
        (!qp.responder.repeats(&request, now)).then_some(request)
    }

    /// Records an accepted packet: completions and counters.
    fn accept(&mut self, headers: &PacketHeaders) -> Result<(), WimmExceeded> {
        let number = headers.dest_qp;
        let (Some(qp), Some(track)) = (self.qps.get_mut(number), self.lane.psn_track(number))
        else {
            return Ok(());
        };
        let accepted = qp.responder.accept(headers, track, &mut qp.cq);
        let count = qp.responder.counter().count();
        // The requester has no error that was not reported: its memory is not needed here.
        let reports = qp.cq.has_lost();
        if accepted.is_err() {
            self.counters.wimm_exceeded += 1;
        }
        if accepted? {
            self.raise(EventKind::ImmThreshold, number, count.into());
        }
        if reports {
            self.report(number);
        }
        Ok(())
    }

    /// Queues the answer to a packet for the plane it came from; a fatal one puts the queue pair in error.
    fn queue_answer(&mut self, port: usize, request: &AckRequest) {
        let Some(qp) = self.qps.get(request.qp) else {
            return;
        };
        let answer = qp.responder.answer(request);
        self.push_answer(port, request.qp, answer);
        let fatal = match request.body {
            AckBody::Nak { code, .. } => code != NakCode::PsnSequenceError,
            AckBody::Nack { reason, .. } => reason == NackReason::UnexpectedEvent,
            AckBody::Ack { .. } | AckBody::Sack { .. } => false,
        };
        if fatal {
            self.fail_receive_side(request.qp);
        }
    }

    pub(super) fn push_answer(&mut self, port: usize, qp: u32, answer: Answer) {
        self.count_answer(qp, &answer);
        let plane = if self.port_up[port] { port } else { 1 - port };
        self.answers[plane].push_back((qp, answer));
    }

    fn receive_control(&mut self, port: usize, packet: &ControlPacket, now: Ticks) {
        let number = packet.dest_qp;
        let Some(qp) = self.qps.get(number).filter(|qp| !qp.failed) else {
            self.counters.control_unknown_qp += 1;
            return;
        };
        if !qp.control_peer().sent(packet) {
            self.counters.control_foreign += 1;
            return;
        }
        match &packet.body {
            ControlBody::Probe(peth) => self.receive_probe(port, packet, peth),
            ControlBody::Sack { seth, cc } => {
                let good = self.with_requester(number, |requester, card| match requester {
                    Requester::Mrc(mrc) => mrc.on_sack(Sack { seth, cc }, now, card),
                    // It is the answer to a probe of its path policy.
                    Requester::Rc(rc) => {
                        rc.on_probe_answer(Sack { seth, cc }, now, card);
                        None
                    }
                });
                if let (Some(index), Some(qp)) = (good.flatten(), self.qps.get_mut(number)) {
                    qp.reverse.note_good(index.plane(), seth.entropy, now);
                }
            }
            ControlBody::Nack(neth) => {
                self.with_requester(number, |requester, card| {
                    if let Requester::Mrc(mrc) = requester {
                        mrc.on_nack(neth, now, card);
                    }
                });
            }
            ControlBody::TransportAck(aeth) => {
                self.with_requester(number, |requester, card| {
                    if let Requester::Mrc(mrc) = requester {
                        mrc.on_transport_ack(packet.psn, aeth, card);
                    }
                });
            }
            ControlBody::Ack(aeth) => {
                self.with_requester(number, |requester, card| {
                    if let Requester::Rc(rc) = requester {
                        rc.on_ack(packet.psn, aeth, now, card);
                    }
                });
            }
        }
        self.wake(number);
    }

    fn receive_probe(&mut self, port: usize, packet: &ControlPacket, peth: &Peth) {
        let number = packet.dest_qp;
        let Some(qp) = self.qps.get(number) else {
            return;
        };
        // RC has no window: what has arrived is what is before the expected PSN.
        let in_order;
        let track = match qp.mode {
            QpMode::Mrc => self.lane.psn_track(number),
            QpMode::Rc => {
                in_order = self.lane.rc_expected(number).map(PsnTrack::new);
                in_order.as_ref()
            }
        };
        let Some(track) = track else {
            return;
        };
        let answer = qp
            .responder
            .answer_probe(peth, packet.entropy, packet.ecn_ce, track);
        self.count_probe(number, packet.ecn_ce);
        self.push_answer(port, number, answer);
    }
}

/// The fatal NACK that replaces the acknowledgement of a packet.
fn refuse_immediate(request: &AckRequest) -> AckRequest {
    AckRequest {
        body: AckBody::Nack {
            psn: request.body.psn(),
            reason: NackReason::UnexpectedEvent,
        },
        ..*request
    }
}
