//! From the packets of requesters and responders to those that leave by a port.

use stellar_wire::mrc::Entropy;
use stellar_wire::Position;

use super::framing::{frame_length, headers_length};
use super::qp::QueuePair;
use super::{Departure, EndpointConfig, Packet};
use crate::requester::{RequestExt, RequestPacket};
use crate::responder::Answer;
use crate::rx::{ControlBody, ControlPacket, PacketHeaders, Psn, QpMode};
use crate::spray::{EvIndex, Path};
use crate::time::Ticks;

/// What a queue pair sends next.
pub(super) enum Leaving<'a> {
    Answer(&'a Answer),
    Request(&'a RequestPacket),
}

/// A queue pair at a port: what all its packets there share.
pub(super) struct Line<'a> {
    config: &'a EndpointConfig,
    qp: &'a QueuePair,
    port: usize,
}

impl<'a> Line<'a> {
    pub const fn new(config: &'a EndpointConfig, qp: &'a QueuePair, port: usize) -> Self {
        Self { config, qp, port }
    }

    /// The packet that leaves now.
    #[inline(always)]
    pub fn departure_of(&self, leaving: &Leaving<'_>, now: Ticks) -> Departure {
        match leaving {
            Leaving::Answer(answer) => self.answer(answer, now),
            Leaving::Request(packet) => self.request(packet),
        }
    }

    /// An acknowledgement that leaves now.
    fn answer(&self, answer: &Answer, now: Ticks) -> Departure {
        // An RC queue pair answers on its one path, whatever path the packet took.
        let known_good = match self.qp.mode {
            QpMode::Mrc => self.qp.reverse.pick(self.port as u8, now),
            QpMode::Rc => None,
        };
        let entropy = known_good.unwrap_or(answer.reflected);
        self.control(answer.body, answer.psn, entropy)
    }

    /// A data packet or a probe.
    fn request(&self, packet: &RequestPacket) -> Departure {
        let ext = match packet.ext {
            RequestExt::Probe(peth) => {
                let body = ControlBody::Probe(peth);
                return self.control(body, packet.psn, packet.entropy);
            }
            RequestExt::Write(ext) => ext,
        };
        let local = &self.config.planes[self.port];
        let payload_offset = headers_length(local, packet.opcode, ext.tseth.is_some());
        self.departure(Packet::Data(PacketHeaders {
            mode: self.qp.mode,
            refused: false,
            position: packet.opcode.position().unwrap_or(Position::Only),
            reth: ext.reth,
            immediate: ext.imm.map(|imm| imm.0),
            meth: ext.meth,
            timestamp: ext.tseth.map(|tseth| tseth.tx_timestamp),
            ack_req: packet.ack_req,
            solicited: false,
            retransmission: packet.retransmission,
            pkey: self.qp.pkey,
            dest_qp: self.qp.peer.qp,
            psn: packet.psn,
            ecn_ce: false,
            entropy: packet.entropy,
            payload_offset: payload_offset as u8,
            payload_length: packet.length,
        }))
    }

    fn control(&self, body: ControlBody, psn: Psn, entropy: Entropy) -> Departure {
        self.departure(Packet::Control(ControlPacket {
            body,
            pkey: self.qp.pkey,
            dest_qp: self.qp.peer.qp,
            psn,
            source: self.config.planes[self.port].ip,
            entropy,
            ecn_ce: false,
        }))
    }

    #[inline(always)]
    fn departure(&self, packet: Packet) -> Departure {
        let headers = match &packet {
            Packet::Data(data) => data.payload_offset.into(),
            Packet::Control(control) => {
                let local = &self.config.planes[self.port];
                headers_length(local, control.body.opcode(), false)
            }
        };
        let entropy = packet.entropy();
        let plane = self.port as u8;
        let path = |index| Path {
            index,
            plane,
            entropy,
        };
        // The outer address follows from plane and entropy value alone; any index of the plane names the path.
        let outer = self.qp.srv6.as_ref().and_then(|template| {
            let index = EvIndex::new(plane)?;
            Some(template.container(&path(index)))
        });
        Departure {
            qp: self.qp.number,
            frame_length: frame_length(headers, packet.payload_and_pad(), outer.is_some()),
            outer,
            packet,
        }
    }
}
