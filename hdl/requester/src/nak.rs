//! Syndromes of an AETH (reference: `stellar_wire::Syndrome`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::host::WcStatus;
use stellar_wire::NakCode;

/// Bits 7:5 of an ACK, of an RNR NAK and of a NAK. Bits 4:0 of a NAK are its code, those of an RNR NAK the code of a time.
pub const ACK: u64 = 0b000;
pub const RNR_NAK: u64 = 0b001;
pub const NAK: u64 = 0b011;
/// Highest NAK code that is defined.
pub const LAST_CODE: u64 = NakCode::InvalidRdRequest.code() as u64;

/// Returns whether a syndrome refuses a packet for good. Levels: 2.
#[hdl_fn]
pub fn refuses(syndrome: Bits<8>) -> Bit {
    let code = syndrome.get_bits::<5>(0);
    (syndrome.get_bits::<3>(5) == NAK)
        & (code <= LAST_CODE)
        & (code != (NakCode::PsnSequenceError.code() as u64))
}

/// Returns the completion status of a message that was refused with a NAK. Levels: 1.
#[hdl_fn]
pub fn refusal(code: Bits<5>) -> Bits<8> {
    if code == (NakCode::RemoteAccessError.code() as u64) {
        bits::<8>(WcStatus::RemAccessErr.code() as u64)
    } else if code == (NakCode::InvalidRequest.code() as u64) {
        bits::<8>(WcStatus::RemInvReqErr.code() as u64)
    } else {
        bits::<8>(WcStatus::RemOpErr.code() as u64)
    }
}
