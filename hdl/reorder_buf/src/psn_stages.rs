//! What travels between the stages of `psn_track`.

use rust_hdl::prelude::*;
use stellar_wire::hw::core::{BufferSpan, Pieces, RcClass, TokenKind};
use stellar_wire::hw::frame::{DropReason, Position};
use stellar_wire::mtu::LENGTH_BITS;

use crate::distance::Distance;
use crate::verdict::Verdict;
use crate::window_row::WindowRow;

/// What this block needs of a token.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Tracked {
    pub kind: TokenKind,
    pub lane: Bit,
    pub writes_qp: Bit,
    /// Queue pair.
    pub row: Bits<10>,
    pub initial_psn: Bits<24>,
    pub mrc: Bit,
    pub probe: Bit,
    pub psn: Bits<24>,
    pub ack_req: Bit,
    pub position: Position,
    /// The parser found a reason: it may be of a kind that `rc_track` gives too, but the packet is not to be heard.
    pub bad_frame: Bit,
    pub reason: DropReason,
    pub access_reason: DropReason,
    pub rc_class: RcClass,
    pub rc_epsn: Bits<24>,
    pub rc_msn: Bits<24>,
    pub ecn_ce: Bit,
    pub entropy: Bits<32>,
    pub has_timestamp: Bit,
    pub timestamp: Bits<16>,
    pub has_immediate: Bit,
    pub immediate: Bits<32>,
    /// METH; in a probe, `msn` is its identifier.
    pub msn: Bits<16>,
    pub rqmsn: Bits<16>,
    pub dma_length: Bits<32>,
    pub span: BufferSpan,
    pub payload_offset: Bits<8>,
    pub payload_length: Bits<LENGTH_BITS>,
    pub pieces: Pieces,
}

/// A packet held against the window.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Classified {
    pub tracked: Tracked,
    pub window: WindowRow,
    pub distance: Distance,
    /// Bit of the PSN set in a touched word.
    pub received: Bit,
    /// The packet's word is that of the expected PSN.
    pub in_epsn_word: Bit,
    /// The packet's word lies half way round the PSN circle from that of the expected PSN.
    pub in_opposite_word: Bit,
    /// The packet's word with its own bit set and, in the word of the expected PSN, the bits below that. Of a probe only the latter: what
    /// else the word of the expected PSN holds is still being read.
    pub word: Bits<64>,
    /// The word of the expected PSN is touched.
    pub epsn_word_touched: Bit,
    /// Full words, from the word of the expected PSN on.
    pub full: Bits<32>,
}

/// A packet decided upon, with what is needed to move the window.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Judged {
    pub tracked: Tracked,
    pub verdict: Verdict,
    pub window: WindowRow,
    pub behind: Bit,
    pub in_epsn_word: Bit,
    pub in_opposite_word: Bit,
    pub word: Bits<64>,
    /// Prefix of `word`.
    pub prefix: Bits<7>,
    /// Word numbers (PSN without its low 6 bits): first one after the full words that follow the expected PSN's.
    pub word_after_run: Bits<18>,
    /// Ring words the window leaves if the expected PSN's becomes full.
    pub left_behind: Bits<32>,
}

/// A packet accounted for: what the answers are made of.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Settled {
    pub tracked: Tracked,
    pub verdict: Verdict,
    /// Expected PSN after the packet (MRC).
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
