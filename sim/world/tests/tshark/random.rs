//! Random MRC frames.

use rand::Rng;
use stellar_wire::mrc::{
    CcState, CongestionTag, Entropy, Meth, NackReason, Neth, PathHint, Peth, Seth, Tseth,
};
use stellar_wire::{Aeth, Bth, ExtHeaders, ImmDt, Ip, Ipv6, Opcode, Reth, RoceFrame, Syndrome};

fn tag(rng: &mut impl Rng) -> CongestionTag {
    CongestionTag {
        cc_type: rng.random_range(0..16),
        cc_flags: rng.random_range(0..16),
    }
}

fn stamp(rng: &mut impl Rng) -> Tseth {
    Tseth {
        tx_timestamp: rng.random(),
        own_resolution: rng.random(),
        format: rng.random_range(0..16),
    }
}

/// A frame of `opcode` with random header fields, over either IP version.
pub fn random_frame(opcode: Opcode, rng: &mut impl Rng) -> RoceFrame {
    let hints = [PathHint::Good, PathHint::SkipOnce, PathHint::AlwaysSkip];
    let mut ext = ExtHeaders::default();
    match opcode {
        Opcode::MrcAck => {
            ext.aeth = Some(Aeth {
                syndrome: Syndrome::from_byte(rng.random_range(0..32)),
                msn: rng.random_range(0..1 << 24),
            });
        }
        Opcode::MrcSack => {
            ext.seth = Some(Seth {
                path_hint: hints[rng.random_range(0..3)],
                probe_response: rng.random(),
                ack_psn_offset: rng.random(),
                entropy: Entropy(rng.random()),
                src_context: rng.random(),
                dst_context: rng.random(),
                cack_psn: rng.random_range(0..1 << 24),
                congestion: tag(rng),
                mpr: rng.random(),
                sack_offset: rng.random(),
                bitmap: rng.random(),
            });
            ext.cc_state = Some(CcState {
                tx_timestamp: rng.random(),
                ooo_count: rng.random_range(0..1 << 15),
                restore_cwnd: rng.random(),
                rcv_cwnd_pen: rng.random_range(0..128),
                rcvd_bytes: rng.random_range(0..1 << 24),
            });
        }
        Opcode::MrcNack => {
            ext.neth = Some(Neth {
                reason: NackReason::from_byte(rng.random()),
                vendor_info: rng.random(),
                entropy: Entropy(rng.random()),
                src_context: rng.random(),
                dst_context: rng.random(),
                nack_psn: rng.random_range(0..1 << 24),
                congestion: tag(rng),
                tx_timestamp: rng.random(),
            });
        }
        Opcode::MrcProbe => {
            ext.peth = Some(Peth {
                vendor_info: rng.random(),
                probe_id: rng.random(),
                src_context: rng.random(),
                dst_context: rng.random(),
                timestamp: stamp(rng),
            });
        }
        _ => {
            ext.meth = Some(Meth {
                rqmsn: rng.random(),
                msn: rng.random(),
            });
            ext.tseth = rng.random::<bool>().then(|| stamp(rng));
            ext.reth = Some(Reth {
                va: rng.random(),
                rkey: rng.random(),
                dma_len: rng.random(),
            });
            ext.imm = opcode.has_imm().then(|| ImmDt(rng.random()));
        }
    }
    let payload = if opcode.is_mrc_data() {
        (0..rng.random_range(0..300))
            .map(|_| rng.random())
            .collect()
    } else {
        vec![]
    };
    RoceFrame {
        ip: if rng.random() {
            Ip::default()
        } else {
            Ip::V6(Ipv6::default())
        },
        bth: Bth {
            opcode,
            dest_qp: rng.random_range(2..1 << 24),
            psn: rng.random_range(0..1 << 24),
            retransmit: rng.random(),
            ..Bth::default()
        },
        ext,
        payload,
        ..RoceFrame::default()
    }
}
