//! Each block: the rust-hdl simulation against its Verilated Verilog, and the Verilog against the tools.

use hdl_pcie::share::{ReadArbiter, WriteArbiter};
use hdl_testkit::equivalence::{check, Random};
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::WqeFetch;
use stellar_wire::hw::payload::read_user;
use stellar_wire::hw::read::ReadBeat;

use crate::share::readers::read;
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

fn read_arbiter<const W: usize>() {
    // The test runs in rounds. In each one, entries are requested up to the available space, which is at least 7, and then returned.
    const ASKING: u32 = 30;
    const ROUND: u32 = 80;
    let mut clock = 0u32;
    let mut owed = 0;
    check(
        ReadArbiter::<W>::default,
        Some(|u| &mut u.clock),
        move |u, rng| {
            let phase = clock % ROUND;
            let asking = phase < ASKING;
            clock += 1;
            if phase == ASKING {
                owed = 7;
            }
            u.reset.next = false;
            u.fetch.valid.next = asking;
            u.fetch.record.next = WqeFetch {
                address: Bits::random(rng),
                qp: Bits::random(rng),
                entries: rng.random_range(1..=8_u64).to_bits(),
            };
            u.fetched.ready.next = rng.random_bool(0.3) || phase > ROUND - 12;
            u.read[0].valid.next = rng.random();
            u.read[0].record.next = read(rng);
            u.read[1].valid.next = rng.random();
            u.read[1].record.next = read(rng);
            u.payload[0].ready.next = rng.random();
            u.payload[1].ready.next = rng.random();
            u.command.ready.next = asking || rng.random_bool(0.8);
            let returns = rng.random();
            let entry = returns && owed > 0 && phase < ROUND - 12 && rng.random();
            owed -= u32::from(entry);
            let user = Bits::<32>::random(rng).replace_bit(read_user::FETCH, entry);
            u.in_.valid.next = returns;
            u.in_.data.next = Bits::random(rng);
            u.in_.beat.next = ReadBeat {
                bytes: Bits::random(rng),
                last: rng.random(),
                error: rng.random(),
                user,
            };
        },
        400,
        52,
    )
    .unwrap();
}

#[test]
fn read_arbiter_is_its_verilog() {
    read_arbiter::<512>();
    read_arbiter::<1024>();
}
