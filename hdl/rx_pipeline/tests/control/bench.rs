//! Drives a Verilated port: MAC beats in, tokens and control packets out.

use std::collections::VecDeque;

use hdl_rx_pipeline::own_address::address_of;
use hdl_rx_pipeline::RxPort;
use hdl_testkit::Dut;
use stellar_transport::rx::ControlPeer;
use stellar_wire::hw::core::CoreToken;
use stellar_wire::hw::pack::Record;
use stellar_wire::hw::requester::ControlPacket;
use stellar_wire::rows::{PeerAddressRow, PortRow};

use crate::control::packets::{vector_of, OWN};
use crate::front::frames::TestFrame;

pub const WIDTHS: [usize; 2] = [512, 1024];

fn dut(width: usize) -> Dut {
    match width {
        512 => Dut::new::<RxPort<512>>(),
        1024 => Dut::new::<RxPort<1024>>(),
        other => panic!("no lane of {other} bits"),
    }
}

/// A port on UDP port 4791; its buffer is freed as tokens leave. The epoch changes every few cycles, and every control packet has the one in which it was reported.
pub struct Bench {
    dut: Dut,
    beat_bytes: usize,
    waiting: VecDeque<TestFrame>,
    sent: usize,
    pub tokens: Vec<Vec<u32>>,
    pub controls: Vec<Vec<u32>>,
    /// Epochs of the control packets that have begun and not left.
    epochs: VecDeque<bool>,
    pub clocks: u64,
}

impl Bench {
    pub fn new(width: usize, port: bool, peers: &[(u32, ControlPeer)]) -> Self {
        let mut bench = Self {
            dut: dut(width),
            beat_bytes: width / 8,
            waiting: VecDeque::new(),
            sent: 0,
            tokens: vec![],
            controls: vec![],
            epochs: VecDeque::new(),
            clocks: 0,
        };
        bench.dut.set("udp_port", 4791);
        bench.dut.set("port", port.into());
        let port_row = PortRow {
            ip: PeerAddressRow::from(OWN.ip).address,
            ..PortRow::default()
        };
        bench
            .dut
            .set_record("own", address_of(port_row.to_hw(), true));
        bench.dut.set("reset", 1);
        bench.dut.clock();
        bench.dut.set("reset", 0);
        bench.dut.clock();
        for (qp, peer) in peers {
            let vector = vector_of(*qp);
            bench.dut.set("peer_valid", 1);
            bench.dut.set("peer_qp", (*qp).into());
            bench.dut.set_record("peer", peer.to_hw(vector));
            for (port, address) in ["address0", "address1"]
                .into_iter()
                .zip(peer.addresses_to_hw())
            {
                bench.dut.set(&format!("{port}_valid"), 1);
                bench.dut.set(&format!("{port}_vector"), vector.into());
                bench.dut.set_record(port, address);
            }
            bench.dut.clock();
        }
        for valid in ["peer_valid", "address0_valid", "address1_valid"] {
            bench.dut.set(valid, 0);
        }
        bench
    }

    pub fn send(&mut self, frame: TestFrame) {
        self.waiting.push_back(frame);
    }

    pub fn all_sent(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Runs one cycle. It inputs a beat unless `idle`, and takes a token if `token_ready` and a control packet if `control_ready`.
    pub fn step(&mut self, idle: bool, token_ready: bool, control_ready: bool) {
        self.drive_mac(idle);
        self.dut.set("out_ready", token_ready.into());
        self.dut.set("control_ready", control_ready.into());
        self.dut.set("free_valid", 0);
        let epoch = self.clocks / 7 % 2 == 1;
        self.dut.set("epoch", epoch.into());
        self.dut.eval();
        if self.dut.is("control_begun") {
            self.epochs.push_back(epoch);
        }
        if token_ready && self.dut.get("out_valid") == 1 {
            let token = self.dut.words("out_token");
            let beats = Record::<CoreToken>::new(&token).u64("span.beats");
            self.dut.set("free_valid", 1);
            self.dut.set("free_beats", beats);
            self.tokens.push(token);
        }
        if control_ready && self.dut.get("control_valid") == 1 {
            let packet = self.dut.words("control");
            let epoch = Record::<ControlPacket>::new(&packet).bool("epoch");
            assert_eq!(Some(epoch), self.epochs.pop_front(), "epoch");
            self.controls.push(packet);
        }
        self.dut.clock();
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
        self.dut.set_words("mac_data", &words);
        for (name, value) in ["mac_valid", "mac_bytes", "mac_last", "mac_error"]
            .iter()
            .zip(port)
        {
            self.dut.set(name, value);
        }
    }
}
