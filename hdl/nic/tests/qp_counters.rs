//! Counters of queue pairs: rows of counters against a model, and each event against its counter.

use hdl_nic::{CounterRows, QpCounters};
use hdl_requester::StatPulses;
use hdl_testkit::equivalence::{check, Random};
use hdl_testkit::Dut;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use stellar_wire::host::qp_counters::group;
use stellar_wire::host::{self, PathCount, PathCountSelect, QpCounter};
use stellar_wire::hw::receive::{ReceiveCount, ResponderCount};

/// Three counters of 20 bits, for 16 queue pairs. A count adds up to 5 bits.
type Rows = CounterRows<3, 20, 5, 15, 60, 4>;
const ROWS: usize = 16;
/// Cycles that a reset takes to clear all rows, and some to spare.
const SWEEP: usize = ROWS + 2;
/// Cycles from the one in which a read is taken to its value.
const READ_LATENCY: usize = 4;

/// The read at the ports, with the value that it has to return once it is taken.
struct Read {
    row: usize,
    select: usize,
    taken: Option<(usize, u64)>,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn rows_are_the_model(seed: u64, busy in 1..=20u32, spread in 1..=ROWS) {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let mut dut = Dut::new::<Rows>();
        let mut model = [[0u64; 3]; ROWS];
        dut.reset(1);
        (0..SWEEP).for_each(|_| dut.clock());
        let mut read: Option<Read> = None;
        for clock in 0..3000 {
            if rng.random_ratio(1, 1000) {
                dut.set("count_valid", 0);
                dut.set("read_valid", 0);
                dut.reset(1);
                (0..SWEEP).for_each(|_| dut.clock());
                (model, read) = ([[0; 3]; ROWS], None);
            }
            if read.is_none() && rng.random_ratio(1, 3) {
                let (row, select) = (rng.random_range(0..spread), rng.random_range(0..4));
                dut.set("read_row", row as u64);
                dut.set("read_select", select as u64);
                read = Some(Read { row, select, taken: None });
            }
            dut.set("read_valid", read.is_some().into());
            let counts = rng.random_ratio(busy, 20);
            let (row, restarts) = (rng.random_range(0..spread), rng.random_ratio(1, 40));
            let add: [u64; 3] = std::array::from_fn(|_| rng.random_range(0..32));
            dut.set("count_valid", counts.into());
            dut.set("count_row", row as u64);
            dut.set("restarts", restarts.into());
            dut.set("add", add[0] | add[1] << 5 | add[2] << 10);
            dut.settle();
            let due = read.as_ref().and_then(|read| read.taken);
            let is_due = due.is_some_and(|(at, _)| clock == at + READ_LATENCY);
            prop_assert_eq!(dut.is("read_done"), is_due, "clock {}", clock);
            if is_due {
                prop_assert_eq!(dut.get("value"), due.unwrap().1);
                read = None;
                dut.clock();
                // The registers take their read away in the cycle after; a count comes in this one too.
            } else {
                if let Some(read) = read.as_mut().filter(|read| !counts && read.taken.is_none()) {
                    let value = model[read.row].get(read.select).copied().unwrap_or(0);
                    read.taken = Some((clock, value));
                }
                dut.clock();
            }
            if counts {
                if restarts {
                    model[row] = [0; 3];
                }
                for (counter, more) in model[row].iter_mut().zip(add) {
                    *counter = (*counter + more) % (1 << 20);
                }
            }
        }
    }
}

#[test]
fn counter_rows_are_their_verilog() {
    check(
        Rows::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.reset.next = rng.random_ratio(1, 200);
            u.count_valid.next = rng.random_ratio(1, 2);
            u.count_row.next = rng.random_range(0..3u64).to_bits();
            u.restarts.next = rng.random_ratio(1, 20);
            u.add.next = Bits::random(rng);
            u.read_valid.next = rng.random();
            u.read_row.next = rng.random_range(0..3u64).to_bits();
            u.read_select.next = rng.random_range(0..4u64).to_bits();
        },
        600,
        5,
    )
    .unwrap();
}

