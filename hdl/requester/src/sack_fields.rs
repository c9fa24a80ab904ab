//! What the fields of a SACK say.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::requester::ControlPacket;
use stellar_wire::hw::spray::SprayFeedback;
use stellar_wire::hw::tx::TxSeth;
use stellar_wire::hw::window::{WindowOp, WindowRequest};
use stellar_wire::hw::{Psn, Qpn};
use stellar_wire::mrc::PathHint;

/// log2 of the unit of the MPR field: 128 packets.
const MPR_SHIFT: u64 = 7;

/// Adds a signed offset to a PSN. Levels: a carry chain.
#[hdl_fn]
pub fn offset(psn: Psn, by: Bits<16>) -> Psn {
    let sign = if by.get_bit(15) {
        bits::<24>(0xff_0000)
    } else {
        bits::<24>(0)
    };
    psn + (bit_cast::<24, 16>(by) | sign)
}

/// Returns the PSN that caused the SACK. A response to a probe names none, because its offset field holds the probe's identifier. Levels: 1 behind a carry
/// chain.
#[hdl_fn]
pub fn answered_psn(seth: TxSeth) -> Psn {
    if seth.probe_response {
        seth.cack_psn
    } else {
        offset(seth.cack_psn, seth.ack_psn_offset)
    }
}

/// Returns the request with which the transmit window processes the SACK. Levels: 1 behind a carry chain.
#[hdl_fn]
pub fn sack_request(qp: Qpn, control: ControlPacket) -> WindowRequest {
    WindowRequest {
        op: WindowOp::Sack,
        qp,
        cack: control.seth.cack_psn,
        acked: answered_psn(control.seth),
        base: offset(control.seth.cack_psn, control.seth.sack_offset),
        bitmap: control.seth.bitmap,
        stamp: control.cc_state.timestamp,
        ..WindowRequest::default()
    }
}

/// Returns what the SACK says of the path whose entropy value it reflects. Levels: 1.
#[hdl_fn]
pub fn path_hint(seth: TxSeth) -> SprayFeedback {
    if seth.path_hint == (PathHint::Good.code() as u64) {
        SprayFeedback::Good
    } else if seth.path_hint == (PathHint::SkipOnce.code() as u64) {
        SprayFeedback::Skip
    } else {
        SprayFeedback::AlwaysSkip
    }
}

/// Returns the MPR of the SACK, at most that of the queue pair. Levels: a carry chain and 1.
#[hdl_fn]
pub fn limited_mpr(seth: TxSeth, most: Bits<13>) -> Bits<13> {
    let named = bit_cast::<16, 8>(seth.mpr) << MPR_SHIFT;
    if named < bit_cast::<16, 13>(most) {
        named.get_bits::<13>(0)
    } else {
        most
    }
}
