//! The pipeline registers of `psn_track`.

use rust_hdl::prelude::*;
use stellar_wire::hw::frame::DropReason;
use stellar_wire::mtu::LENGTH_BITS;

use crate::distance::Distance;
use crate::tracked::Tracked;
use crate::verdict::Verdict;
use crate::window_row::{Marks, Prefixes};

/// Forwarding (read-after-write hazards): which of the two tokens before a packet belong to its queue pair, and write something that it reads.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Follows {
    /// The token immediately before belongs to the same queue pair; it has the same word of the ring; it has the same bit of that word.
    pub last: Bit,
    pub last_word: Bit,
    pub last_bit: Bit,
    /// The same for the second token before.
    pub second: Bit,
    pub second_word: Bit,
}

/// A packet compared with the window: register after the stage `classify`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Classified {
    pub tracked: Tracked,
    pub follows: Follows,
    pub marks: Marks,
    /// Expected PSN, without the packets that are still in the pipeline.
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

/// A packet with its verdict: register after the stage `judge`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Judged {
    pub settled: Settled,
    /// State before the packet.
    pub marks: Marks,
    /// One-hot: the packet's word of the ring.
    pub ring_word: Bits<32>,
}

/// A packet with its updated word: register after the stage `count`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Counted {
    pub settled: Settled,
    pub ring_word: Bits<32>,
    /// Ones from bit 0 up of its word.
    pub prefix: Bits<7>,
    /// Words of the ring that hold packets of the window.
    pub live: Bits<32>,
}

/// A packet with the updated ring: register after the stage `note`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Noted {
    pub settled: Settled,
    /// Prefixes of the live words.
    pub prefixes: Prefixes,
    /// Full words, from the word of the expected PSN on.
    pub full: Bits<32>,
    /// The word of the expected PSN is live.
    pub epsn_word_live: Bit,
}

/// A packet with the word of the new expected PSN: register after the stage `run`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Ran {
    pub settled: Settled,
    /// Prefixes of the live words.
    pub prefixes: Prefixes,
    /// Number of that word: the PSN without its low 6 bits.
    pub word: Bits<18>,
    /// No packet of that word has been received: the expected PSN does not advance into it.
    pub stays: Bit,
}

/// The input of `psn_answer`: register after the stage `land`.
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

/// The event for the drop counters.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Count {
    pub counted: Bit,
    pub lane: Bit,
    pub reason: DropReason,
    pub payload_bytes: Bits<LENGTH_BITS>,
}
