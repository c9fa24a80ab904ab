//! The bench of a DCMAC's start-up: two clocks, a slave with random latencies, errors and missing answers, and transceivers.
use std::sync::LazyLock;

use hdl_shims::DcmacStart;
use hdl_testkit::Dut;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim_verilated::Library;

use crate::dcmac_model::{Dcmac, RX, TX};
use crate::model::{checked, tick};

/// Short times: pauses of 32 cycles, looks every 8, 512 cycles for transceivers, 16 looks until a port has to be aligned, 128 cycles for an access.
type Start = DcmacStart<5, 3, 9, 10, 4, 5, 7, 8>;

/// 100 MHz and 390.625 MHz in femtoseconds.
const CLOCK: u64 = 10_000_000;
const MAC: u64 = 2_560_000;

static LIBRARY: LazyLock<Library> = LazyLock::new(checked::<Start>);

/// What the slave has taken of an access.
#[derive(Default)]
struct Slave {
    write_address: Option<u64>,
    write_data: Option<u64>,
    read_address: Option<u64>,
    /// The answer comes in so many cycles.
    wait: u64,
    /// No answer comes.
    silent: bool,
    answer: Option<(u64, u64)>,
}

pub struct Bench {
    pub dut: Dut,
    pub rng: ChaCha8Rng,
    pub dcmac: Dcmac,
    slave: Slave,
    next: [u64; 2],
    pub cycle: u64,
    /// An access fails, or is not answered, once in so many; 0 is never.
    pub errors: u32,
    pub silences: u32,
    /// The transceivers become ready so many cycles behind their reset.
    pub lock: u64,
    pub locks_at: [[u64; 2]; 2],
    /// No access may go to these registers of a port: the other one is started again.
    pub untouched: Option<usize>,
    pub failed: u64,
    pub missing: u64,
    pub accesses: u64,
    /// The offers of the cycle before, with their payload.
    offered: [Option<u64>; 3],
    reset_cycles: u64,
}

impl Bench {
    pub fn new(seed: u64) -> Self {
        let mut dut = Dut::of(&LIBRARY);
        dut.model()
            .plus_argument(&format!("metastability={}", seed + 1));
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut bench = Self {
            next: [0, rng.random_range(0..MAC)],
            dut,
            rng,
            dcmac: Dcmac::default(),
            slave: Slave::default(),
            cycle: 0,
            errors: 0,
            silences: 0,
            lock: 60,
            locks_at: [[60; 2]; 2],
            untouched: None,
            failed: 0,
            missing: 0,
            accesses: 0,
            offered: [None; 3],
            reset_cycles: 0,
        };
        bench.dut.set("reset", 1);
        bench.dut.eval();
        bench.run(20);
        bench.dut.set("reset", 0);
        bench.dcmac.signal = [true; 2];
        bench
    }

    pub fn is(&self, port: &str, bit: usize) -> bool {
        self.dut.get(port) >> bit & 1 == 1
    }

    /// Runs to the next edge of either clock.
    pub fn edge(&mut self) {
        let now = self.next[0].min(self.next[1]);
        let rises = self.next.map(|at| at == now);
        if rises[0] {
            self.take();
        }
        tick(&mut self.dut, ["clock", "mac_clock"], rises);
        if rises[0] {
            self.next[0] += CLOCK;
            self.drive();
        }
        if rises[1] {
            self.next[1] += MAC;
        }
        self.dut.eval();
    }

    pub fn run(&mut self, cycles: u64) {
        let end = self.cycle + cycles;
        while self.cycle < end {
            self.edge();
        }
    }

