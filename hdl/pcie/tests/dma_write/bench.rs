//! Drives a `DmaWrite` model: commands in, packet buffer beside it, TLPs out. Everything is checked when it leaves.

use std::collections::VecDeque;

use hdl_testkit::Dut;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use stellar_transport::rx::{pieces_to_hw, write_tlps, MaxPayload, Piece, WriteTlp};
use stellar_wire::hw::core::{BufferSpan, WHOLE_PAGE};
use stellar_wire::hw::dma::{PlaceCommand, WriteTlpHeader};
use stellar_wire::hw::pack::Record;

const RING_BEATS: usize = 4096;
/// Cycles without any progress after which a run counts as hung.
const TIMEOUT_CYCLES: u64 = 400;

/// A random run. Probabilities are in eighths.
pub struct Load {
    pub seed: u64,
    pub commands: usize,
    pub mps_code: u64,
    pub ready: u32,
    pub valid: u32,
    /// Longest payload in bytes.
    pub longest: usize,
}

/// When things happened, in cycles.
#[derive(Default, Debug)]
pub struct Report {
    pub first_command: Option<u64>,
    pub first_beat: u64,
    pub last_beat: u64,
    pub beats: u64,
}

/// The expected outputs, in order.
enum Expected {
    Tlp {
        tlp: WriteTlp,
        /// The last of its command.
        ends: bool,
        /// These two are as in the command.
        flush: bool,
        device: u64,
    },
    Fence,
}

pub struct Bench {
    dut: Dut,
    bytes: usize,
    rng: ChaCha8Rng,
    ring: Vec<u8>,
    /// Next free beat of the ring, and beats in use.
    next: usize,
    used: usize,
    commands: VecDeque<PlaceCommand>,
    expected: VecDeque<Expected>,
    frees: VecDeque<(usize, usize)>,
    reads: [usize; 2],
    beats: Vec<u8>,
    sent_bytes: VecDeque<usize>,
    mps_code: u64,
    clock: u64,
    report: Report,
}

