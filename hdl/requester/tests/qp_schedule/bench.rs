//! The Verilated block next to the reference.

use hdl_requester::QpSchedule;
use hdl_testkit::Dut;
use stellar_transport::endpoint::scheduler::Schedule;
use stellar_wire::hw::pack::Record;
use stellar_wire::hw::tenant::TenantCharge;
use stellar_wire::rows::{tenant_of, TenantRow};

/// 32 queue pairs.
pub const QP_BITS: usize = 5;
/// Eight tenants.
pub const TENANT_BITS: usize = 3;
pub type Small = QpSchedule<QP_BITS, TENANT_BITS>;

/// Cycles after which a block without a response counts as stuck.
const TIMEOUT_CYCLES: u64 = 200;

/// What the head does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It has sent a burst of this many bytes.
    Rotate(u32),
    Deactivate,
}

/// Inputs of a cycle. What is not accepted in this cycle is dropped.
#[derive(Clone, Copy, Debug, Default)]
pub struct Input {
    /// Page and queue pair.
    pub wake: Option<(u16, u16)>,
    pub turn: Option<Turn>,
    /// Tenant, step, and whether it has a limit.
    pub share: Option<(u32, u16, bool)>,
    /// A charge is answered: whether the tenant may send more.
    pub answer: Option<bool>,
}

pub struct Bench {
    dut: Dut,
    reference: Schedule,
    limited: [bool; 1 << TENANT_BITS],
    now: u64,
    /// Cost of the burst of the last cycle.
    cost: u32,
    /// The burst of a tenant with a limit, until it is charged.
    charge: Option<u32>,
    /// The answer to a question, until the tenant is moved.
    answered: Option<bool>,
    /// A resting tenant is moved.
    returning: bool,
    /// Cycle of the last turn, until the next head is valid or the schedule is empty.
    turned: Option<u64>,
    /// Cycle of the last accepted wake-up, until the next one can be accepted.
    woke: Option<u64>,
    /// A wake-up that came behind a turn that is charged first.
    waits: Option<(u16, u16)>,
    pub longest_turn: u64,
    pub longest_wake: u64,
    /// Turns after which the tenant rested, and returns of resting ones.
    pub rests: u64,
    pub returns: u64,
}

