//! Formal proofs of hardware blocks.
//!
//! The properties of a block are a Rust-HDL block around it (`blocks`), so they name ports and records as any other code does. Its inputs are free: the
//! solver chooses them in every cycle. Its outputs have a meaning by their names:
//!
//! | output | meaning |
//! |---|---|
//! | `holds_NAME` | is high in every cycle, whatever the inputs do: to be proved |
//! | `given_NAME` | is assumed to have been high in all cycles so far |
//! | `reaches_NAME` | is high in some cycle of some run: shows that the assumptions leave the interesting cases |
//!
//! An input `inner_INSTANCE_NET` is not free: it shows a net of an instance, or a word of its memory. With two clocks, `NAME_clock` has an edge in the steps in which the input `NAME_edge` is
//! high, and `clock` in every step.
//!
//! A run begins with a cycle of `reset`, if there is one; later `reset` is as free as the other inputs. The rules of bundles are used as they are in simulation: those of inputs are assumed, those of outputs are proved. [`Problem`] is the translation of
//! such a block with Yosys, [`decide`] asks ABC, [`mutants`] changes the block to see each proof fail. `docs/formal.md` describes the use.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[allow(missing_docs)]
mod blocks;
mod entry_tracker;
pub mod mutants;
mod problem;
mod reset_order;
mod solve;
mod tools;
mod trace;

use hdl_verilog::{Design, EmitError};
use rust_hdl::prelude::Block;

pub use entry_tracker::EntryTracker;
pub use problem::{Check, Kind, Problem};
pub use solve::{decide, refute, Limits, Verdict};
pub use tools::{missing, Tools};
pub use trace::Trace;

/// A block with properties.
pub struct Proof {
    /// Name of the block.
    pub name: &'static str,
    /// The block with its parameters.
    pub what: &'static str,
    emit: fn() -> Result<Design, EmitError>,
}

impl Proof {
    /// Translates the block and its properties.
    ///
    /// # Errors
    /// [`EmitError`] if something cannot be translated.
    pub fn design(&self) -> Result<Design, EmitError> {
        (self.emit)()
    }
}

const fn proof<B: Block + Default>(name: &'static str, what: &'static str) -> Proof {
    Proof {
        name,
        what,
        emit: || {
            let mut block = Box::<B>::default();
            block.connect_all();
            hdl_verilog::emit(block.as_ref())
        },
    }
}

/// Every block with properties.
pub const ALL: &[Proof] = &[
    proof::<blocks::SyncFifoProof>("sync_fifo", "SyncFifo, 4 entries of 3 bits"),
    proof::<blocks::StreamSkidProof>("stream_skid", "StreamSkid, 8 bits"),
    proof::<blocks::RoundRobinProof>("round_robin", "RoundRobin, 6 requesters"),
    proof::<blocks::CreditProof>("credit", "Credit, 6 entries"),
    proof::<blocks::BlockFifoProof>("block_fifo", "BlockFifo, 4 entries of 3 bits"),
    proof::<blocks::WakeQueueProof>("wake_queue", "WakeQueue, 4 queue pairs"),
    proof::<blocks::DoorbellsProof>("doorbells", "Doorbells, 4 queue pairs, 4 pages"),
    proof::<blocks::PageLookupProof>("page_lookup", "PageLookup, table of 8 entries"),
    proof::<blocks::RegionCheckProof>("region_check", "RegionCheck, table of 4 regions"),
    proof::<blocks::PsnTrackProof>("psn_track", "PsnTrack, 2 queue pairs, rings of 32 words"),
    proof::<blocks::SegmentIssueProof>("segment_issue", "SegmentIssue, beats of 128 bytes"),
    proof::<blocks::BeatFetchProof>("beat_fetch", "BeatFetch, beats of 128 bytes"),
    proof::<blocks::DmaWriteProof>("dma_write", "DmaWrite, 128 bits"),
    proof::<blocks::TagPoolProof>("tag_pool", "TagPool, 3 of 4 tags"),
    proof::<blocks::FenceControlProof>("fence_control", "FenceControl, two sources of uses"),
    proof::<blocks::FenceBarrierProof>("fence_barrier", "FenceBarrier"),
    proof::<blocks::GrayCrossingProof>(
        "gray_crossing",
        "gray_of, CrossingSource, LevelSynchroniser, binary_of: pointers of 5 bits",
    ),
    proof::<blocks::AsyncFifoProof>("async_fifo", "AsyncFifo, 4 entries of 1 bit, two clocks"),
    proof::<blocks::SendWindowProof>(
        "send_window",
        "choose, rc_space, BurstMeasure, BurstCollect: the packets of a burst",
    ),
    proof::<blocks::RequestSplitterProof>(
        "request_splitter",
        "RequestSplitter, requests of 128 to 4,096 bytes",
    ),
    proof::<blocks::BurstSendProof>("burst_send", "BurstSend"),
    proof::<blocks::TxPacketBuilderProof>(
        "tx_packet_builder",
        "TxPacketBuilder, 2 queue pairs, buffer of 128 beats",
    ),
    proof::<blocks::TxWindowProof>(
        "tx_window",
        "TxWindow, 2 queue pairs, 4 blocks of 32 packets",
    ),
];

/// Finds a proof by the name of its block.
///
/// # Errors
/// A message with the closest name, or with all names.
pub fn named(name: &str) -> Result<&'static Proof, String> {
    if let Some(proof) = ALL.iter().find(|p| p.name == name) {
        return Ok(proof);
    }
    let alike = |p: &&Proof| strsim::jaro_winkler(p.name, name);
    let closest = ALL
        .iter()
        .max_by(|a, b| alike(a).total_cmp(&alike(b)))
        .expect("there are proofs");
    Err(format!(
        "no block {name:?} has properties; closest: {} (--list shows all)",
        closest.name
    ))
}
