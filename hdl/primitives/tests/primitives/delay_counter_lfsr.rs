//! Delay line, counter and shift register.
use hdl_primitives::{Counter, Delay, Lfsr, ValidDelay};
use hdl_verilog::equivalence::{check, Random};
use rust_hdl::prelude::*;

use crate::bench::{library, Bench};

#[test]
fn the_delay_line_agrees_and_delays() {
    let drive = |uut: &mut Delay<Bits<35>, 4>, rng: &mut _| uut.data.next = Bits::random(rng);
    check(Delay::default, Some(|u| &mut u.clock), drive, 100, 1).unwrap();
    let mut bench = Bench::new(&library(Delay::<Bits<35>, 4>::default()));
    for n in 0..20u64 {
        assert_eq!(bench.get("delayed"), if n < 4 { 0 } else { n - 4 + 100 });
        bench.set("data", n + 100);
        bench.clock();
    }
}

#[test]
#[should_panic(expected = "Delay by 0 clocks: use a wire")]
fn a_delay_of_nothing_is_refused() {
    let _ = Delay::<Bit, 0>::default();
}

#[test]
fn a_reset_empties_the_delay_line_with_valid() {
    let drive = |uut: &mut ValidDelay<Bits<35>, 3>, rng: &mut hdl_verilog::equivalence::TestRng| {
        uut.reset.next = Bits::<4>::random(rng) == 7;
        uut.in_valid.next = bool::random(rng);
        uut.in_data.next = Bits::random(rng);
    };
    check(ValidDelay::default, Some(|u| &mut u.clock), drive, 300, 1).unwrap();
    let mut bench = Bench::new(&library(ValidDelay::<Bits<35>, 3>::default()));
    bench.set("in_valid", 1);
    for n in 0..12u64 {
        let valid = (3..6).contains(&n) || n >= 9;
        assert_eq!(bench.get("out_valid") == 1, valid, "cycle {n}");
        if valid {
            assert_eq!(bench.get("out_data"), n - 3);
        }
        bench.set("in_data", n);
        bench.set("reset", u64::from(n == 5));
        bench.clock();
    }
}

fn drive_counter(uut: &mut Counter<18>, rng: &mut hdl_verilog::equivalence::TestRng) {
    uut.reset.next = Bits::<6>::random(rng) == 7;
    uut.add.next = Bits::random(rng);
}

#[test]
fn the_wrapping_counter_agrees_and_wraps() {
    check(
        Counter::wrapping,
        Some(|u| &mut u.clock),
        drive_counter,
        200,
        1,
    )
    .unwrap();
    assert_eq!(
        total_after(Counter::<18>::wrapping(), 10),
        (10 * 0xFFFF) % (1 << 18)
    );
}

#[test]
fn the_saturating_counter_agrees_and_stays_at_its_maximum() {
    check(
        Counter::saturating,
        Some(|u| &mut u.clock),
        drive_counter,
        200,
        1,
    )
    .unwrap();
    assert_eq!(total_after(Counter::<18>::saturating(), 3), 3 * 0xFFFF);
    assert_eq!(total_after(Counter::<18>::saturating(), 10), (1 << 18) - 1);
}

fn total_after(counter: Counter<18>, clocks: usize) -> u64 {
    let mut bench = Bench::new(&library(counter));
    bench.set("add", 0xFFFF);
    for _ in 0..clocks {
        bench.clock();
    }
    bench.get("total")
}

#[test]
fn the_16_bit_shift_register_agrees_and_visits_every_value_but_zero() {
    let drive = |uut: &mut Lfsr<16>, rng: &mut _| {
        uut.reset.next = Bits::<6>::random(rng) == 7;
        uut.advance.next = bool::random(rng);
    };
    check(
        || Lfsr::new(0xACE1),
        Some(|u: &mut Lfsr<16>| &mut u.clock),
        drive,
        300,
        1,
    )
    .unwrap();
    let mut bench = Bench::new(&library(Lfsr::<16>::new(0xACE1)));
    bench.set("advance", 1);
    bench.settle();
    assert_eq!(bench.get("value"), 0xACE1);
    let mut seen = vec![false; 1 << 16];
    for _ in 0..(1 << 16) - 1 {
        let value = bench.get("value") as usize;
        assert!(
            !std::mem::replace(&mut seen[value], true),
            "{value:#x} came twice"
        );
        bench.clock();
    }
    assert!(!seen[0]);
    assert_eq!(bench.get("value"), 0xACE1, "the period is 65,535");
}

/// The period divides 2^32 - 1 = 3 x 5 x 17 x 257 x 65,537 and none of the five quotients by a prime: so it is all of it.
#[test]
fn the_32_bit_shift_register_agrees_and_has_the_longest_period() {
    let drive = |uut: &mut Lfsr<32>, rng: &mut _| uut.advance.next = bool::random(rng);
    check(Lfsr::<32>::default, Some(|u| &mut u.clock), drive, 100, 2).unwrap();
    // Columns of one step's matrix: where the register takes each single bit.
    let step: Vec<u32> = (0..32)
        .map(|bit| {
            let mut register = Lfsr::<32>::new(1 << bit);
            register.connect_all();
            register.advance.next = true;
            for level in [false, true] {
                register.clock.next.clk = level;
                assert!(simulate(&mut register, 10));
            }
            register.value.val().to_u32()
        })
        .collect();
    let apply = |matrix: &[u32], vector: u32| {
        (0..32)
            .filter(|i| vector >> i & 1 == 1)
            .fold(0, |sum, i| sum ^ matrix[i])
    };
    let power = |exponent: u32| {
        let (mut result, mut square): (Vec<u32>, _) =
            ((0..32).map(|i| 1 << i).collect(), step.clone());
        for bit in 0..32 {
            if exponent >> bit & 1 == 1 {
                result = result
                    .iter()
                    .map(|column| apply(&square, *column))
                    .collect();
            }
            square = square
                .iter()
                .map(|column| apply(&square, *column))
                .collect();
        }
        result
    };
    let identity = power(0);
    assert_eq!(power(u32::MAX), identity);
    for prime in [3, 5, 17, 257, 65_537] {
        assert_ne!(
            power(u32::MAX / prime),
            identity,
            "the period divides (2^32 - 1) / {prime}"
        );
    }
}

#[test]
#[should_panic(expected = "a register of zeros never changes")]
fn a_seed_of_zero_is_refused() {
    let _ = Lfsr::<16>::new(0x1_0000);
}

#[test]
#[should_panic(expected = "Lfsr of 8 bits: use 16 or 32")]
fn an_unknown_length_is_refused() {
    let _ = Lfsr::<8>::new(1);
}
