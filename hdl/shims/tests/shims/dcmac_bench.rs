//! The shim of a DCMAC between a card, a 200G port and its wire, all in Rust, on two clocks with metastability.
use std::sync::LazyLock;

use hdl_shims::DcmacShim;
use hdl_testkit::Dut;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim_verilated::Library;

use crate::model::{checked, tick};
use crate::segment_rules::Wire;
use crate::segments::{beats, drive, segments, Bytes, Card, Segment};

/// 390.625 MHz in femtoseconds.
pub const MAC: u64 = 2_560_000;

/// What the MAC takes before it is on the wire: 256 bytes.
const MAC_BUFFER_FS: u64 = 256 * 40_000;

static LIBRARY: LazyLock<Library> = LazyLock::new(checked::<DcmacShim>);

pub struct Bench {
    pub dut: Dut,
    pub rng: ChaCha8Rng,
    periods: [u64; 2],
    next: [u64; 2],
    /// The MAC takes nothing.
    in_reset: bool,
    /// The MAC takes what a wire of 200 Gb/s has room for.
    pub paced: bool,
    /// When all that the MAC took is on the wire.
    pub wire_free: u64,
    /// Segments that are still to come from the wire.
    coming: Vec<Segment>,
    /// Beats that the card is to send, the next one last, and whether it is on offer.
    beats: Vec<(Vec<u8>, bool)>,
    offered: bool,
    pub card: Card,
    pub wire: Wire,
}

/// In how many of 8 cycles each side moves: the wire, the card, the MAC's ready.
pub type Pace = [u32; 3];

impl Bench {
    pub fn new(periods: [u64; 2], seed: u64) -> Self {
        let mut dut = Dut::of(&LIBRARY);
        dut.model()
            .plus_argument(&format!("metastability={}", seed + 1));
        dut.eval();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut bench = Self {
            dut,
            next: [0, rng.random_range(0..periods[1])],
            rng,
            periods,
            in_reset: false,
            paced: false,
            wire_free: 0,
            coming: vec![],
            beats: vec![],
            offered: false,
            card: Card::default(),
            wire: Wire::default(),
        };
        bench.reset_mac([0; 3]);
        bench
    }

    /// Resets the MAC, which forgets what it sends, and brings the link up.
    pub fn reset_mac(&mut self, pace: Pace) {
        self.in_reset = true;
        self.dut.set("mac_reset", 1);
        self.dut.set("link_up", 0);
        self.run(60, pace);
        self.wire.abandon();
        self.in_reset = false;
        self.dut.set("mac_reset", 0);
        self.run(60, pace);
        self.dut.set("link_up", 1);
        self.run(20, pace);
        assert!(self.dut.is("port_up"));
    }

    pub fn wire_sends(&mut self, frames: &[Bytes]) {
        let all = frames
            .iter()
            .flat_map(|frame| segments(frame, &mut self.rng));
        self.coming = all.collect();
        self.coming.reverse();
    }

    pub fn card_sends(&mut self, frames: &[Bytes]) {
        self.beats = beats(frames);
        self.beats.reverse();
    }

    pub fn edge(&mut self, pace: Pace) {
        let now = self.next[0].min(self.next[1]);
        let rises = self.next.map(|at| at == now);
        if rises[0] {
            self.card.take(&self.dut);
            if self.offered && self.dut.is("tx_ready") {
                self.beats.pop();
                self.offered = false;
            }
        }
        if rises[1] && !self.in_reset {
            let before = self.wire.time;
            if self.wire.take(&self.dut) {
                self.wire_free = self.wire_free.max(now) + self.wire.time - before;
            }
        }
        tick(&mut self.dut, ["clock", "mac_clock"], rises);
        for (next, (period, rises)) in self
            .next
            .iter_mut()
            .zip(self.periods.into_iter().zip(rises))
        {
            *next += period * u64::from(rises);
        }
        if rises[0] {
            if !self.offered && self.rng.random_ratio(pace[1], 8) {
                if let Some((bytes, last)) = self.beats.last() {
                    self.offered = true;
                    self.dut.set_bytes("tx_data", bytes);
                    self.dut.set("tx_bytes", bytes.len() as u64);
                    self.dut.set("tx_last", (*last).into());
                }
            }
            self.dut.set("tx_valid", self.offered.into());
        }
        if rises[1] {
            let mut cycle = vec![];
            if self.rng.random_ratio(pace[0], 8) {
                while cycle.len() < 4 {
                    let Some(segment) = self.coming.pop() else {
                        break;
                    };
                    cycle.push(Some(segment));
                }
            }
            drive(&mut self.dut, &cycle, &mut self.rng);
            let room = !self.paced || self.wire_free <= now + MAC_BUFFER_FS;
            let ready = room && self.rng.random_ratio(pace[2], 8);
            self.dut.set("tx_axis_tready", ready.into());
        }
        self.dut.eval();
    }

    pub fn run(&mut self, edges: usize, pace: Pace) {
        for _ in 0..edges {
            self.edge(pace);
        }
    }

    pub fn drain(&mut self, pace: Pace) {
        for _ in 0..200_000 {
            if self.coming.is_empty() && self.beats.is_empty() {
                break;
            }
            self.edge(pace);
        }
        self.run(6_000, [8; 3]);
        assert!(
            self.coming.is_empty() && self.beats.is_empty(),
            "frames wait"
        );
    }
}
