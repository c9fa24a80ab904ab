//! The merge of writes: order, contents, rate.

use std::collections::VecDeque;

use hdl_host_if::host_writes::{HostWrites, HostWrites1024, HostWrites512};
use hdl_host_if::ring::write_header;
use hdl_testkit::stream::{expect, stall, Source};
use hdl_testkit::Dut;
use rand::Rng;
use rust_hdl::prelude::*;

use crate::bench::{generator, reset, HostWrite};

/// Sources with the double words of their writes.
const SOURCES: [(&str, &str, &str, &str, usize); 3] = [
    (
        "completion_valid",
        "completion_ready",
        "completion_header",
        "completion_data",
        8,
    ),
    (
        "event_valid",
        "event_ready",
        "event_header",
        "event_data",
        4,
    ),
    (
        "interrupt_valid",
        "interrupt_ready",
        "interrupt_header",
        "interrupt_data",
        1,
    ),
];

fn set(dut: &mut Dut, header: &str, data: &str, write: &HostWrite) {
    let length = (write.bytes.len() as u64 / 4).to_bits();
    dut.set_record(header, write_header(write.address.to_bits(), length));
    let words = write.bytes.chunks(4).rev();
    let value = words.fold(Bits::<256>::default(), |value, word| {
        let word = u32::from_le_bytes(word.try_into().unwrap());
        (value << 32) | Bits::<256>::from(u64::from(word))
    });
    match write.bytes.len() {
        32 => dut.set_record(data, value),
        16 => dut.set_record(data, bit_cast::<128, 256>(value)),
        _ => dut.set_record(data, bit_cast::<32, 256>(value)),
    }
}

fn merge<B: Block + Default + 'static>(seed: u64) {
    let rng = &mut generator(seed);
    let mut dut = reset::<B>();
    let mut sources = SOURCES.map(|(valid, ready, ..)| Source::new(valid, ready));
    let mut due = VecDeque::new();
    let mut sent = 0;
    for clock in 0..1_000 {
        let drains = clock >= 980;
        for (source, (_, _, header, data, dwords)) in sources.iter_mut().zip(SOURCES) {
            if !drains && source.is_free() && rng.random_ratio(1, 3) {
                source.offer(HostWrite {
                    address: rng.random::<u64>() & !3,
                    bytes: (0..4 * dwords).map(|_| rng.random()).collect(),
                });
            }
            source.drive(&mut dut, |dut, write| set(dut, header, data, write));
        }
        stall(&mut dut, rng, "tlp_ready", if drains { 8 } else { 5 });
        dut.settle();
        if dut.moves("tlp_valid", "tlp_ready") {
            assert!(dut.is("tlp_first") && dut.is("tlp_last"));
            expect(
                &mut due,
                &HostWrite::at(&dut, "tlp_header", "tlp_data"),
                "write",
            );
            sent += 1;
        }
        let taken: Vec<HostWrite> = sources
            .iter_mut()
            .filter_map(|source| source.taken(&dut))
            .collect();
        assert!(taken.len() <= 1, "two writes in one clock");
        assert_eq!(dut.is("accepted"), taken.len() == 1);
        due.extend(taken);
        dut.clock();
    }
    assert!(
        due.is_empty() && sent > 300,
        "{sent} sent, {} left",
        due.len()
    );
}

fn full_rate<B: Block + Default + 'static>() {
    let mut dut = reset::<B>();
    for (valid, ..) in SOURCES {
        dut.set(valid, 1);
    }
    dut.set("tlp_ready", 1);
    dut.settle();
    let mut taken = [0; 3];
    for clock in 0..30 {
        for (count, (_, ready, ..)) in taken.iter_mut().zip(SOURCES) {
            *count += dut.get(ready);
        }
        assert_eq!(dut.is("tlp_valid"), clock > 0, "a bubble in clock {clock}");
        dut.clock();
        dut.settle();
    }
    assert_eq!(taken, [10; 3], "turns");
}

#[test]
fn writes_leave_in_the_order_they_are_taken_one_per_clock() {
    merge::<HostWrites1024>(0);
    full_rate::<HostWrites1024>();
    merge::<HostWrites512>(1);
    full_rate::<HostWrites512>();
}

#[test]
#[should_panic(expected = "HostWrites<128>: a completion has 256 bits and is one beat")]
fn a_lane_too_narrow_for_a_completion_is_refused() {
    let _ = HostWrites::<128>::default();
}
