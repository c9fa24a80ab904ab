//! A PCIe endpoint as a lane sees it: it reports payloads that have left, and those that it has flushed.

use std::collections::VecDeque;

use hdl_testkit::Dut;
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::{FlushedBatch, WriteTlpHeader};
use stellar_wire::hw::pack::Record;

/// Ports of a lane: sent, flushed (valid, record, ready), fence_done, fence.
const PORTS: [[&str; 6]; 2] = [
    [
        "placement0_sent",
        "placement0_flushed_valid",
        "placement0_flushed",
        "placement0_flushed_ready",
        "placement0_fence_done",
        "placement0_fence",
    ],
    [
        "placement1_sent",
        "placement1_flushed_valid",
        "placement1_flushed",
        "placement1_flushed_ready",
        "placement1_fence_done",
        "placement1_fence",
    ],
];

#[derive(Default)]
pub struct Endpoint {
    lane: usize,
    /// Cycles of a flush.
    cycles: u64,
    /// For each command that has left and is not flushed: the cycle of its flush, and the TLPs up to its last.
    waiting: VecDeque<(u64, usize)>,
    /// The cycle in which each fence is done.
    fences: VecDeque<u64>,
    /// TLPs up to the last of the commands that were flushed.
    pub flushed: usize,
}

impl Endpoint {
    pub fn new(lane: usize) -> Self {
        Self {
            lane,
            ..Self::default()
        }
    }

    /// Later writes take this many cycles to be flushed.
    pub fn set_cycles(&mut self, cycles: u64) {
        self.cycles = cycles;
    }

    fn due(&self, now: u64) -> u64 {
        let last = self.waiting.back().map_or(0, |&(due, _)| due);
        last.max(now + self.cycles)
    }

    /// Drives the reports of a cycle.
    pub fn drive(&self, dut: &mut Dut, now: u64) {
        let [sent, valid, record, _, fence_done, _] = PORTS[self.lane];
        let ready = self.waiting.iter().take_while(|(due, _)| *due <= now);
        let commands = ready.count() as u64;
        dut.set(sent, 0);
        dut.set(valid, (commands > 0).into());
        let batch = FlushedBatch {
            commands: commands.to_bits(),
            failed: false,
        };
        dut.set_record(record, batch);
        let is_done = self.fences.front().is_some_and(|due| *due <= now);
        dut.set(fence_done, is_done.into());
    }

    /// Takes what the lane says in the cycle that is driven.
    pub fn take(&mut self, dut: &Dut, now: u64) {
        let [_, valid, record, ready, fence_done, fence] = PORTS[self.lane];
        if dut.is(valid) && dut.is(ready) {
            let words = dut.words(record);
            let commands = Record::<FlushedBatch>::new(&words).u64("commands");
            for (_, tlps) in self.waiting.drain(..commands as usize) {
                self.flushed = tlps;
            }
        }
        if dut.is(fence_done) {
            self.fences.pop_front();
        }
        if dut.is(fence) {
            self.fences.push_back(self.due(now) + 1);
        }
    }

    /// TLP number `tlps` has left in this cycle.
    pub fn sent(&mut self, dut: &mut Dut, header: &[u32], tlps: usize, now: u64) {
        let header = Record::<WriteTlpHeader>::new(header);
        if !header.bool("ends") {
            return;
        }
        if header.bool("flush") {
            self.waiting.push_back((self.due(now) + 1, tlps));
        } else {
            dut.set(PORTS[self.lane][0], 1);
        }
    }
}
