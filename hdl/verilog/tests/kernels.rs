//! Small blocks: golden text and equivalence with their own rust-hdl simulation.
use hdl_verilog::equivalence::{check, Random};
use rust_hdl::prelude::*;

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

#[derive(LogicBlock, Default)]
struct Accumulator {
    clock: Signal<In, Clock>,
    add: Signal<In, Bits<40>>,
    enable: Signal<In, Bit>,
    total: Signal<Out, Bits<40>>,
    sum: DFF<Bits<40>>,
}

impl Logic for Accumulator {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, sum);
        if self.enable.val() {
            self.sum.d.next = self.sum.q.val() + self.add.val();
        }
        self.total.next = self.sum.q.val();
    }
}

#[derive(LogicBlock, Default)]
struct TwoAccumulators {
    clock: Signal<In, Clock>,
    add: Signal<In, Bits<40>>,
    enable: Signal<In, Bit>,
    total: Signal<Out, Bits<40>>,
    first: Accumulator,
    second: Accumulator,
}

impl Logic for TwoAccumulators {
    #[hdl_gen]
    fn update(&mut self) {
        self.first.clock.next = self.clock.val();
        self.second.clock.next = self.clock.val();
        self.first.add.next = self.add.val();
        self.first.enable.next = self.enable.val();
        self.second.add.next = self.first.total.val();
        self.second.enable.next = !self.enable.val();
        self.total.next = self.second.total.val();
    }
}

#[test]
fn precedence_is_rusts() {
    let design = check(
        PrecedenceTrap::default,
        None,
        |uut, rng| {
            uut.a.next = Bits::random(rng);
            uut.b.next = Bits::random(rng);
            uut.c.next = if uut.a.val().get_bit(0) { uut.a.val() & uut.b.val() } else { Bits::random(rng) };
        },
        2_000,
        1,
    )
    .unwrap();
    println!("{}", design.text());
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
    println!("{}", design.text());
    assert_eq!(design.modules.len(), 2);
}
