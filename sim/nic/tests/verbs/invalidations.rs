//! Invalidations of ATS: both functions complete them, and not before what was under way is done.

use std::collections::BTreeSet;

use sim_nic::{CardPair, PcieSettings, CLOCK_PS};
use sim_pcie::{DelayConfig, FaultKind, FaultRule, RequestKind, Window};
use stellar_wire::host::config_space::{command, header, Bar};
use stellar_wire::host::registers::READ_TIMEOUT;

use super::hosts::*;
use stellar_driver::*;

const GPU: u64 = 0x70_0000_0000;
const GPU_BYTES: u64 = 1 << 16;
/// An invalidation takes less if nothing is under way: two ways through the fabric, and a few cycles in the card.
const SOON: u64 = 1_000;
/// Cycles until a read has failed.
const READ_CYCLES: u64 = 20_000;

/// Invalidations by endpoint and ITag.
type Tags = BTreeSet<(usize, u8)>;

/// Removes what has completed from `waiting`.
fn take(pair: &CardPair, host: usize, waiting: &mut Tags) {
    for (function, done) in pair.take_invalidations_done(host) {
        let is_new = waiting.remove(&(function.endpoint(), done.tag));
        assert!(is_new, "completed and not waited for: {done:?}");
    }
}

/// The functions of a card: one for each endpoint.
fn functions(pair: &CardPair) -> &'static [Function] {
    &Function::ALL[..pair.shape().ports()]
}

/// Invalidates a page for each function.
fn invalidate(pair: &CardPair, host: usize) -> Tags {
    let each = functions(pair).iter().copied();
    each.map(|function| {
        let tag = pair.invalidate(host, function, 0x7000, 0x1000).unwrap();
        (function.endpoint(), tag)
    })
    .collect()
}

/// Cycles until all have completed, by function.
fn wait(pair: &CardPair, host: usize, mut waiting: Tags, limit: u64) -> [u64; 2] {
    let (begin, mut cycles) = (pair.clocks(), [0; 2]);
    while !waiting.is_empty() {
        pair.run(1);
        let before = waiting.clone();
        take(pair, host, &mut waiting);
        for (function, _) in before.difference(&waiting) {
            cycles[*function] = pair.clocks() - begin;
        }
        let waited = pair.clocks() - begin;
        assert!(waited < limit, "{waiting:?} have not completed");
    }
    cycles
}

fn gpu_region(pair: &CardPair, index: usize, host: &Host) -> MemoryRegion {
    pair.add_gpu_memory(index, GPU, GPU_BYTES);
    host.gpu_page(GPU, true)
}

fn post(qp: &QueuePair, from: &MemoryRegion, to: &MemoryRegion, length: usize) {
    let slice = from.slice(0, length as u32).unwrap();
    let to = to.remote();
    let write = WorkRequest::write(1, slice, to.address, to.rkey);
    qp.post_send(&write).unwrap();
}

#[test]
fn both_functions_complete_every_tag_beside_a_transfer() {
    let pair = CardPair::new().unwrap();
    let devices = bring_up(&pair);
    // Nothing is under way, and a function need not be a bus master.
    for master in [command::BUS_MASTER, 0, command::BUS_MASTER] {
        for &function in functions(&pair) {
            let command = command::MEMORY | master;
            pair.function(1)
                .config_write16(function, header::COMMAND, command)
                .unwrap();
        }
        let expected = invalidate(&pair, 1);
        let first = |function: &Function| (function.endpoint(), 0);
        assert_eq!(expected, functions(&pair).iter().map(first).collect());
        wait(&pair, 1, expected, SOON);
    }
    let [a, b] = open(&devices, false);
    let pairs = [a.qp(), b.qp()];
    connect([&pairs[0], &pairs[1]], 3);
    let bytes_sent = 1 << 20;
    let (source, target) = (a.region(bytes_sent, false), b.region(bytes_sent, true));
    let sent = pattern(bytes_sent, 0x5a);
    source.memory().unwrap().write(0, &sent).unwrap();
    post(&pairs[0], &source, &target, bytes_sent);
    let function = pair.function(1);
    let (mut waiting, mut tags) = (Tags::new(), Tags::new());
    for round in 0..200 {
        for &each in functions(&pair) {
            // Without room at the link, or with all ITags in use, later ones follow.
            if let Ok(tag) = pair.invalidate(1, each, 0, 0x1000 << (round % 20)) {
                assert!(waiting.insert((each.endpoint(), tag)));
                tags.insert((each.endpoint(), tag));
            }
        }
        // Accesses to the BARs come between the messages.
        if round % 8 == 0 {
            let timeout = READ_TIMEOUT.offset.into();
            assert_ne!(function.read64(Bar::Registers, timeout).unwrap(), u64::MAX);
        }
        take(&pair, 1, &mut waiting);
    }
    assert!(tags.len() > 16, "few at a time: {tags:?}");
    wait(&pair, 1, waiting, 10 * SOON);
    assert_eq!(a.completions(1)[0].status, WcStatus::Success);
    assert!(bytes(&target) == sent, "other bytes arrived");
}

