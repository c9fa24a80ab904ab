//! Records between the blocks of the DMA read engine.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::payload::read_user;
use stellar_wire::mtu::{LENGTH_BITS, MAX_PAYLOAD};

/// log2 of the bytes of a granule, the unit in which commands get space of the ring: a beat of the widest lane.
pub const GRANULE_BYTE_BITS: usize = 7;
/// Bits of the place of a byte in the ring, which has at most 256 KiB. A smaller ring ignores the top bits.
pub const PLACE_BITS: usize = 18;
/// Bits of the number of a granule in the ring.
pub const GRANULE_BITS: usize = PLACE_BITS - GRANULE_BYTE_BITS;
/// Granules of the longest command.
pub const MOST_GRANULES: usize = MAX_PAYLOAD >> GRANULE_BYTE_BITS;
/// Bits of a number of granules of one command: 0 to [`MOST_GRANULES`].
pub const COMMAND_GRANULE_BITS: usize = 7;
const _: () = assert!(MOST_GRANULES < 1 << COMMAND_GRANULE_BITS);
/// Bits of the number of a command: more commands than tags for payload can be in progress.
pub const COMMAND_BITS: usize = 8;

/// Granules of a command of `length` bytes, at most 8,192.
#[hdl_fn]
pub fn granules(length: Bits<LENGTH_BITS>) -> Bits<COMMAND_GRANULE_BITS> {
    let last = length + bits::<LENGTH_BITS>((1 << GRANULE_BYTE_BITS) - 1);
    last.get_bits::<COMMAND_GRANULE_BITS>(GRANULE_BYTE_BITS)
}

/// Values of the 8-bit tag.
pub const TAGS: usize = 1 << TAG_BITS;
/// First tag of reads of queue entries. Reads of payload use the tags below: 160 of them are 80 KiB on their way at a maximum read request size of 512 bytes,
/// as much as 200 Gb/s need for 3.2 us.
pub const ENTRY_TAGS: usize = 160;
/// First tag of flush reads.
pub const FLUSH_TAGS: usize = 192;
/// Address bits of the tables with one entry per tag.
pub const TAG_BITS: usize = 8;

/// One use of a tag.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TagUse {
    pub tag: Bits<8>,
    /// Differs from the phase of the tag's use before.
    pub phase: Bit,
}

/// The request of a tag. 79 bits: one block RAM and a half.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TagEntry {
    /// Phase of the use that this entry belongs to.
    pub phase: Bit,
    pub command: Bits<COMMAND_BITS>,
    /// Place in the ring behind the request's last byte. The place of an earlier byte follows from the number of bytes that remain.
    pub end: Bits<PLACE_BITS>,
    /// Address bits 6:0 behind the request's last byte.
    pub end_address: Bits<7>,
    /// Number of bytes requested, 1 to 4,096.
    pub bytes: Bits<13>,
    /// Deadline: a cycle count, modulo 2^32.
    pub deadline: Bits<32>,
}

/// Progress of the completions of a tag.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum TagState {
    /// Nothing is outstanding.
    Done,
    /// `left` bytes are missing.
    Waiting,
    /// Its command has failed, and completions may still arrive: the tag is not used until a second timeout has passed.
    Quarantined,
}

/// Progress of the request of a tag, written only by completions. It is valid if its phase is that of the [`TagEntry`]. Otherwise no completion of this use
/// of the tag has arrived yet.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TagProgress {
    pub phase: Bit,
    pub state: TagState,
    pub left: Bits<13>,
}

/// Report to the read scoreboard about requests that have left.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct CommandRequest {
    pub command: Bits<COMMAND_BITS>,
    /// A request left.
    pub asks: Bit,
    /// No more requests of this command follow.
    pub closes: Bit,
}

/// Report to the read scoreboard about completions whose bytes are in the buffer.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct CommandReport {
    pub command: Bits<COMMAND_BITS>,
    /// The request needs no more bytes: either all of them have arrived, or the request failed.
    pub finished: Bit,
    /// Bytes of this command are missing or wrong.
    pub failed: Bit,
}

/// The next command to return.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct CommandHead {
    /// Granule of the first byte.
    pub place: Bits<GRANULE_BITS>,
    /// Bytes, 0 to 8,192. A command that failed has the space for them too.
    pub length: Bits<LENGTH_BITS>,
    pub user: Bits<{ read_user::BITS }>,
    pub failed: Bit,
}

/// One beat of a completion after its check. All but `first`, `last` and `error` are the same on every beat of the completion.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct CheckedBeat {
    pub first: Bit,
    pub last: Bit,
    /// With `last`: the payload is damaged.
    pub error: Bit,
    /// The payload is written to the buffer.
    pub place: Bit,
    /// Place of the first payload byte.
    pub start: Bits<PLACE_BITS>,
    /// Byte lane of the first payload byte in the first beat.
    pub lead: Bits<2>,
    /// Lanes that the completion takes, `lead` included and padding behind the last byte excluded, 1 to 4,099.
    pub lanes: Bits<13>,
    pub report: CommandReport,
}

/// What a read engine counts, each bit for one event in this cycle.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ReadEvents {
    /// A completion of a tag that waits for nothing.
    pub unexpected: Bit,
    /// A completion that failed its request: UR, CA, another status, poisoned or malformed.
    pub bad: Bit,
    /// A completion with an error at its end, or with too many or too few beats.
    pub damaged: Bit,
    /// A request that was not answered in time.
    pub timed_out: Bit,
}
