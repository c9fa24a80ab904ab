//! The answer to a probe, a SACK (reference: `Spray::on_probe_answer`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::tx::TxSeth;
use stellar_wire::mrc::{PathHint, Peth};

/// Bit of a probe's identifier that tail probes have. The index is below, and nothing is above.
const TAIL_PROBE_BIT: usize = Peth::TAIL_PROBE.trailing_zeros() as usize;
const _: () = assert!(TAIL_PROBE_BIT == 8);
/// Number of entropy value indices.
const EV_INDICES: u64 = 144;

/// What a SACK says of the probe that it answers, if it does.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ProbeAnswer {
    /// Path of the probe. Its identifier is that of a probe.
    pub index: Bits<8>,
    pub known: Bit,
    /// It was a tail probe.
    pub is_tail: Bit,
    /// The path works; it is congested.
    pub works: Bit,
    pub marked: Bit,
}

/// Returns what a SACK says of its probe. Levels: 3.
#[hdl_fn]
pub fn probe_answer(seth: TxSeth) -> ProbeAnswer {
    let index = seth.ack_psn_offset.get_bits::<8>(0);
    let marked = seth.path_hint == (PathHint::SkipOnce.code() as u64);
    let good = seth.path_hint == (PathHint::Good.code() as u64);
    ProbeAnswer {
        index,
        known: !seth.ack_psn_offset.get_bits::<7>(9).any() & (index < EV_INDICES),
        is_tail: seth.ack_psn_offset.get_bit(TAIL_PROBE_BIT),
        works: good | marked,
        marked,
    }
}
