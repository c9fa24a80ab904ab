//! Named bundles: port groups that more than one crate has.

use hdl_macros::bundle;
use rust_hdl::prelude::*;
use stellar_wire::hw::address::{FrameAddress, VECTOR_BITS};
use stellar_wire::hw::completer::BarAccess;
use stellar_wire::hw::dma::{FlushedBatch, WriteTlpHeader};
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::read::{CompletionHeader, ReadBeat};
use stellar_wire::hw::tables::TableWrite;
use stellar_wire::hw::{Qpn, SqIndex};

/// The driving end of a stream of frames to a MAC, `W` bits per beat. Byte `i` of a beat is `data[8i + 7 : 8i]`; lanes without a valid byte are zero.
#[bundle(keep, frames)]
pub struct MacTxSrc<const W: usize> {
    pub valid: Signal<Out, Bit>,
    pub data: Signal<Out, Bits<W>>,
    /// Valid bytes of this beat: all unless `last`, and at least 1.
    pub bytes: Signal<Out, Bits<8>>,
    pub last: Signal<Out, Bit>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of a stream of frames from a MAC, which accepts no back-pressure. Byte `i` of a beat is
/// `data[8i + 7 : 8i]`.
#[bundle(frames)]
pub struct MacRxSrc<const W: usize> {
    pub valid: Signal<Out, Bit>,
    pub data: Signal<Out, Bits<W>>,
    /// Valid bytes of this beat: all unless `last`, and at least 1.
    pub bytes: Signal<Out, Bits<8>>,
    pub last: Signal<Out, Bit>,
    /// With `last`: the frame is damaged.
    pub error: Signal<Out, Bit>,
}

/// The driving end of a stream of PCIe memory writes (write TLPs), `W` bits per beat.
#[bundle(keep)]
pub struct TlpSrc<const W: usize> {
    pub valid: Signal<Out, Bit>,
    pub ready: Signal<In, Bit>,
    /// Byte lanes that are not enabled, and those after the last double word, are zero.
    pub data: Signal<Out, Bits<W>>,
    /// Header of the TLP; it is the same in every beat of the TLP.
    pub header: Signal<Out, WriteTlpHeader>,
    pub first: Signal<Out, Bit>,
    pub last: Signal<Out, Bit>,
}

/// The driving end of a stream of PCIe completions with data, `W` bits per beat, which accepts no back-pressure.
#[bundle]
pub struct CompletionSrc<const W: usize> {
    pub valid: Signal<Out, Bit>,
    /// Header of the completion; it is the same in every beat of the completion.
    pub record: Signal<Out, CompletionHeader>,
    pub data: Signal<Out, Bits<W>>,
    pub last: Signal<Out, Bit>,
    /// With `last`: the completion is damaged.
    pub error: Signal<Out, Bit>,
}

/// The driving end of a stream of what DMA reads return, `W` bits per beat, in the order of their commands. Byte 0 of a command is in lane 0 of
/// its first beat; lanes without a valid byte are zero.
#[bundle(keep)]
pub struct ReadDataSrc<const W: usize> {
    pub valid: Signal<Out, Bit>,
    pub data: Signal<Out, Bits<W>>,
    pub beat: Signal<Out, ReadBeat>,
    pub ready: Signal<In, Bit>,
}

/// An endpoint's reports about the payloads that its lane places, and what it needs from the lane for them. The end at the endpoint.
#[bundle]
pub struct PlacementSrc {
    /// One cycle: a place command that needs no flush has left.
    pub sent: Signal<Out, Bit>,
    pub flushed_valid: Signal<Out, Bit>,
    /// Commands that need a flush have reached memory, or failed to.
    pub flushed: Signal<Out, FlushedBatch>,
    pub flushed_ready: Signal<In, Bit>,
    /// One cycle: the writes of all commands before the fence have reached memory.
    pub fence_done: Signal<Out, Bit>,
    /// One cycle: the lane has handed over the last beat of a place command.
    pub placed: Signal<In, Bit>,
    /// One cycle: the lane has handed over all commands before a fence. The next fence follows after `fence_done`.
    pub fence: Signal<In, Bit>,
}

/// The driving end of a stream of doorbells: new producer indices of send queues.
#[bundle(keep)]
pub struct DoorbellSrc {
    pub valid: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    pub producer: Signal<Out, SqIndex>,
    /// The entry before `producer` came with the doorbell.
    pub pushed: Signal<Out, Bit>,
    pub entry: Signal<Out, Bits<512>>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of a stream of writes to the tables of the receive path.
#[bundle(keep)]
pub struct TableWriteSrc {
    pub valid: Signal<Out, Bit>,
    pub write: Signal<Out, TableWrite>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of a stream of deregistration fences, in order with packets.
#[bundle(keep)]
pub struct FenceSrc {
    pub valid: Signal<Out, Bit>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of a stream of queue pairs.
#[bundle(keep)]
pub struct QpSrc {
    pub valid: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of a stream of settings of queue pairs.
#[bundle(keep)]
pub struct QpSettingsSrc<T: Synth> {
    pub valid: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    pub record: Signal<Out, T>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of writes to a table that has a row for each queue pair. They are always accepted.
#[bundle]
pub struct QpRowFlowSrc<T: Synth> {
    pub valid: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    pub record: Signal<Out, T>,
}

/// The driving end of writes to the address vectors of a port. They are always accepted.
#[bundle]
pub struct AddressFlowSrc {
    pub valid: Signal<Out, Bit>,
    pub vector: Signal<Out, Bits<VECTOR_BITS>>,
    pub record: Signal<Out, FrameAddress>,
}

/// The driving end of a stream of pages of on-demand regions that packets lacked.
#[bundle(keep)]
pub struct PageFaultSrc {
    pub valid: Signal<Out, Bit>,
    /// Index of the region.
    pub region: Signal<Out, Bits<24>>,
    /// Virtual address of the packet's first byte.
    pub va: Signal<Out, Bits<64>>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of a stream of payloads that could not be read: the queue pair and the send queue slot of the packet.
#[bundle(keep)]
pub struct ReadFaultSrc {
    pub valid: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    pub slot: Signal<Out, SqIndex>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of a stream of payloads that could not be read, as [`ReadFaultSrc`], with the bus address of the payload's first byte.
#[bundle(keep)]
pub struct PayloadFaultSrc {
    pub valid: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    pub slot: Signal<Out, SqIndex>,
    pub address: Signal<Out, Bits<64>>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of a stream of the fates of frames: a pulse for each.
#[bundle]
pub struct VerdictSrc {
    pub valid: Signal<Out, Bit>,
    pub reason: Signal<Out, DropReason>,
}

/// The driving end of a stream of arm requests: report when a queue pair has received this many immediates.
#[bundle(keep)]
pub struct ArmSrc {
    pub valid: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    pub threshold: Signal<Out, Bits<32>>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of a stream of queue pairs whose count of immediates has reached the threshold they were armed with.
#[bundle(keep)]
pub struct ThresholdSrc {
    pub valid: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    pub count: Signal<Out, Bits<32>>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of a stream of entropy values that are known to be good, for the acknowledgements of a queue pair.
#[bundle]
pub struct ReverseEvSrc {
    pub valid: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    pub plane: Signal<Out, Bit>,
    pub entropy: Signal<Out, Bits<32>>,
}

/// The driving end of accesses to BARs, in order. A read follows when the one before it is done.
#[bundle(keep)]
pub struct BarAccessSrc {
    pub valid: Signal<Out, Bit>,
    pub record: Signal<Out, BarAccess>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of the answers to reads of BARs: one for each, in a cycle after the read was taken.
#[bundle]
pub struct BarDataSrc {
    pub valid: Signal<Out, Bit>,
    pub data: Signal<Out, Bits<64>>,
    /// There is nothing that can be read.
    pub unsupported: Signal<Out, Bit>,
}
