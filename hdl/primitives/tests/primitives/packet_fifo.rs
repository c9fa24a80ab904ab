//! The packet FIFO against a model of frames.
use std::collections::VecDeque;
use std::sync::OnceLock;

use hdl_primitives::PacketFifo;
use hdl_verilog::equivalence::{check, Random};
use proptest::prelude::*;
use rust_hdl::prelude::*;
use sim_verilated::Library;

use crate::bench::{library, Bench};

const DEPTH: usize = 8;

fn packet_fifo() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| library(PacketFifo::<Bits<32>, 3, 4>::default()))
}

#[test]
fn agrees_with_its_simulation() {
    let drive = |uut: &mut PacketFifo<Bits<40>, 3, 4>, rng: &mut _| {
        uut.reset.next = Bits::<7>::random(rng) == 7;
        uut.in_valid.next = Bits::<2>::random(rng) != 1;
        uut.in_data.next = Bits::random(rng);
        uut.in_commit.next = Bits::<2>::random(rng) == 1;
        uut.in_drop.next = Bits::<3>::random(rng) == 1;
        uut.out_ready.next = bool::random(rng);
    };
    check(PacketFifo::default, Some(|u| &mut u.clock), drive, 600, 1).unwrap();
}

/// What the writer does in one clock.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Write {
    Idle,
    Beat,
    Commit,
    Drop,
    DropWithBeat,
}

/// The FIFO and what it should hold.
struct Checked {
    bench: Bench,
    committed: VecDeque<u64>,
    provisional: Vec<u64>,
    losing: bool,
    sent: u64,
    frames: [u64; 3],
}

impl Checked {
    fn new() -> Self {
        Checked {
            bench: Bench::new(packet_fifo()),
            committed: VecDeque::new(),
            provisional: vec![],
            losing: false,
            sent: 0,
            frames: [0; 3],
        }
    }

    fn step(&mut self, write: Write, take: bool) {
        let beat = matches!(write, Write::Beat | Write::Commit | Write::DropWithBeat);
        let drop = matches!(write, Write::Drop | Write::DropWithBeat);
        let commit = write == Write::Commit;
        self.bench.set("in_valid", beat.into());
        self.bench.set("in_data", self.sent);
        self.bench.set("in_commit", commit.into());
        self.bench.set("in_drop", drop.into());
        self.bench.set("out_ready", take.into());
        self.bench.settle();
        let held = self.committed.len() + self.provisional.len();
        assert_eq!(self.bench.get("count"), held as u64);
        let mut popped = None;
        if take && self.bench.get("out_valid") == 1 {
            popped = Some(self.bench.get("out_data"));
        }
        self.bench.clock();
        let mut overflow = false;
        if drop {
            self.provisional.clear();
            self.losing = false;
            self.frames[1] += 1;
        } else if beat {
            self.losing |= held == DEPTH;
            if !self.losing {
                self.provisional.push(self.sent);
            }
            if commit {
                overflow = self.losing;
                self.frames[if overflow { 2 } else { 0 }] += 1;
                if overflow {
                    self.provisional.clear();
                }
                self.committed.extend(self.provisional.drain(..));
                self.losing = false;
            }
        }
        if let Some(popped) = popped {
            assert_eq!(
                Some(popped),
                self.committed.pop_front(),
                "only committed beats are seen, in order"
            );
        }
        self.sent += u64::from(beat);
        assert_eq!(self.bench.get("overflow") == 1, overflow);
    }

    fn drain(&mut self) {
        for _ in 0..DEPTH + 2 {
            self.step(Write::Idle, true);
        }
        assert!(
            self.committed.is_empty(),
            "{:?} never came out",
            self.committed
        );
    }
}

fn writes() -> impl Strategy<Value = Write> {
    prop_oneof![
        2 => Just(Write::Idle),
        6 => Just(Write::Beat),
        2 => Just(Write::Commit),
        1 => Just(Write::Drop),
        1 => Just(Write::DropWithBeat),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn readers_see_committed_frames_only(
        moves in prop::collection::vec((writes(), prop::bool::weighted(0.4)), 0..300)
    ) {
        let mut fifo = Checked::new();
        for (write, take) in moves {
            fifo.step(write, take);
        }
        fifo.drain();
    }
}

#[test]
fn a_frame_that_just_fits_is_kept_and_a_longer_one_lost_whole() {
    let mut fifo = Checked::new();
    for length in [DEPTH, DEPTH + 1, 1] {
        for n in 1..=length {
            fifo.step(
                if n == length {
                    Write::Commit
                } else {
                    Write::Beat
                },
                false,
            );
        }
        fifo.drain();
    }
    assert_eq!(fifo.frames, [2, 0, 1]);
}

#[test]
fn single_beat_frames_pass_every_clock() {
    let mut fifo = Checked::new();
    for _ in 0..50 {
        fifo.step(Write::Commit, true);
    }
    assert_eq!(fifo.frames, [50, 0, 0]);
    assert_eq!(fifo.committed.len(), 2, "latency 2");
}

#[test]
fn a_frame_dropped_by_its_writer_is_not_an_overflow() {
    let mut fifo = Checked::new();
    for _ in 0..DEPTH + 3 {
        fifo.step(Write::Beat, false);
    }
    fifo.step(Write::Drop, false);
    fifo.step(Write::Commit, false);
    fifo.drain();
    assert_eq!(fifo.frames, [1, 1, 0]);
}
