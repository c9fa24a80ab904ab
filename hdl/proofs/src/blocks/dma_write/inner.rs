//! What the properties see of the engine.

use hdl_macros::bundle;
use hdl_pcie::records::{FetchedBeat, PlaceSegment, RequestChunk, TlpBeat};
use hdl_pcie::request_splitter::{PreparedSegment, RunningSegment};
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::PlaceCommand;

/// Registers and memories of an engine with beats of 16 bytes.
#[bundle]
pub struct EngineInsideSrc {
    pub issue_held: Signal<Out, Bit>,
    pub issue_current: Signal<Out, PlaceCommand>,
    pub issue_has_payload: Signal<Out, Bit>,
    pub issue_issued: Signal<Out, Bit>,
    pub issue_issued_segment: Signal<Out, PlaceSegment>,

    pub splitter_prepared_valid: Signal<Out, Bit>,
    pub splitter_prepared: Signal<Out, PreparedSegment>,
    pub splitter_running_valid: Signal<Out, Bit>,
    pub splitter_running: Signal<Out, RunningSegment>,
    pub splitter_sent_memory_memory: [Signal<Out, RequestChunk>; 2],

    pub fetch_held: Signal<Out, Bit>,
    pub fetch_current: Signal<Out, RequestChunk>,
    pub fetch_sent: Signal<Out, Bit>,
    pub fetch_sent_beat: Signal<Out, FetchedBeat>,
    pub fetch_entries_out: Signal<Out, Bits<6>>,

    pub reading_valid: [Signal<Out, Bit>; 2],
    pub reading_data_stage: [Signal<Out, FetchedBeat>; 2],
    pub rotating_valid: Signal<Out, Bit>,
    pub rotating: Signal<Out, FetchedBeat>,
    pub rotated_valid: Signal<Out, Bit>,
    pub rotated: Signal<Out, TlpBeat>,

    pub data_fifo_held: Signal<Out, Bits<6>>,
    pub data_fifo_write_pointer: Signal<Out, Bits<5>>,
    pub data_fifo_read_pointer: Signal<Out, Bits<5>>,
    pub beat_fifo_held: Signal<Out, Bits<6>>,
    pub beat_fifo_write_pointer: Signal<Out, Bits<5>>,
    pub beat_fifo_read_pointer: Signal<Out, Bits<5>>,
    pub beat_fifo_memory_memory: [Signal<Out, TlpBeat>; 32],
}
