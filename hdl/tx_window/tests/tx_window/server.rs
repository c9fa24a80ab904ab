//! The Verilated window in lockstep with one reference window per queue pair.

use hdl_testkit::equivalence::TestRng;
use hdl_testkit::Dut;
use hdl_tx_window::TxWindow;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use stellar_transport::requester::{
    SackRefusal, SackView, Sent, SlotState, Window, WindowPool, SLOTS,
};
use stellar_transport::rx::Psn;
use stellar_wire::hw::pack::Record;
use stellar_wire::hw::window::{WindowOp, WindowRequest, WindowResponse};

use crate::burst::{record, Leaving, Pace};
use crate::departing::Departing;
use crate::newly_acked::NewlyAcked;
use crate::Small;

/// Blocks of [`Small`].
const BLOCKS: u32 = 512;

/// Field names and their values: numbers as decimals, enumerations by name.
type Fields = Vec<(&'static str, String)>;

/// Allowed cycles from request to response.
pub enum Cycles {
    Exactly(u32),
    AtMost(u32),
}

pub struct Server {
    dut: Dut,
    noise: TestRng,
    leaving: Leaving,
    departing: Departing,
    pub windows: Vec<Window>,
    pub pool: WindowPool,
    blocks: u32,
    /// Cycles of the last operation.
    pub took: u32,
}

impl Server {
    /// Creates windows that start at these PSNs.
    pub fn new(first: &[u32]) -> Self {
        Self::of(Dut::new::<Small>(), BLOCKS, first)
    }

    /// Does what [`Self::new`] does, with a pool of two blocks.
    pub fn with_two_blocks(first: &[u32]) -> Self {
        Self::of(Dut::new::<TxWindow<2, 1, 4>>(), 2, first)
    }

    fn of(dut: Dut, blocks: u32, first: &[u32]) -> Self {
        let mut server = Self {
            dut,
            noise: TestRng::seed_from_u64(1),
            leaving: Leaving::default(),
            departing: Departing::default(),
            windows: first.iter().map(|&p| Window::new(Psn::new(p))).collect(),
            pool: WindowPool::new(blocks),
            blocks,
            took: 0,
        };
        server.restart();
        for (qp, &psn) in first.iter().enumerate() {
            server.configure(qp, Psn::new(psn));
        }
        server
    }

    /// Resets for one cycle, and waits until the unit accepts requests.
    pub fn restart(&mut self) {
        self.dut.set("reset", 1);
        self.dut.clock();
        self.dut.set("reset", 0);
        self.dut.set("request_valid", 0);
        self.dut.set("sent_packet_valid", 0);
        self.leaving.stop();
        self.departing = Departing::default();
        self.dut.eval();
        // All windows are empty, and hold no block.
        for window in &mut self.windows {
            *window = Window::new(Psn::new(0));
        }
        self.pool = WindowPool::new(self.blocks);
        assert!(!self.is_ready() && !self.answers(), "it sweeps");
        let mut cycles = 0;
        while !self.is_ready() {
            assert!(cycles < self.blocks.max(4), "{cycles} cycles");
            self.make_noise();
            self.dut.clock();
            cycles += 1;
        }
    }

    /// Starts an operation, and does not wait longer than this many cycles.
    pub fn start(&mut self, request: WindowRequest, cycles: u32) {
        self.dut.set_record("request", request);
        self.dut.set("request_valid", 1);
        for _ in 0..cycles {
            self.dut.clock();
            self.dut.set("request_valid", 0);
        }
    }

    pub fn answers(&self) -> bool {
        self.dut.get("response_valid") != 0
    }

    pub fn is_ready(&self) -> bool {
        self.dut.get("request_ready") != 0
    }

    /// Runs cycles without a request, with noise at its port.
    pub fn rest(&mut self, cycles: usize) {
        self.dut.set("request_valid", 0);
        for _ in 0..cycles {
            self.make_noise();
            self.dut.clock();
            assert!(!self.answers(), "an answer that nobody asked for");
        }
    }

    fn noise_at(&mut self, port: &str) {
        let words = self.dut.words(port).len();
        let noise: Vec<u32> = (0..words).map(|_| self.noise.random()).collect();
        self.dut.set_words(port, &noise);
    }

    /// Drives inputs that must be ignored.
    fn make_noise(&mut self) {
        self.noise_at("request");
        self.noise_at("sent_packet");
        let departs = self.noise.random();
        self.departing.drive(&mut self.dut, departs);
        let packet = self.leaving.next();
        self.dut
            .set("sent_packet_valid", u64::from(packet.is_some()));
        if let Some((psn, packet)) = packet {
            self.dut.set_record("sent_packet", record(&packet));
            self.dut.eval();
            let block = self.dut.get("coming_block");
            self.departing.begin(block, psn, &packet);
        }
    }

    /// Lets all packets depart that have been sent.
    fn let_depart(&mut self) {
        while self.departing.any() {
            self.rest(1);
        }
    }

    /// Sends the packets of the last burst.
    pub fn let_leave(&mut self) {
        self.rest(self.leaving.cycles() as usize);
    }

    /// Sends the packets of the last burst, if the record of one of these PSNs may not have been written.
    fn let_leave_for(&mut self, qp: usize, psns: &[Psn]) {
        if !self.leaving.is_before(qp, psns) {
            self.let_leave();
        }
    }

    /// Returns the cycles of an operation that writes a record: it waits while packets are sent, and passes blocks on its `way`.
    fn recording(&self, cycles: u32, way: u32) -> Cycles {
        if self.leaving.any() {
            Cycles::AtMost(cycles + way + self.leaving.cycles() + 1)
        } else if way > 0 {
            Cycles::AtMost(cycles + way)
        } else {
            Cycles::Exactly(cycles)
        }
    }

    /// Executes a request, and checks the handshake. Returns the response.
    fn call(&mut self, request: WindowRequest) -> Vec<u32> {
        self.make_noise();
        self.dut.set_record("request", request);
        self.dut.set("request_valid", 1);
        self.dut.eval();
        assert!(self.is_ready(), "not ready, and nothing under way");
        self.took = 0;
        loop {
            self.dut.clock();
            self.took += 1;
            assert!(self.took < 2_000, "{:?}: no answer", request.op);
            assert!(!self.is_ready(), "ready before the answer is over");
            // The request port is ignored while the unit is busy.
            self.make_noise();
            let valid = self.noise.random();
            self.dut.set("request_valid", valid);
            if self.answers() {
                break;
            }
        }
        let words = self.dut.words("response");
        self.dut.clock();
        self.dut.set("request_valid", 0);
        self.dut.set("sent_packet_valid", 0);
        assert!(!self.answers(), "two answers");
        words
    }

    /// Executes a request, and compares the fields that the operation defines and those that every operation defines.
    fn compare(&mut self, request: WindowRequest, mut expected: Fields, cycles: Cycles) {
        let words = self.call(request);
        let window = &self.windows[request.qp.index()];
        let lost = [0, 1].map(|plane| window.first_lost(plane));
        expected.push(("una", window.una().value().to_string()));
        expected.push(("next_psn", window.next().value().to_string()));
        expected.push((
            "in_flight",
            (window.in_flight_bytes() % (1 << 24)).to_string(),
        ));
        if request.op == WindowOp::Query {
            expected.push(("room", self.pool.room(window).to_string()));
            let is_empty = window.una() == window.next();
            expected.push(("is_empty", u64::from(is_empty).to_string()));
        }
        let free = self.blocks - self.windows.iter().map(Window::blocks).sum::<u32>();
        assert_eq!(self.pool.free(), free, "blocks of the reference");
        assert_eq!(
            self.dut.get("has_free"),
            u64::from(free > 0),
            "a free block"
        );
        let bits = u8::from(lost[0].is_some()) | u8::from(lost[1].is_some()) << 1;
        expected.push(("lost", bits.to_string()));
        for (name, psn) in ["first_lost0", "first_lost1"].into_iter().zip(lost) {
            expected.extend(psn.map(|psn| (name, psn.value().to_string())));
        }
        let response = Record::<WindowResponse>::new(&words);
        for (name, value) in expected {
            let found = match name {
                "state" | "verdict" => response.variant(name),
                _ => response.u64(name).to_string(),
            };
            assert_eq!(found, value, "{name} of {request:?}");
        }
        match cycles {
            Cycles::Exactly(cycles) => assert_eq!(self.took, cycles, "cycles of {request:?}"),
            Cycles::AtMost(cycles) => {
                assert!(self.took <= cycles, "{} cycles: {request:?}", self.took);
            }
        }
    }

    pub fn configure(&mut self, qp: usize, first: Psn) {
        self.let_leave();
        let held = self.windows[qp].blocks();
        self.windows[qp] = Window::new(first);
        self.pool.changed(held, 0);
        let request = asking(WindowOp::Configure, qp, first);
        self.compare(request, psn_field(first), Cycles::Exactly(2));
    }

    pub fn query(&mut self, qp: usize, psn: Psn) {
        let request = asking(WindowOp::Query, qp, psn);
        self.compare(request, psn_field(psn), Cycles::Exactly(2));
    }

    /// Allocates as many of the packets as there is space for.
    pub fn burst(&mut self, qp: usize, packets: &[Sent], pace: &Pace) {
        self.let_leave();
        let window = &mut self.windows[qp];
        let room = (SLOTS - window.len()).min(self.pool.room(window)) as usize;
        let packets = &packets[..packets.len().min(room)];
        let first = window.next();
        for &packet in packets {
            window.push(packet, &mut self.pool);
        }
        let request = about(WindowOp::Allocate, qp, Psn::new(0xabcdef), packets);
        self.compare(request, vec![], range_cycles(first, packets));
        self.leaving = Leaving::new(qp, first, packets, pace);
    }

    /// Number of blocks that an operation passes before that of a PSN, and one for the read of its record.
    fn way_to(&self, qp: usize, psn: Psn) -> u32 {
        let window = &self.windows[qp];
        let place = |psn: Psn| psn.value() / 32;
        let first = Psn::new(window.una().value() & !31);
        match psn.distance_from(first) / 32 {
            0 => 0,
            _ if place(psn) == place(window.next().previous()) => 1,
            blocks if blocks <= window.blocks() => blocks + 1,
            _ => 0,
        }
    }

    /// Allocates a burst of one packet.
    pub fn push(&mut self, qp: usize, sent: Sent) {
        self.burst(qp, &[sent], &Pace::full(1));
    }

    /// Marks a lost packet as retransmitted. The packet must be lost.
    pub fn resend(&mut self, qp: usize, psn: Psn, sent: Sent) {
        self.let_leave_for(qp, &[psn]);
        let way = self.way_to(qp, psn);
        let window = &mut self.windows[qp];
        let first = (0..2).any(|plane| window.first_lost(plane) == Some(psn));
        let blocks = window.blocks();
        window.resend(psn, sent);
        let mut request = asking(WindowOp::MarkRetransmitted, qp, psn);
        request.sent = record(&sent);
        let cycles = if first {
            Cycles::AtMost(4 + blocks + self.leaving.cycles())
        } else {
            self.recording(4, way)
        };
        self.compare(request, psn_field(psn), cycles);
        let block = self.dut.get("found_block");
        self.departing.begin(block, psn, &sent);
    }

    pub fn read(&mut self, qp: usize, psn: Psn) {
        self.let_leave_for(qp, &[psn]);
        let window = &self.windows[qp];
        let mut expected = psn_field(psn);
        expected.push(("state", state(window.state(psn))));
        expected.extend(window.sent(psn).into_iter().flat_map(sent_fields));
        let request = asking(WindowOp::Read, qp, psn);
        let cycles = match self.way_to(qp, psn) {
            0 => Cycles::Exactly(3),
            way => Cycles::AtMost(3 + way),
        };
        self.compare(request, expected, cycles);
    }

    /// Marks a packet as lost. The packet must be in flight.
    pub fn lose(&mut self, qp: usize, psn: Psn, retries: u8) {
        self.let_leave_for(qp, &[psn]);
        let window = &mut self.windows[qp];
        window.lose(psn, retries);
        let mut expected = psn_field(psn);
        expected.extend(window.sent(psn).into_iter().flat_map(sent_fields));
        let mut request = asking(WindowOp::MarkLost, qp, psn);
        request.sent.retries = u64::from(retries).to_bits();
        let cycles = self.recording(4, self.way_to(qp, psn));
        self.compare(request, expected, cycles);
    }

    /// Searches for the next packet in flight. `from` must be in the window or its end.
    pub fn next_in_flight(&mut self, qp: usize, from: Psn) {
        let found = self.windows[qp].next_in_flight(from);
        self.let_leave_for(qp, found.as_slice());
        let window = &self.windows[qp];
        let mut expected = vec![("found", u8::from(found.is_some()).to_string())];
        if let Some(psn) = found {
            expected.extend(psn_field(psn));
            expected.extend(window.sent(psn).into_iter().flat_map(sent_fields));
        }
        let request = asking(WindowOp::NextInFlight, qp, from);
        let blocks = self.windows[qp].blocks();
        self.compare(request, expected, Cycles::AtMost(6 + blocks));
    }

    pub fn sack(&mut self, qp: usize, view: &SackView, stamp: u16) {
        self.let_leave_for(qp, &[view.cack, view.acked, view.base.plus(63)]);
        self.let_depart();
        let window = &mut self.windows[qp];
        let answered = window.sent(view.acked).copied();
        let was = window.state(view.acked);
        let before = window.una().previous();
        let first_lost = [0, 1].map(|plane| window.first_lost(plane));
        let (una, blocks) = (Psn::new(window.una().value() & !31), window.blocks());
        let verdict = view.check(window);
        let mut newly_acked = NewlyAcked::default();
        if verdict.is_ok() {
            newly_acked = NewlyAcked::take(window, view);
            window.advance(&mut self.pool);
        }
        let index = |psn: Psn| match psn.distance_from(una) / 32 {
            index if index < blocks => index,
            _ => 0,
        };
        let window = &self.windows[qp];
        let named = view.bits().chain([view.cack, view.acked, window.una()]);
        let mut visits = named.map(index).max().unwrap_or(0) + 1;
        if window.is_empty() || first_lost != [0, 1].map(|plane| window.first_lost(plane)) {
            visits = blocks;
        }
        let taken = verdict.is_ok();
        let is_last = answered.is_some_and(|sent| sent.is_answered_by(stamp));
        let overtaken = view.cack.is_behind(before);
        let verdict = verdict.err().map_or("Accepted", |refusal| match refusal {
            SackRefusal::OutOfWindow => "OutOfWindow",
            SackRefusal::Inconsistent => "Inconsistent",
        });
        let mut expected = psn_field(Psn::new(0x123456));
        expected.extend([
            ("verdict", format!("SackVerdict::{verdict}")),
            ("answered", u8::from(taken & is_last).to_string()),
            ("overtaken", u8::from(taken & overtaken).to_string()),
            ("packets", newly_acked.packets.to_string()),
            ("bytes", (newly_acked.bytes % (1 << 24)).to_string()),
            ("spurious", newly_acked.spurious.to_string()),
        ]);
        if taken {
            expected.push(("state", state(was)));
            expected.extend(answered.iter().flat_map(sent_fields));
            let departed = answered.iter().map(|sent| sent.departed.0.to_string());
            expected.extend(departed.map(|at| ("departed", at)));
        }
        let mut request = asking(WindowOp::Sack, qp, Psn::new(0x123456));
        request.cack = bits_of(view.cack);
        request.acked = bits_of(view.acked);
        request.base = bits_of(view.base);
        request.bitmap = view.bitmap.to_bits();
        request.stamp = u64::from(stamp).to_bits();
        let cycles = if taken {
            Cycles::AtMost(newly_acked.cycles(visits))
        } else {
            Cycles::Exactly(4)
        };
        self.compare(request, expected, cycles);
    }
}

fn bits_of(psn: Psn) -> Bits<24> {
    u64::from(psn.value()).to_bits()
}

fn asking(op: WindowOp, qp: usize, psn: Psn) -> WindowRequest {
    WindowRequest {
        op,
        qp: (qp as u64).to_bits(),
        psn: bits_of(psn),
        ..WindowRequest::default()
    }
}

/// Returns a request about consecutive packets.
fn about(op: WindowOp, qp: usize, psn: Psn, packets: &[Sent]) -> WindowRequest {
    let bytes: u64 = packets.iter().map(|packet| u64::from(packet.length)).sum();
    WindowRequest {
        count: (packets.len() as u64).to_bits(),
        bytes: bytes.to_bits(),
        ..asking(op, qp, psn)
    }
}

/// Returns the cycles of such a request: it depends on whether the packets lie in one block.
fn range_cycles(first: Psn, packets: &[Sent]) -> Cycles {
    let in_one = first.value() % 32 + packets.len() as u32 <= 32;
    Cycles::Exactly(if in_one { 3 } else { 4 })
}

fn psn_field(psn: Psn) -> Fields {
    vec![("psn", psn.value().to_string())]
}

fn state(state: SlotState) -> String {
    format!("PacketState::{state:?}")
}

fn sent_fields(sent: &Sent) -> Fields {
    vec![
        ("sent.ev", sent.ev.value().to_string()),
        ("sent.at", sent.at.0.to_string()),
        ("sent.retries", sent.retries.to_string()),
        ("sent.length", sent.length.to_string()),
        ("sent.slot", sent.slot.to_string()),
    ]
}
