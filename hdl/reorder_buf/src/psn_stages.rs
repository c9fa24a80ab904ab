//! The pipeline registers of `psn_track`.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::Psn;
use stellar_wire::mtu::LENGTH_BITS;

use crate::distance::Distance;
use crate::tracked::Tracked;
use crate::verdict::{moves_qp_to_error, Verdict};
use crate::window_row::{with_plane, Prefixes, WindowFlags};

/// Forwarding (read-after-write hazards): which of the two tokens before a packet are packets of its queue pair. `_1` is the token immediately
/// before it, `_2` the one before that.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Forwarding {
    pub same_qp_1: Bit,
    /// The PSN of that token is in the same word of the ring.
    pub same_word_1: Bit,
    /// The PSN of that token has the same bit in its word.
    pub same_bit_1: Bit,
    pub same_qp_2: Bit,
    pub same_word_2: Bit,
}

/// A packet compared with the window: register after the stage `compare`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct CompareReg {
    pub tracked: Tracked,
    pub forwarding: Forwarding,
    pub flags: WindowFlags,
    /// Expected PSN, without the packets that are still in the pipeline.
    pub epsn: Psn,
    pub distance: Distance,
    /// Bit of the PSN set in a live word.
    pub received: Bit,
    /// The packet's word is that of the expected PSN.
    pub in_epsn_word: Bit,
    /// The packet's word lies half way round the PSN circle from that of the expected PSN.
    pub in_opposite_word: Bit,
    /// The packet's word with its own bit set and, in the word of the expected PSN, the bits below that. Of a probe only the latter: what
    /// else the word of the expected PSN holds is still being read.
    pub word: Bits<64>,
    /// The word of the expected PSN is live.
    pub epsn_word_live: Bit,
}

/// A packet with its verdict: register after the stage `decide`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct DecideReg {
    pub decision: Decision,
    /// State before the packet.
    pub flags: WindowFlags,
    /// One-hot: the packet's word of the ring.
    pub ring_word: Bits<32>,
}

/// What a packet in `write_back` writes.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Written {
    pub flags: WindowFlags,
    /// The packet enters the ring: its word is written.
    pub in_ring: Bit,
    pub word: Bits<64>,
}

/// Returns the values that the two packets behind this one use in place of those that they read.
#[hdl_fn]
pub fn written_by(decided: DecideReg) -> Written {
    let decision = decided.decision;
    let flags = decided.flags;
    let in_ring = decision.verdict == Verdict::MrcAccepted;
    let wrap_bits_with_packet = with_plane(
        flags.wrap_bits,
        decided.ring_word,
        decision.tracked.psn.get_bit(11),
    );
    Written {
        flags: WindowFlags {
            error: flags.error | moves_qp_to_error(decision.verdict),
            wrap_bits: if in_ring {
                wrap_bits_with_packet
            } else {
                flags.wrap_bits
            },
        },
        in_ring,
        word: decision.word,
    }
}

/// A packet with its updated word: register after the stage `count_prefix`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PrefixReg {
    pub decision: Decision,
    pub ring_word: Bits<32>,
    /// Number of consecutive ones from bit 0 up in the word of the packet.
    pub prefix: Bits<7>,
    /// Words of the ring that hold packets of the window.
    pub live: Bits<32>,
}

/// A packet with the updated ring: register after the stage `update_ring`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RingReg {
    pub decision: Decision,
    /// Prefixes of the live words.
    pub prefixes: Prefixes,
    /// Full words, from the word of the expected PSN on.
    pub full: Bits<32>,
    /// The word of the expected PSN is live.
    pub epsn_word_live: Bit,
}

/// A packet with the word of the new expected PSN: register after the stage `find_word`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct EpsnWordReg {
    pub decision: Decision,
    /// Prefixes of the live words.
    pub prefixes: Prefixes,
    /// Number of that word: the PSN without its low 6 bits.
    pub word: Bits<18>,
    /// No packet of that word has been received: the expected PSN does not advance into it.
    pub stays: Bit,
}

/// A decided packet. `psn_answer` receives it from the register after the stage `commit_epsn`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Decision {
    pub tracked: Tracked,
    pub verdict: Verdict,
    /// Expected PSN (MRC): after the packet in the end, before that as in `CompareReg`.
    pub epsn: Psn,
    pub behind: Bit,
    pub in_epsn_word: Bit,
    pub in_opposite_word: Bit,
    pub word: Bits<64>,
}

/// The event for the drop counters.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Count {
    pub counted: Bit,
    pub lane: Bit,
    pub reason: DropReason,
    pub payload_bytes: Bits<LENGTH_BITS>,
}
