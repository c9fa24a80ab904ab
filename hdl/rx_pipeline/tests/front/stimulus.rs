//! Random inputs that the blocks of the front end may be given.

use hdl_rx_pipeline::beat::{BeatInfo, OuterHeaders};
use hdl_rx_pipeline::control_check::ControlCheckResult;
use hdl_rx_pipeline::OwnAddress;
use hdl_testkit::equivalence::{Random, TestRng};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng as ProptestRng, TestRunner};
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::hw::core::BufferSpan;
use stellar_wire::hw::frame::{DropReason, PacketHeaders};

use crate::front::frames::{any_frame, TestFrame};

/// Beats of frames as the MAC delivers them: (data, bytes, last, error).
pub struct Beats<const W: usize> {
    runner: TestRunner,
    frame: TestFrame,
    sent: usize,
}

impl<const W: usize> Beats<W> {
    pub fn new(seed: u8) -> Self {
        let rng = ProptestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
        let mut runner = TestRunner::new_with_rng(Config::default(), rng);
        let frame = Self::frame(&mut runner);
        Self {
            runner,
            frame,
            sent: 0,
        }
    }

    /// Returns a frame that is short, so that the slow simulation runs many of them.
    fn frame(runner: &mut TestRunner) -> TestFrame {
        let short = any_frame().prop_filter("long", |f| f.bytes.len() < 600);
        let tree = short.new_tree(runner).expect("a short frame");
        tree.current()
    }

    pub fn next(&mut self) -> (Bits<W>, u64, bool, bool) {
        let rest = &self.frame.bytes[self.sent..];
        let bytes = rest.len().min(W / 8);
        let mut data = Bits::<W>::default();
        for (i, byte) in rest[..bytes].iter().enumerate() {
            for bit in 0..8 {
                data = data.replace_bit(8 * i + bit, byte >> bit & 1 == 1);
            }
        }
        let last = bytes == rest.len();
        let error = last && self.frame.mac_error;
        self.sent += bytes;
        if last {
            self.sent = 0;
            self.frame = Self::frame(&mut self.runner);
        }
        (data, bytes as u64, last, error)
    }
}

/// Random side information of a legal stream: `first` follows `last`.
#[derive(Default)]
pub struct Sideband {
    inside: Option<OuterHeaders>,
}

impl Sideband {
    pub fn next(&mut self, rng: &mut TestRng, width: usize) -> BeatInfo {
        let first = self.inside.is_none();
        let outer = *self.inside.get_or_insert_with(|| OuterHeaders {
            tagged: rng.random(),
            encapsulated: rng.random(),
            ipv6: rng.random(),
            other_mac: rng.random_bool(0.3),
            foreign: rng.random_bool(0.1),
            runt: rng.random_bool(0.1),
            congestion: rng.random(),
        });
        let last = rng.random_bool(0.4);
        if last {
            self.inside = None;
        }
        let full = width as u64 / 8;
        let bytes = if last {
            rng.random_range(1..=full)
        } else {
            full
        };
        BeatInfo {
            first,
            last,
            error: last && rng.random_bool(0.1),
            bytes: bytes.into(),
            outer,
        }
    }
}

pub fn headers(rng: &mut TestRng) -> PacketHeaders {
    PacketHeaders {
        reason: match rng.random_range(0..6) {
            0 => DropReason::None,
            5 => DropReason::ForeignDestination,
            1 => DropReason::UnsupportedOpcode,
            2 => DropReason::BadPayloadLength,
            3 => DropReason::NotRoce,
            _ => DropReason::BadLength,
        },
        psn: Bits::random(rng),
        va: Bits::random(rng),
        payload_length: Bits::random(rng),
        ..PacketHeaders::default()
    }
}

/// The address that test frames are for, or another one, or none.
pub fn own(rng: &mut TestRng) -> OwnAddress {
    OwnAddress {
        checked: rng.random_bool(0.8),
        known: rng.random_bool(0.9),
        mac: u64::from(rng.random_bool(0.2)).into(),
        ip: u64::from(rng.random_bool(0.2)).into(),
    }
}

pub fn finding(rng: &mut TestRng) -> ControlCheckResult {
    ControlCheckResult {
        foreign_source: rng.random_bool(0.3),
        found: rng.random(),
        reason: match rng.random_range(0..4) {
            0 => DropReason::ControlForeign,
            1 => DropReason::ControlUnknownQp,
            _ => DropReason::Control,
        },
        probe: rng.random_bool(0.3),
        rc: rng.random(),
        probe_id: Bits::random(rng),
        timestamp: Bits::random(rng),
    }
}

pub fn span(rng: &mut TestRng) -> BufferSpan {
    BufferSpan {
        start: Bits::random(rng),
        beats: Bits::random(rng),
    }
}
