//! Records of the flush reads, and the parts of their tags.

use rust_hdl::prelude::*;

use crate::read::records::FLUSH_TAGS;

/// Address bits of a batch on its way. Eight batches in a read's time of 1 us leave a payload waiting for at most an eighth of it before its own flush.
pub const BATCH_BITS: usize = 3;
/// Flush reads of a batch: of host memory, and of a device.
pub const READS: usize = 2;
/// Bits with one for each flush read on its way.
pub const READ_BITS: usize = READS << BATCH_BITS;
/// A batch number is used again with the next generation, so a late completion of a read that was given up is not mistaken for a new one. The fourth
/// generation after it has its tag again, so a completion may be late by three times the time after which a read is given up.
pub const GENERATION_BITS: usize = 2;
/// Bits with a generation for each batch.
pub const GENERATIONS_BITS: usize = GENERATION_BITS << BATCH_BITS;

// Bits 7:6 of the tag of a flush read are ones.
const _: () = assert!(FLUSH_TAGS == 0b1100_0000);

/// The tag of a flush read.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct FlushTag {
    /// 0: of host memory, 1: of a device.
    pub of_peer: Bit,
    pub batch: Bits<3>,
    pub generation: Bits<2>,
}

/// Bits of the number of entries that leave as one TLP: up to 4.
pub const ENTRIES_BITS: usize = 3;

/// A write that has left.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct WriteLeft {
    pub address_dw: Bits<62>,
    /// The address is translated: the target is a device.
    pub to_peer: Bit,
    /// These four are as in the header of the TLP.
    pub device: Bits<10>,
    pub flush: Bit,
    pub ends: Bit,
    pub of_host_queue: Bit,
    pub message: Bit,
    /// Writes of the host's queues that the TLP consists of, if it is one of those.
    pub entries: Bits<ENTRIES_BITS>,
}

/// Where a place command with a flush has written: its last address, and its targets.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct CommandWrites {
    pub address_dw: Bits<62>,
    pub to_host: Bit,
    pub to_peer: Bit,
}

/// What is known of a flush read that is answered or given up.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ReadEnd {
    pub failed: Bit,
    /// It was not answered in time.
    pub late: Bit,
    /// Nor was any flush read of the same target behind it.
    pub silent: Bit,
}

/// A batch whose flush reads are all answered or given up.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ArrivedBatch {
    pub commands: Bits<10>,
    pub host: ReadEnd,
    pub peer: ReadEnd,
}

/// A flush read for one command of a batch that has failed.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SingleRead {
    pub address_dw: Bits<62>,
    pub of_peer: Bit,
}

/// A batch that has been closed.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ClosedBatch {
    /// Place commands that wait for it.
    pub commands: Bits<10>,
    /// A fence waits for it.
    pub fence: Bit,
    /// A drain waits for it.
    pub drain: Bit,
    /// A flush read of host memory follows.
    pub reads_host: Bit,
    /// A flush read of a device follows.
    pub reads_peer: Bit,
}

/// Addresses of the flush reads of a batch, in double words: of both, or of one of them. One without a read may have any value.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct BatchAddresses {
    pub batch: Bits<3>,
    pub of_host: Bit,
    pub of_peer: Bit,
    pub host_dw: Bits<62>,
    pub peer_dw: Bits<62>,
}

/// A flush read that failed.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct FailedFlush {
    pub batch: Bits<3>,
    pub of_peer: Bit,
}

/// A batch on its way.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct OpenBatch {
    pub commands: Bits<10>,
    pub fence: Bit,
    pub drain: Bit,
    /// A cycle count, modulo 2^32.
    pub deadline: Bits<32>,
}

/// The completion of a flush read.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct FlushAnswer {
    pub tag: FlushTag,
    pub failed: Bit,
}
