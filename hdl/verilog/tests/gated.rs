//! Tests of gated models: what is refused, and that their outputs equal those of plain models.

use hdl_macros::hdl;
use hdl_testkit::equivalence::{check_gated, Random, TestRng};
use hdl_verilog::emit;
use rust_hdl::core::ast::Verilog;
use rust_hdl::prelude::*;
use sim_models::DesignModels;
use sim_verilated::{SimMode, Toolchain};

use crate::common::TwoAccumulators;

/// Has two parts, and an output that depends on an input combinationally.
#[derive(LogicBlock, Default)]
struct Pair {
    clock: Signal<In, Clock>,
    add: Signal<In, Bits<40>>,
    enable: Signal<In, Bit>,
    sum: Signal<Out, Bits<40>>,
    both: TwoAccumulators,
}

impl Logic for Pair {
    #[hdl]
    fn update(&mut self) {
        self.both.clock.next = self.clock.val();
        self.both.add.next = self.add.val();
        self.both.enable.next = self.enable.val();
        self.sum.next = self.both.total.val() + self.add.val();
    }
}

fn drive(uut: &mut Pair, rng: &mut TestRng) {
    uut.add.next = Bits::random(rng);
    uut.enable.next = bool::random(rng);
}

#[test]
fn parts_and_paths_without_a_clock_agree() {
    check_gated(Pair::default, |u| &mut u.clock, drive, 3_000, 1).unwrap();
}

#[test]
fn an_edge_goes_where_a_register_would_change() {
    let mut pair = Pair::default();
    pair.connect_all();
    let spec = emit(&pair).unwrap().model_in(SimMode::Gated).unwrap();
    let gating = spec.gating.expect("it has a clock");
    // Modules as small as these share the clock of the top module.
    assert_eq!(gating.gates.len(), 1);
    let inputs: Vec<&[String]> = gating.inputs.iter().map(|i| &*i.ports).collect();
    assert_eq!(inputs, [["add"], ["enable"]]);
    let text = spec.verilog;
    assert!(
        text.contains("assign gate_active = (sum != (sum_next));"),
        "{text}"
    );
    assert!(
        text.contains("assign gate_active = gate_active_of_u_first | gate_active_of_u_second;"),
        "{text}"
    );
    assert!(!text.contains("posedge"), "{text}");
}

/// Stores the time at which it was asked to.
#[derive(LogicBlock, Default)]
struct Stamp {
    clock: Signal<In, Clock>,
    take: Signal<In, Bit>,
    taken: Signal<Out, Bits<12>>,
    now: DFF<Bits<12>>,
    stamp: DFF<Bits<12>>,
}

impl Logic for Stamp {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, now, stamp);
        self.now.d.next = self.now.q.val() + 1;
        if self.take.val() {
            self.stamp.d.next = self.now.q.val();
        }
        self.taken.next = self.stamp.q.val();
    }
}

#[test]
fn a_counter_that_nothing_holds_has_a_clock_of_its_own() {
    let mut stamp = Stamp::default();
    stamp.connect_all();
    let spec = emit(&stamp).unwrap().model_in(SimMode::Gated).unwrap();
    assert_eq!(spec.gating.unwrap().gates.len(), 2);
    for line in [
        "  always @(edge clock) begin\n    stamp <= stamp_next;\n  end\n",
        "  always @(edge gate_clock_0) begin\n    now <= now + 12'h1;\n  end\n",
        "  assign gate_active_0 = 1'b1;\n",
        "  assign gate_active = (stamp != (stamp_next));\n",
    ] {
        assert!(spec.verilog.contains(line), "{line}: {}", spec.verilog);
    }
    let drive = |uut: &mut Stamp, rng: &mut TestRng| uut.take.next = bool::random(rng);
    check_gated(Stamp::default, |u| &mut u.clock, drive, 10_000, 2).unwrap();
}

/// Has no clock, so nothing can be gated.
#[derive(LogicBlock, Default)]
struct Inverter {
    a: Signal<In, Bits<8>>,
    y: Signal<Out, Bits<8>>,
}

impl Logic for Inverter {
    #[hdl]
    fn update(&mut self) {
        self.y.next = !self.a.val();
    }
}

#[test]
fn without_a_clock_the_model_is_the_ordinary_one() {
    let mut inverter = Inverter::default();
    inverter.connect_all();
    let design = emit(&inverter).unwrap();
    let spec = design.model_in(SimMode::Gated).unwrap();
    assert!(spec.gating.is_none());
    assert_eq!(spec.verilog, design.model().verilog);
}

/// A register that is a primitive with the given text.
#[derive(LogicBlock)]
struct Register {
    clock: Signal<In, Clock>,
    a: Signal<In, Bit>,
    y: Signal<Out, Bit>,
    _text: &'static str,
}

impl Register {
    fn new(text: &'static str) -> Self {
        Self {
            clock: Default::default(),
            a: Default::default(),
            y: Default::default(),
            _text: text,
        }
    }
}

impl Logic for Register {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self.y.next = self.a.val();
        }
    }

    fn connect(&mut self) {
        self.y.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(self._text.into())
    }
}

#[test]
fn a_primitive_that_does_not_say_when_its_edge_matters_is_refused() {
    let mut silent = Register::new("// @module test::Silent\n  always @(posedge clock) y <= a;\n");
    silent.connect_all();
    let refused = emit(&silent).unwrap().model_in(SimMode::Gated).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "silent: gating a primitive without lines for gated models is not supported by this emitter"
    );
}

