//! Headers of a good frame.

use stellar_wire::mrc::{Entropy, Meth, Tseth};
use stellar_wire::{icrc, ExtHeaders, ImmDt, Opcode, Position, Reth};

use super::{Psn, QpMode};

/// Headers of one good RDMA WRITE packet, or of an RC request that is to be refused, as far as the lane uses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketHeaders {
    /// Family of the opcode: RC or MRC (C6 to CB).
    pub mode: QpMode,
    /// RC request other than WRITE: SEND, READ, atomics. The lane does not parse what follows its BTH: position, extension headers and
    /// payload are undefined, and `payload_length` is 0.
    pub refused: bool,
    pub position: Position,
    /// Present in every MRC packet, and in RC first and only.
    pub reth: Option<Reth>,
    pub immediate: Option<u32>,
    /// MRC message numbers.
    pub meth: Option<Meth>,
    /// MRC transmit timestamp (TSETH).
    pub timestamp: Option<u16>,
    pub ack_req: bool,
    pub solicited: bool,
    /// MRC RTX bit; that bit is reserved in RC and reads false.
    pub retransmission: bool,
    pub pkey: u16,
    /// 24 bits.
    pub dest_qp: u32,
    pub psn: Psn,
    /// Congestion experienced on the inner or the outer IP header.
    pub ecn_ce: bool,
    /// UDP source port, and for IPv6 the low 16 bits of the inner flow label above it.
    pub entropy: Entropy,
    /// Bytes from the start of the (inner) IP header to the payload.
    pub payload_offset: u8,
    /// Bytes of payload, pad excluded, 0 to 8,192.
    pub payload_length: u16,
}

impl PacketHeaders {
    /// Payload length in the type of addresses.
    pub fn payload_bytes(&self) -> u64 {
        u64::from(self.payload_length)
    }

    /// The opcode of a packet that is not refused.
    #[inline]
    pub const fn opcode(&self) -> Opcode {
        write_opcode(self.mode, self.position, self.immediate.is_some())
    }

    /// The extension headers as a set.
    pub fn extension_headers(&self) -> ExtHeaders {
        ExtHeaders {
            meth: self.meth,
            tseth: self.timestamp.map(|tx_timestamp| Tseth {
                tx_timestamp,
                own_resolution: false,
                format: Tseth::FORMAT_TICKS,
            }),
            reth: self.reth,
            imm: self.immediate.map(ImmDt),
            ..ExtHeaders::default()
        }
    }

    /// DMALen of the RETH, 0 without one.
    pub fn dma_length(&self) -> u32 {
        self.reth.map_or(0, |reth| reth.dma_len)
    }

    /// The payload within the frame these headers came from: it ends before pad and iCRC, which end the frame.
    pub fn payload<'a>(&self, frame: &'a [u8]) -> &'a [u8] {
        let length = usize::from(self.payload_length);
        let end = frame.len() - icrc::LEN - length.wrapping_neg() % 4;
        &frame[end - length..end]
    }
}

/// The opcode of an RDMA WRITE packet; only the last packet of a message has immediate data.
#[inline]
pub(crate) const fn write_opcode(mode: QpMode, position: Position, immediate: bool) -> Opcode {
    match (mode, position, immediate) {
        (QpMode::Mrc, Position::First, _) => Opcode::MrcWriteFirst,
        (QpMode::Mrc, Position::Middle, _) => Opcode::MrcWriteMiddle,
        (QpMode::Mrc, Position::Last, false) => Opcode::MrcWriteLast,
        (QpMode::Mrc, Position::Last, true) => Opcode::MrcWriteLastImm,
        (QpMode::Mrc, Position::Only, false) => Opcode::MrcWriteOnly,
        (QpMode::Mrc, Position::Only, true) => Opcode::MrcWriteOnlyImm,
        (QpMode::Rc, Position::First, _) => Opcode::RcWriteFirst,
        (QpMode::Rc, Position::Middle, _) => Opcode::RcWriteMiddle,
        (QpMode::Rc, Position::Last, false) => Opcode::RcWriteLast,
        (QpMode::Rc, Position::Last, true) => Opcode::RcWriteLastImm,
        (QpMode::Rc, Position::Only, false) => Opcode::RcWriteOnly,
        (QpMode::Rc, Position::Only, true) => Opcode::RcWriteOnlyImm,
    }
}