#[test]
#[should_panic(expected = "CounterRows<3, 20, 5, 15, 61, 4>: give ADD = N x A and ROW = N x W")]
fn rows_of_another_size() {
    let _ = CounterRows::<3, 20, 5, 15, 61, 4>::default();
}

/// Queue pairs of the test. Some have the same row in both engines.
const QPS: [u64; 6] = [0, 1, 2, 3, 1022, 1023];
/// Cycles from the release of reset until the counters count.
const RESET_CLOCKS: usize = 1024 + 2;
/// Longest wait for a read, with `pause`.
const PATIENCE: usize = 400;
/// Cycles from `pause` until the core is empty.
const DRAIN: usize = 30;

fn reset(dut: &mut Dut) {
    dut.reset(2);
    (0..RESET_CLOCKS).for_each(|_| dut.clock());
}

/// Drives one cycle without counts.
fn idle(dut: &mut Dut) {
    for port in [
        "stats0",
        "stats1",
        "configured",
        "received_valid",
        "answered_valid",
    ] {
        dut.set(port, 0);
    }
}

/// Reads a counter, while `drive` sets the inputs of each cycle.
fn read(dut: &mut Dut, qp: u64, number: u64, mut drive: impl FnMut(&mut Dut)) -> u64 {
    dut.set("read_valid", 1);
    dut.set("read_qp", qp);
    dut.set("read_counter", number);
    for _ in 0..PATIENCE {
        drive(dut);
        dut.settle();
        let (ready, value) = (dut.is("read_ready"), dut.get("read_value"));
        dut.clock();
        if ready {
            dut.set("read_valid", 0);
            drive(dut);
            dut.clock();
            return value;
        }
    }
    panic!("counter {number} of queue pair {qp} was not read");
}

fn read_all(dut: &mut Dut, qp: u64) -> host::QpCounters {
    idle(dut);
    let mut all = host::QpCounters::default();
    for counter in QpCounter::ALL {
        let value = read(dut, qp, counter.index().into(), |_| ());
        all.set(counter, value);
    }
    all
}

/// The pulse of the requester for a counter; `bytes` and `spurious` are numbers.
fn pulse(counter: QpCounter, amount: u64) -> Option<StatPulses> {
    let mut stats = StatPulses::default();
    let flag = match counter {
        QpCounter::PacketsSent => &mut stats.packet,
        QpCounter::Retransmissions => &mut stats.retransmission,
        QpCounter::Timeouts => &mut stats.timeout,
        QpCounter::EarlyLosses => &mut stats.early_loss,
        QpCounter::Sacks => &mut stats.sack,
        QpCounter::StaleSacks => &mut stats.stale_sack,
        QpCounter::SacksOutOfWindow => &mut stats.sack_out_of_window,
        QpCounter::SacksInconsistent => &mut stats.sack_inconsistent,
        QpCounter::EcnReported => &mut stats.ecn_mark,
        QpCounter::NacksTrimmed => &mut stats.nack_trimmed,
        QpCounter::NacksRecoverable => &mut stats.nack_recoverable,
        QpCounter::NacksFatal => &mut stats.nack_fatal,
        QpCounter::NacksIgnored => &mut stats.nack_ignored,
        QpCounter::ProbesSent => &mut stats.probe,
        QpCounter::ProbeAnswers => &mut stats.probe_answer,
        QpCounter::Acks => &mut stats.ack,
        QpCounter::Naks => &mut stats.nak,
        QpCounter::AcksIgnored => &mut stats.ack_ignored,
        QpCounter::BytesSent => {
            stats.bytes = amount.to_bits();
            return Some(stats);
        }
        QpCounter::SpuriousLosses => {
            stats.spurious = amount.to_bits();
            return Some(stats);
        }
        _ => return None,
    };
    *flag = true;
    Some(stats)
}

