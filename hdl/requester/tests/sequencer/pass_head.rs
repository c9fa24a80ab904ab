//! A head whose queue pair sends at the other port is passed over, once for each burst.

use hdl_requester::pass_head::PassHead;
use hdl_testkit::equivalence::{check, Random};
use hdl_testkit::{tools, Dut};
use rand::Rng;
use rust_hdl::prelude::*;

#[test]
fn pass_head_is_its_verilog() {
    check(
        PassHead::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.reset.next = rng.random_bool(0.02);
            u.heads.next = Bits::random(rng);
            u.head0_qp.next = rng.random_range(0..3u64).to_bits();
            u.head1_qp.next = rng.random_range(0..3u64).to_bits();
            u.turned.next = Bits::random(rng) & Bits::random(rng);
            u.serving.heads.next = Bits::random(rng) & Bits::random(rng);
            u.serving.burst_active.next = rng.random_bool(0.9);
            u.serving.burst_qp.next = rng.random_range(0..3u64).to_bits();
            u.serving.burst_port.next = rng.random();
        },
        3000,
        34,
    )
    .unwrap();
    tools::assert_clean::<PassHead>();
}

/// The heads are queue pairs 5 (port 0) and 7 (port 1).
fn with_heads() -> Dut {
    let mut dut = Dut::new::<PassHead>();
    dut.reset(1);
    dut.set("heads", 3);
    dut.set("head0_qp", 5);
    dut.set("head1_qp", 7);
    dut
}

fn burst(dut: &mut Dut, qp: u64, port: u64) {
    dut.set("serving_burst_active", 1);
    dut.set("serving_burst_qp", qp);
    dut.set("serving_burst_port", port);
}

/// Runs `cycles`. Returns what was passed over in each.
fn passes(dut: &mut Dut, cycles: usize) -> Vec<u64> {
    let mut seen = vec![];
    for _ in 0..cycles {
        dut.eval();
        seen.push(dut.get("passes"));
        // No operation starts for a head that is passed over, and in the next cycle it has cost nothing.
        assert_eq!(
            dut.get("may_pass") & seen[seen.len() - 1],
            seen[seen.len() - 1]
        );
        dut.clock();
        dut.eval();
        assert_eq!(dut.get("costs_nothing"), seen[seen.len() - 1]);
    }
    seen
}

#[test]
fn a_head_is_passed_over_once_for_each_burst_of_its_own_at_the_other_port() {
    let mut dut = with_heads();
    assert_eq!(passes(&mut dut, 4), [0; 4], "no burst");
    burst(&mut dut, 7, 0);
    assert_eq!(passes(&mut dut, 8), [0, 2, 0, 0, 0, 0, 0, 0]);
    burst(&mut dut, 7, 1);
    assert_eq!(passes(&mut dut, 4), [0; 4], "its own port");
    burst(&mut dut, 5, 1);
    assert_eq!(passes(&mut dut, 4), [0, 1, 0, 0]);
    burst(&mut dut, 6, 0);
    assert_eq!(passes(&mut dut, 4), [0; 4], "another queue pair");
    burst(&mut dut, 7, 0);
    dut.set("serving_burst_active", 0);
    assert_eq!(passes(&mut dut, 4), [0; 4], "the burst has left");
}

/// The head whose operation has begun stays, and so does one that moves by itself.
#[test]
fn a_head_that_is_served_or_moves_is_not_passed_over() {
    for port in ["serving_heads", "turned"] {
        let mut dut = with_heads();
        burst(&mut dut, 7, 0);
        dut.clock();
        dut.set(port, 2);
        assert_eq!(passes(&mut dut, 6), [0; 6], "{port}");
        dut.set(port, 0);
        assert_eq!(
            passes(&mut dut, 6),
            [0; 6],
            "{port}, later in the same burst"
        );
    }
}
