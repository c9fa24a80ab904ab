//! The shim of a DCMAC between a card, a 200G port and its wire, all in Rust, on two clocks with metastability.
use std::sync::LazyLock;

use hdl_shims::DcmacShim;
use hdl_testkit::Dut;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim_verilated::Library;

use crate::model::{checked, tick};
use crate::segment_rules::{Wire, BYTE_200G_FS};
use crate::segments::{beats, drive, segments, Bytes, Card, Segment, SEGMENT};
use crate::wire::AROUND;

/// 390.625 MHz in femtoseconds.
pub const MAC: u64 = 2_560_000;

/// Femtoseconds for a byte on a wire whose peer is 100 ppm faster than 200 Gb/s.
pub const FAST_BYTE_FS: u64 = BYTE_200G_FS - BYTE_200G_FS / 10_000;

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
    /// The MAC takes what a wire of 200 Gb/s has room for, and gives what has come from one that is 100 ppm faster. Otherwise it takes and gives a cycle whenever its
    /// pace says so.
    pub paced: bool,
    /// When all that the MAC took is on the wire.
    pub wire_free: u64,
    /// Segments that are still to come from the wire, the next one last, and when each is there.
    coming: Vec<(u64, Segment)>,
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

    /// The wire sends these frames back to back from now on.
    pub fn wire_sends(&mut self, frames: &[Bytes]) {
        let mut began = self.now();
        self.coming.clear();
        for frame in frames {
            let length = frame.0.len();
            for (index, segment) in segments(frame, &mut self.rng).into_iter().enumerate() {
                let bytes = length.min((index + 1) * SEGMENT);
                self.coming
                    .push((began + bytes as u64 * FAST_BYTE_FS, segment));
            }
            began += (length + AROUND) as u64 * FAST_BYTE_FS;
        }
        self.coming.reverse();
    }

    /// The time of the next edge.
    pub fn now(&self) -> u64 {
        self.next[0].min(self.next[1])
    }

    /// The wire has sent everything.
    pub fn is_sent(&self) -> bool {
        self.coming.is_empty()
    }

    /// The segments of the next cycle from the MAC: four, or fewer if the last one ends its frame, because a cycle inside of a frame is full.
    fn next_cycle(&mut self, now: u64) -> Vec<Option<Segment>> {
        let next = self.coming.iter().rev().take(4);
        let there = next
            .take_while(|(at, _)| !self.paced || *at <= now)
            .map(|(_, segment)| Some(*segment));
        let cycle: Vec<Option<Segment>> = there.collect();
        let whole = cycle.len() == 4 || matches!(cycle.last(), Some(Some(last)) if last.eop);
        if !whole {
            return vec![];
        }
        self.coming.truncate(self.coming.len() - cycle.len());
        cycle
    }

    pub fn card_sends(&mut self, frames: &[Bytes]) {
        self.beats = beats(frames);
        self.beats.reverse();
    }

    pub fn edge(&mut self, pace: Pace) {
        let now = self.now();
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
            let cycle = if self.rng.random_ratio(pace[0], 8) {
                self.next_cycle(now)
            } else {
                vec![]
            };
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
