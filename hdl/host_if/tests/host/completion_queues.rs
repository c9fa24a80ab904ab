//! Completion queues compared with the reference's ring.

use std::collections::VecDeque;
use std::sync::OnceLock;

use hdl_host_if::completion_queues::{CompletionQueues, CLOCKS};
use proptest::prelude::*;
use rand::Rng;
use rust_hdl::prelude::*;
use sim_verilated::Library;
use stellar_wire::host::{ConsumerIndex, Cqe, CqeOpcode, WcStatus};
use stellar_wire::hw::messages::Completion;

use crate::bench::{expect, generator, library, stall, Bench, HostWrite, Source};
use crate::ring_reference::{Due, Ring, Settings};

const QPS: usize = 4;

fn model() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| library(CompletionQueues::<2>::default()))
}

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

fn set_settings(bench: &mut Bench, qp: usize, settings: Settings) {
    bench.set("config_qp", qp as u64);
    bench.set_record("settings", settings.to_hw());
}

fn set_consumer(bench: &mut Bench, word: &ConsumerIndex) {
    bench.set("consumer_qp", word.qp.into());
    bench.set("consumer_index", word.index.into());
    bench.set("consumer_arm", word.arm.into());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn entries_indices_and_interrupts_are_those_of_the_reference(seed: u64, clocks in 100..1500usize, ready in 2..=8u32) {
        let rng = &mut generator(seed);
        let mut bench = Bench::new(model());
        let mut rings: Vec<Ring> = vec![];
        for qp in 0..QPS {
            let settings = Settings::random(rng, 3);
            bench.set("config_valid", 1);
            set_settings(&mut bench, qp, settings);
            bench.clock();
            rings.push(Ring::new(settings));
        }
        let mut send = Source::new("send_valid", "send_ready");
        let mut receive = Source::new("receive_valid", "receive_ready");
        let mut configs = Source::new("config_valid", "config_ready");
        let mut consumers = Source::new("consumer_valid", "consumer_ready");
        let (mut due, mut lost) = (Due::default(), VecDeque::new());
        let (mut refused, mut refusals, mut losses, mut lost_count, mut written, mut made) = (0, 0, 0, 0, 0, 0);
        for clock in 0..clocks + 60 {
            let drains = clock >= clocks;
            for source in [&mut send, &mut receive] {
                if !drains && source.is_free() && rng.random_ratio(1, 4) {
                    source.offer(random_cqe(rng, QPS as u32));
                }
            }
            if !drains && consumers.is_free() && rng.random_ratio(1, 4) {
                let qp = rng.random_range(0..QPS);
                consumers.offer(ConsumerIndex { qp: qp as u32, index: rings[qp].index(rng), arm: rng.random() });
            }
            if !drains && configs.is_free() && rng.random_ratio(1, 60) {
                configs.offer((rng.random_range(0..QPS), Settings::random(rng, 3)));
            }
            send.drive(&mut bench, |bench, cqe| bench.set_record("send", completion(cqe)));
            receive.drive(&mut bench, |bench, cqe| bench.set_record("receive", completion(cqe)));
            consumers.drive(&mut bench, set_consumer);
            configs.drive(&mut bench, |bench, &(qp, settings)| set_settings(bench, qp, settings));
            stall(&mut bench, rng, "write_ready", if drains { 8 } else { ready });
            stall(&mut bench, rng, "overrun_ready", if drains { 8 } else { ready });
            bench.settle();
            refused += bench.get("consumer_refused");
            lost_count += bench.get("lost");
            written += bench.get("written");
            due.follow(&bench);
            if bench.moves("overrun_valid", "overrun_ready") {
                expect(&mut lost, &(bench.get("overrun_qp"), bench.get("overrun_wr_id")), "overrun");
            }
            let taken = [send.taken(&bench), receive.taken(&bench)];
            for cqe in taken.into_iter().flatten() {
                match rings[cqe.qp as usize].push(Cqe::LEN as u64) {
                    Some((address, phase, raises)) => {
                        let bytes = Cqe { phase, ..cqe }.to_bytes().to_vec();
                        due.write(HostWrite { address, bytes }, raises);
                        made += 1;
                    }
                    None => {
                        lost.push_back((cqe.qp.into(), cqe.wr_id));
                        losses += 1;
                    }
                }
            }
            if let Some(word) = consumers.taken(&bench) {
                let (accepted, raises) = rings[word.qp as usize].consume(word.index, word.arm);
                refusals += u64::from(!accepted);
                due.raise(raises);
            }
            if let Some((qp, settings)) = configs.taken(&bench) {
                rings[qp] = Ring::new(settings);
            }
            bench.clock();
        }
        prop_assert!(due.is_empty() && lost.is_empty());
        prop_assert_eq!((refused, lost_count, written), (refusals, losses, made));
    }
}

#[test]
fn an_entry_takes_no_more_clocks_than_promised() {
    let mut bench = Bench::new(model());
    let settings = Settings {
        valid: true,
        interrupts: false,
        vector: 0,
        log2_entries: 20,
        base: 0,
    };
    bench.set("config_valid", 1);
    set_settings(&mut bench, 1, settings);
    bench.clock();
    bench.set("config_valid", 0);
    bench.set("write_ready", 1);
    let cqe = random_cqe(&mut generator(1), 1);
    bench.set_record("send", completion(&Cqe { qp: 1, ..cqe }));
    bench.set("send_valid", 1);
    for clock in 0..10 * CLOCKS {
        bench.settle();
        assert_eq!(bench.is("send_ready"), clock % CLOCKS == 0, "clock {clock}");
        assert_eq!(
            bench.is("write_valid"),
            clock > 0 && clock % CLOCKS == 0,
            "clock {clock}"
        );
        bench.clock();
    }
}

#[test]
#[should_panic(expected = "2^0 queue pairs: use Q of 1 to 10")]
fn a_single_queue_pair_is_refused() {
    let _ = CompletionQueues::<0>::default();
}
