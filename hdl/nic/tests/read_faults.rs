//! `ReadFaults`: each failed read becomes one event, and each payload that could not be read fails its message behind its event.

use std::collections::VecDeque;

use hdl_nic::ReadFaults;
use hdl_testkit::equivalence::{check, Random, TestRng};
use hdl_testkit::stream::Source;
use hdl_testkit::{tools, Dut};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use stellar_wire::host::EventKind;
use stellar_wire::hw::pack::Record;
use stellar_wire::hw::read::FailedRead;

fn failed_read(rng: &mut TestRng) -> FailedRead {
    FailedRead {
        kind: Bits::random(rng),
        source: Bits::random(rng),
        address: Bits::random(rng),
    }
}

#[test]
fn read_faults_is_its_verilog() {
    check(
        ReadFaults::default,
        Some(|u| &mut u.clock),
        |u, rng: &mut TestRng| {
            u.reset.next = rng.random_bool(0.02);
            for p in 0..2 {
                u.payload[p].valid.next = rng.random_bool(0.5);
                u.payload[p].qp.next = Bits::random(rng);
                u.payload[p].slot.next = Bits::random(rng);
                u.payload[p].address.next = Bits::random(rng);
                u.flush[p].valid.next = rng.random_bool(0.3);
                u.flush[p].record.next = failed_read(rng);
                u.message[p].ready.next = rng.random_bool(0.4);
                u.entries[p].valid.next = rng.random_bool(0.3);
                u.entries[p].record.next = failed_read(rng);
            }
            u.report.ready.next = rng.random_bool(0.6);
        },
        600,
        5,
    )
    .unwrap();
    let mut block = ReadFaults::default();
    block.connect_all();
    tools::check(&hdl_verilog::emit(&block).unwrap()).unwrap();
}

/// An event: kind, source, address.
type Event = (u64, u64, u64);
/// A payload: queue pair, slot, address.
type Payload = (u64, u64, u64);

struct Bench {
    dut: Dut,
    payload: [Source<Payload>; 2],
    others: [Source<Event>; 4],
    /// Events that have to come, in order, by source.
    due: [VecDeque<Event>; 6],
    /// Messages that have to fail, in order, by port.
    failing: [VecDeque<Payload>; 2],
    /// Events of payload that have come, by port.
    told: [usize; 2],
    failed: [usize; 2],
}

impl Bench {
    fn new() -> Self {
        let mut dut = Dut::new::<ReadFaults>();
        dut.reset(1);
        Self {
            dut,
            payload: [
                Source::new("payload0_valid", "payload0_ready"),
                Source::new("payload1_valid", "payload1_ready"),
            ],
            others: [
                Source::new("entries0_valid", "entries0_ready"),
                Source::new("entries1_valid", "entries1_ready"),
                Source::new("flush0_valid", "flush0_ready"),
                Source::new("flush1_valid", "flush1_ready"),
            ],
            due: Default::default(),
            failing: Default::default(),
            told: [0; 2],
            failed: [0; 2],
        }
    }

    /// Offers of all sources that are free.
    fn offer(&mut self, rng: &mut TestRng, chance: f64) {
        for p in 0..2 {
            if self.payload[p].is_free() && rng.random_bool(chance) {
                let payload = (
                    rng.random_range(0..1 << 10),
                    rng.random_range(0..1 << 16),
                    rng.random(),
                );
                self.payload[p].offer(payload);
                self.failing[p].push_back(payload);
                let kind = EventKind::PayloadReadFailed.code().into();
                self.due[p].push_back((kind, payload.0, payload.2));
            }
        }
        for n in 0..4 {
            if self.others[n].is_free() && rng.random_bool(chance) {
                let kind = match n {
                    0 | 1 => EventKind::EntryReadFailed,
                    _ => EventKind::FlushReadFailed,
                };
                let source = rng.random_range(0..1 << 10);
                let event = (kind.code().into(), source, rng.random());
                self.others[n].offer(event);
                // Flush reads are those of an endpoint, whatever their source says.
                let source = if n < 2 { source } else { n as u64 - 2 };
                self.due[2 + n].push_back((event.0, source, event.2));
            }
        }
    }

