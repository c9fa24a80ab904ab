//! A run of frames through the lane beside the reference model: same verdicts, same acknowledgements, same TLPs, right bytes in memory.

use std::collections::BTreeMap;

use sim_bfm::{MacRx, Pacing, WriteAssembler};
use sim_pcie::Route;
use sim_verilated::Library;
use stellar_transport::rx::{
    DropReason, MaxPayload, QpRow, RxConfig, RxLane as ReferenceLane, RxOutcome, TableWrite,
};
use stellar_wire::hw::pack::to_words;
use stellar_wire::RoceFrame;
use thiserror::Error;

use crate::lane::{LaneModel, LaneWidth};
use crate::memory_map::{MemoryMap, Mismatch, Placed, NIC};
use crate::world::{LaneWorld, WorldError};

/// Where hardware and reference, or memory and packets, disagree.
#[derive(Debug, Error)]
pub enum SessionError {
    #[error(transparent)]
    World(#[from] WorldError),
    #[error(transparent)]
    Memory(#[from] Mismatch),
    #[error("frame {frame}: the lane says {lane:?}, the reference {reference:?}")]
    Verdict {
        frame: usize,
        lane: DropReason,
        reference: DropReason,
    },
    #[error("acknowledgement request {index}: the lane sends {lane}, the reference {reference}")]
    Ack {
        index: usize,
        lane: String,
        reference: String,
    },
    #[error("TLP {index}: the lane sends {lane}, the reference {reference}")]
    Tlp {
        index: usize,
        lane: String,
        reference: String,
    },
    #[error("the reference refuses a table write: {0}")]
    Table(#[from] stellar_transport::rx::TableError),
}

/// Configuration of a session.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    pub width: LaneWidth,
    pub pacing: Pacing,
    pub max_payload: MaxPayload,
    pub acs: sim_pcie::AcsConfig,
}

impl SessionConfig {
    /// A configuration with line rate, maximum payload 256 bytes and STELLAR's ACS setting.
    pub fn new(width: LaneWidth) -> Self {
        Self {
            width,
            pacing: Pacing::Line {
                bytes_per_clock: width.line_bytes_per_clock(),
            },
            max_payload: MaxPayload::default(),
            acs: MemoryMap::stellar_acs(),
        }
    }
}

/// A lane, its world, the reference and the memory that both should produce.
pub struct Session {
    pub world: LaneWorld,
    pub map: MemoryMap,
    pub reference: ReferenceLane,
    /// What the reference says of each frame, in order.
    pub outcomes: Vec<RxOutcome>,
}

impl Session {
    /// A lane fresh out of reset.
    pub fn new(library: &Library, config: &SessionConfig) -> Result<Self, SessionError> {
        let rx = RxConfig {
            max_payload: config.max_payload,
            ..RxConfig::default()
        };
        let max_payload = config.max_payload.bytes();
        let mps_code = (max_payload / 128).trailing_zeros() as u8;
        let lane = LaneModel::new(library, config.width, rx.udp_port, mps_code)?;
        let mac = MacRx::new(config.width.bytes(), &config.pacing);
        let assembler = WriteAssembler::new(NIC, max_payload);
        let (fabric, map) = MemoryMap::new(config.acs.clone(), config.max_payload);
        Ok(Self {
            world: LaneWorld::new(lane, mac, fabric, sim_pcie::PortId(0), assembler),
            map,
            reference: ReferenceLane::new(rx),
            outcomes: vec![],
        })
    }

    /// Writes a table entry in hardware and reference.
    pub fn write_table(&mut self, write: &TableWrite) -> Result<(), SessionError> {
        self.reference.write_table(write)?;
        self.world.write_table(write);
        Ok(())
    }

    /// Creates or resets a queue pair.
    pub fn write_qp(&mut self, index: u32, context: QpRow) -> Result<(), SessionError> {
        self.write_table(&TableWrite::Qp { index, context })
    }

    /// Gives a frame to the lane and to the reference, and notes the bytes an accepted packet writes.
    pub fn receive(&mut self, frame: Vec<u8>, mac_error: bool) {
        let outcome = self.reference.receive_from_mac(&frame, mac_error);
        self.outcomes.push(outcome);
        self.world.receive(frame, mac_error);
    }

    /// Finishes everything queued and compares verdicts, acknowledgement requests and TLPs with the reference's.
    pub fn settle_and_compare(&mut self) -> Result<(), SessionError> {
        self.world.settle()?;
        for (frame, (outcome, &lane)) in self.outcomes.iter().zip(&self.world.verdicts).enumerate()
        {
            if outcome.reason.index() != lane {
                return Err(SessionError::Verdict {
                    frame,
                    lane: DropReason::ALL[usize::from(lane)],
                    reference: outcome.reason,
                });
            }
        }
        self.compare_acks()?;
        self.compare_tlps()
    }

    fn compare_acks(&self) -> Result<(), SessionError> {
        let expected: Vec<_> = self.outcomes.iter().filter_map(|o| o.ack).collect();
        let count = expected.len().max(self.world.acks.len());
        for index in 0..count {
            let reference = expected.get(index);
            let lane = self.world.acks.get(index);
            let same = match (reference, lane) {
                (Some(r), Some(l)) => crate::acks::meaningful(r, l) == to_words(r.to_hw()),
                _ => false,
            };
            if !same {
                return Err(SessionError::Ack {
                    index,
                    lane: lane.map_or("nothing".into(), |l| crate::acks::describe(l)),
                    reference: format!("{reference:x?}"),
                });
            }
        }
        Ok(())
    }

    fn compare_tlps(&self) -> Result<(), SessionError> {
        let expected: Vec<_> = self.outcomes.iter().flat_map(|o| &o.tlps).collect();
        let count = expected.len().max(self.world.writes.len());
        for index in 0..count {
            let reference = expected.get(index);
            let lane = self.world.writes.get(index).map(|w| &w.1);
            let same = reference.zip(lane).is_some_and(|(r, l)| {
                (r.address, r.first_be, r.last_be, &r.data)
                    == (l.address, l.first_be, l.last_be, &l.data)
                    && r.at == l.at.code()
            });
            if !same {
                return Err(SessionError::Tlp {
                    index,
                    lane: format!("{lane:x?}"),
                    reference: format!("{reference:x?}"),
                });
            }
        }
        Ok(())
    }

    /// Records the bytes that the reference places. Use it where mutated packets cannot say what memory must hold.
    pub fn expect_placements(&mut self) {
        for tlp in self.outcomes.iter().flat_map(|o| &o.tlps) {
            let written: Vec<(u64, u8)> = tlp.written().collect();
            let bytes: Vec<u8> = written.iter().map(|w| w.1).collect();
            self.map.expect_tlp(tlp.at == 0b10, written[0].0, &bytes);
        }
    }

    /// Records the bytes that accepted packets must place. It parses the packets itself and follows the addresses of RC, independently of the reference.
    /// `frames` are those received since the session's `first`-th.
    pub fn expect_packets(&mut self, frames: &[Vec<u8>], first: usize) {
        let mut running: BTreeMap<u32, u64> = BTreeMap::new();
        for (frame, verdict) in frames.iter().zip(&self.world.verdicts[first..]) {
            if *verdict != DropReason::None.index() {
                continue;
            }
            let frame = RoceFrame::parse(frame).expect("the lane accepted it");
            let va = match frame.ext.reth {
                Some(reth) => reth.va,
                None => running[&frame.bth.dest_qp],
            };
            running.insert(frame.bth.dest_qp, va + frame.payload.len() as u64);
            self.map.expect(va, &frame.payload);
        }
    }

    /// Checks memory byte for byte against what the packets that the lane accepted carried.
    pub fn verify_memory(&self) -> Result<Placed, SessionError> {
        Ok(self.map.verify(&self.world.fabric)?)
    }

    /// Bytes written over `route`.
    pub fn bytes_by(&self, route: Route) -> u64 {
        self.world.fabric.counters().writes(route).bytes
    }

    /// TLPs sent with AT = 10, and with AT = 00.
    pub fn tlps_by_at(&self) -> (u64, u64) {
        let translated = self
            .world
            .writes
            .iter()
            .filter(|w| w.1.at == sim_pcie::AddressType::Translated)
            .count() as u64;
        (translated, self.world.writes.len() as u64 - translated)
    }
}
