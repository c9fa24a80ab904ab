//! Drives a Verilated front: records and payload in, frames out.

use std::collections::VecDeque;

use hdl_testkit::Dut;
use hdl_tx_pipeline::tx_frame_builder::{ANSWER_ADDRESS, REQUEST_ADDRESS};
use hdl_tx_pipeline::{TxFrameBuilder1024, TxFrameBuilder512};
use stellar_wire::hw::pack::to_words;

use crate::front::packets::TestPacket;

pub const WIDTHS: [usize; 2] = [512, 1024];

fn dut(width: usize) -> Dut {
    match width {
        512 => Dut::new::<TxFrameBuilder512>(),
        1024 => Dut::new::<TxFrameBuilder1024>(),
        other => panic!("no lane of {other} bits"),
    }
}

/// Behaviour of the neighbours in one cycle.
#[derive(Clone, Copy, Debug)]
pub struct Stimulus {
    pub offer_packet: bool,
    pub offer_payload: bool,
    pub mac_ready: bool,
}

impl Stimulus {
    /// No neighbour stalls.
    pub const FULL: Self = Self {
        offer_packet: true,
        offer_payload: true,
        mac_ready: true,
    };
}

/// A beat of payload.
struct Beat {
    data: Vec<u32>,
    last: bool,
    error: bool,
}

/// A frame that has left, and the cycles in which its first and its last beat moved.
#[derive(Debug)]
pub struct SentFrame {
    pub bytes: Vec<u8>,
    pub first: u64,
    pub last: u64,
}

/// A front after reset.
pub struct Front {
    dut: Dut,
    beat_bytes: usize,
    pub clock: u64,
    /// Records, and whether each is sent as an acknowledgement.
    packets: VecDeque<(Vec<u32>, bool)>,
    /// Free places for headers of requests, and of acknowledgements.
    places: [usize; 2],
    payload: VecDeque<Beat>,
    /// The current frame, and the cycle of its first beat.
    part: Vec<u8>,
    begun: Option<u64>,
    pub sent: Vec<SentFrame>,
    /// Cycle in which each record was accepted.
    pub taken: Vec<u64>,
    pub mismatches: u64,
    /// Beats of the payload buffer that were freed.
    pub freed: u64,
    /// Frames that were dropped because their payload failed.
    pub left_out: u64,
    /// Payload stays valid until it is accepted.
    offered: bool,
}

const PLACES: [usize; 2] = [1 << REQUEST_ADDRESS, 1 << ANSWER_ADDRESS];

impl Front {
    pub fn new(width: usize) -> Self {
        let mut front = Self {
            dut: dut(width),
            beat_bytes: width / 8,
            clock: 0,
            packets: VecDeque::new(),
            places: PLACES,
            payload: VecDeque::new(),
            part: vec![],
            begun: None,
            sent: vec![],
            taken: vec![],
            mismatches: 0,
            freed: 0,
            left_out: 0,
            offered: false,
        };
        front.reset();
        front
    }

    /// Runs one cycle of reset, which discards everything in progress.
    pub fn reset(&mut self) {
        self.packets.clear();
        self.payload.clear();
        self.part.clear();
        self.begun = None;
        self.offered = false;
        self.places = PLACES;
        for (port, value) in [
            ("reset", 1),
            ("packet_valid", 0),
            ("payload_valid", 0),
            ("mac_ready", 0),
        ] {
            self.dut.set(port, value);
        }
        self.dut.clock();
        self.dut.set("reset", 0);
        self.dut.clock();
    }

    /// Queues a packet without payload as an acknowledgement.
    pub fn answer(&mut self, packet: &TestPacket) {
        assert!(packet.payload.is_empty(), "an acknowledgement with payload");
        self.packets.push_back((to_words(packet.record), true));
    }

