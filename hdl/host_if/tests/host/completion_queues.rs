//! Completion queues compared with the reference's ring.

use std::collections::VecDeque;

use hdl_host_if::completion_queues::{CompletionQueues, CLOCKS};
use hdl_testkit::stream::{expect, stall, Source};
use hdl_testkit::Dut;
use proptest::prelude::*;
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::host::{ConsumerIndex, Cqe, CqeOpcode, WcStatus};
use stellar_wire::hw::messages::Completion;

use crate::bench::{generator, reset, HostWrite};
use crate::ring_reference::{Due, Ring, Settings};

const QPS: usize = 4;

pub fn random_cqe(rng: &mut impl Rng, qps: u32) -> Cqe {
    Cqe {
        status: WcStatus::ALL[rng.random_range(0..WcStatus::ALL.len())],
        opcode: CqeOpcode::ALL[rng.random_range(0..CqeOpcode::ALL.len())],
        phase: false,
        qp: rng.random_range(0..qps),
        wr_id: rng.random(),
        byte_len: rng.random(),
        immediate: rng.random(),
        msn: rng.random_range(0..1 << 24),
        sq_head: rng.random(),
    }
}

pub fn completion(cqe: &Cqe) -> Completion {
    Completion {
        qp: u64::from(cqe.qp).to_bits(),
        status: u64::from(cqe.status.code()).to_bits(),
        opcode: u64::from(cqe.opcode.code()).to_bits(),
        wr_id: cqe.wr_id.to_bits(),
        byte_len: u64::from(cqe.byte_len).to_bits(),
        immediate: u64::from(cqe.immediate).to_bits(),
        msn: u64::from(cqe.msn).to_bits(),
        sq_head: u64::from(cqe.sq_head).to_bits(),
    }
}

fn set_settings(dut: &mut Dut, qp: usize, settings: Settings) {
    dut.set("settings_qp", qp as u64);
    dut.set_record("settings", settings.to_hw());
}

