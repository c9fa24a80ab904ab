//! Transmission of frames.

use stellar_wire::mrc::Entropy;
use stellar_wire::{Bth, Ecn};

use super::framing::FrameSpec;
use super::qp::QueuePair;
use super::{Endpoint, EndpointConfig, Memory, MemoryFault};
use crate::requester::{Payload, RequestPacket};
use crate::responder::Answer;
use crate::rx::QpMode;
use crate::spray::{EvIndex, Path};
use crate::time::Ticks;

impl<M: Memory> Endpoint<M> {
    /// The next frame for a port that is free now: acknowledgements first, then packets of the queue pairs in turn. `None` stays so until
    /// something is received or posted, or a timer expires.
    pub fn poll_transmit(&mut self, port: usize, now: Ticks) -> Option<Vec<u8>> {
        if !self.port_up[port] {
            return None;
        }
        let frame = self
            .next_answer(port)
            .or_else(|| self.next_request(port, now))?;
        self.counters.frames_sent[port] += 1;
        Some(frame)
    }

    fn next_answer(&mut self, port: usize) -> Option<Vec<u8>> {
        let (number, answer) = self.answers[port].pop_front()?;
        let qp = self.qps.get(&number)?;
        self.counters.control_sent += 1;
        frame_answer(&self.config, qp, port, &answer)
            .build(0, |_| Ok(()))
            .ok()
    }

    fn next_request(&mut self, port: usize, now: Ticks) -> Option<Vec<u8>> {
        while let Some(number) = self.schedules[port].front() {
            let packet = self.with_requester(number, |requester, card| {
                requester.transmit(port as u8, now, card)
            });
            let Some(packet) = packet.flatten() else {
                self.schedules[port].park();
                continue;
            };
            self.schedules[port].served();
            match self.frame_request(number, port, &packet) {
                Some(Ok(frame)) => return Some(frame),
                Some(Err(_)) => self.unreadable(number, &packet),
                None => {}
            }
        }
        None
    }

    fn frame_request(
        &mut self,
        number: u32,
        port: usize,
        packet: &RequestPacket,
    ) -> Option<Result<Vec<u8>, MemoryFault>> {
        let qp = self.qps.get(&number)?;
        let spec = frame_request(&self.config, qp, port, packet);
        let memory = &mut self.memory;
        Some(
            spec.build(packet.length.into(), |into| match &packet.payload {
                Payload::Inline(bytes) => {
                    into.copy_from_slice(&bytes[..into.len()]);
                    Ok(())
                }
                Payload::Memory(pieces) => {
                    let mut rest = into;
                    for piece in pieces {
                        let (part, after) = rest.split_at_mut(piece.length);
                        memory.read(piece.address, piece.translated, part)?;
                        rest = after;
                    }
                    Ok(())
                }
            }),
        )
    }

    /// The payload of a packet cannot be read: its message fails.
    fn unreadable(&mut self, number: u32, packet: &RequestPacket) {
        if let Some(slot) = packet.slot {
            self.with_requester(number, |requester, card| requester.local_fault(slot, card));
        }
    }
}

fn frame_answer(
    config: &EndpointConfig,
    qp: &QueuePair,
    port: usize,
    answer: &Answer,
) -> FrameSpec {
    // An RC queue pair answers on its one path, whatever path the packet took.
    let entropy = match qp.mode {
        QpMode::Mrc => qp.reverse.pick(port as u8),
        QpMode::Rc => None,
    }
    .unwrap_or(answer.reflected);
    FrameSpec {
        dscp: config.control_dscp,
        ecn: Ecn::NotEct,
        bth: Bth {
            opcode: answer.opcode,
            pkey: qp.pkey,
            dest_qp: qp.peer.qp,
            psn: answer.psn.value(),
            ..Bth::default()
        },
        ext: answer.ext,
        ..frame(config, qp, port, entropy)
    }
}

fn frame_request(
    config: &EndpointConfig,
    qp: &QueuePair,
    port: usize,
    packet: &RequestPacket,
) -> FrameSpec {
    FrameSpec {
        dscp: config.data_dscp,
        ecn: Ecn::Ect0,
        bth: Bth {
            opcode: packet.opcode,
            pkey: qp.pkey,
            dest_qp: qp.peer.qp,
            ack_req: packet.ack_req,
            retransmit: packet.retransmission,
            psn: packet.psn.value(),
            ..Bth::default()
        },
        ext: packet.ext.headers(),
        ..frame(config, qp, port, packet.entropy)
    }
}

/// The part that all frames of a queue pair on a port share.
fn frame(config: &EndpointConfig, qp: &QueuePair, port: usize, entropy: Entropy) -> FrameSpec {
    let path = |index| Path {
        index,
        plane: port as u8,
        entropy,
    };
    FrameSpec {
        local: config.planes[port],
        peer: qp.peer.planes[port],
        udp_port: config.rx.udp_port,
        dscp: 0,
        ecn: Ecn::NotEct,
        entropy,
        // The outer address follows from plane and entropy value alone; any index of the plane names the path.
        srv6: qp
            .srv6
            .as_ref()
            .zip(EvIndex::new(port as u8))
            .map(|(template, index)| template.container(&path(index))),
        bth: Bth::default(),
        ext: stellar_wire::ExtHeaders::default(),
    }
}
