//! Each block: the rust-hdl simulation against its Verilated Verilog, and the Verilog against the tools.

use hdl_pcie::share::{ReadShare, WriteShare};
use hdl_testkit::equivalence::{check, Random};
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::WqeFetch;
use stellar_wire::hw::payload::read_user;
use stellar_wire::hw::read::ReadBeat;

use crate::share::readers::read;
use crate::share::write_share::header;

fn write_share<const W: usize>() {
    check(
        WriteShare::<W>::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.reset.next = rng.random_ratio(1, 100);
            u.in0.valid.next = rng.random();
            u.in0.data.next = Bits::random(rng);
            u.in0.header.next = header(rng);
            u.in0.first.next = rng.random();
            u.in0.last.next = rng.random();
            u.in1.valid.next = rng.random();
            u.in1.data.next = Bits::random(rng);
            u.in1.header.next = header(rng);
            u.in1.first.next = rng.random();
            u.in1.last.next = rng.random();
            u.in2.valid.next = rng.random();
            u.in2.data.next = Bits::random(rng);
            u.in2.header.next = header(rng);
            u.in2.first.next = rng.random();
            u.in2.last.next = rng.random();
            u.tlp.ready.next = rng.random_bool(0.8);
        },
        200,
        51,
    )
    .unwrap();
}

#[test]
fn write_share_is_its_verilog() {
    write_share::<512>();
    write_share::<1024>();
}

fn read_share<const W: usize>() {
    // The test runs in rounds. In each one, entries are requested up to the available space, which is at least 7, and then returned.
    const ASKING: u32 = 30;
    const ROUND: u32 = 80;
    let mut clock = 0u32;
    let mut owed = 0;
    check(
        ReadShare::<W>::default,
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
            u.payload0_ready.next = rng.random();
            u.payload1_ready.next = rng.random();
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
fn read_share_is_its_verilog() {
    read_share::<512>();
    read_share::<1024>();
}
