//! The Verilated block next to a list of deadlines.

use hdl_requester::TimerScan;
use hdl_testkit::Dut;
use stellar_transport::time::Ticks;

/// More queue pairs than one word of 32 per group.
pub const QP_BITS: usize = 7;
pub type Timers = TimerScan<QP_BITS>;

/// Inputs of a cycle.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// Queue pair, armed, and deadline in ticks from now.
    pub set: Option<(usize, bool, i32)>,
    pub ready: bool,
    /// The set is for the queue pair that is offered, if there is one.
    pub at_offer: bool,
}

impl Input {
    pub const TAKE: Self = Self {
        set: None,
        ready: true,
        at_offer: false,
    };

    pub fn set(qp: usize, armed: bool, at: i32) -> Self {
        Self {
            set: Some((qp, armed, at)),
            ready: false,
            at_offer: false,
        }
    }
}

/// An armed timer.
#[derive(Clone, Copy)]
struct Deadline {
    at: Ticks,
    /// Cycles since the deadline was reached.
    age: u64,
}

pub struct Bench {
    dut: Dut,
    now: Ticks,
    deadlines: Vec<Option<Deadline>>,
    /// The offer that must be stable.
    standing: Option<usize>,
    /// Number of accepted offers.
    pub offers: usize,
    /// Maximum number of cycles from a deadline to its offer.
    pub oldest: u64,
}

impl Bench {
    pub fn new(start: u32) -> Self {
        Self::of(Dut::new::<Timers>(), start)
    }

    /// A block of as many timers in groups of 32, of which a large card has more.
    pub fn of_full_groups(start: u32) -> Self {
        Self::of(Dut::new::<TimerScan<QP_BITS, 2, 4>>(), start)
    }

    fn of(dut: Dut, start: u32) -> Self {
        let mut bench = Self {
            dut,
            now: Ticks(start),
            deadlines: vec![],
            standing: None,
            offers: 0,
            oldest: 0,
        };
        bench.reset();
        bench
    }

    /// Disarms all timers; time continues.
    pub fn reset(&mut self) {
        self.dut.set("deadline_valid", 0);
        self.dut.set("reset", 1);
        self.dut.clock();
        self.dut.set("reset", 0);
        self.deadlines = vec![None; 1 << QP_BITS];
        self.standing = None;
        self.offers = 0;
    }

    /// Returns the number of deadlines that were reached and not accepted.
    pub fn due(&self) -> usize {
        let reached = |d: &&Deadline| self.now.reached(d.at);
        self.deadlines.iter().flatten().filter(reached).count()
    }

    /// Runs one cycle, after `passed` ticks.
    pub fn clock(&mut self, passed: u32, input: Input) {
        self.now = self.now.plus(Ticks(passed));
        let offer = (self.dut.get("due_valid") != 0).then(|| self.dut.get("due_qp") as usize);
        let set = input.set.map(|(qp, armed, at)| {
            let qp = offer.filter(|_| input.at_offer).unwrap_or(qp);
            (qp, armed, Ticks(self.now.0.wrapping_add_signed(at)))
        });
        self.dut.set("now", self.now.0.into());
        self.dut.set("deadline_valid", set.is_some().into());
        self.dut.set("due_ready", input.ready.into());
        if let Some((qp, armed, at)) = set {
            // Bits above those of the block's queue pairs do not matter.
            self.dut.set("deadline_qp", qp as u64 | 0x300);
            self.dut.set("deadline_armed", armed.into());
            self.dut.set("deadline", at.0.into());
        }
        self.dut.eval();
        assert_eq!(
            offer,
            (self.dut.get("due_valid") != 0).then(|| self.dut.get("due_qp") as usize),
            "the offer does not depend on the inputs of its clock"
        );
        if let Some(standing) = self.standing {
            assert_eq!(offer, Some(standing), "an offer fell without being taken");
        }
        for deadline in self.deadlines.iter_mut().flatten() {
            if self.now.reached(deadline.at) {
                deadline.age += 1;
            }
        }
        if let Some(qp) = offer {
            let deadline = self.deadlines[qp].unwrap_or_else(|| panic!("{qp} is disarmed"));
            assert!(self.now.reached(deadline.at), "{qp} is not due");
            self.oldest = self.oldest.max(deadline.age - 1);
            if input.ready {
                self.offers += 1;
                self.deadlines[qp] = None;
            }
        }
        let set_qp = set.map(|(qp, ..)| qp);
        self.standing = offer.filter(|&qp| !input.ready && set_qp != Some(qp));
        if let Some((qp, armed, at)) = set {
            self.deadlines[qp] = armed.then_some(Deadline { at, age: 0 });
        }
        self.dut.clock();
        self.dut.eval();
    }
}
