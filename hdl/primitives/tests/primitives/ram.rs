//! Compares memories in Verilog with their rust-hdl simulation: latency, and reads of the word that is being written.
use hdl_primitives::{
    BlockRam, BypassRam, DeepRowRam, LutRam, QuickBypassRam, QuickRam, RowRam, UltraRam,
};
use hdl_testkit::equivalence::{check, check_gated, Random, TestRng};
use hdl_testkit::library;
use hdl_verilog::{emit, Design};
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use sim_models::DesignModels;

#[derive(Copy, Clone, Debug, PartialEq, Default, LogicStruct)]
struct Entry {
    key: Bits<12>,
    valid: Bit,
    wide: Bits<70>,
}

/// Writes a memory of 16 words and reads it. Returns what reads of the words 5 and 7 gave that were written then: 105 and 107 are the old contents, and 999 the new ones.
fn collisions(library: &sim_verilated::Library, latency: usize) -> [u64; 2] {
    let mut model = library.instantiate();
    let [clock, enable, write, data, read, out] = [
        "clock",
        "write_enable",
        "write_address",
        "write_data",
        "read_address",
        "read_data",
    ]
    .map(|name| model.port(name).unwrap());
    // Word i holds i + 100.
    model.set_u64(read, 9);
    for i in 0..16 {
        model.set_u64(enable, 1);
        model.set_u64(write, i);
        model.set_u64(data, i + 100);
        model.clock(clock);
    }
    for address in 0..16 {
        model.set_u64(enable, 0);
        model.set_u64(read, address);
        model.eval();
        for _ in 0..latency {
            assert_ne!(model.get_u64(out), address + 100, "too early");
            model.clock(clock);
            model.set_u64(read, (address + 7) % 16);
        }
        model.eval();
        assert_eq!(model.get_u64(out), address + 100);
        for _ in 0..latency {
            model.clock(clock);
        }
    }
    [5, 7].map(|address| {
        model.set_u64(enable, 1);
        model.set_u64(write, address);
        model.set_u64(read, address);
        model.set_u64(data, 999);
        model.eval();
        for _ in 0..latency {
            model.clock(clock);
            model.set_u64(enable, 0);
        }
        let given = model.get_u64(out);
        model.clock(clock);
        model.clock(clock);
        assert_eq!(model.get_u64(out), 999);
        given
    })
}

macro_rules! behaves {
    ($module:ident, $ram:ident, latency $latency:literal, collisions $collisions:expr, style $style:literal) => {
        mod $module {
            use super::*;

            fn drive(uut: &mut $ram<Entry, 3>, rng: &mut TestRng) {
                uut.write_enable.next = bool::random(rng);
                uut.write_address.next = Bits::random(rng);
                uut.read_address.next = if bool::random(rng) {
                    uut.write_address.next
                } else {
                    Bits::random(rng)
                };
                uut.write_data.next = Entry {
                    key: Bits::random(rng),
                    valid: bool::random(rng),
                    wide: Bits::random(rng),
                };
            }

            #[test]
            fn agrees_with_its_simulation() {
                let design = check(
                    $ram::<Entry, 3>::default,
                    Some(|u| &mut u.clock),
                    drive,
                    300,
                    1,
                )
                .unwrap();
                assert!(design
                    .text()
                    .contains(concat!("ram_style = \"", $style, "\"")));
            }

            #[test]
            fn its_gated_model_agrees_too() {
                check_gated($ram::default, |u| &mut u.clock, drive, 1500, 2).unwrap();
            }

            #[test]
            fn data_come_after_its_latency_and_collisions_give_what_they_say() {
                let latency = $ram::<Bits<16>, 4>::LATENCY;
                assert_eq!(latency, $latency);
                let given = collisions(library::<$ram<Bits<16>, 4>>(), latency);
                for (given, may) in given.into_iter().zip($collisions) {
                    assert!(may.contains(&given), "{given}, not one of {may:?}");
                }
            }
        }
    };
}

/// What reads may give of the words 5 and 7 when they are written.
const OLD: [&[u64]; 2] = [&[105], &[107]];
const NEW: [&[u64]; 2] = [&[999], &[999]];
const EITHER: [&[u64]; 2] = [&[105, 999], &[107, 999]];

behaves!(lut_ram, LutRam, latency 0, collisions OLD, style "distributed");
behaves!(block_ram, BlockRam, latency 1, collisions OLD, style "block");
behaves!(bypass_ram, BypassRam, latency 1, collisions NEW, style "block");
behaves!(row_ram, RowRam, latency 1, collisions EITHER, style "block");
behaves!(deep_row_ram, DeepRowRam, latency 1, collisions EITHER, style "block");
behaves!(quick_ram, QuickRam, latency 1, collisions EITHER, style "block");
behaves!(quick_bypass_ram, QuickBypassRam, latency 1, collisions NEW, style "block");
behaves!(ultra_ram, UltraRam, latency 2, collisions EITHER, style "ultra");