    fn clock(&mut self, rng: &mut TestRng, ready: [f64; 3]) {
        let dut = &mut self.dut;
        for (p, source) in self.payload.iter().enumerate() {
            source.drive(dut, |dut, (qp, slot, address)| {
                dut.set(&format!("payload{p}_qp"), *qp);
                dut.set(&format!("payload{p}_slot"), *slot);
                dut.set(&format!("payload{p}_address"), *address);
            });
        }
        let ports = ["entries0", "entries1", "flush0", "flush1"];
        for (source, port) in self.others.iter().zip(ports) {
            source.drive(dut, |dut, (kind, source, address)| {
                dut.set_record(
                    port,
                    FailedRead {
                        kind: kind.to_bits(),
                        source: source.to_bits(),
                        address: address.to_bits(),
                    },
                );
            });
        }
        dut.set("report_ready", rng.random_bool(ready[0]).into());
        for p in 0..2 {
            let go = rng.random_bool(ready[1 + p]);
            dut.set(&format!("message{p}_ready"), go.into());
        }
        dut.eval();
        if dut.moves("report_valid", "report_ready") {
            let words = dut.words("report");
            let event = Record::<FailedRead>::new(&words);
            let event = (event.u64("kind"), event.u64("source"), event.u64("address"));
            let from = self.due.iter().position(|due| due.front() == Some(&event));
            let from = from.unwrap_or_else(|| panic!("{event:x?} is not the next of any source"));
            self.due[from].pop_front();
            if from < 2 {
                self.told[from] += 1;
            }
        }
        for p in 0..2 {
            let [valid, ready] = ["valid", "ready"].map(|end| format!("message{p}_{end}"));
            if dut.moves(&valid, &ready) {
                let (qp, slot, _) = self.failing[p].pop_front().expect("a payload that failed");
                assert_eq!(dut.get(&format!("message{p}_qp")), qp);
                assert_eq!(dut.get(&format!("message{p}_slot")), slot);
                self.failed[p] += 1;
                // Its event was accepted: it may still be held in the block.
                assert!(
                    self.failed[p] <= self.told[p] + 2,
                    "a message before its event"
                );
            }
        }
        for source in &mut self.payload {
            source.taken(dut);
        }
        for source in &mut self.others {
            source.taken(dut);
        }
        dut.clock();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_failed_read_is_one_event_and_each_payload_one_message(
        seed in any::<u64>(), chance in 0.05..1.0f64, ready in prop::array::uniform3(0.1..1.0f64),
    ) {
        let rng = &mut TestRng::seed_from_u64(seed);
        let mut bench = Bench::new();
        for _ in 0..1_000 {
            bench.offer(rng, chance);
            bench.clock(rng, ready);
        }
        for _ in 0..100 {
            bench.clock(rng, [1.0; 3]);
        }
        prop_assert!(bench.due.iter().all(VecDeque::is_empty), "{:?}", bench.due);
        prop_assert!(bench.failing.iter().all(VecDeque::is_empty));
        prop_assert_eq!(bench.told, bench.failed);
    }
}

/// While the event queue takes nothing, no message fails: its event would come behind that of its queue pair.
#[test]
fn a_message_waits_for_its_event() {
    let rng = &mut TestRng::seed_from_u64(1);
    let mut bench = Bench::new();
    for _ in 0..100 {
        bench.offer(rng, 1.0);
        bench.clock(rng, [0.0, 1.0, 1.0]);
    }
    // The block holds two events.
    assert_eq!(bench.told, [0; 2]);
    assert!(
        bench.failed.iter().sum::<usize>() <= 2,
        "{:?}",
        bench.failed
    );
    for _ in 0..50 {
        bench.clock(rng, [1.0; 3]);
    }
    assert_eq!(bench.told, bench.failed);
}