impl Bench {
    pub fn new<B: Block + Default + 'static>(bytes: usize) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut ring = vec![0; RING_BEATS * bytes];
        rng.fill_bytes(&mut ring);
        let mut bench = Self {
            dut: Dut::new::<B>(),
            bytes,
            rng,
            ring,
            // Numbers start near their end, so that runs wrap.
            next: RING_BEATS - 40,
            used: 0,
            commands: VecDeque::new(),
            expected: VecDeque::new(),
            frees: VecDeque::new(),
            reads: [0; 2],
            beats: vec![],
            sent_bytes: VecDeque::new(),
            mps_code: 1,
            clock: 0,
            report: Report::default(),
        };
        bench.reset();
        bench
    }

    /// Runs one cycle of reset, which discards everything in progress.
    fn reset(&mut self) {
        self.commands.clear();
        self.expected.clear();
        self.frees.clear();
        self.beats.clear();
        self.sent_bytes.clear();
        self.used = 0;
        self.dut.set("command_valid", 0);
        self.dut.set("reset", 1);
        self.dut.clock();
        self.dut.set("reset", 0);
    }

    /// Begins random commands, resets in the middle of them, and runs the same number again.
    pub fn run_after_reset(&mut self, load: Load, cycles: usize) {
        self.rng = ChaCha8Rng::seed_from_u64(load.seed);
        self.queue_random(&load);
        self.dut.set("mps_code", self.mps_code);
        for _ in 0..cycles {
            self.clock(load.ready, load.valid);
        }
        self.reset();
        self.queue_random(&load);
        self.drain(load.ready, load.valid);
    }

    /// Queues a command that writes `length` bytes, `offset` bytes into a new frame, to one segment.
    pub fn place(&mut self, offset: usize, length: usize, address: u64, mps_code: u64) {
        self.mps_code = mps_code;
        let segment = Piece {
            address,
            length,
            translated: address & 1 != 0,
        };
        self.queue(offset, length, &[segment], true);
    }

    /// Queues a command like [`Self::place`], but to three pages of 4 KiB at random addresses, with `first` bytes in the first page.
    pub fn place_in_pages(&mut self, offset: usize, length: usize, first: usize) {
        let lengths = [first, WHOLE_PAGE, length - first - WHOLE_PAGE];
        let mut starts = [0x7000, 0x3_0000_0000, 0x5000];
        starts[0] += WHOLE_PAGE as u64 - first as u64;
        let segments: Vec<_> = starts
            .into_iter()
            .zip(lengths)
            .map(|(address, length)| Piece {
                address,
                length,
                translated: address > 0x1_0000,
            })
            .collect();
        self.queue(offset, length, &segments, true);
    }

    fn queue(&mut self, offset: usize, length: usize, segments: &[Piece], place: bool) {
        // Frame plus iCRC.
        let beats = (offset + length + 4).div_ceil(self.bytes);
        assert!(
            self.used + beats <= RING_BEATS,
            "the test overfills the ring"
        );
        let start = self.next;
        self.next = (self.next + beats) % RING_BEATS;
        self.used += beats;
        for i in 0..beats {
            let at = (start + i) % RING_BEATS * self.bytes;
            self.rng.fill_bytes(&mut self.ring[at..at + self.bytes]);
        }
        let payload: Vec<u8> = (offset..offset + length)
            .map(|i| self.ring[(start * self.bytes + i) % self.ring.len()])
            .collect();
        let (flush, device) = (self.rng.random(), self.rng.random_range(0..1 << 10));
        if place {
            let mps = MaxPayload::new(128 << self.mps_code.min(3)).unwrap();
            let tlps = write_tlps(segments, &payload, mps);
            check_legal(&tlps, segments, &payload, mps.bytes());
            let count = tlps.len();
            let numbered = tlps.into_iter().zip(1..);
            self.expected.extend(numbered.map(|(tlp, n)| Expected::Tlp {
                tlp,
                ends: n == count,
                flush,
                device,
            }));
        }
        self.frees.push_back((start, beats));
        self.commands.push_back(PlaceCommand {
            fence: false,
            place,
            span: BufferSpan {
                start: (start as u64).to_bits(),
                beats: (beats as u64).to_bits(),
            },
            offset: (offset as u64).to_bits(),
            length: (length as u64).to_bits(),
            segments: pieces_to_hw(segments),
            flush,
            device: device.to_bits(),
        });
    }

    fn queue_fence(&mut self) {
        self.expected.push_back(Expected::Fence);
        let mut fence = PlaceCommand {
            fence: true,
            place: self.rng.random(),
            ..Default::default()
        };
        fence.length = self.rng.random_range(0..16_384u64).to_bits();
        fence.segments.first_length = self.rng.random_range(0..16_384u64).to_bits();
        self.commands.push_back(fence);
    }

    /// Runs random commands of every kind until all have finished.
    pub fn run(&mut self, load: Load) {
        self.rng = ChaCha8Rng::seed_from_u64(load.seed);
        self.queue_random(&load);
        self.drain(load.ready, load.valid);
    }

    fn queue_random(&mut self, load: &Load) {
        self.mps_code = load.mps_code;
        for _ in 0..load.commands {
            if self.rng.random_ratio(1, 8) {
                self.queue_fence();
                continue;
            }
            let length = match self.rng.random_range(0..8) {
                0 => 0,
                1 => load.longest,
                _ => self.rng.random_range(0..=load.longest),
            };
            let offset = self.rng.random_range(20..=255);
            let first = match self.rng.random_range(0..4) {
                0 => self.rng.random_range(0..=length),
                _ => length,
            };
            let mut segments = vec![self.segment(first)];
            let rest = length - first;
            if rest > WHOLE_PAGE && self.rng.random() {
                segments.push(self.segment(WHOLE_PAGE));
                segments.push(self.segment(rest - WHOLE_PAGE));
            } else if rest > 0 {
                segments.push(self.segment(rest));
            }
            let place = self.rng.random_ratio(7, 8);
            self.queue(offset, length, &segments, place);
        }
    }

    /// Any address; addresses close to or at a 4 KiB boundary are frequent.
    fn segment(&mut self, length: usize) -> Piece {
        let mut address = self.rng.random::<u64>() >> 1;
        match self.rng.random_range(0..4) {
            0 => address &= !0xfff,
            1 => address = (address | 0xfff) - self.rng.random_range(0..300),
            _ => {}
        }
        Piece {
            address,
            length,
            translated: self.rng.random(),
        }
    }

    /// Runs everything queued at full speed.
    pub fn finish(mut self) -> Report {
        self.drain(8, 8);
        self.report
    }

    fn drain(&mut self, ready: u32, valid: u32) {
        let mut idle = 0;
        self.dut.set("mps_code", self.mps_code);
        // No further output may follow.
        let mut after = 0;
        while after < 20 {
            let (owed, waiting) = (self.owed(), self.commands.len());
            self.clock(ready, valid);
            let progress = self.owed() < owed || self.commands.len() < waiting;
            idle = if progress { 0 } else { idle + 1 };
            after = if self.owed() + self.commands.len() == 0 {
                after + 1
            } else {
                0
            };
            assert!(
                idle < TIMEOUT_CYCLES,
                "hung in clock {}: {} TLPs and fences and {} frees missing",
                self.clock,
                self.expected.len(),
                self.frees.len()
            );
        }
        assert_eq!(self.used, 0, "buffer beats leaked");
        assert!(self.beats.is_empty() && self.sent_bytes.is_empty());
    }

    fn owed(&self) -> usize {
        self.expected.len() + self.frees.len() + self.sent_bytes.len()
    }

    fn clock(&mut self, ready: u32, valid: u32) {
        // Data of the read address of two cycles ago, from the present content of the buffer. Beats that were freed are no longer there.
        let read = self.reads[1];
        self.reads = [self.dut.get("read_beat") as usize, self.reads[0]];
        for (name, beat) in [("read_low", read), ("read_high", read + 1)] {
            let at = beat % RING_BEATS * self.bytes;
            let words: Vec<u32> = self.ring[at..at + self.bytes]
                .chunks(4)
                .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
                .collect();
            self.dut.set_words(name, &words);
        }
        if self.dut.get("free_valid") == 1 {
            let (start, beats) = self.frees.pop_front().expect("one free per command");
            assert_eq!(self.dut.get("free_beats"), beats as u64);
            self.used -= beats;
            for i in 0..beats {
                let at = (start + i) % RING_BEATS * self.bytes;
                self.rng.fill_bytes(&mut self.ring[at..at + self.bytes]);
            }
        }
        if self.dut.get("tlp_sent") == 1 {
            let bytes = self.sent_bytes.pop_front().expect("one count per TLP");
            assert_eq!(self.dut.get("tlp_sent_bytes"), bytes as u64);
        }
        if self.dut.get("fence_done") == 1 {
            assert!(
                matches!(self.expected.pop_front(), Some(Expected::Fence)),
                "a fence overtook a TLP"
            );
        }
        let ready = self.rng.random_ratio(ready, 8);
        self.dut.set("tlp_ready", ready.into());
        self.dut.eval();
        if ready && self.dut.get("tlp_valid") == 1 {
            self.take_beat();
        } else {
            assert_eq!(self.dut.get("placed"), 0, "placed without a beat");
        }
        let offered = self.rng.random_ratio(valid, 8);
        let command = self.commands.front().copied().filter(|_| offered);
        self.dut.set("command_valid", command.is_some().into());
        if let Some(command) = command {
            self.dut.set_record("command", command);
            if self.dut.get("command_ready") == 1 {
                self.commands.pop_front();
                self.report.first_command.get_or_insert(self.clock);
            }
        }
        self.dut.clock();
        self.clock += 1;
    }

    fn take_beat(&mut self) {
        if self.report.beats == 0 {
            self.report.first_beat = self.clock;
        }
        self.report.beats += 1;
        self.report.last_beat = self.clock;
        let Some(Expected::Tlp {
            tlp,
            ends,
            flush,
            device,
        }) = self.expected.front()
        else {
            panic!("a TLP beat that no command asked for, or that overtook a fence");
        };
        let header = self.dut.words("tlp_header");
        let record = Record::<WriteTlpHeader>::new(&header);
        assert_eq!(record.u64("address_dw") << 2, tlp.address);
        assert_eq!(record.u64("at"), u64::from(tlp.at));
        assert_eq!(record.u64("length_dw"), tlp.length_dw as u64);
        assert_eq!(record.u64("first_be"), u64::from(tlp.first_be));
        assert_eq!(record.u64("last_be"), u64::from(tlp.last_be));
        assert_eq!(record.bool("ends"), *ends);
        assert_eq!(record.bool("flush"), *flush);
        assert_eq!(record.u64("device"), *device);
        assert_eq!(self.dut.get("tlp_first") == 1, self.beats.is_empty());
        for word in self.dut.words("tlp_data").iter() {
            self.beats.extend(word.to_le_bytes());
        }
        let last = self.beats.len() >= tlp.data.len();
        assert_eq!(self.dut.get("tlp_last") == 1, last);
        assert_eq!(self.dut.get("placed") == 1, last && *ends);
        if last {
            // The reference has zeros where bytes are not enabled; past the end there must be zeros too.
            let mut data = tlp.data.clone();
            data.resize(self.beats.len(), 0);
            assert_eq!(self.beats, data);
            self.sent_bytes.push_back(tlp.written().count());
            self.beats.clear();
            self.expected.pop_front();
        }
    }
}

/// This check does not depend on how the reference cuts: every TLP is legal, and together they write each payload byte once, in order.
fn check_legal(tlps: &[WriteTlp], segments: &[Piece], payload: &[u8], mps: usize) {
    for tlp in tlps {
        let bytes = 4 * tlp.length_dw;
        assert!(bytes <= mps && tlp.address % 4096 + bytes as u64 <= 4096);
        assert!(tlp.first_be != 0 && (tlp.length_dw == 1) == (tlp.last_be == 0));
    }
    let addresses = segments
        .iter()
        .flat_map(|p| (0..p.length as u64).map(|i| p.address + i));
    let wanted: Vec<(u64, u8)> = addresses.zip(payload.iter().copied()).collect();
    let written: Vec<(u64, u8)> = tlps.iter().flat_map(|t| t.written()).collect();
    assert_eq!(written, wanted);
}
