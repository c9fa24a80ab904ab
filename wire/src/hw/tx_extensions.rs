//! [`TxExtensions`] to and from [`ExtHeaders`].

use super::tx::*;
use super::tx_frame::{narrow, number, TxFrameError};
use crate::mrc::{
    CcState, CongestionTag, Entropy, Meth, NackReason, Neth, PathHint, Peth, Seth, Tseth,
};
use crate::{Aeth, ExtHeaders, ExtKind, ImmDt, Opcode, Reth, Syndrome};

fn timestamp_record(stamp: Tseth) -> TxTimestamp {
    TxTimestamp {
        value: narrow(stamp.tx_timestamp),
        own_resolution: stamp.own_resolution,
        format: narrow(stamp.format),
    }
}

fn reflection(entropy: Entropy, source: u16, destination: u16, tag: CongestionTag) -> TxReflection {
    TxReflection {
        entropy: narrow(entropy.0),
        source_context: narrow(source),
        destination_context: narrow(destination),
        congestion: narrow(tag.cc_type << 4 | tag.cc_flags),
    }
}

/// Converts the extension headers to a record. Headers that the lane cannot send are left out.
pub(super) fn extensions_record(ext: &ExtHeaders) -> TxExtensions {
    let mut record = TxExtensions::default();
    if let Some(meth) = ext.meth {
        record.meth = TxMeth {
            rqmsn: narrow(meth.rqmsn),
            msn: narrow(meth.msn),
        };
    }
    if let Some(stamp) = ext.tseth {
        record.timestamped = true;
        record.timestamp = timestamp_record(stamp);
    }
    if let Some(reth) = ext.reth {
        record.reth = TxReth {
            va: narrow(reth.va),
            rkey: narrow(reth.rkey),
            dma_length: narrow(reth.dma_len),
        };
    }
    if let Some(aeth) = ext.aeth {
        record.aeth = TxAeth {
            syndrome: narrow(aeth.syndrome.to_byte()),
            msn: narrow(aeth.msn),
        };
    }
    if let Some(imm) = ext.imm {
        record.immediate = narrow(imm.0);
    }
    if let Some(seth) = ext.seth {
        record.reflection = reflection(
            seth.entropy,
            seth.src_context,
            seth.dst_context,
            seth.congestion,
        );
        record.seth = TxSeth {
            path_hint: narrow(seth.path_hint.code()),
            probe_response: seth.probe_response,
            ack_psn_offset: narrow(seth.ack_psn_offset as u16),
            cack_psn: narrow(seth.cack_psn),
            mpr: narrow(seth.mpr),
            sack_offset: narrow(seth.sack_offset as u16),
            bitmap: narrow(seth.bitmap),
        };
    }
    if let Some(state) = ext.cc_state {
        record.cc_state = TxCcState {
            timestamp: narrow(state.tx_timestamp),
            ooo_count: narrow(state.ooo_count),
            restore_cwnd: state.restore_cwnd,
            rcv_cwnd_pen: narrow(state.rcv_cwnd_pen),
            rcvd_bytes: narrow(state.rcvd_bytes),
        };
    }
    if let Some(neth) = ext.neth {
        record.reflection = reflection(
            neth.entropy,
            neth.src_context,
            neth.dst_context,
            neth.congestion,
        );
        record.neth = TxNeth {
            reason: narrow(neth.reason.to_byte()),
            vendor_info: narrow(neth.vendor_info),
            nack_psn: narrow(neth.nack_psn),
            timestamp: narrow(neth.tx_timestamp),
        };
    }
    if let Some(peth) = ext.peth {
        record.reflection = reflection(
            Entropy::default(),
            peth.src_context,
            peth.dst_context,
            CongestionTag::default(),
        );
        record.timestamp = timestamp_record(peth.timestamp);
        record.peth = TxPeth {
            vendor_info: narrow(peth.vendor_info),
            probe_id: narrow(peth.probe_id),
        };
    }
    record
}

/// The headers of an opcode the lane can send.
pub(super) fn extension_headers(
    record: &TxExtensions,
    opcode: Opcode,
) -> Result<ExtHeaders, TxFrameError> {
    let has = |kind: ExtKind| opcode.ext_kinds().contains(&kind);
    let stamp = Tseth {
        tx_timestamp: number(record.timestamp.value) as u16,
        own_resolution: record.timestamp.own_resolution,
        format: number(record.timestamp.format) as u8,
    };
    let entropy = Entropy(number(record.reflection.entropy) as u32);
    let src_context = number(record.reflection.source_context) as u16;
    let dst_context = number(record.reflection.destination_context) as u16;
    let tag = number(record.reflection.congestion) as u8;
    let congestion = CongestionTag {
        cc_type: tag >> 4,
        cc_flags: tag & 0xf,
    };
    let (seth, state, neth) = (&record.seth, &record.cc_state, &record.neth);
    let hint = number(seth.path_hint) as u8;
    let path_hint = PathHint::from_code(hint);
    if has(ExtKind::Seth) && path_hint.is_none() {
        return Err(TxFrameError::PathHint(hint));
    }
    Ok(ExtHeaders {
        meth: has(ExtKind::Meth).then(|| Meth {
            rqmsn: number(record.meth.rqmsn) as u16,
            msn: number(record.meth.msn) as u16,
        }),
        tseth: (opcode.is_mrc_data() && record.timestamped).then_some(stamp),
        reth: has(ExtKind::Reth).then(|| Reth {
            va: number(record.reth.va) as u64,
            rkey: number(record.reth.rkey) as u32,
            dma_len: number(record.reth.dma_length) as u32,
        }),
        aeth: has(ExtKind::Aeth).then(|| Aeth {
            syndrome: Syndrome::from_byte(number(record.aeth.syndrome) as u8),
            msn: number(record.aeth.msn) as u32,
        }),
        imm: has(ExtKind::ImmDt).then(|| ImmDt(number(record.immediate) as u32)),
        seth: path_hint
            .filter(|_| has(ExtKind::Seth))
            .map(|path_hint| Seth {
                path_hint,
                probe_response: seth.probe_response,
                ack_psn_offset: number(seth.ack_psn_offset) as i16,
                entropy,
                src_context,
                dst_context,
                cack_psn: number(seth.cack_psn) as u32,
                congestion,
                mpr: number(seth.mpr) as u8,
                sack_offset: number(seth.sack_offset) as i16,
                bitmap: number(seth.bitmap) as u64,
            }),
        cc_state: has(ExtKind::CcState).then(|| CcState {
            tx_timestamp: number(state.timestamp) as u16,
            ooo_count: number(state.ooo_count) as u16,
            restore_cwnd: state.restore_cwnd,
            rcv_cwnd_pen: number(state.rcv_cwnd_pen) as u8,
            rcvd_bytes: number(state.rcvd_bytes) as u32,
        }),
        neth: has(ExtKind::Neth).then(|| Neth {
            reason: NackReason::from_byte(number(neth.reason) as u8),
            vendor_info: number(neth.vendor_info) as u8,
            entropy,
            src_context,
            dst_context,
            nack_psn: number(neth.nack_psn) as u32,
            congestion,
            tx_timestamp: number(neth.timestamp) as u16,
        }),
        peth: has(ExtKind::Peth).then(|| Peth {
            vendor_info: number(record.peth.vendor_info) as u8,
            probe_id: number(record.peth.probe_id) as u16,
            src_context,
            dst_context,
            timestamp: stamp,
        }),
        ..ExtHeaders::default()
    })
}