    /// Runs until a condition holds.
    pub fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let end = self.cycle + 60_000;
        while !holds(self) {
            assert!(self.cycle < end, "never: {what}");
            self.edge();
        }
    }

    /// At an edge: what moves on the interface, and its rules.
    fn take(&mut self) {
        self.cycle += 1;
        let released = self.dut.is("axi_aresetn");
        let offers = [
            ("aw", "axi_awaddr"),
            ("w", "axi_wdata"),
            ("ar", "axi_araddr"),
        ];
        for (index, (channel, payload)) in offers.into_iter().enumerate() {
            let valid = self.dut.is(&format!("axi_{channel}valid"));
            let ready = self.dut.is(&format!("axi_{channel}ready"));
            let offer = valid.then(|| self.dut.get(payload));
            assert!(
                released || !valid,
                "{channel} is offered to a slave in reset"
            );
            if let (Some(before), true) = (self.offered[index], released) {
                assert_eq!(offer, Some(before), "{channel} was withdrawn");
            }
            self.offered[index] = offer.filter(|_| !ready);
            if valid && ready {
                let taken = [
                    &mut self.slave.write_address,
                    &mut self.slave.write_data,
                    &mut self.slave.read_address,
                ];
                let [write_address, write_data, read_address] = taken;
                let place = [write_address, write_data, read_address];
                let place = place.into_iter().nth(index).unwrap();
                assert!(place.is_none(), "two accesses at once");
                *place = offer;
            }
        }
        if !released {
            self.slave = Slave::default();
            self.offered = [None; 3];
            self.reset_cycles += 1;
            return;
        }
        assert!(
            self.reset_cycles == 0 || self.reset_cycles >= 16,
            "a reset of {} cycles",
            self.reset_cycles
        );
        self.reset_cycles = 0;
        let done = (self.dut.is("axi_bvalid") && self.dut.is("axi_bready"))
            || (self.dut.is("axi_rvalid") && self.dut.is("axi_rready"));
        if done {
            self.slave = Slave::default();
        }
        self.serve();
    }

    /// The access reaches the DCMAC when all of it is there, and is answered later.
    fn serve(&mut self) {
        let slave = &mut self.slave;
        let complete = (slave.write_address.is_some() && slave.write_data.is_some())
            || slave.read_address.is_some();
        if !complete || slave.answer.is_some() || slave.silent {
            return;
        }
        if slave.wait > 0 {
            slave.wait -= 1;
            return;
        }
        self.accesses += 1;
        assert!(
            !self.dut.is("gt_reset"),
            "an access while the transceivers are in reset"
        );
        let fails = self.errors > 0 && self.rng.random_ratio(1, self.errors);
        let silent = self.silences > 0 && self.rng.random_ratio(1, self.silences);
        let address = self
            .slave
            .write_address
            .or(self.slave.read_address)
            .unwrap();
        if let Some(port) = self
            .untouched
            .filter(|_| self.slave.write_address.is_some())
        {
            let slots = [
                0x1000 * (2 * port as u64 + 1),
                0x1000 * (2 * port as u64 + 2),
            ];
            assert!(
                address >= 0x1000 && !slots.contains(&(address & 0xf000)),
                "{address:#x} is written"
            );
        }
        let data = match self.slave.write_data {
            // A write that fails may have worked.
            Some(value) if !fails || self.rng.random() => {
                let written = self.dcmac.write(address, value, self.cycle);
                written.unwrap_or_else(|error| panic!("cycle {}: {error}", self.cycle));
                0
            }
            Some(_) => 0,
            None => {
                let read = self.dcmac.read(address, self.rng.random());
                read.unwrap_or_else(|error| panic!("cycle {}: {error}", self.cycle))
            }
        };
        self.failed += u64::from(fails && !silent);
        self.missing += u64::from(silent);
        self.slave.silent = silent;
        self.slave.answer = Some((
            data,
            if fails {
                self.rng.random_range(2..4)
            } else {
                0
            },
        ));
    }

    /// After an edge: what the slave and the transceivers drive.
    fn drive(&mut self) {
        let waits =
            |taken: Option<u64>, rng: &mut ChaCha8Rng| taken.is_none() && rng.random_ratio(2, 3);
        let [aw, w, ar] = [
            self.slave.write_address,
            self.slave.write_data,
            self.slave.read_address,
        ];
        for (port, taken) in [("axi_awready", aw), ("axi_wready", w), ("axi_arready", ar)] {
            let ready = waits(taken, &mut self.rng);
            self.dut.set(port, ready.into());
        }
        if self.slave.answer.is_none() && aw.is_none() && w.is_none() && ar.is_none() {
            self.slave.wait = self.rng.random_range(0..12);
        }
        let answer = self.slave.answer.filter(|_| !self.slave.silent);
        let is_read = ar.is_some();
        self.dut
            .set("axi_bvalid", (answer.is_some() && !is_read).into());
        self.dut
            .set("axi_rvalid", (answer.is_some() && is_read).into());
        let (data, response) = answer.unwrap_or((self.rng.random::<u32>().into(), 2));
        self.dut.set("axi_rdata", data);
        self.dut.set("axi_rresp", response);
        self.dut.set("axi_bresp", response);
        let all = self.dut.is("gt_reset");
        for port in 0..2 {
            let receiver = self.is("gt_rx_reset", port);
            for (direction, resets) in [(RX, all || receiver), (TX, all)] {
                if resets {
                    self.locks_at[port][direction] = self.cycle + self.lock;
                }
                self.dcmac.ready[port][direction] = self.cycle >= self.locks_at[port][direction];
            }
        }
        for (name, direction) in [("gt_rx_done", RX), ("gt_tx_done", TX)] {
            let done = (0..2).map(|port| u64::from(self.dcmac.ready[port][direction]) << port);
            self.dut.set(name, done.sum());
        }
    }

    /// Both ports are up, and the model agrees.
    pub fn comes_up(&mut self) {
        self.until("both ports are up", |bench| bench.dut.get("link_up") == 3);
        for port in 0..2 {
            assert!(self.dcmac.is_aligned(port) && self.dcmac.sends(port) == "frames");
        }
        assert_eq!(self.dut.get("mac_reset"), 0);
    }
}
