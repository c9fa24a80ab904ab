//! The merge of writes: order, contents, rate.

use std::collections::VecDeque;

use hdl_host_if::host_writes::{HostWrites, HostWrites1024, HostWrites512};
use hdl_host_if::ring::write_header;
use hdl_testkit::stream::{stall, Source};
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
    let words = write.bytes.chunks(4);
    let mut words: Vec<u32> = words
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect();
    words.resize(dut.words(data).len(), 0);
    dut.set_words(data, &words);
}

/// A write of a source, and whether it joins the one before it.
#[derive(Clone, Debug)]
struct Offer {
    write: HostWrite,
    joins: bool,
}

/// Of a lane of this many bytes.
fn merge<B: Block + Default + 'static>(lane: usize, seed: u64) {
    let rng = &mut generator(seed);
    let mut dut = reset::<B>();
    let mut sources = SOURCES.map(|(valid, ready, ..)| Source::new(valid, ready));
    let mut due: VecDeque<Offer> = VecDeque::new();
    // The source of the write that was accepted last.
    let mut last = None;
    // Entries in the block that the last completion lies in.
    let mut in_block = 0;
    let (mut sent, mut joined) = (0, 0);
    for clock in 0..1_000 {
        let drains = clock >= 980;
        for (index, (source, (_, _, header, data, dwords))) in
            sources.iter_mut().zip(SOURCES).enumerate()
        {
            let one_in = if index == 0 { 1 } else { 8 };
            if !drains && source.is_free() && rng.random_ratio(1, one_in) {
                let joins = index == 0 && in_block < lane / 32 && rng.random_ratio(3, 4);
                if index == 0 {
                    in_block = if joins { in_block + 1 } else { 1 };
                }
                let write = HostWrite {
                    address: rng.random::<u64>() & !3,
                    bytes: (0..4 * dwords).map(|_| rng.random()).collect(),
                };
                source.offer(Offer { write, joins });
            }
            let joins = format!("{}_joins", header.trim_end_matches("_header"));
            source.drive(&mut dut, |dut, offer| {
                set(dut, header, data, &offer.write);
                dut.set(&joins, offer.joins.into());
            });
        }
        stall(&mut dut, rng, "tlp_ready", if drains { 8 } else { 5 });
        dut.settle();
        if dut.moves("tlp_valid", "tlp_ready") {
            assert!(dut.is("tlp_first") && dut.is("tlp_last"));
            let tlp = HostWrite::at(&dut, "tlp_header", "tlp_data");
            let mut rest = &tlp.bytes[..];
            let mut address = Some(tlp.address);
            while !rest.is_empty() {
                let offer = due.pop_front().expect("a write was accepted");
                match address.take() {
                    Some(address) => assert_eq!(address, offer.write.address),
                    None => {
                        assert!(offer.joins, "{offer:?}");
                        joined += 1;
                    }
                }
                let (bytes, behind) = rest.split_at(offer.write.bytes.len());
                assert_eq!(bytes, offer.write.bytes);
                rest = behind;
            }
            sent += 1;
        }
        let taken = sources.iter_mut().map(|source| source.taken(&dut));
        let taken: Vec<_> = taken
            .enumerate()
            .filter_map(|(index, offer)| Some((index, offer?)))
            .collect();
        assert!(taken.len() <= 1, "two writes in one clock");
        assert_eq!(dut.is("accepted"), taken.len() == 1);
        for (index, mut offer) in taken {
            offer.joins &= last.replace(index) == Some(index);
            due.push_back(offer);
        }
        dut.clock();
    }
    assert!(
        due.is_empty() && sent > 300,
        "{sent} sent, {} left",
        due.len()
    );
    assert!(joined > 50, "{joined} joined");
}

/// Completions that come in every cycle, in blocks of four: each TLP has four, also behind one that waits.
#[test]
fn completions_that_lie_together_are_one_tlp() {
    let mut dut = reset::<HostWrites1024>();
    dut.set("completion_valid", 1);
    let (mut taken, mut lengths) = (0, vec![]);
    for clock in 0..60 {
        let write = HostWrite {
            address: 0x1000 + 32 * taken,
            bytes: vec![taken as u8 + 1; 32],
        };
        set(&mut dut, "completion_header", "completion_data", &write);
        dut.set("completion_joins", (taken % 4 != 0).into());
        dut.set("tlp_ready", (!(20..30).contains(&clock)).into());
        dut.settle();
        taken += dut.get("completion_ready");
        if dut.moves("tlp_valid", "tlp_ready") {
            let tlp = HostWrite::at(&dut, "tlp_header", "tlp_data");
            lengths.push((tlp.address, tlp.bytes.len()));
        }
        dut.clock();
    }
    assert!(lengths.len() > 10, "{lengths:?}");
    for pair in lengths.windows(2) {
        assert_eq!(pair[0].0 + pair[0].1 as u64, pair[1].0, "{lengths:?}");
    }
    assert!(
        lengths.iter().all(|(_, bytes)| *bytes == 128),
        "{lengths:?}"
    );
}

/// An event between two completions keeps them apart, and one that was offered stays as it is.
#[test]
fn nothing_joins_what_was_offered_or_is_not_the_write_before_it() {
    let mut dut = reset::<HostWrites1024>();
    let write = |address, bytes| HostWrite {
        address,
        bytes: vec![7; bytes],
    };
    let mut offer = |source: usize, address, joins: u64| {
        let (valid, ready, header, data, dwords) = SOURCES[source];
        set(&mut dut, header, data, &write(address, 4 * dwords));
        dut.set("completion_joins", joins);
        dut.set(valid, 1);
        dut.settle();
        while !dut.is(ready) {
            dut.clock();
            dut.settle();
        }
        dut.clock();
        dut.set(valid, 0);
        // Until it has reached the output, if that is free.
        for _ in 0..4 {
            dut.clock();
        }
    };
    // The output waits: the first completion is offered alone, and the next one behind it.
    offer(0, 0x1000, 0);
    offer(0, 0x1020, 1);
    offer(1, 0x2000, 0);
    dut.set("tlp_ready", 1);
    let mut tlps = vec![];
    let mut last_waits = true;
    for _ in 0..20 {
        dut.set("completion_valid", last_waits.into());
        dut.set("completion_joins", 1);
        set(
            &mut dut,
            "completion_header",
            "completion_data",
            &write(0x1040, 32),
        );
        dut.settle();
        if dut.moves("tlp_valid", "tlp_ready") {
            let tlp = HostWrite::at(&dut, "tlp_header", "tlp_data");
            tlps.push((tlp.address, tlp.bytes.len()));
        }
        last_waits &= !dut.is("completion_ready");
        dut.clock();
    }
    let apart = [(0x1000, 32), (0x1020, 32), (0x2000, 16), (0x1040, 32)];
    assert_eq!(tlps, apart);
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
        assert_eq!(dut.is("tlp_valid"), clock > 1, "a bubble in clock {clock}");
        dut.clock();
        dut.settle();
    }
    assert_eq!(taken, [10; 3], "turns");
}

#[test]
fn writes_leave_in_the_order_they_are_taken_one_per_clock() {
    merge::<HostWrites1024>(128, 0);
    full_rate::<HostWrites1024>();
    merge::<HostWrites512>(64, 1);
    full_rate::<HostWrites512>();
}

#[test]
#[should_panic(expected = "HostWrites<128>: a completion has 256 bits and is one beat")]
fn a_lane_too_narrow_for_a_completion_is_refused() {
    let _ = HostWrites::<128>::default();
}
