//! Reception of frames.

use stellar_wire::host::EventKind;
use stellar_wire::mrc::{NackReason, PathHint};
use stellar_wire::{NakCode, Opcode, RoceFrame};

use super::control::{is_from_peer, is_marked, looks_like_control};
use super::{Endpoint, Memory};
use crate::requester::{Requester, Sack};
use crate::responder::{Answer, WimmExceeded};
use crate::rx::{AckBody, AckRequest, DropReason, PacketHeaders, Psn};
use crate::time::Ticks;

impl<M: Memory> Endpoint<M> {
    /// A frame arrived on a port and the MAC found it good. It is given from the destination address to the iCRC.
    pub fn receive(&mut self, port: usize, frame: &[u8], now: Ticks) {
        if !self.port_up[port] {
            self.counters.frames_while_down += 1;
            return;
        }
        self.counters.frames_received[port] += 1;
        if looks_like_control(frame) {
            match RoceFrame::parse_on_port(frame, self.config.rx.udp_port) {
                Ok(frame) => self.receive_control(port, &frame, now),
                Err(_) => self.counters.control_bad += 1,
            }
        } else {
            self.receive_data(port, frame);
        }
    }

    fn receive_data(&mut self, port: usize, frame: &[u8]) {
        let outcome = self.lane.receive(frame);
        for tlp in &outcome.tlps {
            self.memory.write(tlp);
        }
        let Some(headers) = outcome.headers else {
            return;
        };
        let accepted = outcome.reason == DropReason::None;
        let exceeded = accepted && self.accept(&headers).is_err();
        let due = outcome.ack.and_then(|request| match accepted {
            _ if exceeded => Some(refuse_immediate(&request)),
            true => self.coalesce(&headers, &request),
            false => Some(request),
        });
        if let Some(request) = due {
            self.queue_answer(port, &request);
        }
    }

    /// The acknowledgement to send now for an accepted packet.
    fn coalesce(&mut self, headers: &PacketHeaders, request: &AckRequest) -> Option<AckRequest> {
        let qp = self.qps.get_mut(&request.qp)?;
        qp.responder.coalesce(headers, request)
    }

    /// Records an accepted packet: completions and counters.
    fn accept(&mut self, headers: &PacketHeaders) -> Result<(), WimmExceeded> {
        let number = headers.dest_qp;
        let (Some(qp), Some(track)) = (self.qps.get_mut(&number), self.lane.psn_track(number))
        else {
            return Ok(());
        };
        let accepted = qp.responder.accept(headers, track, &mut qp.cq);
        let count = qp.responder.counter().count();
        if accepted.is_err() {
            self.counters.wimm_exceeded += 1;
        }
        if accepted? {
            self.raise(EventKind::ImmThreshold, number, count.into());
        }
        self.report(number);
        Ok(())
    }

    /// Queues the answer to a packet for the plane it came from; a fatal one puts the queue pair in error.
    fn queue_answer(&mut self, port: usize, request: &AckRequest) {
        let Some(qp) = self.qps.get(&request.qp) else {
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

    fn push_answer(&mut self, port: usize, qp: u32, answer: Answer) {
        let plane = if self.port_up[port] { port } else { 1 - port };
        self.answers[plane].push_back((qp, answer));
    }

    fn receive_control(&mut self, port: usize, frame: &RoceFrame, now: Ticks) {
        let number = frame.bth.dest_qp;
        let Some(qp) = self.qps.get_mut(&number).filter(|qp| !qp.failed) else {
            self.counters.control_unknown_qp += 1;
            return;
        };
        if !is_from_peer(frame, qp) {
            self.counters.control_foreign += 1;
            return;
        }
        let ext = &frame.ext;
        match frame.bth.opcode {
            Opcode::MrcProbe => self.receive_probe(port, frame),
            Opcode::MrcSack => {
                if let (Some(seth), Some(cc)) = (&ext.seth, &ext.cc_state) {
                    if let Requester::Mrc(mrc) = &mut qp.requester {
                        let index = mrc.spray_mut().index_of(seth.entropy);
                        let good = seth.path_hint == PathHint::Good;
                        if let Some(index) = index.filter(|_| good) {
                            qp.reverse.note_good(index.plane(), seth.entropy);
                        }
                    }
                    self.with_requester(number, |requester, card| {
                        if let Requester::Mrc(mrc) = requester {
                            mrc.on_sack(Sack { seth, cc }, now, card);
                        }
                    });
                }
            }
            Opcode::MrcNack => {
                if let Some(neth) = &ext.neth {
                    self.with_requester(number, |requester, card| {
                        if let Requester::Mrc(mrc) = requester {
                            mrc.on_nack(neth, card);
                        }
                    });
                }
            }
            _ => {
                if let Some(aeth) = &ext.aeth {
                    let psn = Psn::new(frame.bth.psn);
                    self.with_requester(number, |requester, card| {
                        if let Requester::Rc(rc) = requester {
                            rc.on_ack(psn, aeth, now, card);
                        }
                    });
                }
            }
        }
        self.wake(number);
    }

    fn receive_probe(&mut self, port: usize, frame: &RoceFrame) {
        let number = frame.bth.dest_qp;
        let (Some(qp), Some(track), Some(peth)) = (
            self.qps.get(&number),
            self.lane.psn_track(number),
            &frame.ext.peth,
        ) else {
            return;
        };
        let entropy = stellar_wire::mrc::Entropy::of(&frame.ip, &frame.udp);
        let answer = qp
            .responder
            .answer_probe(peth, entropy, is_marked(frame), track);
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
