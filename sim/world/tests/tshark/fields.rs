//! Expected fields of the dissector.

use stellar_wire::mrc::{Neth, Seth};
use stellar_wire::{icrc, RoceFrame};

/// Names and values.
pub type Fields = Vec<(&'static str, String)>;

/// A number in tshark's hexadecimal form.
pub fn hex(value: impl Into<u64>, digits: usize) -> String {
    format!("0x{:0digits$x}", value.into())
}

fn flag(value: bool) -> String {
    u8::from(value).to_string()
}

/// Expected fields of a frame in the dissector's output.
pub fn expected(frame: &RoceFrame, bytes: &[u8]) -> Fields {
    let (bth, ext) = (&frame.bth, &frame.ext);
    let crc = bytes.last_chunk::<{ icrc::LEN }>().expect("an iCRC");
    let mut fields = vec![
        ("mrc.opcode", hex(bth.opcode.code(), 2)),
        ("mrc.rtx", flag(bth.retransmit)),
        ("mrc.tseth_present", flag(ext.tseth.is_some())),
        ("mrc.icrc", hex(u32::from_be_bytes(*crc), 8)),
    ];
    if bth.opcode.is_mrc_data() {
        fields.push(("mrc.payload_length", frame.payload.len().to_string()));
    }
    if let Some(meth) = ext.meth {
        fields.push(("mrc.meth.rqmsn", meth.rqmsn.to_string()));
        fields.push(("mrc.meth.msn", meth.msn.to_string()));
    }
    if let Some(stamp) = ext.tseth.or(ext.peth.map(|peth| peth.timestamp)) {
        fields.push(("mrc.tseth.timestamp", stamp.tx_timestamp.to_string()));
        fields.push(("mrc.tseth.own_resolution", flag(stamp.own_resolution)));
        fields.push(("mrc.tseth.format", stamp.format.to_string()));
    }
    if let Some(reth) = ext.reth {
        fields.push(("mrc.reth.va", hex(reth.va, 16)));
        fields.push(("mrc.reth.r_key", hex(reth.rkey, 8)));
        fields.push(("mrc.reth.dmalen", reth.dma_len.to_string()));
    }
    if let Some(imm) = ext.imm {
        fields.push(("mrc.immdt", hex(imm.0, 8)));
    }
    if let Some(aeth) = ext.aeth {
        fields.push(("mrc.aeth.syndrome", hex(aeth.syndrome.to_byte(), 2)));
        fields.push(("mrc.aeth.msn", aeth.msn.to_string()));
    }
    fields.extend(ext.seth.iter().flat_map(seth_fields));
    if let Some(cc) = ext.cc_state {
        fields.push(("mrc.cc.timestamp", cc.tx_timestamp.to_string()));
        fields.push(("mrc.cc.ooo_count", cc.ooo_count.to_string()));
        fields.push(("mrc.cc.restore_cwnd", flag(cc.restore_cwnd)));
        fields.push(("mrc.cc.rcv_cwnd_pen", cc.rcv_cwnd_pen.to_string()));
        fields.push(("mrc.cc.rcvd_bytes", cc.rcvd_bytes.to_string()));
    }
    fields.extend(ext.neth.iter().flat_map(neth_fields));
    if let Some(peth) = ext.peth {
        fields.push(("mrc.peth.vendor_info", hex(peth.vendor_info, 2)));
        fields.push(("mrc.peth.probe_id", peth.probe_id.to_string()));
        fields.push(("mrc.peth.src_context", peth.src_context.to_string()));
        fields.push(("mrc.peth.dst_context", peth.dst_context.to_string()));
    }
    fields
}

fn seth_fields(seth: &Seth) -> Fields {
    let mut fields = vec![
        ("mrc.seth.path_hint", seth.path_hint.code().to_string()),
        ("mrc.seth.probe_response", flag(seth.probe_response)),
        ("mrc.seth.ack_psn_offset", seth.ack_psn_offset.to_string()),
        ("mrc.seth.entropy", hex(seth.entropy.0, 8)),
        ("mrc.seth.src_context", seth.src_context.to_string()),
        ("mrc.seth.dst_context", seth.dst_context.to_string()),
        ("mrc.seth.cack_psn", seth.cack_psn.to_string()),
        ("mrc.seth.cc_type", seth.congestion.cc_type.to_string()),
        ("mrc.seth.cc_flags", hex(seth.congestion.cc_flags, 2)),
        ("mrc.seth.mpr", seth.mpr.to_string()),
        ("mrc.seth.sack_offset", seth.sack_offset.to_string()),
        ("mrc.seth.bitmap", hex(seth.bitmap, 16)),
    ];
    if !seth.probe_response {
        let acked = seth
            .cack_psn
            .wrapping_add_signed(seth.ack_psn_offset.into())
            & 0xff_ffff;
        fields.push(("mrc.seth.acked_psn", acked.to_string()));
    }
    fields
}

fn neth_fields(neth: &Neth) -> Fields {
    vec![
        ("mrc.neth.reason", neth.reason.to_byte().to_string()),
        ("mrc.neth.vendor_info", hex(neth.vendor_info, 2)),
        ("mrc.neth.entropy", hex(neth.entropy.0, 8)),
        ("mrc.neth.src_context", neth.src_context.to_string()),
        ("mrc.neth.dst_context", neth.dst_context.to_string()),
        ("mrc.neth.nack_psn", neth.nack_psn.to_string()),
        ("mrc.neth.cc_type", neth.congestion.cc_type.to_string()),
        ("mrc.neth.cc_flags", hex(neth.congestion.cc_flags, 2)),
        ("mrc.neth.timestamp", neth.tx_timestamp.to_string()),
    ]
}