/// Where either may come, so that no block relies on one of them. A netlist has what synthesis chose.
#[test]
fn either_contents_follow_from_the_address_in_simulation() {
    let row = library::<RowRam<Bits<16>, 4>>();
    let ultra = library::<UltraRam<Bits<16>, 4>>();
    assert_eq!(collisions(row, 1), [105, 999]);
    assert_eq!(collisions(ultra, 2), [105, 999]);
}

/// From 2^15 words on, a deep row comes two cycles after its address.
#[test]
fn a_row_of_many_comes_a_cycle_later() {
    assert_eq!(DeepRowRam::<Bits<16>, 14>::LATENCY, 1);
    assert_eq!(DeepRowRam::<Bits<16>, 15>::LATENCY, 2);
    assert_eq!(
        collisions(library::<DeepRowRam<Bits<16>, 15>>(), 2),
        [105, 999]
    );
}

/// The Verilog of a memory.
macro_rules! emitted {
    ($ram:ty) => {{
        let mut ram = Box::new(<$ram>::default());
        ram.connect_all();
        emit(ram.as_ref()).unwrap()
    }};
}

/// Its text.
macro_rules! text {
    ($ram:ty) => {
        emitted!($ram).text().to_string()
    };
}

#[test]
fn deep_and_wide_rows_are_in_ultra_ram() {
    let ultra = [
        text!(RowRam<Bits<64>, 13>),
        text!(BypassRam<Bits<64>, 13>),
        text!(QuickRam<Bits<64>, 16>),
        text!(QuickBypassRam<Bits<64>, 16>),
    ];
    let block = [
        text!(RowRam<Bits<63>, 13>),
        text!(RowRam<Bits<64>, 12>),
        text!(BypassRam<Bits<63>, 13>),
        text!(BlockRam<Bits<64>, 13>),
        text!(QuickRam<Bits<200>, 15>),
        text!(QuickBypassRam<Bits<200>, 15>),
    ];
    assert!(ultra.iter().all(|text| text.contains("\"ultra\"")));
    assert!(block.iter().all(|text| text.contains("\"block\"")));
}

/// A read of the address that is written in the same cycle may give either word; or it gives the same one in all texts.
#[derive(Clone, Copy, PartialEq)]
enum Collisions {
    Either,
    Same,
}

/// Compares the text for synthesis of a memory of 2^`address_bits` words with the one for simulation.
fn compare_with_synthesis(design: &Design, address_bits: u32, collisions: Collisions) {
    let mut models = ["", "`define SYNTHESIS\n"].map(|define| {
        let mut spec = design.model().for_short_run();
        spec.verilog = format!("{define}{}", spec.verilog);
        spec.build().unwrap().instantiate()
    });
    let mut rng = TestRng::seed_from_u64(3);
    let mut shown = [0; 2];
    let mut found = 0;
    let words: Vec<u64> = (0..64)
        .map(|_| rng.random_range(0..1 << address_bits))
        .collect();
    for cycle in 0..4_000 {
        let writes: bool = rng.random();
        let [write, read] = [(); 2].map(|()| words[rng.random_range(0..words.len())]);
        let write = match collisions {
            Collisions::Either if write == read => write ^ 1,
            Collisions::Same if rng.random_ratio(1, 4) => read,
            _ => write,
        };
        let data = rng.random_range(0..1 << 15);
        for (model, shown) in models.iter_mut().zip(&mut shown) {
            for (name, value) in [
                ("write_enable", u64::from(writes)),
                ("write_address", write),
                ("write_data", data),
                ("read_address", read),
            ] {
                let port = model.port(name).unwrap();
                model.set_u64(port, value);
            }
            let clock = model.port("clock").unwrap();
            model.clock(clock);
            model.eval();
            *shown = model.get_u64(model.port("read_data").unwrap());
        }
        assert_eq!(shown[0], shown[1], "cycle {cycle}");
        found += u32::from(shown[0] != 0);
    }
    assert!(found > 1_000, "{found} reads found a word");
}

#[test]
fn synthesis_of_a_deep_memory_reads_what_simulation_reads() {
    compare_with_synthesis(&emitted!(UltraRam<Bits<16>, 17>), 17, Collisions::Either);
    compare_with_synthesis(&emitted!(RowRam<Bits<64>, 16>), 16, Collisions::Either);
    compare_with_synthesis(&emitted!(BypassRam<Bits<64>, 16>), 16, Collisions::Same);
    compare_with_synthesis(&emitted!(LutRam<Bits<16>, 10>), 10, Collisions::Same);
    compare_with_synthesis(&emitted!(DeepRowRam<Bits<16>, 16>), 16, Collisions::Either);
    compare_with_synthesis(&emitted!(QuickRam<Bits<16>, 14>), 14, Collisions::Either);
    compare_with_synthesis(
        &emitted!(QuickBypassRam<Bits<15>, 13>),
        13,
        Collisions::Same,
    );
}

#[test]
#[should_panic(expected = "a RAM with 30 address bits: use 1 to 24")]
fn too_many_address_bits_are_refused() {
    let _ = BlockRam::<Bits<8>, 30>::default();
}
