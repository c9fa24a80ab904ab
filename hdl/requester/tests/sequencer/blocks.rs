//! Blocks that the lockstep test of the core does not cover by themselves: their Verilog is clean, and agrees with their rust-hdl simulation.

use hdl_requester::{DoorbellQueue, RequesterEngine16, Sequencer, UnitClient, WakeQueue};
use hdl_testkit::equivalence::{check, Random};
use hdl_testkit::tools;
use rand::Rng;
use rust_hdl::prelude::*;

#[test]
fn the_sequencer_is_clean_verilog() {
    tools::assert_clean::<Sequencer<3>>();
}

#[test]
fn the_engine_is_clean_verilog() {
    tools::assert_clean::<RequesterEngine16>();
}

#[test]
fn a_unit_client_is_its_verilog() {
    check(
        UnitClient::<Bits<8>, Bits<8>>::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.reset.next = rng.random_bool(0.02);
            u.start.next = rng.random_bool(0.3);
            u.request.next = Bits::random(rng);
            u.unit_request.ready.next = rng.random();
            u.unit_response.valid.next = rng.random_bool(0.3);
            u.unit_response.record.next = Bits::random(rng);
        },
        2000,
        31,
    )
    .unwrap();
}

#[test]
fn the_wake_queue_is_its_verilog() {
    check(
        WakeQueue::<3, 4, 8>::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.reset.next = rng.random_bool(0.01);
            u.in_valid.next = rng.random_bool(0.4);
            u.in_qp.next = Bits::random(rng);
            u.plane_up.next = if rng.random_bool(0.02) {
                Bits::random(rng)
            } else {
                3u64.to_bits()
            };
            u.out.ready.next = rng.random_bool(0.5);
        },
        3000,
        32,
    )
    .unwrap();
}

#[test]
fn the_doorbell_queue_is_its_verilog() {
    check(
        DoorbellQueue::<3, 4, 8>::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.reset.next = rng.random_bool(0.01);
            u.in_.valid.next = rng.random_bool(0.4);
            u.in_.qp.next = Bits::random(rng);
            u.in_.producer.next = Bits::random(rng);
            u.in_.pushed.next = rng.random();
            u.in_.entry.next = Bits::random(rng);
            // A configuration stays until it is accepted.
            if !u.configure.valid.val() | u.configure.ready.val() {
                u.configure.valid.next = rng.random_bool(0.1);
                u.configure.qp.next = Bits::random(rng);
            }
            u.configured.ready.next = rng.random();
            u.out.ready.next = rng.random_bool(0.5);
        },
        3000,
        33,
    )
    .unwrap();
}
