//! The shim between a CMAC and a card, both in Rust. Inputs of a side change after an edge of its clock.
use hdl_testkit::Dut;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::ends::{Receiver, Sender};
use crate::model::{instance, CARD, MAC};
use crate::wire::{time_of, Frame, BEAT, BYTE_FS};

/// In how many of 8 cycles a side moves.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The CMAC delivers.
    pub rx: u32,
    /// The CMAC is ready.
    pub mac_ready: u32,
    /// The card offers.
    pub tx: u32,
}

impl Pace {
    pub const FULL: Self = Self {
        rx: 8,
        mac_ready: 8,
        tx: 8,
    };
}

pub struct Bench {
    pub dut: Dut,
    pub rng: ChaCha8Rng,
    periods: [u64; 2],
    next: [u64; 2],
    pub now: u64,
    /// Frames come from the wire and go to it at 100 Gb/s. Otherwise a beat in every cycle.
    pub paced: bool,
    /// The MAC's clock stands.
    pub stopped: bool,
    from_wire: Sender,
    from_card: Sender,
    pub to_card: Receiver,
    pub to_wire: Receiver,
    /// When the wire is free for the frame after the last one.
    wire_free: u64,
    /// A frame is on offer or has begun at the MAC, so `tvalid` has to stay.
    inside: bool,
    number: u32,
    /// All frames that the wire and the card sent to their ends.
    pub sent: [Vec<Frame>; 2],
    /// The reset at the pins cuts frames: no check of gaps.
    pub mac_in_reset: bool,
}

/// Sides.
pub const WIRE: usize = 0;
pub const CARD_SIDE: usize = 1;

impl Bench {
    /// A shim after its start-up, with the link up.
    pub fn new(periods: [u64; 2], seed: u64) -> Self {
        Self::of(instance(seed + 1), periods, seed)
    }

    /// The same of another instance.
    pub fn of(dut: Dut, periods: [u64; 2], seed: u64) -> Self {
        let mut bench = Self::cold(dut, periods, seed);
        bench.dut.set("stat_rx_aligned", 1);
        bench.run(120_000_000, Pace::FULL);
        assert!(bench.dut.is("port_up"), "the link comes up");
        bench
    }

    /// A shim after configuration.
    pub fn cold(mut dut: Dut, periods: [u64; 2], seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        dut.eval();
        Self {
            dut,
            next: [0, rng.random_range(0..periods[1])],
            rng,
            periods,
            now: 0,
            paced: false,
            stopped: false,
            from_wire: Sender::default(),
            from_card: Sender::default(),
            to_card: Receiver::default(),
            to_wire: Receiver::default(),
            wire_free: 0,
            inside: false,
            number: 0,
            sent: [vec![], vec![]],
            mac_in_reset: false,
        }
    }

    pub fn nominal(seed: u64) -> Self {
        Self::new([CARD, MAC], seed)
    }

    /// Queues a frame of this length on a side.
    pub fn send(&mut self, side: usize, bytes: usize) {
        self.number += 1;
        let error = side == WIRE && self.rng.random_ratio(1, 16);
        let frame = Frame {
            number: self.number,
            bytes,
            error,
        };
        let sender = if side == WIRE {
            &mut self.from_wire
        } else {
            &mut self.from_card
        };
        if sender.queue.is_empty() {
            sender.began = sender.began.max(self.now);
        }
        sender.queue.push_back(frame);
    }

    /// Everything that was queued has entered.
    pub fn is_sent(&self) -> bool {
        self.from_wire.queue.is_empty() && self.from_card.queue.is_empty()
    }

    /// Frames of the card that wait, or have entered in part.
    pub fn card_waits(&self) -> usize {
        self.from_card.queue.len()
    }

    /// Forgets the frame that a side is sending.
    pub fn forget(&mut self, side: usize) {
        let sender = if side == WIRE {
            &mut self.from_wire
        } else {
            &mut self.from_card
        };
        if sender.beat > 0 {
            sender.queue.pop_front();
            sender.beat = 0;
        }
        sender.offered = false;
        let valid = ["rx_axis_tvalid", "tx_valid"][side];
        self.dut.set(valid, 0);
        self.dut.eval();
    }

    /// Resets the MAC for 30 cycles of the card. It loses the frames that it is in the middle of. Afterwards the link comes up again.
    pub fn reset_mac(&mut self, pace: Pace) {
        self.mac_in_reset = true;
        self.forget(WIRE);
        self.to_wire.abandon();
        for reset in ["usr_rx_reset", "usr_tx_reset"] {
            self.dut.set(reset, 1);
        }
        self.dut.set("stat_rx_aligned", 0);
        self.run(30 * self.periods[0], Pace { rx: 0, ..pace });
        for reset in ["usr_rx_reset", "usr_tx_reset"] {
            self.dut.set(reset, 0);
        }
        self.mac_in_reset = false;
        self.run(10 * self.periods[0], Pace { rx: 0, ..pace });
        self.dut.set("stat_rx_aligned", 1);
        self.run(20 * self.periods[0], Pace { rx: 0, ..pace });
        assert!(self.dut.is("port_up"), "the link comes up again");
    }

    /// Runs until everything has entered and left, at most for this many femtoseconds.
    pub fn drain(&mut self, pace: Pace, most: u64) {
        let end = self.now + most;
        while !self.is_sent() {
            assert!(self.now < end, "frames never entered");
            self.edge(pace);
        }
        // Enough for both FIFOs.
        self.paced = false;
        self.run(3_000 * CARD, Pace::FULL);
    }