fn set_consumer(dut: &mut Dut, word: &ConsumerIndex) {
    dut.set("consumer_qp", word.qp.into());
    dut.set("consumer_index", word.index.into());
    dut.set("consumer_arm", word.arm.into());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn entries_indices_and_interrupts_are_those_of_the_reference(seed: u64, clocks in 100..1500usize, ready in 2..=8u32, pace in 1..=4u32, wide: bool) {
        let rng = &mut generator(seed);
        let mut dut = if wide {
            reset::<CompletionQueues<2>>()
        } else {
            reset::<CompletionQueues<2, 10, 11, 512>>()
        };
        let mut rings: Vec<Ring> = vec![];
        for qp in 0..QPS {
            let settings = Settings::random(rng, 3);
            dut.set("settings_valid", 1);
            set_settings(&mut dut, qp, settings);
            dut.clock();
            rings.push(Ring::new(settings));
        }
        let mut send = Source::new("send_valid", "send_ready");
        let mut receive = Source::new("receive_valid", "receive_ready");
        let mut configs = Source::new("settings_valid", "settings_ready");
        let mut consumers = Source::new("consumer_valid", "consumer_ready");
        let mut due = Due::in_blocks(if wide { 128 } else { 64 });
        let (mut lost, mut failed) = (VecDeque::new(), VecDeque::new());
        let (mut refused, mut refusals, mut losses, mut lost_count, mut written, mut made) = (0, 0, 0, 0, 0, 0);
        for clock in 0..clocks + 60 {
            let drains = clock >= clocks;
            for source in [&mut send, &mut receive] {
                if !drains && source.is_free() && rng.random_ratio(1, pace) {
                    source.offer(random_cqe(rng, QPS as u32));
                }
            }
            if !drains && consumers.is_free() && rng.random_ratio(1, pace) {
                let qp = rng.random_range(0..QPS);
                consumers.offer(ConsumerIndex { qp: qp as u32, index: rings[qp].index(rng), arm: rng.random() });
            }
            if !drains && configs.is_free() && rng.random_ratio(1, 60) {
                configs.offer((rng.random_range(0..QPS), Settings::random(rng, 3)));
            }
            send.drive(&mut dut, |dut, cqe| dut.set_record("send", completion(cqe)));
            receive.drive(&mut dut, |dut, cqe| dut.set_record("receive", completion(cqe)));
            consumers.drive(&mut dut, set_consumer);
            configs.drive(&mut dut, |dut, &(qp, settings)| set_settings(dut, qp, settings));
            stall(&mut dut, rng, "write_ready", if drains { 8 } else { ready });
            stall(&mut dut, rng, "overrun_ready", if drains { 8 } else { ready });
            stall(&mut dut, rng, "failed_ready", if drains { 8 } else { ready });
            dut.settle();
            refused += dut.get("consumer_refused");
            lost_count += dut.get("lost");
            written += dut.get("written");
            due.follow(&dut);
            if dut.moves("overrun_valid", "overrun_ready") {
                expect(&mut lost, &(dut.get("overrun_qp"), dut.get("overrun_wr_id")), "overrun");
            }
            if dut.moves("failed_valid", "failed_ready") {
                expect(&mut failed, &dut.get("failed_qp"), "failed queue pair");
            }
            // The entry that moves in this cycle is not due any more.
            let taken = [send.taken(&dut), receive.taken(&dut)];
            for cqe in taken.into_iter().flatten() {
                match rings[cqe.qp as usize].push(Cqe::LEN as u64) {
                    Some((address, phase, raises)) => {
                        let bytes = Cqe { phase, ..cqe }.to_bytes().to_vec();
                        due.write(HostWrite { address, bytes }, raises);
                        made += 1;
                    }
                    None => {
                        if rings[cqe.qp as usize].overrun() {
                            lost.push_back((cqe.qp.into(), cqe.wr_id));
                            failed.push_back(cqe.qp.into());
                        }
                        losses += 1;
                    }
                }
            }
            if let Some(word) = consumers.taken(&dut) {
                let (accepted, raises) = rings[word.qp as usize].consume(word.index, word.arm);
                refusals += u64::from(!accepted);
                due.raise(raises);
            }
            if let Some((qp, settings)) = configs.taken(&dut) {
                // Who frees the old ring behind a fence must find none of its entries here.
                prop_assert!(due.writes.is_empty(), "an entry waits while its ring changes");
                rings[qp] = Ring::new(settings);
            }
            dut.clock();
        }
        prop_assert!(due.is_empty() && lost.is_empty() && failed.is_empty());
        prop_assert_eq!((refused, lost_count, written), (refusals, losses, made));
    }
}

/// Completions of one queue pair, and of two that take turns.
#[test]
fn an_entry_leaves_in_every_clock() {
    for qps in [1, 2] {
        let mut dut = with_long_rings(qps);
        dut.set("send_valid", 1);
        for clock in 0..40usize {
            let qp = clock as u64 % qps;
            dut.set_record("send", completion(&cqe_of(qp)));
            dut.settle();
            assert!(dut.is("send_ready"), "{qps} queue pairs, clock {clock}");
            let leaves = clock >= CLOCKS;
            assert_eq!(
                dut.is("write_valid"),
                leaves,
                "{qps} queue pairs, clock {clock}"
            );
            dut.clock();
        }
    }
}

/// Entries of one queue pair say which of them lie in one block of 128 bytes. The ring begins in the middle of a block, and ends in one.
#[test]
fn entries_that_lie_together_say_so() {
    let mut dut = with_rings(1, 3, 0x40);
    dut.set_record("send", completion(&cqe_of(0)));
    dut.set("consumer_valid", 1);
    let mut joins = vec![];
    for clock in 0..200 {
        // The reader follows, so that the ring goes round.
        let word = ConsumerIndex {
            qp: 0,
            index: joins.len() as u32,
            arm: false,
        };
        set_consumer(&mut dut, &word);
        dut.set("send_valid", (clock % 4 == 0).into());
        dut.settle();
        if dut.moves("write_valid", "write_ready") {
            joins.push(dut.is("write_joins"));
        }
        dut.clock();
    }
    assert!(joins.len() > 40);
    for (n, joins) in joins.into_iter().enumerate() {
        assert_eq!(joins, [1, 3, 4, 5, 7].contains(&(n % 8)), "entry {n}");
    }
}

