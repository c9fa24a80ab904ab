//! Comparison of the hardware's packets and completions with those of the reference.

use stellar_transport::requester::{Payload, RequestPacket};
use stellar_wire::host::Cqe;
use stellar_wire::hw::messages::Completion;
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::requester::TxRequest;

use crate::core::rig::segments_record;

pub fn completion(found: &Record<'_, Completion>) -> Cqe {
    Cqe {
        status: stellar_wire::host::WcStatus::from_code(found.u64("status") as u8)
            .expect("a status"),
        opcode: stellar_wire::host::CqeOpcode::from_code(found.u64("opcode") as u8)
            .expect("an opcode"),
        // The completion queue adds the phase later. The reference's ring does not wrap in this test.
        phase: true,
        qp: found.u64("qp") as u32,
        wr_id: found.u64("wr_id"),
        byte_len: found.u64("byte_len") as u32,
        immediate: found.u64("immediate") as u32,
        msn: found.u64("msn") as u32,
        sq_head: found.u64("sq_head") as u16,
    }
}

/// Compares every field of a packet that its opcode has.
pub fn compare_packet(wanted: &RequestPacket, words: &[u32], qp: u32, port: u8) {
    let found = Record::<TxRequest>::new(words);
    let check = |field: &str, value: u64| {
        assert_eq!(found.u64(field), value, "{field} of {wanted:?}");
    };
    check("qp", qp.into());
    check("port", port.into());
    check("opcode", wanted.opcode.code().into());
    check("psn", wanted.psn.value().into());
    check("ack_req", wanted.ack_req.into());
    check("retransmission", wanted.retransmission.into());
    check("entropy", wanted.entropy.0.into());
    check("length", wanted.length.into());
    let ext = wanted.ext.headers();
    if let Some(stamp) = ext.tseth {
        check("timestamp", stamp.tx_timestamp.into());
    }
    if let Some(meth) = ext.meth {
        check("meth.msn", meth.msn.into());
        check("meth.rqmsn", meth.rqmsn.into());
    }
    if let Some(reth) = ext.reth {
        check("reth.va", reth.va);
        check("reth.rkey", reth.rkey.into());
        check("reth.dma_length", reth.dma_len.into());
    }
    if let Some(immediate) = ext.imm {
        check("immediate", immediate.0.into());
    }
    if let Some(peth) = ext.peth {
        check("timestamp", peth.timestamp.tx_timestamp.into());
        check("probe_id", peth.probe_id.into());
    }
    if let Some(slot) = wanted.slot {
        check("slot", slot.into());
    }
    match &wanted.payload {
        Payload::Inline(bytes) => {
            check("inline", 1);
            let data: Vec<u8> = found
                .words("inline_data")
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .collect();
            let length = found.u64("length") as usize;
            assert_eq!(data[..length], bytes[..length], "inline data");
        }
        Payload::Memory(segments) if !segments.is_empty() => {
            check("inline", 0);
            let segments = to_words(segments_record(segments));
            let wanted = Record::<stellar_wire::hw::core::DmaSegments>::new(&segments);
            for field in ["first_length", "first_address", "first_translated"] {
                check(&format!("segments.{field}"), wanted.u64(field));
            }
            if wanted.u64("first_length") < u64::from(found.u64("length") as u16) {
                for field in ["second_address", "second_translated", "has_third"] {
                    check(&format!("segments.{field}"), wanted.u64(field));
                }
                for field in ["third_address", "third_translated"] {
                    if wanted.bool("has_third") {
                        check(&format!("segments.{field}"), wanted.u64(field));
                    }
                }
            }
        }
        Payload::Memory(_) => {}
    }
}