    /// Queues a packet. Lanes beyond the end of its payload have random values.
    pub fn send(&mut self, packet: &TestPacket) {
        self.packets.push_back((to_words(packet.record), false));
        let beats = packet.payload.chunks(self.beat_bytes);
        let count = beats.len();
        for (i, bytes) in beats.enumerate() {
            let mut beat = vec![0xd1 ^ i as u8; self.beat_bytes];
            beat[..bytes.len()].copy_from_slice(bytes);
            let words = beat.chunks_exact(4);
            let words = words.map(|b| u32::from_le_bytes(b.try_into().expect("four bytes")));
            self.payload.push_back(Beat {
                data: words.collect(),
                last: i + 1 == count,
                error: false,
            });
        }
    }

    /// Queues a packet whose payload cannot be read.
    pub fn send_unreadable(&mut self, packet: &TestPacket) {
        assert!(!packet.payload.is_empty(), "there is nothing to read");
        self.packets.push_back((to_words(packet.record), false));
        self.payload.push_back(Beat {
            data: vec![0xe404_e404; self.beat_bytes / 4],
            last: true,
            error: true,
        });
    }

    /// Runs one cycle.
    pub fn step(&mut self, stimulus: Stimulus) {
        let packet = self.packets.front();
        let packet = packet
            .filter(|(_, answers)| stimulus.offer_packet && self.places[usize::from(*answers)] > 0);
        let offer_payload = self.offered || stimulus.offer_payload && !self.payload.is_empty();
        let dut = &mut self.dut;
        dut.set("packet_valid", packet.is_some().into());
        let mut packet_moves = false;
        if let Some((words, answers)) = packet {
            dut.set_words("packet", words);
            dut.set("packet_answers", (*answers).into());
            self.places[usize::from(*answers)] -= 1;
            packet_moves = true;
        }
        dut.set("payload_valid", offer_payload.into());
        if let Some(beat) = self.payload.front().filter(|_| offer_payload) {
            dut.set_words("payload_data", &beat.data);
            dut.set("payload_last", beat.last.into());
            dut.set("payload_error", beat.error.into());
        }
        dut.set("mac_ready", stimulus.mac_ready.into());
        dut.eval();

        self.places[0] += dut.get("request_freed") as usize;
        self.places[1] += dut.get("answer_freed") as usize;
        let payload_moves = offer_payload && dut.get("payload_ready") == 1;
        let mac_valid = dut.get("mac_valid") == 1;
        self.freed += dut.get("payload_freed");
        self.left_out += dut.get("left_out");
        assert!(
            mac_valid || self.begun.is_none(),
            "clock {}: a gap inside a frame",
            self.clock
        );
        let moved = (mac_valid && stimulus.mac_ready).then(|| {
            let bytes = dut.bytes("mac_data");
            let count = dut.get("mac_bytes") as usize;
            (bytes, count, dut.get("mac_last") == 1)
        });
        dut.clock();
        self.mismatches += self.dut.get("payload_mismatch");
        if packet_moves {
            self.packets.pop_front();
            self.taken.push(self.clock);
        }
        if payload_moves {
            self.payload.pop_front();
        }
        self.offered = offer_payload && !payload_moves;
        if let Some((bytes, count, last)) = moved {
            self.collect(bytes, count, last);
        }
        self.clock += 1;
    }

    fn collect(&mut self, mut bytes: Vec<u8>, count: usize, last: bool) {
        assert!(
            count == self.beat_bytes || last && (1..self.beat_bytes).contains(&count),
            "a beat of {count} bytes, last {last}"
        );
        let beyond = bytes.split_off(count);
        assert!(
            beyond.iter().all(|&byte| byte == 0),
            "rubbish beyond the end"
        );
        self.part.extend(bytes);
        let first = *self.begun.get_or_insert(self.clock);
        if last {
            self.begun = None;
            self.sent.push(SentFrame {
                bytes: std::mem::take(&mut self.part),
                first,
                last: self.clock,
            });
        }
    }

    /// Steps until `count` frames have left; panics if that takes more than `limit` cycles.
    pub fn run(&mut self, count: usize, limit: u64, mut stimulus: impl FnMut() -> Stimulus) {
        let end = self.clock + limit;
        while self.sent.len() < count {
            assert!(
                self.clock < end,
                "{} of {count} frames after {limit} clocks",
                self.sent.len()
            );
            self.step(stimulus());
        }
    }
}
