//! Rust-HDL's simulation of every block against its Verilog; checks by other tools; parts with simple expected results.

use hdl_congestion::{DspMultiply, Multiply, NsccEngine, ReciprocalRom};
use hdl_testkit::equivalence::{check, check_gated, Random, TestRng};
use hdl_testkit::library;
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_transport::congestion::RECIPROCAL_ROM;
use stellar_wire::hw::congestion::{NsccConfig, NsccOp, NsccRequest, WindowChange};

#[test]
fn dsp_multiply_agrees_with_rust_hdl() {
    let drive = |block: &mut DspMultiply<24, 17, 41>, rng: &mut TestRng| {
        block.a.next = Bits::random(rng);
        block.b.next = Bits::random(rng);
    };
    check(DspMultiply::default, Some(|b| &mut b.clock), drive, 300, 1).expect("dsp_multiply");
    check_gated(DspMultiply::default, |b| &mut b.clock, drive, 800, 2).expect("gated dsp_multiply");
}

#[test]
#[should_panic(expected = "use A of 1 to 26, B of 1 to 17 and P = A + B = 48")]
fn a_product_too_wide_for_one_dsp_is_refused() {
    let _ = DspMultiply::<30, 18, 48>::default();
}

#[test]
fn multiply_agrees_with_rust_hdl() {
    let drive = |block: &mut Multiply, rng: &mut TestRng| {
        block.reset.next = rng.random_ratio(1, 30);
        block.start.next = bool::random(rng);
        block.a.next = Bits::random(rng);
        block.b.next = Bits::random(rng);
    };
    check(Multiply::default, Some(|b| &mut b.clock), drive, 300, 2).expect("multiply");
}

#[test]
fn products_of_the_promised_widths_are_exact_one_per_clock() {
    let mut model = library::<Multiply>().instantiate();
    let port = |name: &str| model.port(name).expect("port");
    let (clock, start, a, b) = (port("clock"), port("start"), port("a"), port("b"));
    let (done, product) = (port("done"), port("product"));
    let mut rng = <TestRng as rand::SeedableRng>::seed_from_u64(3);
    let mut expected = std::collections::VecDeque::new();
    let edge = |rng: &mut TestRng, bits: u32| match rng.random_range(0..4) {
        0 => (1_u64 << bits) - 1,
        _ => rng.random_range(0..1_u64 << bits),
    };
    for n in 0..3_000 {
        let (wide, narrow) = if rng.random() {
            (edge(&mut rng, 48), edge(&mut rng, 17))
        } else {
            (edge(&mut rng, 24), edge(&mut rng, 24))
        };
        model.set(a, &[wide as u32, (wide >> 32) as u32]);
        model.set_u64(b, narrow);
        model.set_u64(start, 1);
        expected.push_back(u128::from(wide) * u128::from(narrow));
        model.clock(clock);
        assert_eq!(model.get_u64(done) != 0, n + 1 >= Multiply::LATENCY);
        if n + 1 >= Multiply::LATENCY {
            let mut words = [0; 3];
            model.get(product, &mut words);
            let found = words
                .iter()
                .rev()
                .fold(0, |sum, &w| sum << 32 | u128::from(w));
            assert_eq!(Some(found), expected.pop_front());
        }
    }
}

#[test]
fn reciprocal_rom_agrees_with_rust_hdl() {
    let drive = |block: &mut ReciprocalRom, rng: &mut TestRng| {
        block.mantissa.next = Bits::random(rng);
    };
    let make = ReciprocalRom::default;
    check(make, Some(|b| &mut b.clock), drive, 500, 4).expect("reciprocal_rom");
    check_gated(make, |b| &mut b.clock, drive, 500, 5).expect("gated reciprocal_rom");
}

#[test]
fn every_entry_of_the_rom_is_the_references() {
    let mut model = library::<ReciprocalRom>().instantiate();
    let port = |name: &str| model.port(name).expect("port");
    let (clock, mantissa, reciprocal) = (port("clock"), port("mantissa"), port("reciprocal"));
    for (m, &entry) in RECIPROCAL_ROM.iter().enumerate() {
        model.set_u64(mantissa, m as u64);
        model.clock(clock);
        assert_eq!(model.get_u64(reciprocal), u64::from(entry), "entry {m}");
    }
}

/// Generates any request; most of them make no sense.
fn random_request(rng: &mut TestRng) -> NsccRequest {
    let ops = [
        NsccOp::Query,
        NsccOp::Ack,
        NsccOp::Ack,
        NsccOp::Ack,
        NsccOp::Loss,
        NsccOp::Change,
        NsccOp::Configure,
    ];
    let near: Bits<9> = Bits::random(rng);
    NsccRequest {
        op: ops[rng.random_range(0..ops.len())],
        qp: Bits::random(rng),
        now: Bits::random(rng),
        sample: rng.random_ratio(7, 8),
        bytes: Bits::random(rng),
        rtt_valid: rng.random_ratio(7, 8),
        rtt: if rng.random() {
            bit_cast(near)
        } else {
            Bits::random(rng)
        },
        ecn: bool::random(rng),
        in_flight: Bits::random(rng),
        penalty: Bits::random(rng),
        change: WindowChange::ALL[rng.random_range(0..WindowChange::COUNT)],
    }
}

/// Generates registers with ordered limits and any other values.
fn random_config(rng: &mut TestRng) -> NsccConfig {
    let base: Bits<8> = Bits::random(rng);
    let target: Bits<8> = Bits::random(rng);
    let least: Bits<12> = Bits::random(rng);
    NsccConfig {
        base_rtt: bit_cast(base),
        target: bit_cast(target),
        qa_threshold: Bits::random(rng),
        qa_gate: Bits::random(rng),
        min_cwnd: bit_cast::<24, 12>(least) | bits::<24>(0x100),
        max_cwnd: Bits::<24>::random(rng) | bits::<24>(0x1000),
        alpha: Bits::random(rng),
        fi: Bits::random(rng),
        eta: Bits::random(rng),
        fi_scale: Bits::random(rng),
        adjust_bytes: Bits::random(rng),
    }
}

#[test]
fn nscc_engine_agrees_with_rust_hdl() {
    let drive = |block: &mut NsccEngine<1>, rng: &mut TestRng| {
        block.reset.next = rng.random_ratio(1, 200);
        block.request.valid.next = rng.random_ratio(3, 4);
        block.request.record.next = random_request(rng);
        block.settings.next = random_config(rng);
    };
    check(NsccEngine::default, Some(|b| &mut b.clock), drive, 2_500, 5).expect("nscc_engine");
    // The engine contains a module with a clock of its own, a table, and the memory of its queue pairs.
    check_gated(NsccEngine::default, |b| &mut b.clock, drive, 5_000, 6).expect("gated nscc_engine");
}

#[test]
#[should_panic(expected = "use Q of 1 to 16")]
fn more_queue_pairs_than_the_port_can_name_are_refused() {
    let _ = NsccEngine::<17>::default();
}