fn decision(counter: QpCounter, bytes: u64) -> Option<ReceiveCount> {
    let mut count = ReceiveCount::default();
    let flag = match counter {
        QpCounter::PacketsReceived => &mut count.accepted,
        QpCounter::EcnMarked => &mut count.marked,
        QpCounter::Duplicates => &mut count.duplicate,
        QpCounter::PsnGaps => &mut count.gap,
        QpCounter::OutsideWindow => &mut count.outside_window,
        QpCounter::InvalidRequests => &mut count.invalid,
        QpCounter::AccessRefused => &mut count.no_access,
        QpCounter::PagesAbsent => &mut count.page_absent,
        QpCounter::ProbesReceived => &mut count.probe,
        QpCounter::WrongState => &mut count.wrong_state,
        QpCounter::Refused => &mut count.refused,
        _ => return None,
    };
    *flag = true;
    if counter == QpCounter::PacketsReceived {
        count.bytes = bytes.to_bits();
    }
    Some(count)
}

fn answer(counter: QpCounter) -> Option<ResponderCount> {
    let mut count = ResponderCount::default();
    let flag = match counter {
        QpCounter::OutOfOrder => &mut count.out_of_order,
        QpCounter::AcksSent => &mut count.ack,
        QpCounter::NaksSequence => &mut count.nak_sequence,
        QpCounter::NaksInvalid => &mut count.nak_invalid,
        QpCounter::NaksAccess => &mut count.nak_access,
        QpCounter::SacksSent => &mut count.sack,
        QpCounter::EcnEchoed => &mut count.echo,
        QpCounter::NacksOutsideWindow => &mut count.nack_outside_window,
        QpCounter::NacksUnexpected => &mut count.nack_unexpected,
        _ => return None,
    };
    *flag = true;
    Some(count)
}

/// What the blocks before the counters report in one cycle, and what it counts.
struct Events {
    model: Vec<host::QpCounters>,
}

impl Events {
    fn new() -> Self {
        Self {
            model: vec![host::QpCounters::default(); 1024],
        }
    }

    fn add(&mut self, qp: u64, counter: QpCounter, amount: u64) {
        self.model[qp as usize].add(counter, amount);
    }

    fn restart(&mut self, qp: u64, from: usize, to: usize) {
        for counter in &QpCounter::ALL[from..to] {
            self.model[qp as usize].set(*counter, 0);
        }
    }

    /// Sets random inputs of one cycle for queue pairs out of `qps`.
    fn drive(&mut self, dut: &mut Dut, rng: &mut ChaCha8Rng, qps: &[u64]) {
        idle(dut);
        let any = |rng: &mut ChaCha8Rng| qps[rng.random_range(0..qps.len())];
        // An engine that is configured counts nothing in this cycle.
        let configured = rng.random_ratio(1, 300).then(|| any(rng));
        dut.set("configured", configured.is_some().into());
        if let Some(qp) = configured {
            dut.set("configured_qp", qp);
            self.restart(qp, group::SENT, group::ACCEPTED);
        }
        for engine in 0..2 {
            let own: Vec<u64> = qps.iter().copied().filter(|qp| qp % 2 == engine).collect();
            if own.is_empty() || configured.is_some_and(|qp| qp % 2 == engine) {
                continue;
            }
            let of = |rng: &mut ChaCha8Rng| own[rng.random_range(0..own.len())];
            let (mut stats, sender, qp) = (StatPulses::default(), of(rng), of(rng));
            if rng.random_ratio(3, 4) {
                let bytes = rng.random_range(0..=8192u64);
                stats.packet = true;
                stats.retransmission = rng.random_ratio(1, 5);
                stats.bytes = bytes.to_bits();
                stats.sent_qp = sender.to_bits();
                self.add(sender, QpCounter::PacketsSent, 1);
                self.add(sender, QpCounter::BytesSent, bytes);
                self.add(
                    sender,
                    QpCounter::Retransmissions,
                    stats.retransmission.into(),
                );
            }
            stats.sack = rng.random_ratio(1, 3);
            stats.ecn_mark = rng.random_ratio(1, 5);
            stats.timeout = rng.random_ratio(1, 5);
            self.add(qp, QpCounter::Sacks, stats.sack.into());
            self.add(qp, QpCounter::EcnReported, stats.ecn_mark.into());
            self.add(qp, QpCounter::Timeouts, stats.timeout.into());
            if rng.random_ratio(1, 5) {
                let lost = rng.random_range(0..=1024u64);
                stats.spurious = lost.to_bits();
                self.add(qp, QpCounter::SpuriousLosses, lost);
            }
            dut.set_record(&format!("stats{engine}"), stats);
            dut.set(&format!("event_qp{engine}"), qp);
        }
        if rng.random_ratio(3, 4) {
            let qp = any(rng);
            let numbers = group::ACCEPTED..group::RESPONDER;
            let counter = QpCounter::ALL[rng.random_range(numbers)];
            let bytes = rng.random_range(0..=8192);
            let restarts = rng.random_ratio(1, 100);
            let found = if restarts {
                self.restart(qp, group::ACCEPTED, group::RESPONDER);
                Some(ReceiveCount {
                    restarts,
                    ..ReceiveCount::default()
                })
            } else {
                decision(counter, bytes)
            };
            if let Some(mut count) = found {
                count.qp = qp.to_bits();
                dut.set("received_valid", 1);
                dut.set_record("received", count);
                if !restarts {
                    self.add(qp, counter, 1);
                    let placed = counter == QpCounter::PacketsReceived;
                    self.add(qp, QpCounter::BytesReceived, if placed { bytes } else { 0 });
                }
            }
        }
        if rng.random_ratio(3, 4) {
            let qp = any(rng);
            let counter = QpCounter::ALL[rng.random_range(group::RESPONDER..group::END)];
            let restarts = rng.random_ratio(1, 100);
            let mut count = answer(counter).unwrap();
            if restarts {
                self.restart(qp, group::RESPONDER, group::END);
                count = ResponderCount {
                    restarts,
                    ..ResponderCount::default()
                };
            } else {
                self.add(qp, counter, 1);
            }
            count.qp = qp.to_bits();
            dut.set("answered_valid", 1);
            dut.set_record("answered", count);
        }
    }
}