/// A reader that tells each entry that it reads, one by one.
#[test]
fn entries_and_consumer_indices_of_one_queue_pair_take_turns_in_every_clock() {
    let mut dut = with_long_rings(1);
    dut.set_record("send", completion(&cqe_of(0)));
    dut.set("send_valid", 1);
    dut.set("consumer_valid", 1);
    let (mut taken, mut told, mut left) = (0, 0, 0);
    for clock in 0..80 {
        let word = ConsumerIndex {
            qp: 0,
            index: told,
            arm: false,
        };
        set_consumer(&mut dut, &word);
        dut.settle();
        let (completes, tells) = (dut.is("send_ready"), dut.is("consumer_ready"));
        assert!(completes ^ tells, "clock {clock}");
        taken += u32::from(completes);
        told += u32::from(tells);
        left += u32::from(dut.is("write_valid"));
        assert!(!dut.is("consumer_refused"));
        dut.clock();
    }
    assert_eq!((taken, told), (40, 40));
    assert!(left >= 38, "{left} entries left");
}

/// The block with rings of 2^20 entries without interrupts, for this many queue pairs.
fn with_long_rings(qps: u64) -> Dut {
    with_rings(qps, 20, 0)
}

/// The block with rings of 2^`log2_entries` entries at `base` without interrupts, for this many queue pairs.
fn with_rings(qps: u64, log2_entries: u8, base: u64) -> Dut {
    let mut dut = reset::<CompletionQueues<2>>();
    let settings = Settings {
        valid: true,
        interrupts: false,
        vector: 0,
        log2_entries,
        base,
        event_queue: 0,
    };
    dut.set("settings_valid", 1);
    for qp in 0..qps as usize {
        set_settings(&mut dut, qp, settings);
        dut.clock();
    }
    dut.set("settings_valid", 0);
    dut.set("write_ready", 1);
    dut
}

fn cqe_of(qp: u64) -> Cqe {
    Cqe {
        qp: qp as u32,
        ..random_cqe(&mut generator(1), 1)
    }
}

/// Nobody takes the failures, as when the requester waits for its completion to be taken: completions and consumer indices go on.
#[test]
fn completions_do_not_wait_for_the_requester() {
    let mut dut = reset::<CompletionQueues<2>>();
    for (qp, valid) in [(0, false), (1, false), (2, false), (3, true)] {
        let settings = Settings {
            valid,
            interrupts: false,
            vector: 0,
            log2_entries: 4,
            base: 0,
            event_queue: 0,
        };
        dut.set("settings_valid", 1);
        set_settings(&mut dut, qp, settings);
        dut.clock();
    }
    dut.set("settings_valid", 0);
    dut.set("write_ready", 1);
    dut.set("overrun_ready", 1);
    let cqe = random_cqe(&mut generator(1), 1);
    let mut completions = [0, 1, 2, 3].into_iter().cycle().take(32).peekable();
    let (mut written, mut lost) = (0, 0);
    for _ in 0..32 + QPS + CLOCKS {
        dut.set("send_valid", completions.peek().is_some().into());
        if let Some(&qp) = completions.peek() {
            dut.set_record("send", completion(&Cqe { qp, ..cqe }));
        }
        dut.settle();
        completions.next_if(|_| dut.is("send_ready"));
        written += dut.get("written");
        lost += dut.get("lost");
        dut.clock();
    }
    assert_eq!(completions.next(), None, "completions wait");
    assert_eq!((written, lost), (8, 24));
    let mut failed = vec![];
    dut.set("failed_ready", 1);
    for _ in 0..20 {
        dut.settle();
        if dut.is("failed_valid") {
            failed.push(dut.get("failed_qp"));
        }
        dut.clock();
    }
    assert_eq!(failed, [0, 1, 2], "each once");
}

#[test]
#[should_panic(expected = "2^0 queue pairs: use Q of 1 to 16")]
fn a_single_queue_pair_is_refused() {
    let _ = CompletionQueues::<0>::default();
}
