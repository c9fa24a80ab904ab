//! Counters of drops, of the card and of ports, counted and read in Verilog.

use hdl_nic::{CardCounters, CountSteps, CounterBank, DropCounters, PortCounters, TxEvents};
use hdl_pcie::read::records::ReadEvents;
use hdl_testkit::equivalence::TestRng;
use hdl_testkit::Dut;
use rand::{Rng, SeedableRng};
use stellar_wire::host::{CardCounter, PortCounter};
use stellar_wire::receive::DropReason;

/// Reads counters 0 to `selects` - 1.
fn values(dut: &mut Dut, selects: u64) -> Vec<u64> {
    let read = |select| {
        dut.set("select", select);
        dut.clock();
        dut.get("value")
    };
    (0..selects).map(read).collect()
}

/// What is read if event n occurred n + 1 times. There are zeros beyond the last counter.
fn ascending(counters: usize, selects: u64) -> Vec<u64> {
    let value = |select| {
        if select < counters as u64 {
            select + 1
        } else {
            0
        }
    };
    (0..selects).map(value).collect()
}

#[test]
fn every_drop_reason_has_a_counter_and_reset_clears_them() {
    const SELECTS: u64 = 64;
    let mut dut = Dut::new::<DropCounters>();
    dut.reset(1);
    for reason in DropReason::ALL {
        dut.set("counted", 1);
        dut.set_record("reason", reason);
        for _ in 0..=reason.index() {
            dut.clock();
        }
        // Without `counted` the reason means nothing.
        dut.set("counted", 0);
        dut.clock();
    }
    dut.clock();
    assert_eq!(
        values(&mut dut, SELECTS),
        ascending(DropReason::COUNT, SELECTS)
    );
    dut.reset(1);
    assert_eq!(values(&mut dut, SELECTS), [0; SELECTS as usize]);
}

