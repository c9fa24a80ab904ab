//! A request packet ready to be framed.

use stellar_wire::mrc::Entropy;
use stellar_wire::{ExtHeaders, Opcode};

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
    pub ext: ExtHeaders,
    pub payload: Payload,
    /// Payload bytes.
    pub length: u16,
    /// Entropy value: the path in the fabric.
    pub entropy: Entropy,
    /// Index of the path in the queue pair; `None` on an RC queue pair, which has one path.
    pub ev: Option<EvIndex>,
    /// Send queue index of its message; `None` for a probe, which belongs to none.
    pub slot: Option<u16>,
}
