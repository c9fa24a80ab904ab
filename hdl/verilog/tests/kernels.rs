//! Tests small blocks that are written with rust-hdl's own `#[hdl_gen]`: equivalence with their rust-hdl simulation, the printed text, and refusals.
// The tests are about precedence, so their expressions have no extra parentheses.
#![allow(clippy::precedence)]

use hdl_macros::hdl;
use hdl_testkit::equivalence::{check, Random};
use rust_hdl::prelude::*;

use crate::common::{Accumulator, TwoAccumulators};
use crate::golden::assert_golden;

#[derive(LogicBlock, Default)]
struct PrecedenceTrap {
    a: Signal<In, Bits<8>>,
    b: Signal<In, Bits<8>>,
    c: Signal<In, Bits<8>>,
    y: Signal<Out, Bit>,
    z: Signal<Out, Bits<8>>,
    n: Signal<Out, Bits<4>>,
}

impl Logic for PrecedenceTrap {
    #[hdl_gen]
    fn update(&mut self) {
        self.y.next = self.a.val() & self.b.val() == self.c.val();
        self.z.next = self.a.val() + self.b.val() << self.c.val() ^ self.a.val();
        self.n.next = self.a.val().get_bits::<6>(1).get_bits::<4>(2);
    }
}

#[test]
fn precedence_is_rusts() {
    check(
        PrecedenceTrap::default,
        None,
        |uut, rng| {
            uut.a.next = Bits::random(rng);
            uut.b.next = Bits::random(rng);
            uut.c.next = if uut.a.val().get_bit(0) {
                uut.a.val() & uut.b.val()
            } else {
                Bits::random(rng)
            };
        },
        2_000,
        1,
    )
    .unwrap();
}

#[test]
fn hierarchy_and_registers_agree_and_equal_modules_are_emitted_once() {
    let design = check(
        TwoAccumulators::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.add.next = Bits::random(rng);
            uut.enable.next = bool::random(rng);
        },
        500,
        2,
    )
    .unwrap();
    assert_eq!(design.modules.len(), 2);
    assert_golden("two_accumulators.v", &design.text());
}

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Phase {
    Idle,
    Busy,
    Done,
}

#[derive(LogicBlock, Default)]
struct Phases {
    clock: Signal<In, Clock>,
    go: Signal<In, Bit>,
    phase: Signal<Out, Phase>,
    state: DFF<Phase>,
}

impl Logic for Phases {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, state);
        match self.state.q.val() {
            Phase::Idle => {
                if self.go.val() {
                    self.state.d.next = Phase::Busy;
                }
            }
            Phase::Busy => self.state.d.next = Phase::Done,
            Phase::Done => self.state.d.next = Phase::Idle,
        }
        self.phase.next = self.state.q.val();
    }
}

#[test]
fn a_register_of_an_enumeration_starts_with_a_value_of_its_width() {
    let design = check(
        Phases::default,
        Some(|u| &mut u.clock),
        |uut, rng| uut.go.next = bool::random(rng),
        50,
        3,
    )
    .unwrap();
    assert!(
        design.text().contains("reg [1:0] state = 2'h0;"),
        "{}",
        design.text()
    );
}

#[derive(LogicBlock, Default)]
struct Latch {
    enable: Signal<In, Bit>,
    data: Signal<In, Bits<4>>,
    held: Signal<Out, Bits<4>>,
}

impl Logic for Latch {
    #[hdl_gen]
    fn update(&mut self) {
        if self.enable.val() {
            self.held.next = self.data.val();
        }
    }
}

#[derive(LogicBlock, Default)]
struct Undriven {
    clock: Signal<In, Clock>,
    total: Signal<Out, Bits<40>>,
    sum: Accumulator,
}

impl Logic for Undriven {
    #[hdl_gen]
    fn update(&mut self) {
        self.sum.clock.next = self.clock.val();
        self.sum.enable.next = true;
        self.total.next = self.sum.total.val();
    }
}

#[derive(LogicBlock, Default)]
struct SignedSum {
    a: Signal<In, Signed<8>>,
    y: Signal<Out, Signed<8>>,
}

impl Logic for SignedSum {
    #[hdl_gen]
    fn update(&mut self) {
        self.y.next = self.a.val() + self.a.val();
    }
}

fn refusal<B: Block + Default>() -> String {
    let mut block = B::default();
    block.connect_all();
    hdl_verilog::emit(&block).unwrap_err().to_string()
}

#[test]
fn a_path_that_assigns_nothing_is_refused_as_a_latch() {
    let message = refusal::<Latch>();
    assert_eq!(
        message,
        "top: held is not assigned on every path (a latch); assign a default first"
    );
}

#[test]
fn an_input_of_a_sub_block_that_nothing_drives_is_refused() {
    assert_eq!(refusal::<Undriven>(), "top: sum$add is never assigned");
}

#[test]
fn signed_signals_are_refused_by_name() {
    assert_eq!(
        refusal::<SignedSum>(),
        "top: signed signal a is not supported by this emitter"
    );
}

#[derive(LogicBlock, Default)]
struct ConstantParts {
    y: Signal<Out, Bits<12>>,
}

impl Logic for ConstantParts {
    #[hdl]
    fn update(&mut self) {
        let mut parts = bits::<12>(0xabc);
        parts = parts.replace_bit(0, true);
        self.y.next = parts;
    }
}

#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Pair {
    low: Bits<4>,
    high: Bits<8>,
}

#[derive(LogicBlock, Default)]
struct ConstantRecord {
    y: Signal<Out, Pair>,
}

impl Logic for ConstantRecord {
    #[hdl]
    fn update(&mut self) {
        self.y.next = Pair {
            low: bits::<4>(5),
            high: bits::<8>(0xc3),
        };
    }
}

#[test]
fn records_of_constants_are_assigned_and_not_waited_for() {
    check(ConstantParts::default, None, |_, _| {}, 2, 1).unwrap();
    let design = check(ConstantRecord::default, None, |_, _| {}, 2, 1).unwrap();
    assert!(
        design.text().contains("assign y = 12'hc35;"),
        "{}",
        design.text()
    );
}

#[hdl_macros::hdl_fn]
fn larger(a: Bits<8>, b: Bits<8>) -> Bits<8> {
    let first = a > b;
    if first {
        a
    } else {
        b
    }
}

#[derive(LogicBlock, Default)]
struct HelperInBranch {
    a: Signal<In, Bits<8>>,
    b: Signal<In, Bits<8>>,
    choose: Signal<In, Bit>,
    y: Signal<Out, Bits<8>>,
}

impl Logic for HelperInBranch {
    #[hdl]
    fn update(&mut self) {
        self.y.next = bits::<8>(0);
        if self.choose.val() {
            self.y.next = larger(self.a.val(), self.b.val());
        }
    }
}

#[test]
fn a_helper_called_inside_a_branch_is_no_latch() {
    let drive = |uut: &mut HelperInBranch, rng: &mut _| {
        uut.a.next = Bits::random(rng);
        uut.b.next = Bits::random(rng);
        uut.choose.next = bool::random(rng);
    };
    check(HelperInBranch::default, None, drive, 200, 3).unwrap();
}
