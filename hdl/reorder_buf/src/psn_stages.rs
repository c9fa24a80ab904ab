//! What travels between the stages of `psn_track`.

use rust_hdl::prelude::*;
use stellar_wire::hw::frame::DropReason;
use stellar_wire::mtu::LENGTH_BITS;

use crate::distance::Distance;
use crate::tracked::Tracked;
use crate::verdict::Verdict;
use crate::window_row::{Marks, Prefixes};

/// Which of the two tokens before a packet are packets of its queue pair, as far as what they are about to write concerns it.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Follows {
    /// The last one is, its PSN is of the same word of the ring, and of the same bit of the word.
    pub last: Bit,
    pub last_word: Bit,
    pub last_bit: Bit,
    /// The same of the one before.
    pub second: Bit,
    pub second_word: Bit,
}

/// A packet held against the window.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Classified {
    pub tracked: Tracked,
    pub follows: Follows,
    pub marks: Marks,
    /// Expected PSN, but for packets that are still under way.
    pub epsn: Bits<24>,
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

/// A packet decided upon.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Judged {
    pub settled: Settled,
    /// Before the packet.
    pub marks: Marks,
    /// One-hot: the packet's word of the ring.
    pub ring_word: Bits<32>,
}

/// A packet with what its word has become.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Counted {
    pub settled: Settled,
    pub ring_word: Bits<32>,
    /// Ones from bit 0 up of its word.
    pub prefix: Bits<7>,
    /// Words of the ring that hold packets of the window.
    pub live: Bits<32>,
}

/// A packet with the ring after it.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Noted {
    pub settled: Settled,
    /// Of live words.
    pub prefixes: Prefixes,
    /// Full words, from the word of the expected PSN on.
    pub full: Bits<32>,
    /// The word of the expected PSN is live.
    pub epsn_word_live: Bit,
}

/// A packet with the word in which the expected PSN comes to lie.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Ran {
    pub settled: Settled,
    /// Of live words.
    pub prefixes: Prefixes,
    /// Number of that word: the PSN without its low 6 bits.
    pub word: Bits<18>,
    /// Nothing has been received there: the expected PSN stays.
    pub stays: Bit,
}

/// A packet accounted for: what the answers are made of.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Settled {
    pub tracked: Tracked,
    pub verdict: Verdict,
    /// Expected PSN (MRC): after the packet in the end, before that as `Classified` has it.
    pub epsn: Bits<24>,
    pub behind: Bit,
    pub in_epsn_word: Bit,
    pub in_opposite_word: Bit,
    pub word: Bits<64>,
}

/// What the counters learn of a token.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Count {
    pub counted: Bit,
    pub lane: Bit,
    pub reason: DropReason,
    pub payload_bytes: Bits<LENGTH_BITS>,
}
