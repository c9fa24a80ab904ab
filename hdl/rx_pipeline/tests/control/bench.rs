//! Drives a Verilated port: MAC beats in, tokens and control packets out.

use std::collections::VecDeque;
use std::sync::OnceLock;

use hdl_rx_pipeline::RxPort;
use hdl_verilog::emit;
use rust_hdl::prelude::*;
use sim_verilated::{Library, Model};
use stellar_transport::rx::ControlPeer;
use stellar_wire::hw::core::CoreToken;
use stellar_wire::hw::pack::{to_words, Record};

use crate::frames::TestFrame;

pub const WIDTHS: [usize; 2] = [512, 1024];

fn library(width: usize) -> &'static Library {
    static NARROW: OnceLock<Library> = OnceLock::new();
    static WIDE: OnceLock<Library> = OnceLock::new();
    match width {
        512 => NARROW.get_or_init(|| build(RxPort::<512>::default())),
        1024 => WIDE.get_or_init(|| build(RxPort::<1024>::default())),
        other => panic!("no lane of {other} bits"),
    }
}

fn build<B: Block>(mut block: B) -> Library {
    block.connect_all();
    let design = emit(&block).expect("the port is translated");
    design
        .model()
        .for_short_run()
        .build()
        .expect("the model is built")
}

/// A port on UDP port 4791; its buffer is freed as tokens leave.
pub struct Bench {
    model: Model,
    beat_bytes: usize,
    waiting: VecDeque<TestFrame>,
    sent: usize,
    pub tokens: Vec<Vec<u32>>,
    pub controls: Vec<Vec<u32>>,
    pub clocks: u64,
}

impl Bench {
    pub fn new(width: usize, port: bool, peers: &[(u32, ControlPeer)]) -> Self {
        let mut bench = Self {
            model: library(width).instantiate(),
            beat_bytes: width / 8,
            waiting: VecDeque::new(),
            sent: 0,
            tokens: vec![],
            controls: vec![],
            clocks: 0,
        };
        bench.set("udp_port", 4791);
        bench.set("port", port.into());
        bench.set("reset", 1);
        bench.edge();
        bench.set("reset", 0);
        bench.edge();
        for (qp, peer) in peers {
            bench.set("peer_valid", 1);
            bench.set("peer_qp", (*qp).into());
            let id = bench.model.port("peer").expect("port");
            bench.model.set(id, &to_words(peer.to_hw()));
            bench.edge();
        }
        bench.set("peer_valid", 0);
        bench
    }

    fn set(&mut self, port: &str, value: u64) {
        let id = self.model.port(port).expect("port");
        self.model.set_u64(id, value);
    }

    fn get(&self, port: &str) -> u64 {
        self.model.get_u64(self.model.port(port).expect("port"))
    }

    fn words(&self, port: &str) -> Vec<u32> {
        let id = self.model.port(port).expect("port");
        self.model.get_words(id).to_vec()
    }

    fn edge(&mut self) {
        let clock = self.model.port("clock").expect("port");
        self.model.clock(clock);
    }

    pub fn send(&mut self, frame: TestFrame) {
        self.waiting.push_back(frame);
    }

    pub fn all_sent(&self) -> bool {
        self.waiting.is_empty()
    }

    /// One cycle: a beat unless `idle`, a token and a control packet if there are and they may leave.
    pub fn step(&mut self, idle: bool, token_ready: bool, control_ready: bool) {
        self.drive_mac(idle);
        self.set("out_ready", token_ready.into());
        self.set("control_ready", control_ready.into());
        self.set("free_valid", 0);
        self.model.eval();
        if token_ready && self.get("out_valid") == 1 {
            let token = self.words("out_token");
            let beats = Record::<CoreToken>::new(&token).u64("span.beats");
            self.set("free_valid", 1);
            self.set("free_beats", beats);
            self.tokens.push(token);
        }
        if control_ready && self.get("control_valid") == 1 {
            self.controls.push(self.words("control"));
        }
        self.edge();
        self.clocks += 1;
    }

    fn drive_mac(&mut self, idle: bool) {
        let mut beat = vec![0xd7; self.beat_bytes];
        let mut port = [0, 0xff, 1, 1];
        if let Some(frame) = self.waiting.front().filter(|_| !idle) {
            let rest = &frame.bytes[self.sent..];
            let bytes = rest.len().min(self.beat_bytes);
            beat[..bytes].copy_from_slice(&rest[..bytes]);
            let last = bytes == rest.len();
            port = [
                1,
                bytes as u64,
                last.into(),
                (last && frame.mac_error).into(),
            ];
            self.sent += bytes;
            if last {
                self.waiting.pop_front();
                self.sent = 0;
            }
        }
        let words: Vec<u32> = beat
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes(b.try_into().expect("four bytes")))
            .collect();
        let id = self.model.port("mac_data").expect("port");
        self.model.set(id, &words);
        for (name, value) in ["mac_valid", "mac_bytes", "mac_last", "mac_error"]
            .iter()
            .zip(port)
        {
            self.set(name, value);
        }
    }
}
