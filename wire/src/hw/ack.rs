//! Acknowledgement requests of the receive lane to the transmit side.

use super::frame::DropReason;
use super::numbers::Qpn;
use rust_hdl::prelude::*;

pub use crate::receive::AckKind;

/// One acknowledgement request.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct AckRequest {
    pub kind: AckKind,
    /// Why a NAK, NACK or repeated acknowledgement is requested.
    pub reason: DropReason,
    /// Local QP number: the transmit side looks up the peer there.
    pub qp: Qpn,
    /// PSN for BTH or SETH/NETH. RC ACK: the last PSN received in order. RC NAK: the expected PSN. MRC: the packet's own PSN.
    pub psn: Bits<24>,
    /// AETH.MSN (RC).
    pub msn: Bits<24>,
    /// AETH syndrome, or NETH reason.
    pub syndrome: Bits<8>,
    /// MRC: highest PSN before the first gap (expected PSN - 1).
    pub cack_psn: Bits<24>,
    /// MRC: PSN of bit 0 of `bitmap`, a multiple of 64.
    pub bitmap_base: Bits<24>,
    /// MRC: bit i set = PSN `bitmap_base + i` received (bits below the expected PSN are set too).
    pub bitmap: Bits<64>,
    /// The packet arrived with congestion experienced (SETH.M = SKIP_ONCE).
    pub ecn_ce: Bit,
    /// Entropy value to reflect.
    pub entropy: Bits<32>,
    /// The packet carried a timestamp, and its value.
    pub has_timestamp: Bit,
    pub timestamp: Bits<16>,
}