#[test]
fn every_event_has_its_counter_and_a_reset_clears_them() {
    let mut dut = Dut::new::<QpCounters>();
    reset(&mut dut);
    for qp in QPS {
        for counter in QpCounter::ALL {
            idle(&mut dut);
            let amount = u64::from(counter.index()) + 1;
            let times = if matches!(counter, QpCounter::BytesSent | QpCounter::SpuriousLosses) {
                1
            } else {
                amount
            };
            for n in 0..times {
                if let Some(mut stats) = pulse(counter, amount) {
                    // Bytes and retransmissions come with a packet, whose queue pair they belong to.
                    let sends = counter.index() < QpCounter::Timeouts.index();
                    stats.sent_qp = if sends { qp } else { 0 }.to_bits();
                    stats.packet = sends;
                    dut.set_record(&format!("stats{}", qp % 2), stats);
                    dut.set(&format!("event_qp{}", qp % 2), if sends { 0 } else { qp });
                }
                if let Some(mut count) = decision(counter, if n == 0 { 22 } else { 0 }) {
                    count.qp = qp.to_bits();
                    dut.set("received_valid", 1);
                    dut.set_record("received", count);
                }
                if let Some(mut count) = answer(counter) {
                    count.qp = qp.to_bits();
                    dut.set("answered_valid", 1);
                    dut.set_record("answered", count);
                }
                dut.clock();
            }
        }
    }
    for qp in QPS {
        let all = read_all(&mut dut, qp);
        for (counter, value) in all.iter() {
            let expected = match counter {
                // Its own, that with the bytes, and those sent again.
                QpCounter::PacketsSent => 1 + 1 + 3,
                _ => u64::from(counter.index()) + 1,
            };
            assert_eq!(value, expected, "{counter} of queue pair {qp}");
        }
    }
    assert!(read_all(&mut dut, 4).is_zero());
    // Numbers without a counter.
    for number in [group::END as u64, 63, 64, 127, 192, 255] {
        assert_eq!(read(&mut dut, QPS[1], number, |_| ()), 0);
    }
    reset(&mut dut);
    for qp in QPS {
        assert!(read_all(&mut dut, qp).is_zero(), "queue pair {qp}");
    }
}

