//! Each extension header as bytes.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::layout::{aeth, cc_state, meth, neth, peth, reth, seth, tseth};
use stellar_wire::hw::tx::{
    TxAeth, TxCcState, TxMeth, TxNeth, TxPeth, TxReflection, TxReth, TxSeth, TxTimestamp,
};
use stellar_wire::mrc::Seth;
use stellar_wire::Header;

use crate::wire_order::{with_field, with_flag};

/// METH, 4 bytes.
#[hdl_fn]
pub fn meth_bytes(record: TxMeth) -> Bits<32> {
    let rqmsn = with_field(bits::<32>(0), meth::RQMSN, record.rqmsn);
    with_field(rqmsn, meth::MSN, record.msn)
}

/// TSETH, 4 bytes.
#[hdl_fn]
pub fn tseth_bytes(record: TxTimestamp) -> Bits<32> {
    let value = with_field(bits::<32>(0), tseth::TIMESTAMP, record.value);
    let unit = with_flag(value, tseth::RESOLUTION, 7, record.own_resolution);
    unit | (bit_cast::<32, 4>(record.format) << ((8 * tseth::FORMAT) as u64))
}

/// RETH, 16 bytes.
#[hdl_fn]
pub fn reth_bytes(record: TxReth) -> Bits<128> {
    let va = with_field(bits::<128>(0), reth::VA, record.va);
    let rkey = with_field(va, reth::RKEY, record.rkey);
    with_field(rkey, reth::DMA_LENGTH, record.dma_length)
}

/// AETH, 4 bytes.
#[hdl_fn]
pub fn aeth_bytes(record: TxAeth) -> Bits<32> {
    let syndrome = with_field(bits::<32>(0), aeth::SYNDROME, record.syndrome);
    with_field(syndrome, aeth::MSN, record.msn)
}

/// SETH and CC_STATE, 36 bytes.
#[hdl_fn]
pub fn seth_bytes(record: TxSeth, path: TxReflection, state: TxCcState) -> Bits<288> {
    let none = bits::<288>(0);
    let hint = none | (bit_cast::<288, 2>(record.path_hint) << ((8 * seth::FLAGS + 5) as u64));
    let flags = with_flag(hint, seth::FLAGS, 1, record.probe_response);
    let offset = with_field(flags, seth::ACK_PSN_OFFSET, record.ack_psn_offset);
    let entropy = with_field(offset, seth::ENTROPY, path.entropy);
    let source = with_field(entropy, seth::SOURCE_CONTEXT, path.source_context);
    let contexts = with_field(source, seth::DESTINATION_CONTEXT, path.destination_context);
    let psn = with_field(contexts, seth::CACK_PSN, record.cack_psn);
    let congestion = with_field(psn, seth::CONGESTION, path.congestion);
    let mpr = with_field(congestion, seth::MPR, record.mpr);
    let sack = with_field(mpr, seth::SACK_OFFSET, record.sack_offset);
    let bitmap = with_field(sack, seth::BITMAP, record.bitmap);

    let stamp = with_field(bitmap, Seth::LEN + cc_state::TIMESTAMP, state.timestamp);
    let count = bit_cast::<16, 15>(state.ooo_count);
    let counted = with_field(stamp, Seth::LEN + cc_state::OOO_COUNT, count);
    let penalty = bit_cast::<8, 7>(state.rcv_cwnd_pen);
    let punished = with_field(counted, Seth::LEN + cc_state::PENALTY, penalty);
    let restored = with_flag(
        punished,
        Seth::LEN + cc_state::PENALTY,
        7,
        state.restore_cwnd,
    );
    with_field(
        restored,
        Seth::LEN + cc_state::RECEIVED_BYTES,
        state.rcvd_bytes,
    )
}

/// NETH, 20 bytes.
#[hdl_fn]
pub fn neth_bytes(record: TxNeth, path: TxReflection) -> Bits<160> {
    let reason = with_field(bits::<160>(0), neth::REASON, record.reason);
    let vendor = with_field(reason, neth::VENDOR_INFO, record.vendor_info);
    let entropy = with_field(vendor, neth::ENTROPY, path.entropy);
    let source = with_field(entropy, neth::SOURCE_CONTEXT, path.source_context);
    let contexts = with_field(source, neth::DESTINATION_CONTEXT, path.destination_context);
    let psn = with_field(contexts, neth::NACK_PSN, record.nack_psn);
    let congestion = with_field(psn, neth::CONGESTION, path.congestion);
    with_field(congestion, neth::TIMESTAMP, record.timestamp)
}

/// PETH, 16 bytes.
#[hdl_fn]
pub fn peth_bytes(record: TxPeth, path: TxReflection, stamp: TxTimestamp) -> Bits<128> {
    let vendor = with_field(bits::<128>(0), peth::VENDOR_INFO, record.vendor_info);
    let probe = with_field(vendor, peth::PROBE_ID, record.probe_id);
    let source = with_field(probe, peth::SOURCE_CONTEXT, path.source_context);
    let contexts = with_field(source, peth::DESTINATION_CONTEXT, path.destination_context);
    contexts | (bit_cast::<128, 32>(tseth_bytes(stamp)) << ((8 * peth::TSETH) as u64))
}
