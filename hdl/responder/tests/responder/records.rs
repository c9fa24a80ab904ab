//! The reference's values as hardware records.

use rust_hdl::prelude::*;
use stellar_transport::responder::Answer;
use stellar_wire::host::Cqe;
use stellar_wire::hw::messages;
use stellar_wire::hw::pack::to_words;
use stellar_wire::hw::requester::TxAnswer;
use stellar_wire::hw::tx::{TxAeth, TxCcState, TxNeth, TxSeth};
use stellar_wire::mrc::Entropy;
use stellar_wire::Syndrome;

use crate::bench::completion_fields;

/// A value as a field of `N` bits, which it must fit.
pub fn bits<const N: usize>(value: impl Into<u64>) -> Bits<N> {
    value.into().to_bits()
}

/// A signed 16-bit number as it stands in its field.
fn signed(value: i16) -> Bits<16> {
    bits(value as u16)
}

/// Fields of a completion.
pub fn completion(cqe: &Cqe) -> Vec<(&'static str, u64)> {
    completion_fields(&to_words(messages::Completion {
        qp: bits(cqe.qp),
        status: bits(cqe.status.code()),
        opcode: bits(cqe.opcode.code()),
        wr_id: bits(cqe.wr_id),
        byte_len: bits(cqe.byte_len),
        immediate: bits(cqe.immediate),
        msn: bits(cqe.msn),
        sq_head: bits(cqe.sq_head),
    }))
}

/// An answer of the reference that leaves by `plane` with `entropy`, as the record.
pub fn answer_record(qp: u32, plane: u8, entropy: Entropy, answer: &Answer) -> TxAnswer {
    let ext = answer.body.headers();
    TxAnswer {
        qp: bits(qp),
        port: plane == 1,
        opcode: bits(answer.body.opcode().code()),
        psn: bits(answer.psn.value()),
        entropy: bits(entropy.0),
        reflected: bits(answer.reflected.0),
        aeth: ext.aeth.map_or(TxAeth::default(), |aeth| TxAeth {
            syndrome: bits(Syndrome::to_byte(aeth.syndrome)),
            msn: bits(aeth.msn),
        }),
        seth: ext.seth.map_or(TxSeth::default(), |seth| TxSeth {
            path_hint: bits(seth.path_hint.code()),
            probe_response: seth.probe_response,
            ack_psn_offset: signed(seth.ack_psn_offset),
            cack_psn: bits(seth.cack_psn),
            mpr: bits(seth.mpr),
            sack_offset: signed(seth.sack_offset),
            bitmap: bits(seth.bitmap),
        }),
        cc_state: ext.cc_state.map_or(TxCcState::default(), |cc| TxCcState {
            timestamp: bits(cc.tx_timestamp),
            ooo_count: bits(cc.ooo_count),
            restore_cwnd: cc.restore_cwnd,
            rcv_cwnd_pen: bits(cc.rcv_cwnd_pen),
            rcvd_bytes: bits(cc.rcvd_bytes),
        }),
        neth: ext.neth.map_or(TxNeth::default(), |neth| TxNeth {
            reason: bits(neth.reason.to_byte()),
            vendor_info: bits(neth.vendor_info),
            nack_psn: bits(neth.nack_psn),
            timestamp: bits(neth.tx_timestamp),
        }),
    }
}