/// Each event of a path has a queue pair of its own.
#[test]
fn events_of_paths_belong_to_their_queue_pairs() {
    let mut dut = Dut::new::<QpCounters>();
    reset(&mut dut);
    for (n, [sender, marked, lost]) in [[2, 6, 10], [3, 7, 11], [1023, 1021, 1019]]
        .iter()
        .enumerate()
    {
        idle(&mut dut);
        let index = |of: u64| (of * 50 % 144).to_bits();
        let stats = StatPulses {
            packet: true,
            on_path: true,
            sent_qp: sender.to_bits(),
            sent_index: index(*sender),
            marked_path: true,
            marked_qp: marked.to_bits(),
            marked_index: index(*marked),
            lost_on_path: true,
            lost_index: index(*lost),
            ..StatPulses::default()
        };
        dut.set_record(&format!("stats{}", sender % 2), stats);
        dut.set(&format!("event_qp{}", sender % 2), *lost);
        dut.clock();
        idle(&mut dut);
        (0..8).for_each(|_| dut.clock());
        for (kind, qp) in [sender, marked, lost].into_iter().enumerate() {
            let number = u64::from(PathCountSelect::FIRST) + qp * 50 % 144;
            let value = PathCount::from_word(read(&mut dut, *qp, number, |_| ()));
            let counts = [value.sent, value.marked, value.lost];
            let expected = [0, 1, 2].map(|other| u16::from(other == kind));
            assert_eq!(counts, expected, "event {n}, queue pair {qp}");
            assert_eq!(read(&mut dut, *qp, number, |_| ()), 0, "it was cleared");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn counters_are_those_of_the_model(seed: u64) {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let mut dut = Dut::new::<QpCounters>();
        let mut events = Events::new();
        reset(&mut dut);
        for _ in 0..3 {
            for _ in 0..1000 {
                events.drive(&mut dut, rng, &QPS);
                dut.clock();
            }
            // One queue pair is read while the others count on.
            let at = rng.random_range(0..QPS.len());
            let others: Vec<u64> = QPS.iter().copied().filter(|qp| *qp != QPS[at]).collect();
            for counter in QpCounter::ALL {
                let number = counter.index().into();
                let value = read(&mut dut, QPS[at], number, |dut| {
                    events.drive(dut, rng, &others);
                });
                prop_assert_eq!(value, events.model[QPS[at] as usize].get(counter), "{}", counter);
            }
        }
        idle(&mut dut);
        for qp in QPS {
            prop_assert_eq!(read_all(&mut dut, qp), events.model[qp as usize]);
        }
    }
}

/// While the core and the responder count in every cycle, a read pauses the core, and only until it is served.
#[test]
fn a_read_makes_the_gap_that_it_needs() {
    let mut dut = Dut::new::<QpCounters>();
    reset(&mut dut);
    let mut sent = 0;
    for counter in [
        QpCounter::PacketsReceived,
        QpCounter::Duplicates,
        QpCounter::SacksSent,
    ] {
        let (mut waited, mut paused) = (0, 0);
        let value = read(&mut dut, 7, counter.index().into(), |dut| {
            waited += 1;
            paused = if dut.is("pause") { paused + 1 } else { 0 };
            let comes = paused < DRAIN;
            dut.set("received_valid", comes.into());
            dut.set("answered_valid", comes.into());
            let (accepted, duplicate, sack) = (true, true, true);
            let qp = 7u64.to_bits();
            let rest = ReceiveCount::default();
            dut.set_record(
                "received",
                ReceiveCount {
                    qp,
                    accepted,
                    duplicate,
                    ..rest
                },
            );
            let rest = ResponderCount::default();
            dut.set_record("answered", ResponderCount { qp, sack, ..rest });
            sent += u64::from(comes);
        });
        assert!((256..256 + 2 * DRAIN).contains(&waited), "{waited}");
        // Counts of two cycles came after the value was taken: with its end, and behind it.
        assert!(
            value < sent && value + 2 >= sent,
            "{counter}: {value} of {sent}"
        );
        dut.settle();
        assert!(!dut.is("pause"));
    }
}
