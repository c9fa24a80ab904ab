//! The registers of a reset tree: a design with them behaves as one whose reset comes a cycle later, and none has more loads than it may.

use hdl_macros::{clock, clock_reset, hdl, join};
use hdl_nic::{CounterBank, Shape, Top};
use hdl_primitives::{DataOfferSnk, DataOfferSrc, StreamSkid, SyncFifo};
use hdl_testkit::equivalence::{Random, TestRng};
use hdl_testkit::{tools, Dut};
use hdl_verilog::{emit, Design};
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use sim_models::DesignModels;
use sim_verilated::SimMode;

/// Loads of a register in these tests.
const MOST: usize = 100;

/// Every way in which a block uses its reset: in registers, in logic, in smaller and larger sub-blocks, and as part of another reset.
#[derive(LogicBlock, Default)]
struct Resets {
    clock: Signal<In, Clock>,
    reset: Signal<In, Bit>,
    clear: Signal<In, Bit>,
    events: Signal<In, Bits<6>>,
    select: Signal<In, Bits<3>>,
    value: Signal<Out, Bits<48>>,
    in_: DataOfferSnk<Bits<150>>,
    // `clear` withdraws an offer.
    out: DataOfferSrc<Bits<150>>,
    sum: Signal<Out, Bits<250>>,
    seen: Signal<Out, Bit>,
    in_reset: Signal<Out, Bit>,

    bank: CounterBank<6, 3>,
    fifo: SyncFifo<Bits<150>, 2, 3>,
    skid: StreamSkid<Bits<150>>,
    wide: DFF<Bits<250>>,
    set: DFF<Bit>,
    inline: DFF<Bit>,
}

impl Logic for Resets {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, wide, set, inline);
        clock_reset!(self, bank, fifo);
        clock!(self, clock, skid);
        self.skid.reset.next = self.reset.val() | self.clear.val();
        join!(
            self,
            events => bank.events,
            select => bank.select,
            bank.value => value,
            in_ => fifo.in_,
            fifo.out.valid => skid.in_.valid,
            fifo.out.data => skid.in_.data,
            skid.in_.ready => fifo.out.ready,
            skid.out.valid => out.valid,
            skid.out.data => out.data,
            out.ready => skid.out.ready,
        );
        if self.in_.valid.val() {
            self.wide.d.next = (self.wide.q.val() << 1) ^ bit_cast::<250, 150>(self.in_.data.val());
            self.set.d.next = true;
        }
        self.inline.d.next = self.in_.valid.val() & !self.reset.val();
        self.sum.next = self.wide.q.val();
        self.seen.next = self.set.q.val() ^ self.inline.q.val();
        self.in_reset.next = self.reset.val() | self.clear.val();
        if self.reset.val() {
            self.wide.d.next = bits(0);
            self.set.d.next = false;
        }
    }
}

fn design() -> Design {
    let mut block = Box::<Resets>::default();
    block.connect_all();
    emit(block.as_ref()).unwrap()
}

const OUTPUTS: [&str; 7] = [
    "value",
    "in_ready",
    "out_valid",
    "out_data",
    "sum",
    "seen",
    "in_reset",
];

#[test]
fn the_tree_delays_the_reset_of_every_part_by_a_cycle_and_changes_nothing_else() {
    let planted = design().with_reset_tree(MOST).unwrap();
    tools::check(&planted).unwrap();
    let mut plain = Dut::of(&design().model().for_short_run().build().unwrap());
    let gated = planted.model_in(SimMode::Gated).unwrap();
    let mut rng = TestRng::seed_from_u64(1);
    let mut with_tree = Dut::of(&gated.for_short_run().build().unwrap());
    // The copies are set after configuration.
    let mut reset = true;
    let mut resets = 0;
    for cycle in 0..5_000 {
        let now = cycle < 2 || rng.random_ratio(1, 40);
        let inputs = [
            ("clear", u64::from(rng.random_ratio(1, 50))),
            ("events", rng.random_range(0..64)),
            ("select", rng.random_range(0..8)),
            ("in_valid", rng.random_range(0..2)),
            ("out_ready", rng.random_range(0..2)),
        ];
        let data = Bits::<150>::random(&mut rng);
        for dut in [&mut plain, &mut with_tree] {
            for (port, value) in inputs {
                dut.set(port, value);
            }
            dut.set_record("in_data", data);
        }
        plain.set("reset", reset.into());
        with_tree.set("reset", now.into());
        plain.eval();
        with_tree.eval();
        // Both have been reset.
        if cycle > 3 {
            for port in OUTPUTS {
                assert_eq!(
                    with_tree.words(port),
                    plain.words(port),
                    "{port}, cycle {cycle}"
                );
            }
        }
        plain.clock();
        with_tree.clock();
        resets += u32::from(reset && !now);
        reset = now;
    }
    assert!(resets > 50, "{resets} resets");
}

/// Registers of a module's text.
fn copies(text: &str) -> usize {
    text.lines()
        .filter(|line| line.starts_with("  reset_copy u_"))
        .count()
}

#[test]
fn large_blocks_have_registers_and_small_ones_and_those_with_another_reset_have_none() {
    let planted = design().with_reset_tree(MOST).unwrap();
    let of = |kind: &str| {
        let of_kind = |m: &&hdl_verilog::Module| m.name.starts_with(kind);
        copies(&planted.modules.iter().find(of_kind).expect(kind).text)
    };
    // Six counters of 48 bits, two in a hundred.
    assert_eq!(of("counter_bank"), 3);
    assert_eq!((of("sync_fifo"), of("stream_skid")), (0, 0));
    // 250 bits need three.
    assert!(of("resets") >= 3);
}

#[test]
fn the_card_resets_a_cycle_after_its_pin() {
    let design = Top::Bitstream(Shape::OnePort512).elaborate().unwrap();
    let top = design.modules.last().unwrap();
    // Nothing of the top but the registers and the blocks with registers of their own looks at the pin.
    for line in top.text.lines().map(str::trim) {
        let is_known =
            line.starts_with("//") || line == "input wire reset," || line == ".reset(reset),";
        let names = line.replace(".reset(", "");
        let mut words = names.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        assert!(is_known || !words.any(|word| word == "reset"), "{line}");
    }
    let all: usize = design.modules.iter().map(|m| copies(&m.text)).sum();
    assert!((20..100).contains(&all), "{all} registers");
    let bank = |m: &&hdl_verilog::Module| m.name.starts_with("counter_bank");
    assert!(design
        .modules
        .iter()
        .filter(bank)
        .all(|m| copies(&m.text) > 0));
}
