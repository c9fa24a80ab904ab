//! The card's reset against a count of cycles.
use hdl_shims::FunctionReset;
use hdl_testkit::equivalence::{check, Random};
use hdl_testkit::Dut;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const HOLD: u64 = 5;
const CLEAR: u64 = 9;
type Block = FunctionReset<{ HOLD as usize }, { CLEAR as usize }, 4>;

#[test]
fn function_reset_is_its_verilog() {
    check(
        Block::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.user_reset.next = rng.random_ratio(1, 40);
            u.flr_in_process.next = bool::random(rng);
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
    let mut dut = Dut::new::<Block>();
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
