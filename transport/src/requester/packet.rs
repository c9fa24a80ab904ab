//! A request packet ready to be framed.

use stellar_wire::mrc::{Entropy, Meth, Peth, Tseth};
use stellar_wire::{ExtHeaders, ImmDt, Opcode, Reth};

use super::{Payload, QpIdentity};
use crate::rx::{Pieces, Psn};
use crate::spray::EvIndex;
use crate::time::Ticks;

/// A packet as the requester passes it to framing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestPacket {
    pub opcode: Opcode,
    pub psn: Psn,
    pub ack_req: bool,
    /// MRC RTX bit.
    pub retransmission: bool,
    pub ext: RequestExt,
    pub payload: Payload,
    /// Payload bytes.
    pub length: u16,
    /// Entropy value: the path in the fabric.
    pub entropy: Entropy,
    /// Index of the path in the queue pair; `None` on an RC queue pair that has one path.
    pub ev: Option<EvIndex>,
    /// Send queue index of its message. It is `None` for a probe, which belongs to no message.
    pub slot: Option<u16>,
}

/// A path that is probed, with its entropy value.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbedPath {
    pub index: EvIndex,
    pub entropy: Entropy,
    /// The answer tells early loss detection what is lost.
    pub is_tail: bool,
}

impl RequestPacket {
    /// A probe that leaves now, behind the packet `last`.
    pub(super) fn probe(qp: &QpIdentity, path: ProbedPath, last: Psn, now: Ticks) -> Self {
        let ProbedPath {
            index,
            entropy,
            is_tail,
        } = path;
        let peth = Peth {
            vendor_info: 0,
            probe_id: u16::from(index.value()) | if is_tail { Peth::TAIL_PROBE } else { 0 },
            src_context: qp.local as u16,
            dst_context: qp.peer as u16,
            timestamp: time_stamp(now),
        };
        Self {
            opcode: Opcode::MrcProbe,
            psn: last,
            ack_req: false,
            retransmission: false,
            ext: RequestExt::Probe(peth),
            payload: Payload::Memory(Pieces::new()),
            length: 0,
            entropy,
            ev: Some(index),
            slot: None,
        }
    }
}

/// The time stamp of a packet that leaves now.
pub(super) const fn time_stamp(now: Ticks) -> Tseth {
    Tseth {
        tx_timestamp: now.stamp(),
        own_resolution: false,
        format: Tseth::FORMAT_TICKS,
    }
}

/// The extension headers that a request can have. It is far smaller than [`ExtHeaders`], which has space for every extension header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestExt {
    Write(WriteExt),
    Probe(Peth),
}

/// Extension headers of an RDMA WRITE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteExt {
    pub meth: Option<Meth>,
    pub tseth: Option<Tseth>,
    pub reth: Option<Reth>,
    pub imm: Option<ImmDt>,
}

impl RequestExt {
    /// The headers as a set.
    pub fn headers(&self) -> ExtHeaders {
        match *self {
            Self::Write(WriteExt {
                meth,
                tseth,
                reth,
                imm,
            }) => ExtHeaders {
                meth,
                tseth,
                reth,
                imm,
                ..ExtHeaders::default()
            },
            Self::Probe(peth) => ExtHeaders {
                peth: Some(peth),
                ..ExtHeaders::default()
            },
        }
    }
}
