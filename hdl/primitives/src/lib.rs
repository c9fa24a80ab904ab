//! Streams, FIFOs, RAMs, arbiters, CRC and other building blocks.
//!
//! | module | what | latency in cycles |
//! |---|---|---|
//! | [`ram`] | `LutRam`, `BlockRam`, `BypassRam`, `RowRam`, `DeepRowRam`, `QuickRam`, `QuickBypassRam`, `UltraRam` of any record | in the type: 0, 1, 1, 1, 1 or 2, 1, 1, 2 |
//! | [`stream`] | generic bundles of streams, with and without `ready` | - |
//! | [`bundles`] | named bundles: MAC, PCIe, doorbell, table write, fence | - |
//! | [`parameters`] | checks of parameters when a block is constructed | - |
//! | [`receive`] | bundles of the receive lane | - |
//! | [`stream_skid`] | register stage of a valid/ready stream | 1 |
//! | [`sync_fifo`] | first-word-fall-through FIFO in LUT RAM | 1 |
//! | [`block_fifo`] | first-word-fall-through FIFO in block RAM | 2 |
//! | [`cut_through_fifo`] | the same with its head in a register, past an empty memory | 1, or 3 |
//! | [`round_robin`] | fair arbiter | 0 |
//! | [`round_robin_ahead`] | the same for many requesters, chosen a cycle ahead | 1 |
//! | [`crc32`] | Ethernet CRC-32 over a beat per cycle | `Crc32Wide::LATENCY` |
//! | [`byte_mask`] | zeroes byte lanes of a beat, or of a word in all of a beat | 0 |
//! | [`byte_rotator`] | a beat at any byte offset of two beats | 2 |
//! | [`credit`] | credits for a FIFO whose sender does not see its `ready` | 1 |
//! | [`delay`] | delay line | its parameter |
//! | [`valid_delay`] | delay line of a stream that never waits, with reset | its parameter |
//! | [`trailing_ones`] | function: ones below the lowest zero of a word | 0 |
//! | [`whole_packets`] | function: bytes divided by a path MTU | 0 |
//! | [`counter`] | event counter, wrapping or saturating | 1 |
//!
//! Parameters are checked when a block is constructed (`Default::default` or `new`): a wrong one panics and says what to change.
#![forbid(unsafe_code)]

pub mod block_fifo;
pub mod bundles;
pub mod byte_mask;
pub mod byte_rotator;
pub mod counter;
pub mod crc32;
mod crc32_matrix;
pub mod credit;
pub mod cut_through_fifo;
pub mod delay;
pub mod parameters;
pub mod ram;
pub mod receive;
pub mod round_robin;
pub mod round_robin_ahead;
pub mod sim;
pub mod stream;
pub mod stream_skid;
pub mod sync_fifo;
pub mod trailing_ones;
pub mod valid_delay;
pub mod whole_packets;

pub use block_fifo::BlockFifo;
pub use bundles::{
    AddressFlowSnk, AddressFlowSrc, ArmSnk, ArmSrc, BarAccessSnk, BarAccessSrc, BarDataSnk,
    BarDataSrc, CompletionSnk, CompletionSrc, DoorbellSnk, DoorbellSrc, FenceSnk, FenceSrc,
    MacRxSnk, MacRxSrc, MacTxSnk, MacTxSrc, PageFaultSnk, PageFaultSrc, PayloadFaultSnk,
    PayloadFaultSrc, PlacementSnk, PlacementSrc, QpRowFlowSnk, QpRowFlowSrc, QpSettingsSnk,
    QpSettingsSrc, QpSnk, QpSrc, ReadDataSnk, ReadDataSrc, ReadFaultSnk, ReadFaultSrc,
    ReverseEvSnk, ReverseEvSrc, TableWriteSnk, TableWriteSrc, ThresholdSnk, ThresholdSrc, TlpSnk,
    TlpSrc, VerdictSnk, VerdictSrc,
};
pub use byte_mask::{ByteMask, WordMask};
pub use byte_rotator::ByteRotator;
pub use counter::Counter;
pub use crc32::Crc32Wide;
pub use credit::Credit;
pub use cut_through_fifo::CutThroughFifo;
pub use delay::Delay;
pub use parameters::{Checked, Parameters};
pub use ram::{
    BlockRam, BypassRam, DeepRowRam, LutRam, QuickBypassRam, QuickRam, RowRam, UltraRam,
};
pub use receive::{
    BufferFreeSnk, BufferFreeSrc, BufferReadSnk, BufferReadSrc, TokenFlowSnk, TokenFlowSrc,
    TokenSnk, TokenSrc,
};
pub use round_robin::RoundRobin;
pub use round_robin_ahead::RoundRobinAhead;
pub use stream::{
    DataFlowSnk, DataFlowSrc, DataOfferSnk, DataOfferSrc, DataSnk, DataSrc, FlowSnk, FlowSrc,
    OfferSnk, OfferSrc, Snk, Src,
};
pub use stream_skid::StreamSkid;
pub use sync_fifo::SyncFifo;
pub use valid_delay::ValidDelay;
