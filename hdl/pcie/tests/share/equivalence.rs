//! Each block: the rust-hdl simulation against its Verilated Verilog, and the Verilog against the tools.

use hdl_pcie::share::WriteArbiter;
use hdl_testkit::equivalence::{check, Random};
use rand::Rng;
use rust_hdl::prelude::*;

use crate::share::write_arbiter::header;

fn write_arbiter<const W: usize, const N: usize, const I: usize>() {
    check(
        WriteArbiter::<W, N, I>::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.reset.next = rng.random_ratio(1, 100);
            for stream in &mut u.in_ {
                stream.valid.next = rng.random();
                stream.data.next = Bits::random(rng);
                stream.header.next = header(rng);
                stream.first.next = rng.random();
                stream.last.next = rng.random();
            }
            u.tlp.ready.next = rng.random_bool(0.8);
        },
        200,
        51,
    )
    .unwrap();
}

#[test]
fn write_arbiter_is_its_verilog() {
    write_arbiter::<512, 3, 2>();
    write_arbiter::<1024, 2, 1>();
}
