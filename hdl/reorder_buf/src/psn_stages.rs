//! The pipeline registers of `psn_track`.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::Psn;
use stellar_wire::mtu::LENGTH_BITS;

use crate::distance::Distance;
use crate::tracked::Tracked;
use crate::verdict::{moves_qp_to_error, Verdict};

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

/// The newest word of a packet's PSN, if a packet that has not reached the memory yet has it.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Held {
    pub is: Bit,
    pub word: Bits<64>,
}

/// A packet whose word is being read: register after the stage `wait`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct WaitReg {
    pub tracked: Tracked,
    pub forwarding: Forwarding,
    /// Expected PSN, without the packets that are still in the pipeline.
    pub epsn: Psn,
    /// The word that the third or fourth token before writes.
    pub held: Held,
    /// Laps of the words that may be the packet's ([`laps_beside`](crate::window_row::laps_beside)).
    pub laps: Bits<8>,
}

/// A packet compared with the window: register after the stage `compare`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct CompareReg {
    pub tracked: Tracked,
    pub forwarding: Forwarding,
    /// The queue pair is in error.
    pub error: Bit,
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
    /// Of a probe: laps of the words that may be that of the expected PSN.
    pub epsn_laps: Bits<8>,
}

/// A packet with its verdict: register after the stage `decide`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct DecideReg {
    pub decision: Decision,
    /// The queue pair was in error before the packet.
    pub error: Bit,
}

/// What a packet in `write_back` writes.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Written {
    pub error: Bit,
    /// The packet enters the ring: its word is written.
    pub in_ring: Bit,
    pub word: Bits<64>,
}

/// Returns the values that the packets behind this one use in place of those that they read.
#[hdl_fn]
pub fn written_by(decided: DecideReg) -> Written {
    let decision = decided.decision;
    Written {
        error: decided.error | moves_qp_to_error(decision.verdict),
        in_ring: decision.verdict == Verdict::MrcAccepted,
        word: decision.word,
    }
}

/// A packet with its updated word: register after the stages `count_prefix` and `update_ring`. The rows of its ring are in registers beside this one.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PrefixReg {
    pub decision: Decision,
    /// Number of consecutive ones from bit 0 up in the word of the packet, 64 if it is full.
    pub prefix: Bits<7>,
}

/// A packet with the word of the new expected PSN: register after the stages `find_word` and `read_prefix`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct EpsnWordReg {
    pub decision: Decision,
    /// Prefix of the packet's word, if it is not full.
    pub prefix: Bits<6>,
    /// Number of the word of the new expected PSN: the PSN without its low 6 bits.
    pub word: Bits<18>,
    /// It is another word than that of the old one.
    pub moves: Bit,
    /// A packet of the window has been received in it. Only known after `read_prefix`.
    pub live: Bit,
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
