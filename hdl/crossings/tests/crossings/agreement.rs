//! The Verilog of each block against its rust-hdl simulation. The check drives one clock; the other one moves at random, in cycles in which no input does.
use hdl_crossings::{
    BlockAsyncFifo, CrossingSource, LevelSynchroniser, LutAsyncFifo, PulseHandshake,
    ResetSynchroniser,
};
use hdl_testkit::equivalence::{check, check_gated, Random, TestRng};
use rust_hdl::prelude::*;

/// Moves the other clock, or returns that inputs may change: in one pass of the simulation, a register may see an input of before or after its change.
fn inputs_move(other: &mut Signal<In, Clock>, rng: &mut TestRng) -> bool {
    let inputs = bool::random(rng);
    if !inputs {
        other.next.clk = !other.val().clk;
    }
    inputs
}

#[test]
fn level_synchroniser() {
    type Block = LevelSynchroniser<5, 3>;
    let drive = |uut: &mut Block, rng: &mut _| uut.level.next = Bits::random(rng);
    let design = check(Block::default, Some(|u| &mut u.clock), drive, 300, 1).unwrap();
    for register in ["first_crossing", "stage_2", "stage_3"] {
        let declared = format!("(* ASYNC_REG = \"TRUE\" *) reg [4:0] {register} = 5'd0;");
        assert!(design.text().contains(&declared), "{}", design.text());
    }
    for random in ["dice", "$value"] {
        assert!(
            !design.text().contains(random),
            "a simulation model in the hardware"
        );
        assert!(!design.model_text().contains(random));
        assert!(design.metastable_text().contains(random));
    }
    check_gated(Block::default, |u| &mut u.clock, drive, 1000, 2).unwrap();
}

#[test]
fn crossing_source() {
    type Block = CrossingSource<5>;
    let drive = |uut: &mut Block, rng: &mut _| uut.d.next = Bits::random(rng);
    let design = check(Block::default, Some(|u| &mut u.clock), drive, 300, 1).unwrap();
    let declared = "(* DONT_TOUCH = \"TRUE\" *) reg [4:0] source_crossing";
    assert!(design.text().contains(declared), "{}", design.text());
    check_gated(Block::default, |u| &mut u.clock, drive, 1000, 2).unwrap();
}

#[test]
fn reset_synchroniser() {
    type Block = ResetSynchroniser<3>;
    let drive = |uut: &mut Block, rng: &mut _| {
        uut.asynchronous.next = Bits::<3>::random(rng) == 0;
    };
    let design = check(Block::default, Some(|u| &mut u.clock), drive, 500, 1).unwrap();
    let declared = "(* ASYNC_REG = \"TRUE\" *) reg [2:0] chain_crossing";
    assert!(design.text().contains(declared), "{}", design.text());
}

#[test]
fn pulse_handshake() {
    type Block = PulseHandshake<2>;
    let drive = |uut: &mut Block, rng: &mut _| {
        if inputs_move(&mut uut.to_clock, rng) {
            uut.pulse.next = bool::random(rng);
        }
    };
    check(Block::default, Some(|u| &mut u.from_clock), drive, 1000, 1).unwrap();
}

macro_rules! fifo {
    ($test:ident, $block:ty, $style:literal) => {
        #[test]
        fn $test() {
            let drive = |uut: &mut $block, rng: &mut _| {
                if inputs_move(&mut uut.read_clock, rng) {
                    let resets = Bits::<5>::random(rng) == 7;
                    uut.read_reset.next = resets;
                    uut.write_reset.next = resets;
                    uut.in_.valid.next = bool::random(rng);
                    uut.in_.data.next = Bits::random(rng);
                    uut.out.ready.next = bool::random(rng);
                }
            };
            let make = <$block>::default;
            let design = check(make, Some(|u| &mut u.write_clock), drive, 3000, 3).unwrap();
            let text = design.text();
            assert!(
                text.contains(concat!("ram_style = \"", $style, "\"")),
                "{text}"
            );
            // Whoever asks for gating gets the plain model: its clocks are two.
            assert!(design.gated().unwrap().is_none());
        }
    };
}

fifo!(fifo_in_lut_ram, LutAsyncFifo<Bits<40>, 4, 5>, "distributed");
fifo!(fifo_in_block_ram, BlockAsyncFifo<Bits<40>, 5, 6>, "block");

/// A block of one clock with a FIFO in it.
#[derive(LogicBlock, Default)]
struct Around {
    clock: Signal<In, Clock>,
    read_clock: Signal<In, Clock>,
    data: Signal<In, Bits<8>>,
    out: Signal<Out, Bits<8>>,
    fifo: LutAsyncFifo<Bits<8>, 4, 5>,
}

impl Logic for Around {
    #[hdl_macros::hdl]
    fn update(&mut self) {
        self.fifo.write_clock.next = self.clock.val();
        self.fifo.read_clock.next = self.read_clock.val();
        self.fifo.write_reset.next = false;
        self.fifo.read_reset.next = false;
        self.fifo.in_.valid.next = true;
        self.fifo.in_.data.next = self.data.val();
        self.fifo.out.ready.next = true;
        self.out.next = self.fifo.out.data.val();
    }
}

#[test]
fn a_gated_model_with_two_clocks_is_refused() {
    let mut block = Around::default();
    block.connect_all();
    let error = hdl_verilog::emit(&block).unwrap().gated().unwrap_err();
    assert!(
        error.to_string().contains("whose clocks are not `clock`"),
        "{error}"
    );
}

#[test]
#[should_panic(expected = "LevelSynchroniser of 1 stages: one does not settle")]
fn one_stage_is_refused() {
    let _ = LevelSynchroniser::<1, 1>::default();
}

#[test]
#[should_panic(expected = "AsyncFifo with A = 7 in distributed RAM: use 4 to 6")]
fn a_deep_fifo_in_luts_is_refused() {
    let _ = LutAsyncFifo::<Bits<8>, 7, 8>::default();
}

#[test]
#[should_panic(expected = "a TwoClockRam in UltraRAM")]
fn ultra_ram_is_refused() {
    let _ = hdl_crossings::TwoClockRam::<Bits<8>, 12, hdl_primitives::ram::Ultra>::default();
}