    pub fn run(&mut self, femtoseconds: u64, pace: Pace) {
        let end = self.now + femtoseconds;
        while self.now < end {
            self.edge(pace);
        }
    }

    /// Runs to the next edge.
    pub fn edge(&mut self, pace: Pace) {
        let next = if self.stopped {
            self.next[0]
        } else {
            self.next[0].min(self.next[1])
        };
        self.now = next;
        let card = self.next[0] == next;
        let mac = !self.stopped && self.next[1] == next;
        if mac {
            self.mac_moves();
        }
        if card {
            self.card_moves();
        }
        for level in [1, 0] {
            if card {
                self.dut.set("clock", level);
            }
            if mac {
                self.dut.set("mac_clock", level);
            }
            self.dut.eval();
        }
        if card {
            self.next[0] += self.periods[0];
            self.card_drives(pace);
        }
        if mac {
            self.next[1] += self.periods[1];
            self.mac_drives(pace);
        }
        if self.stopped {
            self.next[1] = self.next[1].max(self.next[0]);
        }
        self.dut.eval();
    }

    fn card_moves(&mut self) {
        if self.dut.is("rx_valid") {
            let bytes = self.dut.get("rx_bytes") as usize;
            let (last, error) = (self.dut.is("rx_last"), self.dut.is("rx_error"));
            self.to_card
                .beat(&self.dut.words("rx_data"), bytes, last, error && last);
        }
        if self.from_card.offered && self.dut.is("tx_ready") && !self.dut.is("reset") {
            let frame = self.from_card.taken();
            self.sent[CARD_SIDE].extend(frame);
        }
    }

    fn card_drives(&mut self, pace: Pace) {
        let sender = &mut self.from_card;
        // An offer stays until it is taken.
        if !sender.offered && !sender.queue.is_empty() && self.rng.random_ratio(pace.tx, 8) {
            let (frame, beat) = (sender.queue[0], sender.beat);
            sender.offered = true;
            self.dut.set_words("tx_data", &frame.words(beat));
            self.dut.set("tx_bytes", frame.bytes_of(beat) as u64);
            self.dut.set("tx_last", frame.is_last(beat).into());
        }
        self.dut.set("tx_valid", sender.offered.into());
    }

    fn mac_moves(&mut self) {
        if self.from_wire.offered {
            let frame = self.from_wire.taken();
            self.sent[WIRE].extend(frame);
        }
        let valid = self.dut.is("tx_axis_tvalid");
        assert!(
            valid || !self.inside || self.mac_in_reset,
            "a gap inside a frame at {} fs",
            self.now
        );
        if self.mac_in_reset {
            self.inside = false;
            return;
        }
        if valid {
            if !self.inside {
                // The MAC has a buffer: time for a few frames is not lost.
                let from = self.now.saturating_sub(4 * time_of(BEAT));
                self.wire_free = self.wire_free.max(from);
            }
            self.inside = true;
            if self.dut.is("tx_axis_tready") {
                let keep = self.dut.get("tx_axis_tkeep");
                let bytes = keep.trailing_ones() as usize;
                assert_eq!(
                    bytes as u32,
                    keep.count_ones(),
                    "tkeep has a hole: {keep:#x}"
                );
                let (last, error) = (self.dut.is("tx_axis_tlast"), self.dut.is("tx_axis_tuser"));
                self.to_wire
                    .beat(&self.dut.words("tx_axis_tdata"), bytes, last, error);
                self.inside = !last;
                if last {
                    let (_, bytes, _) = self.to_wire.frames.last().unwrap();
                    self.wire_free += time_of(*bytes);
                }
            }
        }
    }

    fn mac_drives(&mut self, pace: Pace) {
        let ready =
            self.rng.random_ratio(pace.mac_ready, 8) && (!self.paced || self.wire_free <= self.now);
        self.dut.set("tx_axis_tready", ready.into());
        let sender = &mut self.from_wire;
        let arrived = |sender: &Sender| {
            let end = sender.queue[0].bytes.min((sender.beat + 1) * BEAT);
            sender.began + end as u64 * BYTE_FS <= self.now
        };
        let offers = !sender.queue.is_empty()
            && self.rng.random_ratio(pace.rx, 8)
            && (!self.paced || arrived(sender));
        sender.offered = offers;
        if offers {
            let (frame, beat) = (sender.queue[0], sender.beat);
            if frame.is_last(beat) {
                sender.began += time_of(frame.bytes);
            }
            let keep = u64::MAX >> (64 - frame.bytes_of(beat));
            let mut words = frame.words(beat);
            if frame.is_last(beat) && frame.bytes_of(beat) < BEAT {
                // What is beyond the frame may be anything.
                words[BEAT / 4 - 1] |= if frame.bytes_of(beat) <= BEAT - 4 {
                    self.rng.random()
                } else {
                    0
                };
            }
            self.dut.set_words("rx_axis_tdata", &words);
            self.dut.set("rx_axis_tkeep", keep);
            self.dut.set("rx_axis_tlast", frame.is_last(beat).into());
            self.dut
                .set("rx_axis_tuser", (frame.error && frame.is_last(beat)).into());
        }
        self.dut.set("rx_axis_tvalid", offers.into());
    }
}