/// A primitive whose gated text replaces its hardware text.
const REWORDED: &str = "// @module test::Reworded
  initial y = 0;
  always @(posedge clock) y <= a;
// @gated instead
initial y = 0;
always @(edge clock) if (a != y) y <= a;
assign gate_active = a != y;
";

#[test]
fn a_primitive_may_say_the_same_in_another_way() {
    let reworded = || Register::new(REWORDED);
    let mut one = reworded();
    one.connect_all();
    let design = emit(&one).unwrap();
    let ordinary = "  always @(posedge clock) y <= a;\n";
    assert!(design.text().contains(ordinary), "{}", design.text());
    let gated = design.model_in(SimMode::Gated).unwrap().verilog;
    assert_eq!(gated.matches("y <= a;").count(), 1, "{gated}");
    assert!(gated.contains("  always @(edge clock) if (a != y) y <= a;\n"));
    let drive = |uut: &mut Register, rng: &mut TestRng| uut.a.next = bool::random(rng);
    check_gated(reworded, |u| &mut u.clock, drive, 200, 8).unwrap();
}

/// Has two clocks, which gating refuses.
#[derive(LogicBlock, Default)]
struct Crossing {
    clock: Signal<In, Clock>,
    other: Signal<In, Clock>,
    a: Signal<In, Bit>,
    y: Signal<Out, Bit>,
    held: DFF<Bit>,
}

impl Logic for Crossing {
    #[hdl]
    fn update(&mut self) {
        self.held.clock.next = self.other.val();
        self.held.d.next = self.a.val();
        self.y.next = self.held.q.val();
    }
}

#[test]
fn another_clock_is_refused() {
    let mut crossing = Crossing::default();
    crossing.connect_all();
    let refused = emit(&crossing)
        .unwrap()
        .model_in(SimMode::Gated)
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("crossing: gating registers clocked by other"),
        "{refused}"
    );
}

/// Has wide registers, one of which depends on itself, and shifts by constant and variable distances.
#[derive(LogicBlock, Default)]
struct Shifts<const W: usize> {
    clock: Signal<In, Clock>,
    a: Signal<In, Bits<W>>,
    by: Signal<In, Bits<8>>,
    left: Signal<Out, Bits<W>>,
    right: Signal<Out, Bits<W>>,
    fixed: Signal<Out, Bits<W>>,
    copied: Signal<Out, Bits<W>>,
    held: DFF<Bits<W>>,
    copy: DFF<Bits<W>>,
}

impl<const W: usize> Logic for Shifts<W> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, held, copy);
        let held = self.held.q.val();
        let by = self.by.val();
        if by.get_bit(7) {
            self.held.d.next = held ^ self.a.val();
        }
        self.copy.d.next = held;
        self.left.next = held << by;
        self.right.next = held >> by;
        self.fixed.next = (held << 64) | (held >> 32) | (held << 7) | (held >> 3);
        self.copied.next = self.copy.q.val();
    }
}

fn check_shifts<const W: usize>() {
    let drive = |uut: &mut Shifts<W>, rng: &mut TestRng| {
        uut.a.next = Bits::random(rng);
        uut.by.next = Bits::random(rng);
    };
    check_gated(Shifts::<W>::default, |u| &mut u.clock, drive, 600, 2).unwrap();
}

#[test]
fn wide_values_agree() {
    check_shifts::<65>();
    check_shifts::<96>();
    check_shifts::<130>();
    check_shifts::<288>();
}

#[test]
fn a_profile_names_the_blocks() {
    // The blocks of the profile are known only with the supported version of Verilator.
    if !Toolchain::find().unwrap().runs_on_change() {
        return;
    }
    let mut pair = Pair::default();
    pair.connect_all();
    let spec = emit(&pair).unwrap().model_in(SimMode::OnChange).unwrap();
    let library = spec.build().unwrap();
    let mut model = library.instantiate();
    let port = |name: &str| model.port(name).unwrap();
    let (clock, add, enable) = (port("clock"), port("add"), port("enable"));
    let run = |model: &mut sim_verilated::Model| {
        model.set_u64(enable, 1);
        for value in 0..1_000 {
            model.set_u64(add, value);
            model.clock(clock);
        }
        model.profile()
    };
    assert_eq!(run(&mut model), None);
    model.start_profile();
    let profile = run(&mut model).expect("a profile was taken");
    assert!(!profile.clock.is_zero());
    assert!(profile.blocks.contains_key("both.first"), "{profile:?}");
    let all: f64 = profile.blocks.values().sum();
    assert!((all - 1.0).abs() < 1e-6, "{profile:?}");
}

#[test]
fn gated_models_may_have_signals_by_name() {
    let mut pair = Pair::default();
    pair.connect_all();
    let design = emit(&pair).unwrap();
    let gated = design.model_in(SimMode::Gated).unwrap().with_signals();
    let mut models = [gated, design.model()].map(|spec| spec.build().unwrap().instantiate());
    let names = ["clock", "add", "enable", "sum"];
    let [clock, add, enable, sum] = names.map(|name| models[0].port(name).unwrap());
    for value in 0..500_u64 {
        let sums = models.each_mut().map(|model| {
            model.set_u64(add, value / 3 * 0x1234_5677);
            model.set_u64(enable, value >> 2 & 1);
            model.clock(clock);
            model.get_u64(sum)
        });
        assert_eq!(sums[0], sums[1], "clock {value}");
    }
}
