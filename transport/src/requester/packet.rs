//! A request packet ready to be framed.

use stellar_wire::mrc::{Entropy, Meth, Peth, Tseth};
use stellar_wire::{ExtHeaders, ImmDt, Opcode, Reth};

use super::Payload;
use crate::rx::Psn;
use crate::spray::EvIndex;

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
    /// Index of the path in the queue pair; `None` on an RC queue pair, which has one path.
    pub ev: Option<EvIndex>,
    /// Send queue index of its message. It is `None` for a probe, which belongs to no message.
    pub slot: Option<u16>,
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
