//! Delay lines and counter.
use hdl_primitives::{Counter, Delay, ValidDelay};
use hdl_testkit::equivalence::{check, Random};
use hdl_testkit::{library_of, Dut};
use rust_hdl::prelude::*;

#[test]
fn the_delay_line_agrees_and_delays() {
    let drive = |uut: &mut Delay<Bits<35>, 4>, rng: &mut _| uut.data.next = Bits::random(rng);
    check(Delay::default, Some(|u| &mut u.clock), drive, 100, 1).unwrap();
    let mut dut = Dut::new::<Delay<Bits<35>, 4>>();
    for n in 0..20u64 {
        assert_eq!(dut.get("delayed"), if n < 4 { 0 } else { n - 4 + 100 });
        dut.set("data", n + 100);
        dut.clock();
    }
}

#[test]
#[should_panic(expected = "Delay by 0 clocks: use a wire")]
fn a_delay_of_nothing_is_refused() {
    let _ = Delay::<Bit, 0>::default();
}

#[test]
fn a_reset_empties_the_delay_line_with_valid() {
    let drive = |uut: &mut ValidDelay<Bits<35>, 3>, rng: &mut hdl_testkit::equivalence::TestRng| {
        uut.reset.next = Bits::<4>::random(rng) == 7;
        uut.in_valid.next = bool::random(rng);
        uut.in_data.next = Bits::random(rng);
    };
    check(ValidDelay::default, Some(|u| &mut u.clock), drive, 300, 1).unwrap();
    let mut dut = Dut::new::<ValidDelay<Bits<35>, 3>>();
    dut.set("in_valid", 1);
    for n in 0..12u64 {
        let valid = (3..6).contains(&n) || n >= 9;
        assert_eq!(dut.get("out_valid") == 1, valid, "cycle {n}");
        if valid {
            assert_eq!(dut.get("out_data"), n - 3);
        }
        dut.set("in_data", n);
        dut.set("reset", u64::from(n == 5));
        dut.clock();
    }
}

fn drive_counter(uut: &mut Counter<18>, rng: &mut hdl_testkit::equivalence::TestRng) {
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

#[test]
fn a_reset_lets_a_counter_begin_again() {
    for counter in [Counter::<18>::wrapping(), Counter::saturating()] {
        let mut dut = Dut::of(&library_of(counter));
        dut.set("add", 5);
        dut.clock();
        dut.set("reset", 1);
        dut.clock();
        assert_eq!(dut.get("total"), 0);
        dut.set("reset", 0);
        dut.clock();
        assert_eq!(dut.get("total"), 5);
    }
}

fn total_after(counter: Counter<18>, clocks: usize) -> u64 {
    let mut dut = Dut::of(&library_of(counter));
    dut.set("add", 0xFFFF);
    for _ in 0..clocks {
        dut.clock();
    }
    dut.get("total")
}
