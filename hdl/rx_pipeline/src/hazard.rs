//! Which tokens must keep a distance from each other in the core.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::frame::PacketHeaders;
use stellar_wire::hw::{Qpn, QPN_BITS};

/// The part of a token that decides whether it conflicts with tokens in flight.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct HazardKey {
    pub valid: Bit,
    pub row: Qpn,
    /// The token is an MRC data packet.
    pub mrc: Bit,
    /// The token is an RC packet.
    pub rc: Bit,
    /// PSN without the low 6 bits.
    pub word: Bits<18>,
}

#[hdl_fn]
pub fn packet_key<const Q: usize>(valid: Bit, headers: PacketHeaders) -> HazardKey {
    HazardKey {
        valid,
        row: bit_cast::<QPN_BITS, Q>(headers.dest_qp.get_bits::<Q>(0)),
        mrc: headers.mrc & !headers.probe,
        rc: !headers.mrc & !headers.probe,
        word: headers.psn.get_bits::<18>(6),
    }
}

/// The key of a token that is not a packet.
#[hdl_fn]
pub fn row_key(valid: Bit, row: Qpn) -> HazardKey {
    HazardKey {
        valid,
        row,
        mrc: false,
        rc: false,
        word: bits::<18>(0),
    }
}

/// PSNs of the two words lie less than [`near`](crate::core_issue::near) apart. Levels: 3, and a carry chain.
#[hdl_fn]
fn words_are_near(a: Bits<18>, b: Bits<18>, word_bits: usize) -> Bit {
    let low = bits::<18>((1 << word_bits) - 1);
    let apart = a - b;
    let upper = apart & !low;
    // A difference of exactly -2^`word_bits` words is too far; the low bits tell it from those down to -1.
    !upper.any() | (upper == !low) & (apart & low).any()
}

/// Whether the token must stay [`SPACING`](crate::core_issue::SPACING) cycles behind an earlier one. `rc_may`: the distance is enough for two RC packets. Levels: 2 after
/// `words_are_near`.
#[hdl_fn]
pub fn conflicts(token: HazardKey, earlier: HazardKey, rc_may: Bit, near_bits: usize) -> Bit {
    let mrc_may = token.mrc & earlier.mrc & words_are_near(token.word, earlier.word, near_bits);
    let may = mrc_may | token.rc & earlier.rc & rc_may;
    token.valid & earlier.valid & (token.row == earlier.row) & !may
}

/// The tokens issued in the last six cycles; `before_1` is the newest.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Scoreboard {
    pub before_1: HazardKey,
    pub before_2: HazardKey,
    pub before_3: HazardKey,
    pub before_4: HazardKey,
    pub before_5: HazardKey,
    pub before_6: HazardKey,
}

/// Whether the token would, in the next cycle, conflict with one of the scoreboard. Levels: 1 after `conflicts`.
#[hdl_fn]
pub fn conflicts_next(token: HazardKey, scoreboard: Scoreboard, near_bits: usize) -> Bit {
    conflicts(token, scoreboard.before_1, false, near_bits)
        | conflicts(token, scoreboard.before_2, true, near_bits)
        | conflicts(token, scoreboard.before_3, true, near_bits)
        | conflicts(token, scoreboard.before_4, true, near_bits)
        | conflicts(token, scoreboard.before_5, true, near_bits)
        | conflicts(token, scoreboard.before_6, true, near_bits)
}
