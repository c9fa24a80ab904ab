//! Drives a Verilated front end: MAC beats in, tokens out, reads and frees of the packet buffer.

use std::collections::VecDeque;

use hdl_rx_pipeline::RxFront;
use hdl_testkit::Dut;
use rust_hdl::prelude::*;
use stellar_wire::hw::core::CoreToken;
use stellar_wire::ip::{PROTO_IPV4, PROTO_IPV6};

use crate::front::frames::TestFrame;

/// Beats of the packet buffer.
pub const RING: usize = 512;
pub const WIDTHS: [usize; 2] = [512, 1024];

fn dut(width: usize) -> Dut {
    match width {
        512 => Dut::new::<RxFront<512>>(),
        1024 => Dut::new::<RxFront<1024>>(),
        other => panic!("no lane of {other} bits"),
    }
}

/// A token as it left.
pub struct Token {
    pub words: Vec<u32>,
    /// Clock in which it was taken.
    pub clock: u64,
}

/// Two neighbouring beats that `read_beat` requested.
pub struct BeatPair {
    pub address: usize,
    pub low: Vec<u8>,
    pub high: Vec<u8>,
}

/// The inputs of one cycle.
#[derive(Default)]
pub struct Stimulus {
    pub idle: bool,
    pub ready: bool,
    pub read: Option<usize>,
    pub free: Option<usize>,
}

/// The outputs of one cycle.
#[derive(Default)]
pub struct Response {
    pub token: Option<Token>,
    pub read: Option<BeatPair>,
}

/// Kinds of byte that lie beyond the end of a frame, one cycle each.
pub const RUBBISH_KINDS: usize = 3;

/// The byte in lanes that carry nothing: any value, or a next-header value that would make a cut frame look like an encapsulated one.
const fn rubbish(clock: u64) -> u8 {
    match clock % RUBBISH_KINDS as u64 {
        0 => 0xcc ^ clock as u8,
        1 => PROTO_IPV6,
        _ => PROTO_IPV4,
    }
}

/// A front end after reset, on UDP port 4791.
pub struct Front {
    dut: Dut,
    pub beat_bytes: usize,
    pub clock: u64,
    /// Frames not yet sent, and how much of the first is.
    waiting: VecDeque<TestFrame>,
    sent: usize,
    /// Cycle in which the last beat of each frame entered.
    pub arrivals: Vec<u64>,
    reads: VecDeque<Option<usize>>,
}

impl Front {
    pub fn new(width: usize) -> Self {
        let mut front = Self {
            dut: dut(width),
            beat_bytes: width / 8,
            clock: 0,
            waiting: VecDeque::new(),
            sent: 0,
            arrivals: vec![],
            reads: VecDeque::from([None]),
        };
        front.dut.set("udp_port", 4791);
        front.reset();
        front
    }

    /// Runs one cycle of reset, and forgets frames that were not sent.
    pub fn reset(&mut self) {
        self.waiting.clear();
        self.sent = 0;
        self.dut.set("reset", 1);
        self.dut.set("mac_valid", 0);
        self.dut.set("out_ready", 0);
        self.dut.set("free_valid", 0);
        self.dut.clock();
        self.dut.set("reset", 0);
        // `room` is a register that reset clears.
        self.dut.clock();
    }

    pub fn send(&mut self, frame: TestFrame) {
        self.waiting.push_back(frame);
    }

    pub fn all_sent(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Runs one cycle. Bytes beyond the end of a frame, and idle data, have values that must be ignored ([`rubbish`]).
    pub fn step(&mut self, stimulus: Stimulus) -> Response {
        self.drive_mac(stimulus.idle);
        self.dut.set("out_ready", stimulus.ready.into());
        let free = stimulus.free.unwrap_or(0x99) as u64;
        self.dut.set("free_valid", stimulus.free.is_some().into());
        self.dut.set("free_beats", free);
        let address = stimulus.read.unwrap_or(0xabc) as u64;
        self.dut.set("read_beat", address);
        self.reads.push_back(stimulus.read);

        let mut response = Response::default();
        if stimulus.ready && self.dut.get("out_valid") == 1 {
            let words = self.dut.words("out_token");
            assert_eq!(words.len(), CoreToken::BITS.div_ceil(32));
            response.token = Some(Token {
                words,
                clock: self.clock,
            });
        }
        self.dut.clock();
        self.clock += 1;
        if let Some(address) = self.reads.pop_front().flatten() {
            response.read = Some(BeatPair {
                address,
                low: self.dut.bytes("read_low"),
                high: self.dut.bytes("read_high"),
            });
        }
        response
    }

    fn drive_mac(&mut self, idle: bool) {
        let mut beat = vec![rubbish(self.clock); self.beat_bytes];
        let (mut valid, mut bytes, mut last, mut error) = (false, 0xff, true, true);
        if let Some(frame) = self.waiting.front().filter(|_| !idle) {
            let rest = &frame.bytes[self.sent..];
            bytes = rest.len().min(self.beat_bytes);
            beat[..bytes].copy_from_slice(&rest[..bytes]);
            valid = true;
            last = bytes == rest.len();
            error = last && frame.mac_error;
            self.sent += bytes;
            if last {
                self.waiting.pop_front();
                self.sent = 0;
                self.arrivals.push(self.clock);
            }
        }
        let words: Vec<u32> = beat
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes(b.try_into().expect("four bytes")))
            .collect();
        self.dut.set_words("mac_data", &words);
        self.dut.set("mac_valid", valid.into());
        self.dut.set("mac_bytes", bytes as u64);
        self.dut.set("mac_last", last.into());
        self.dut.set("mac_error", error.into());
    }
}