/// Reads of a GPU that answers nothing are under way until the second timeout; then their tags are free.
#[test]
fn an_invalidation_waits_for_reads_that_were_under_way() {
    let settings = PcieSettings {
        completion_timeout: Some(READ_CYCLES * CLOCK_PS),
        ..PcieSettings::default()
    };
    let pair = CardPair::with_pcie(&settings).unwrap();
    let devices = bring_up(&pair);
    pair.function(0)
        .write64(Bar::Registers, READ_TIMEOUT.offset.into(), READ_CYCLES)
        .unwrap();
    let [a, b] = open(&devices, false);
    let pairs = [a.qp(), b.qp()];
    connect([&pairs[0], &pairs[1]], 3);
    let (source, target) = (gpu_region(&pair, 0, &a), b.region(1 << 16, true));
    let lost = FaultRule {
        window: Some(Window {
            base: GPU,
            size: GPU_BYTES,
        }),
        only: Some(RequestKind::Read),
        ..FaultRule::new(FaultKind::LostCompletion)
    };
    pair.add_pcie_fault(0, lost).unwrap();
    // All of it is read at once: the buffers of each lane have space for it.
    let length = functions(&pair).len() << 14;
    post(&pairs[0], &source, &target, length);
    pair.run(SOON);
    let cycles = wait(&pair, 0, invalidate(&pair, 0), 3 * READ_CYCLES);
    assert!(
        cycles[..functions(&pair).len()]
            .iter()
            .all(|&cycles| cycles > 2 * READ_CYCLES - SOON),
        "completed after {cycles:?} cycles"
    );
    // Later reads do not count.
    wait(&pair, 0, invalidate(&pair, 0), SOON);
}

/// Writes of a message into a GPU's memory, to which the way is slow. Returns whether all bytes were there when both functions had completed an invalidation.
fn writes_are_there(answer_flushes_at_once: bool) -> bool {
    let settings = PcieSettings {
        gpu_delay: DelayConfig::constant(20_000_000),
        answer_flushes_at_once,
        ..PcieSettings::default()
    };
    let pair = CardPair::with_pcie(&settings).unwrap();
    let devices = bring_up(&pair);
    let [a, b] = open(&devices, false);
    let pairs = [a.qp(), b.qp()];
    connect([&pairs[0], &pairs[1]], 3);
    let length = 1 << 14;
    let (source, target) = (a.region(length, false), gpu_region(&pair, 1, &b));
    let sent = pattern(length, 0x3c);
    source.memory().unwrap().write(0, &sent).unwrap();
    post(&pairs[0], &source, &target, length);
    let end = pair.clocks() + 10 * SOON;
    while pair.placed(1) < length as u64 {
        assert!(pair.clocks() < end, "the card does not write");
        pair.run(1);
    }
    wait(&pair, 1, invalidate(&pair, 1), 20 * SOON);
    let mut stored = vec![0; length];
    pair.load_gpu_memory(1, GPU, &mut stored);
    stored == sent
}

/// With flush reads that push nothing, the test notices that the bytes are missing.
#[test]
fn an_invalidation_completes_when_earlier_writes_are_in_memory() {
    assert!(writes_are_there(false));
    assert!(!writes_are_there(true));
}
