//! The Verilated block next to the reference.

use hdl_requester::QpSchedule;
use hdl_testkit::Dut;
use stellar_transport::endpoint::scheduler::Schedule;

/// 32 queue pairs.
pub const QP_BITS: usize = 5;
/// Eight pages.
pub const PAGE_BITS: usize = 3;
pub type Small = QpSchedule<QP_BITS, PAGE_BITS>;

/// Cycles after which a block without a response counts as stuck.
const TIMEOUT_CYCLES: u64 = 100;

/// Inputs of a cycle. A wake-up that is not accepted in this cycle is dropped.
#[derive(Clone, Copy, Debug, Default)]
pub struct Input {
    /// Page and queue pair.
    pub wake: Option<(u16, u16)>,
    /// The head, if there is one, is rotated (`false`) or deactivated (`true`).
    pub deactivates: Option<bool>,
}

pub struct Bench {
    dut: Dut,
    reference: Schedule,
    now: u64,
    /// Cycle of the last turn, until the next head is valid or the schedule is empty.
    turned: Option<u64>,
    /// Cycle of the last accepted wake-up, until the next one can be accepted.
    woke: Option<u64>,
    pub longest_turn: u64,
    pub longest_wake: u64,
}

impl Bench {
    pub fn new() -> Self {
        let mut bench = Self {
            dut: Dut::new::<Small>(),
            reference: Schedule::default(),
            now: 0,
            turned: None,
            woke: None,
            longest_turn: 0,
            longest_wake: 0,
        };
        bench.reset();
        bench
    }

    /// Resets the block, and waits until it accepts wake-ups.
    pub fn reset(&mut self) {
        self.set(Input::default());
        self.dut.set("reset", 1);
        self.dut.clock();
        self.dut.set("reset", 0);
        self.dut.eval();
        let mut cycles = 0;
        while !self.dut.is("wake_ready") {
            assert!(!self.dut.is("head_valid"), "a head before a wake");
            self.dut.clock();
            self.dut.eval();
            cycles += 1;
        }
        assert_eq!(cycles, 1 << QP_BITS, "one cycle for each queue pair");
        self.reference = Schedule::default();
        (self.turned, self.woke) = (None, None);
    }

    fn set(&mut self, input: Input) {
        let (page, qp) = input.wake.unwrap_or((0, 0));
        self.dut.set("wake_valid", input.wake.is_some().into());
        // Bits above those of the block's pages and queue pairs do not matter.
        self.dut.set("wake_page", u64::from(page) | 0x5550);
        self.dut.set("wake_qp", u64::from(qp) | 0x140);
        self.dut
            .set("rotate", (input.deactivates == Some(false)).into());
        self.dut
            .set("deactivate", (input.deactivates == Some(true)).into());
    }

    /// Returns the current head.
    fn head(&self) -> Option<u32> {
        self.dut
            .is("head_valid")
            .then(|| self.dut.get("head_qp") as u32)
    }

    /// Runs one cycle. Returns whether the wake-up was accepted.
    pub fn clock(&mut self, mut input: Input) -> bool {
        let head = self.head();
        input.deactivates = input.deactivates.filter(|_| head.is_some());
        let ready = self.dut.is("wake_ready");
        self.set(input);
        self.dut.eval();
        assert_eq!(
            head,
            self.head(),
            "the head does not depend on its clock's inputs"
        );

        let expected = self.reference.front();
        if let Some(head) = head {
            assert_eq!(Some(head), expected, "clock {}", self.now);
        } else if self.woke.is_none() && self.turned.is_none() {
            assert_eq!(expected, None, "clock {}: the head is missing", self.now);
        }
        if let Some(turned) = self.turned.filter(|_| head.is_some()) {
            self.longest_turn = self.longest_turn.max(self.now - turned);
            self.turned = None;
        }
        if let Some(woke) = self.woke.filter(|_| ready) {
            self.longest_wake = self.longest_wake.max(self.now - woke);
            self.woke = None;
            assert!(head.is_some() || self.turned.is_some() || expected.is_none());
        }
        match input.deactivates {
            Some(true) => self.reference.park(),
            Some(false) => self.reference.served(),
            None => {}
        }
        if input.deactivates.is_some() {
            // A turn that empties the schedule has no next head.
            self.turned = self.reference.front().map(|_| self.now);
        }
        let taken = input.wake.filter(|_| ready);
        if let Some((page, qp)) = taken {
            self.reference.wake(page.into(), qp.into());
            self.woke = Some(self.now);
        }
        self.dut.clock();
        self.set(Input::default());
        self.dut.eval();
        self.now += 1;
        taken.is_some()
    }

    /// Wakes a queue pair, and waits until it is in the schedule.
    pub fn wake(&mut self, page: u16, qp: u16) {
        let input = Input {
            wake: Some((page, qp)),
            deactivates: None,
        };
        let end = self.now + TIMEOUT_CYCLES;
        while !self.clock(input) {
            assert!(self.now < end, "a wake is never taken");
        }
        while !self.dut.is("wake_ready") {
            assert!(self.now < end, "a wake never ends");
            self.clock(Input::default());
        }
    }

    /// Waits for a head, and rotates or deactivates it.
    pub fn turn(&mut self, deactivates: bool) -> u32 {
        let end = self.now + TIMEOUT_CYCLES;
        loop {
            let head = self.head();
            self.clock(Input {
                wake: None,
                deactivates: Some(deactivates),
            });
            if let Some(head) = head {
                return head;
            }
            assert!(self.now < end, "no head");
        }
    }

    /// Returns the head after `cycles` cycles.
    pub fn head_after(&mut self, cycles: u32) -> Option<u32> {
        for _ in 0..cycles {
            self.clock(Input::default());
        }
        self.head()
    }

    /// Deactivates all queue pairs, in the order of the reference.
    pub fn deactivate_all(&mut self) {
        while self.head_after(20).is_some() {
            self.turn(true);
        }
        assert_eq!(self.reference.front(), None);
    }
}