/// The ports at which each event of a port is raised, and what raises it.
enum Raise {
    Transmit(TxEvents),
    /// Of reads of payload, and of queue entries.
    Reads(&'static str, ReadEvents),
    Flag(&'static str),
}

#[test]
fn every_event_of_a_port_has_its_counter_and_reset_clears_them() {
    const SELECTS: u64 = 32;
    let transmit = TxEvents::default();
    let reads = ReadEvents::default();
    let timed_out = ReadEvents {
        timed_out: true,
        ..reads
    };
    let bad = ReadEvents { bad: true, ..reads };
    let damaged = ReadEvents {
        damaged: true,
        ..reads
    };
    let unexpected = ReadEvents {
        unexpected: true,
        ..reads
    };
    let events: [(PortCounter, Raise); PortCounter::COUNT] = [
        (
            PortCounter::AnswersDropped,
            Raise::Transmit(TxEvents {
                answer_dropped: true,
                ..transmit
            }),
        ),
        (
            PortCounter::FramesDropped,
            Raise::Transmit(TxEvents {
                frame_dropped: true,
                ..transmit
            }),
        ),
        (
            PortCounter::FramesLeftOut,
            Raise::Transmit(TxEvents {
                left_out: true,
                ..transmit
            }),
        ),
        (
            PortCounter::FaultReportsDropped,
            Raise::Transmit(TxEvents {
                fault_lost: true,
                ..transmit
            }),
        ),
        (
            PortCounter::PayloadReadTimeouts,
            Raise::Reads("payload", timed_out),
        ),
        (
            PortCounter::PayloadReadsFailed,
            Raise::Reads("payload", bad),
        ),
        (
            PortCounter::PayloadReadsDamaged,
            Raise::Reads("payload", damaged),
        ),
        (
            PortCounter::PayloadUnexpected,
            Raise::Reads("payload", unexpected),
        ),
        (
            PortCounter::EntryReadTimeouts,
            Raise::Reads("entries", timed_out),
        ),
        (PortCounter::EntryReadsFailed, Raise::Reads("entries", bad)),
        (
            PortCounter::EntryReadsDamaged,
            Raise::Reads("entries", damaged),
        ),
        (
            PortCounter::EntriesUnexpected,
            Raise::Reads("entries", unexpected),
        ),
        (PortCounter::FlushReadsFailed, Raise::Flag("flush_failed")),
        (
            PortCounter::FlushReadTimeouts,
            Raise::Flag("flush_timed_out"),
        ),
        (
            PortCounter::HostRequestsRefused,
            Raise::Flag("request_refused"),
        ),
        (
            PortCounter::HostRequestsDamaged,
            Raise::Flag("request_damaged"),
        ),
        (
            PortCounter::FlushReportsDropped,
            Raise::Flag("flush_fault_dropped"),
        ),
        (PortCounter::WritesDropped, Raise::Flag("write_dropped")),
        (PortCounter::ReceiveOverruns, Raise::Flag("receive_overrun")),
    ];
    let mut dut = Dut::new::<PortCounters>();
    dut.reset(1);
    for (counter, raise) in events {
        let quiet = match raise {
            Raise::Transmit(events) => {
                dut.set_record("transmit", events);
                "transmit"
            }
            Raise::Reads(port, events) => {
                dut.set_record(port, events);
                port
            }
            Raise::Flag(port) => {
                dut.set(port, 1);
                port
            }
        };
        for _ in 0..=counter.index() {
            dut.clock();
        }
        dut.set(quiet, 0);
    }
    assert_eq!(
        values(&mut dut, SELECTS),
        ascending(PortCounter::COUNT, SELECTS)
    );
    dut.reset(1);
    assert_eq!(values(&mut dut, SELECTS), [0; SELECTS as usize]);
}

/// The port of each counter; an event of `producers_refused` is a bit.
const CARD_EVENTS: [(&str, u64); CardCounter::COUNT] = [
    ("queues_completions_written", 1),
    ("queues_completions_lost", 1),
    ("queues_consumers_refused", 1),
    ("queues_events_written", 1),
    ("queues_events_lost", 1),
    ("queues_event_consumers_refused", 1),
    ("queues_interrupts_sent", 1),
    ("doorbells_not_owned", 1),
    ("doorbells_short_write", 1),
    ("doorbells_wrong_offset", 1),
    ("producers_refused", 0b01),
    ("producers_refused", 0b10),
    ("responder_answered_ack", 1),
    ("responder_answered_nak", 1),
    ("responder_answered_sack", 1),
    ("responder_answered_nack", 1),
    ("responder_wimm_exceeded", 1),
    ("responder_ignored", 1),
];

#[test]
fn every_event_of_the_card_has_its_counter_and_reset_clears_them() {
    const SELECTS: u64 = 32;
    let mut dut = Dut::new::<CardCounters>();
    dut.reset(1);
    for (counter, (port, event)) in CardCounter::ALL.into_iter().zip(CARD_EVENTS) {
        dut.set(port, event);
        for _ in 0..=counter.index() {
            dut.clock();
        }
        dut.set(port, 0);
    }
    assert_eq!(
        values(&mut dut, SELECTS),
        ascending(CardCounter::COUNT, SELECTS)
    );
    dut.reset(1);
    assert_eq!(values(&mut dut, SELECTS), [0; SELECTS as usize]);
}

#[test]
#[should_panic(expected = "CounterBank<5, 2>: 2 bits do not select 5 counters, use more")]
fn a_bank_with_more_counters_than_can_be_selected() {
    let _ = CounterBank::<5, 2>::default();
}

#[test]
fn every_step_of_a_count_is_an_event_but_those_during_a_reset() {
    let mut rng = TestRng::seed_from_u64(7);
    let mut dut = Dut::new::<CountSteps>();
    // It wraps, and nothing has been counted before the reset.
    let mut count = u32::MAX - 3_000;
    dut.set("count", count.into());
    dut.reset(1);
    let (mut seen, mut events) = (count, 0_u64);
    for cycle in 0..20_000 {
        let resets = rng.random_ratio(1, 900);
        // A clock that is faster by 3 parts in 10, in bursts.
        let steps = if cycle / 100 % 2 == 0 { 13 } else { 2 };
        count = count.wrapping_add(u32::from(rng.random_ratio(steps, 20)));
        count = count.wrapping_add(u32::from(steps == 13 && rng.random_ratio(1, 2)));
        dut.set("count", count.into());
        dut.set("reset", resets.into());
        dut.eval();
        events += dut.get("step");
        dut.clock();
        if resets {
            (seen, events) = (count, 0);
        }
    }
    dut.set("reset", 0);
    for _ in 0..1_000 {
        dut.eval();
        events += dut.get("step");
        dut.clock();
    }
    assert_eq!(events, u64::from(count.wrapping_sub(seen)));
    assert!(events > 0);
}
