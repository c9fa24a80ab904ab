//! Which access reaches which BAR, and whose word comes back.

use hdl_host_if::BarDecoder;
use hdl_testkit::Dut;
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::host::config_space::{Bar, PAGE_BYTES};
use stellar_wire::hw::completer::BarAccess;
use stellar_wire::hw::pack::to_words;

use crate::bench::{generator, reset};

/// Outputs that offer an access, by the BAR and whether it writes.
const TARGETS: [(Bar, bool, &str); 5] = [
    (Bar::Registers, true, "register_write_valid"),
    (Bar::Registers, false, "register_read_valid"),
    (Bar::Doorbells, true, "doorbell_write_valid"),
    (Bar::Vectors, true, "vector_access_valid"),
    (Bar::Vectors, false, "vector_access_valid"),
];

fn check_target(dut: &Dut, bar: u64, access: BarAccess) {
    for (target, writes, valid) in TARGETS {
        let here = u64::from(target.index()) == bar;
        let shared = target == Bar::Vectors;
        if writes == access.write || !shared {
            assert_eq!(dut.is(valid), here && writes == access.write, "{valid}");
        }
    }
    let address = access.address.to_u64();
    match (bar, access.write) {
        (0, true) => {
            assert_eq!(dut.get("register_write_address"), address % (1 << 16));
            assert_eq!(dut.get("register_write_data"), access.data.to_u64());
            assert_eq!(dut.get("register_write_enable"), access.enable.to_u64());
        }
        (0, false) => assert_eq!(dut.get("register_read_address"), address % (1 << 16)),
        (2, true) => {
            assert_eq!(dut.get("doorbell_write_page"), address / PAGE_BYTES);
            assert_eq!(dut.get("doorbell_write_offset"), address % PAGE_BYTES);
            assert_eq!(dut.get("doorbell_write_data"), access.data.to_u64());
            assert_eq!(dut.get("doorbell_write_enable"), access.enable.to_u64());
        }
        (4, _) => assert_eq!(dut.words("vector_access"), to_words(access)),
        _ => {}
    }
}

#[test]
fn an_access_reaches_its_bar_and_waits_for_no_other() {
    let rng = &mut generator(5);
    let mut dut = reset::<BarDecoder>();
    for _ in 0..2000 {
        let bar = rng.random_range(0..8u64);
        let access = BarAccess {
            write: rng.random(),
            bar: bar.to_bits(),
            address: (rng.random_range(0..1u64 << 25) * 8).to_bits(),
            data: rng.random::<u64>().to_bits(),
            enable: rng.random_range(0..256u64).to_bits(),
        };
        let (doorbells, vectors) = (rng.random(), rng.random());
        dut.set("access_valid", 1);
        dut.set_record("access", access);
        dut.set("doorbell_write_ready", u64::from(doorbells));
        dut.set("vector_access_ready", u64::from(vectors));
        dut.settle();
        check_target(&dut, bar, access);
        let ready = match (bar, access.write) {
            (2, true) => doorbells,
            (4, _) => vectors,
            _ => true,
        };
        assert_eq!(dut.is("access_ready"), ready, "BAR{bar}");
        let refused = !access.write && bar != 0 && bar != 4;
        dut.clock();
        dut.set("access_valid", 0);
        dut.settle();
        // Nobody else answers in this cycle.
        assert_eq!(dut.is("word_valid"), refused, "BAR{bar}");
        assert_eq!(dut.is("word_unsupported"), refused, "BAR{bar}");
        dut.clock();
    }
}

#[test]
fn the_word_of_a_read_comes_back_from_the_bar_that_has_it() {
    let mut dut = reset::<BarDecoder>();
    dut.set("register_read_data", 0x1111);
    dut.set("vector_word_data", 0x4444);
    for (valid, word) in [
        ("register_read_done", 0x1111),
        ("vector_word_valid", 0x4444),
    ] {
        dut.set(valid, 1);
        dut.settle();
        assert!(dut.is("word_valid") && !dut.is("word_unsupported"));
        assert_eq!(dut.get("word_data"), word);
        dut.set(valid, 0);
        dut.settle();
        assert!(!dut.is("word_valid"));
    }
    // The refusal of a BAR counts in the cycle of its answer only.
    dut.set("vector_word_unsupported", 1);
    dut.settle();
    assert!(!dut.is("word_unsupported"));
    dut.set("vector_word_valid", 1);
    dut.settle();
    assert!(dut.is("word_valid") && dut.is("word_unsupported"));
}
