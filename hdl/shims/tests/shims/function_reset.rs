//! The card's reset against a count of cycles.
use hdl_shims::FunctionReset;
use hdl_testkit::equivalence::{check, Random};
use hdl_testkit::Dut;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;

const HOLD: u64 = 5;
const CLEAR: u64 = 9;
type One = FunctionReset<{ HOLD as usize }, { CLEAR as usize }, 4, 1>;
type Two = FunctionReset<{ HOLD as usize }, { CLEAR as usize }, 4, 2>;

#[test]
fn function_reset_is_its_verilog() {
    check(
        Two::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.user_reset.next = rng.random_ratio(1, 40);
            u.flr_in_process.next = Bits::random(rng);
        },
        2_000,
        1,
    )
    .unwrap();
}

/// Runs until a port is high. Returns the cycles.
fn until(dut: &mut Dut, port: &str) -> u64 {
    for cycles in 0..100 {
        dut.settle();
        if dut.is(port) {
            return cycles;
        }
        dut.clock();
    }
    panic!("{port} stays low");
}

#[test]
fn a_function_level_reset_holds_the_card_waits_and_is_done_once() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut dut = Dut::new::<One>();
    dut.set("user_reset", 1);
    for _ in 0..20 {
        dut.clock();
    }
    dut.settle();
    assert!(dut.is("reset") && !dut.is("flr_done"));
    dut.set("user_reset", 0);
    for _ in 0..HOLD + CLEAR + 4 {
        dut.clock();
        assert!(
            !dut.is("flr_done"),
            "only a function-level reset is reported"
        );
    }
    for _ in 0..20 {
        dut.settle();
        assert!(!dut.is("reset"));
        dut.set("flr_in_process", 1);
        until(&mut dut, "reset");
        let mut held = 0;
        while dut.is("reset") {
            held += 1;
            dut.clock();
            dut.settle();
        }
        assert_eq!(held, HOLD);
        assert_eq!(until(&mut dut, "flr_done"), CLEAR - 1);
        dut.clock();
        dut.settle();
        assert!(!dut.is("flr_done"), "one cycle");
        // AMD's block may take its time to end the reset.
        for _ in 0..rng.random_range(0..10) {
            dut.clock();
        }
        dut.set("flr_in_process", 0);
        for _ in 0..rng.random_range(3..10) {
            dut.clock();
            dut.settle();
            assert!(!dut.is("reset") && !dut.is("flr_done"));
        }
    }
}

/// Two functions, at random times: each reset of a function is done once, behind a reset of the card that did not end before the function's began.
#[test]
fn functions_are_reset_together_or_one_behind_the_other() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut dut = Dut::new::<Two>();
    // For each function: how long it has asked, whether the card was in reset meanwhile, how long it waits to end or begin.
    let mut asks = [None; 2];
    let mut held = [false; 2];
    let mut waits = [30u64; 2];
    let [mut resets, mut done, mut both] = [0; 3];
    let mut before = true;
    for _ in 0..20_000 {
        let level = (0..2).map(|f| u64::from(asks[f].is_some()) << f).sum();
        dut.set("flr_in_process", level);
        dut.clock();
        dut.settle();
        let reset = dut.is("reset");
        resets += u64::from(reset && !before);
        before = reset;
        let told = dut.get("flr_done");
        both += u64::from(told == 3);
        for f in 0..2 {
            held[f] |= reset && asks[f].is_some();
            if told >> f & 1 == 1 {
                assert!(asks[f].is_some() && held[f] && !reset, "function {f}");
                done += 1;
                // It ends some cycles later, and begins at any time.
                waits[f] = rng.random_range(1..6);
                asks[f] = Some(u64::MAX);
                held[f] = false;
            }
            match asks[f] {
                Some(u64::MAX) if waits[f] == 0 => {
                    asks[f] = None;
                    waits[f] = rng.random_range(1..60);
                }
                Some(u64::MAX) => waits[f] -= 1,
                Some(cycles) => {
                    assert!(cycles < 2 * (HOLD + CLEAR) + 6, "function {f} waits");
                    asks[f] = Some(cycles + 1);
                }
                None if waits[f] == 0 => asks[f] = Some(0),
                None => waits[f] -= 1,
            }
        }
    }
    assert!(
        done > 400 && both > 20 && resets + both <= done && resets > 200,
        "{done} done, {both} together, {resets} resets"
    );
}