impl Bench {
    pub fn new() -> Self {
        let mut bench = Self {
            dut: Dut::new::<Small>(),
            reference: Schedule::default(),
            limited: Default::default(),
            now: 0,
            cost: 0,
            charge: None,
            answered: None,
            returning: false,
            turned: None,
            woke: None,
            waits: None,
            longest_turn: 0,
            longest_wake: 0,
            rests: 0,
            returns: 0,
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
        assert_eq!(cycles, (1 << QP_BITS) + 1, "one cycle for each queue pair");
        while !self.dut.is("share_ready") {
            self.dut.clock();
            self.dut.eval();
        }
        self.reference.reset();
        self.limited = Default::default();
        (self.turned, self.woke, self.charge) = (None, None, None);
        (self.answered, self.returning, self.waits) = (None, false, None);
    }

    fn set(&mut self, input: Input) {
        let (page, qp) = input.wake.unwrap_or((0, 0));
        self.dut.set("wake_valid", input.wake.is_some().into());
        self.dut.set("wake_page", page.into());
        // Bits above those of the block's queue pairs do not matter.
        self.dut.set("wake_qp", u64::from(qp) | 0x140);
        let rotates = matches!(input.turn, Some(Turn::Rotate(_)));
        self.dut.set("rotate", rotates.into());
        self.dut
            .set("deactivate", (input.turn == Some(Turn::Deactivate)).into());
        // The cost comes one cycle late; then it is gone.
        self.dut.set("cost", self.cost.into());
        let (tenant, step, limited) = input.share.unwrap_or_default();
        let row = TenantRow {
            step,
            rate: limited.into(),
            bucket: 0,
        };
        self.dut.set("share_valid", input.share.is_some().into());
        self.dut.set("share_tenant", tenant.into());
        self.dut.set_record("share", row.to_hw());
        self.dut.set("charge_ready", input.answer.is_some().into());
        self.dut
            .set("charge_may_send", (input.answer == Some(true)).into());
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
        let ready = self.dut.is("wake_ready");
        let charges = self.dut.is("charge_valid");
        // A share that is set while a turn is executed counts for that turn or for the next one, so it is set when nothing is.
        let idle = self.turned.is_none() && self.charge.is_none() && input.turn.is_none();
        let share = input.share.filter(|_| idle);
        input.share = share;
        input.turn = input.turn.filter(|_| head.is_some());
        input.answer = input.answer.filter(|_| charges);
        self.set(input);
        self.dut.eval();
        assert_eq!(
            head,
            self.head(),
            "the head does not depend on its clock's inputs"
        );

        // A resting tenant is moved: nothing else is pending.
        if self.dut.is("returns") {
            // A wake-up before it has taken effect.
            assert!(!ready && !self.returning);
            self.woke = None;
            let answer = self.answered.take();
            self.reference
                .asked(answer.expect("nobody is moved without an answer"));
            self.returning = true;
            self.returns += u64::from(answer == Some(true));
        }
        self.returning &= !ready;

        let expected = self.reference.front();
        let settled = self.woke.is_none() && self.turned.is_none() && !self.returning;
        if let Some(head) = head {
            assert_eq!(Some(head), expected, "clock {}", self.now);
        } else if settled {
            assert_eq!(expected, None, "clock {}: the head is missing", self.now);
        }
        if let Some(turned) = self.turned.filter(|_| head.is_some()) {
            self.longest_turn = self.longest_turn.max(self.now - turned);
            self.turned = None;
        }
        if let Some(woke) = self.woke.filter(|_| ready) {
            self.longest_wake = self.longest_wake.max(self.now - woke);
            self.woke = None;
        }
        self.answer(input.answer);
        if let Some((tenant, step, limited)) = share {
            let row = TenantRow {
                step,
                ..TenantRow::default()
            };
            self.reference.set_share(tenant, &row);
            self.limited[tenant as usize] = limited;
        }
        self.turn(input.turn);
        let taken = input.wake.filter(|_| ready);
        if let Some(wake) = taken {
            self.woke = Some(self.now);
            if self.charge.is_some() {
                self.waits = Some(wake);
            } else {
                self.wake_reference(wake);
            }
        }
        self.cost = match input.turn {
            Some(Turn::Rotate(cost)) => cost,
            _ => 0x5555,
        };
        self.dut.clock();
        self.set(Input::default());
        self.dut.eval();
        self.now += 1;
        taken.is_some()
    }

    fn turn(&mut self, turn: Option<Turn>) {
        let Some(turn) = turn else {
            return;
        };
        let tenant = self.reference.tenant_in_front().expect("a head");
        match turn {
            Turn::Deactivate => self.reference.park(),
            Turn::Rotate(cost) if self.limited[tenant as usize] => self.charge = Some(cost),
            Turn::Rotate(cost) => self.reference.served(cost, false),
        }
        // A turn that empties the schedule has no next head.
        let goes_on = self.charge.is_some() || self.reference.front().is_some();
        self.turned = goes_on.then_some(self.now);
    }

    fn answer(&mut self, answer: Option<bool>) {
        let Some(may_send) = answer else {
            return;
        };
        let words = self.dut.words("charge");
        let cost = Record::<TenantCharge>::new(&words);
        if cost.u64("cost") == 0 {
            assert_eq!(Some(cost.u64("tenant") as u32), self.reference.resting());
            self.answered = Some(may_send);
            return;
        }
        let expected = self.charge.take().expect("nobody pays twice");
        assert_eq!(cost.u64("cost"), u64::from(expected));
        assert_eq!(
            Some(cost.u64("tenant") as u32),
            self.reference.tenant_in_front()
        );
        self.reference.served(expected, !may_send);
        self.rests += u64::from(!may_send);
        if let Some(wake) = self.waits.take() {
            self.wake_reference(wake);
        }
        if self.reference.front().is_none() {
            self.turned = None;
        }
    }

    fn wake_reference(&mut self, (page, qp): (u16, u16)) {
        let tenant = tenant_of(page.into()).min((1 << TENANT_BITS) - 1);
        self.reference.wake(tenant, qp.into());
    }

    /// Wakes a queue pair, and waits until it is in the schedule.
    pub fn wake(&mut self, page: u16, qp: u16) {
        let input = Input {
            wake: Some((page, qp)),
            ..Input::default()
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
    pub fn take_turn(&mut self, turn: Turn) -> u32 {
        let end = self.now + TIMEOUT_CYCLES;
        loop {
            let head = self.head();
            self.clock(Input {
                turn: Some(turn),
                answer: Some(true),
                ..Input::default()
            });
            if let Some(head) = head {
                return head;
            }
            assert!(self.now < end, "no head");
        }
    }

    /// Returns the head after `cycles` cycles in which charges are answered.
    pub fn head_after(&mut self, cycles: u32) -> Option<u32> {
        for _ in 0..cycles {
            self.clock(Input {
                answer: Some(true),
                ..Input::default()
            });
        }
        self.head()
    }

    /// Deactivates all queue pairs, in the order of the reference.
    pub fn deactivate_all(&mut self) {
        // A resting tenant is asked every 16 cycles, and then moved.
        while self.head_after(80).is_some() {
            self.take_turn(Turn::Deactivate);
        }
        assert_eq!(self.reference.front(), None);
        assert_eq!(self.reference.rests(), 0);
    }
}
