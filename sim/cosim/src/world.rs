//! One lane, its MAC and its PCIe fabric, with one clock.

use std::collections::VecDeque;

use sim_bfm::{MacRx, TlpError, WriteAssembler, CLOCK_PS};
use sim_pcie::{Fabric, FabricError, FlowClass, MemWrite, PortId, Tlp};
use sim_verilated::{BuildError, ModelError};
use stellar_transport::rx::TableWrite;
use thiserror::Error;

use crate::lane::{LaneInputs, LaneModel};
use crate::table::pack;

/// Why a run stopped.
#[derive(Debug, Error)]
pub enum WorldError {
    #[error(transparent)]
    Emit(#[from] hdl_verilog::EmitError),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Fabric(#[from] FabricError),
    #[error("the lane sent a broken TLP: {0}")]
    Tlp(#[from] TlpError),
    #[error(
        "the lane hangs: {done} of {sent} frames decided after {clocks} clocks without progress"
    )]
    Hang { done: u64, sent: u64, clocks: u64 },
}

/// Counters of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorldStats {
    /// Cycles of the lane.
    pub clocks: u64,
    /// Frames passed to the MAC.
    pub frames: u64,
    /// Frames whose decision was made.
    pub decided: u64,
    /// Memory write TLPs that left the lane.
    pub tlps: u64,
    /// Cycles in which a TLP beat had to wait because PCIe was full.
    pub pcie_stalls: u64,
}

/// One receive lane with everything around it.
pub struct LaneWorld {
    pub lane: LaneModel,
    pub fabric: Fabric,
    pub mac: MacRx,
    /// Index of the `DropReason` of each frame, in order of the decisions.
    pub verdicts: Vec<u8>,
    /// Packed acknowledgement requests, in order.
    pub acks: Vec<Vec<u32>>,
    /// Writes in the order in which they left, with the cycle of their last beat, if `keep_writes` is set.
    pub writes: Vec<(u64, MemWrite)>,
    pub keep_writes: bool,
    pub stats: WorldStats,
    tables: VecDeque<Vec<u32>>,
    fences: usize,
    fences_done: u64,
    assembler: WriteAssembler,
    port: PortId,
}

impl LaneWorld {
    /// Connects `lane` to endpoint `port` of `fabric`; its TLPs go to `assembler`.
    pub fn new(
        lane: LaneModel,
        mac: MacRx,
        fabric: Fabric,
        port: PortId,
        assembler: WriteAssembler,
    ) -> Self {
        Self {
            lane,
            fabric,
            mac,
            verdicts: vec![],
            acks: vec![],
            writes: vec![],
            keep_writes: true,
            stats: WorldStats::default(),
            tables: VecDeque::new(),
            fences: 0,
            fences_done: 0,
            assembler,
            port,
        }
    }

    /// Queues a frame for reception.
    pub fn receive(&mut self, frame: Vec<u8>, mac_error: bool) {
        self.stats.frames += 1;
        self.mac.push(frame, mac_error);
    }

    /// Queues a table write; [`Self::settle`] waits for it.
    pub fn write_table(&mut self, write: &TableWrite) {
        self.tables.push_back(pack(write));
    }

    /// Queues a fence, which is done when every DMA of earlier tokens has left.
    pub fn fence(&mut self) {
        self.fences += 1;
    }

    /// Number of fences done so far.
    pub fn fences_done(&self) -> u64 {
        self.fences_done
    }

    /// Present time.
    pub fn now_ps(&self) -> u64 {
        self.stats.clocks * CLOCK_PS
    }

    /// Simulates one cycle of everything.
    pub fn clock(&mut self) -> Result<(), WorldError> {
        let now = self.now_ps();
        // A write is submitted with its last beat, so the space is checked before its first.
        let tlp_ready = !self.assembler.between_writes()
            || self.fabric.ready(now, self.port, FlowClass::Posted)?;
        if !tlp_ready && self.lane.tlp_offered() {
            self.stats.pcie_stalls += 1;
        }
        let inputs = LaneInputs {
            mac: self.mac.clock(),
            table: self.tables.front().map(Vec::as_slice),
            fence: self.tables.is_empty() && self.fences > 0,
            ack_ready: true,
            tlp_ready,
        };
        let outputs = self.lane.clock(&inputs);
        self.stats.clocks += 1;
        if outputs.table_taken {
            self.tables.pop_front();
        }
        self.fences -= usize::from(outputs.fence_taken);
        self.fences_done += u64::from(outputs.fence_done);
        if let Some(reason) = outputs.verdict {
            self.stats.decided += 1;
            self.verdicts.push(reason);
        }
        self.acks.extend(outputs.ack);
        if let Some(beat) = outputs.tlp {
            if let Some(write) = self.assembler.push(&beat)?.complete {
                self.stats.tlps += 1;
                if self.keep_writes {
                    self.writes.push((self.stats.clocks, write.clone()));
                }
                self.fabric.submit(now, self.port, Tlp::Write(write))?;
            }
        }
        Ok(())
    }

    /// Runs until every queued table write and frame is finished, and its last DMA has reached memory.
    pub fn settle(&mut self) -> Result<(), WorldError> {
        const PATIENCE: u64 = 20_000;
        let mut quiet = 0;
        while self.stats.decided < self.stats.frames || !self.tables.is_empty() {
            let before = (
                self.stats.decided,
                self.stats.tlps,
                self.mac.waiting(),
                self.tables.len(),
            );
            self.clock()?;
            let after = (
                self.stats.decided,
                self.stats.tlps,
                self.mac.waiting(),
                self.tables.len(),
            );
            quiet = if before == after { quiet + 1 } else { 0 };
            if quiet > PATIENCE {
                return Err(self.hang(quiet));
            }
        }
        self.fence();
        let target = self.fences_done + self.fences as u64;
        for waited in 0.. {
            if self.fences_done == target {
                break;
            }
            if waited > PATIENCE {
                return Err(self.hang(waited));
            }
            self.clock()?;
        }
        // Writes that are still in flight through switches and page walks. Each cycle advances the fabric.
        while self.fabric.next_event().is_some() {
            self.clock()?;
        }
        Ok(())
    }

    fn hang(&self, clocks: u64) -> WorldError {
        WorldError::Hang {
            done: self.stats.decided,
            sent: self.stats.frames,
            clocks,
        }
    }
}
