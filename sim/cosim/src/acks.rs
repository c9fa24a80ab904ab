//! Acknowledgement requests of the lane, for comparison and for people.

use stellar_transport::rx::{AckBody, AckRequest};
use stellar_wire::hw::ack;
use stellar_wire::hw::pack::{to_words, Record};

use rust_hdl::prelude::ToBits;

/// The lane's request with the fields that `reference`'s kind does not define made zero, as the reference has them.
pub fn meaningful(reference: &AckRequest, lane: &[u32]) -> Vec<u32> {
    let fields = Record::<ack::AckRequest>::new(lane);
    let mut out = reference.to_hw();
    out.kind = ack::AckKind::ALL[fields.u64("kind") as usize];
    let same_reason = fields.u64("reason") == u64::from(reference.reason.index());
    out.qp = fields.u64("qp").to_bits();
    out.psn = fields.u64("psn").to_bits();
    out.ecn_ce = fields.bool("ecn_ce");
    out.entropy = fields.u64("entropy").to_bits();
    out.has_timestamp = fields.bool("has_timestamp");
    if out.has_timestamp {
        out.timestamp = fields.u64("timestamp").to_bits();
    }
    match reference.body {
        AckBody::Ack { .. } | AckBody::Nak { .. } => {
            out.msn = fields.u64("msn").to_bits();
            out.syndrome = fields.u64("syndrome").to_bits();
        }
        AckBody::Sack { .. } => {
            out.cack_psn = fields.u64("cack_psn").to_bits();
            out.bitmap_base = fields.u64("bitmap_base").to_bits();
            out.bitmap = fields.u64("bitmap").to_bits();
        }
        AckBody::Nack { .. } => out.syndrome = fields.u64("syndrome").to_bits(),
    }
    let mut words = to_words(out);
    if !same_reason {
        words.push(u32::MAX);
    }
    words
}

/// Describes an acknowledgement request in one line.
pub fn describe(lane: &[u32]) -> String {
    let f = Record::<ack::AckRequest>::new(lane);
    format!(
        "{} ({}) qp {} psn {:#x} msn {} syndrome {:#x} cack {:#x} base {:#x} bitmap {:#x} ce {} entropy {:#x} timestamp {:?}",
        f.variant("kind"),
        f.variant("reason"),
        f.u64("qp"),
        f.u64("psn"),
        f.u64("msn"),
        f.u64("syndrome"),
        f.u64("cack_psn"),
        f.u64("bitmap_base"),
        f.u64("bitmap"),
        f.bool("ecn_ce"),
        f.u64("entropy"),
        f.bool("has_timestamp").then(|| f.u64("timestamp")),
    )
}
