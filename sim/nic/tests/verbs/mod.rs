//! Verbs between two Verilated cards.

mod addresses;
mod bars;
mod campaign;
mod control_flood;
mod counters;
mod fence;
mod functions;
mod hosts;
mod inline;
mod interrupts;
mod invalidations;
mod old_answers;
mod on_demand;
mod one_port;
mod order;
mod pages;
mod path_manager;
mod path_use;
mod pcie_failures;
mod pcie_settings;
mod profiles;
mod push;
mod rc;
mod rc_paths;
mod reset;
mod shares;
mod stuck;
mod table_end;
mod tenants;

use std::time::Duration;

use hosts::*;
use sim_nic::CardPair;
use stellar_driver::*;
use stellar_wire::host::config_space::Bar;
use stellar_wire::host::registers::{Register, IDENTITY, REFUSED, SCRATCH, UNMAPPED};

#[test]
fn registers_are_reached_in_words_and_halves() {
    let pair = CardPair::new().unwrap();
    let function = pair.function(0);
    assert_eq!(function.read64(Bar::Registers, 0).unwrap(), u64::MAX);
    Probe::new(pair.function(0)).unwrap();
    let scratch = u64::from(SCRATCH.offset);
    function
        .write64(Bar::Registers, scratch, 0x1122_3344_5566_7788)
        .unwrap();
    function
        .write32(Bar::Registers, scratch + 4, 0xaabb_ccdd)
        .unwrap();
    assert_eq!(
        function.read64(Bar::Registers, scratch).unwrap(),
        0xaabb_ccdd_5566_7788
    );
    assert_eq!(
        function.read32(Bar::Registers, scratch).unwrap(),
        0x5566_7788
    );
    let count = |register: Register| {
        let offset = register.offset.into();
        function.read64(Bar::Registers, offset).unwrap()
    };
    let (refused, unmapped) = (count(REFUSED), count(UNMAPPED));
    function
        .write64(Bar::Registers, IDENTITY.offset.into(), 0)
        .unwrap();
    assert_eq!(function.read64(Bar::Registers, 0x8000).unwrap(), u64::MAX);
    assert_eq!(
        (count(REFUSED), count(UNMAPPED)),
        (refused + 1, unmapped + 1)
    );
    function.reset().unwrap();
    assert_eq!(function.read64(Bar::Registers, 0).unwrap(), u64::MAX);
}

#[test]
fn writes_arrive_byte_by_byte_with_immediates_in_order() {
    let (_turn, cards) = cards();
    let [a, b] = open(&cards.devices, false);
    let (qa, qb) = (a.qp(), b.qp());
    connect([&qa, &qb], 0xff_fff8);
    let source = a.region(3 * 4096 + 100, false);
    let target = b.region(4 * 4096, true);
    let to = target.remote();
    let sent = pattern(source.length() as usize, 0x5a);
    source.memory().unwrap().write(0, &sent).unwrap();

    let slice = source.slice(3, 12_000).unwrap();
    let write = WorkRequest::write(1, slice, to.address + 5, to.rkey);
    qa.post_send(&write).unwrap();
    let imm = |wr_id, at, bytes| {
        WorkRequest::write(wr_id, Source::Inline(bytes), to.address + at, to.rkey)
    };
    qa.post_send(
        &imm(2, 13_000, b"inline bytes")
            .with_immediate(0xfeed)
            .unsignaled(),
    )
    .unwrap();
    let slice = source.slice(12_100, 260).unwrap();
    let last = WorkRequest::write(3, slice, to.address + 14_000, to.rkey);
    qa.post_send(&last.with_immediate(0xbeef)).unwrap();
    qa.post_send(&WorkRequest::nop(4).fenced()).unwrap();

    let sends = a.completions(3);
    assert_eq!(
        ends(&sends),
        [1, 3, 4].map(|wr_id| (wr_id, WcStatus::Success))
    );
    assert_eq!(qa.outstanding(), 0);
    let received = CqeOpcode::RecvRdmaWithImm;
    let qp = qb.number();
    assert_eq!(
        arrived(&b.completions(2)),
        [
            (received, Some(0xfeed), 12, qp),
            (received, Some(0xbeef), 260, qp)
        ]
    );
    let mut expected = vec![0; 4 * 4096];
    expected[5..12_005].copy_from_slice(&sent[3..12_003]);
    expected[13_000..13_012].copy_from_slice(b"inline bytes");
    expected[14_000..14_260].copy_from_slice(&sent[12_100..12_360]);
    assert!(bytes(&target) == expected, "other bytes arrived");
    assert!(cards.devices[1].counters().unwrap()[0].value >= 5);
    assert_eq!(
        (cards.pair.bad_accesses(0), cards.pair.bad_accesses(1)),
        (0, 0)
    );
}

#[test]
fn completions_and_events_interrupt() {
    let (_turn, cards) = cards();
    let [a, b] = open(&cards.devices, true);
    let (qa, qb) = (a.qp(), b.qp());
    connect([&qa, &qb], 7);
    let target = b.region(4096, true);
    let to = target.remote();
    let short = Duration::from_micros(2);
    assert!(b.cq.wait(1, short).unwrap().is_empty());
    b.context.arm_immediates(&qb, 2).unwrap();
    for wr_id in 0..2 {
        let source = Source::Inline(b"0123456789abcdef");
        let request = WorkRequest::write(wr_id, source, to.address, to.rkey);
        qa.post_send(&request.with_immediate(wr_id as u32)).unwrap();
        let received = b.cq.wait(4, TIMEOUT).unwrap();
        assert_eq!(received.len(), 1);
        assert_eq!(received[0].immediate, Some(wr_id as u32));
        assert_eq!(a.cq.wait(4, TIMEOUT).unwrap()[0].wr_id, wr_id);
    }
    let event = b.context.wait_event(TIMEOUT).unwrap();
    let (qp, count) = (qb.number(), 2);
    assert_eq!(event, Some(AsyncEvent::ImmediateThreshold { qp, count }));
    assert_eq!(b.context.wait_event(short).unwrap(), None);
}

#[test]
fn a_region_in_use_stays_and_a_wrong_key_fails_the_queue_pair() {
    let (_turn, cards) = cards();
    let [a, b] = open(&cards.devices, false);
    let (qa, qb) = (a.qp(), b.qp());
    connect([&qa, &qb], 100);
    let source = a.region(4096, false);
    let target = b.region(4096, true);
    let to = target.remote();
    let slice = source.slice(0, 64).unwrap();
    let request = WorkRequest::write(1, slice, to.address, to.rkey ^ 1);
    qa.post_send(&request).unwrap();
    qa.post_send(&WorkRequest::nop(2)).unwrap();
    let refused = source.deregister().unwrap_err();
    assert_eq!(refused.posted, 1);
    let done = a.completions(2);
    // MRC refuses a key with the reason it has for everything unexpected, which names no access error.
    let expected = [(1, WcStatus::RemOpErr), (2, WcStatus::WrFlushErr)];
    assert_eq!(ends(&done), expected);
    assert_eq!(qa.state(), QpState::Error);
    let event = a.context.wait_event(TIMEOUT).unwrap();
    let fatal = AsyncEvent::QueuePairFatal {
        qp: qa.number(),
        status: Some(WcStatus::RemOpErr),
    };
    assert_eq!(event, Some(fatal));
    assert!(matches!(
        qa.post_send(&WorkRequest::nop(3)),
        Err(PostError::State { .. })
    ));
    refused.region.deregister().unwrap();
    assert!(bytes(&target).iter().all(|&byte| byte == 0));

    // From RESET both begin again, and the stale key of a region that is gone stays refused.
    for qp in [&qa, &qb] {
        qp.modify(Modify::Reset).unwrap();
    }
    connect([&qa, &qb], 500);
    let request = WorkRequest::write(4, Source::Inline(b"again"), to.address, to.rkey);
    qa.post_send(&request).unwrap();
    assert_eq!(a.completions(1)[0].status, WcStatus::Success);
    assert_eq!(&bytes(&target)[..5], b"again");
    target.deregister().unwrap();
    qa.post_send(&request).unwrap();
    assert_eq!(a.completions(1)[0].status, WcStatus::RemOpErr);
    assert_eq!(
        (cards.pair.bad_accesses(0), cards.pair.bad_accesses(1)),
        (0, 0)
    );
}

#[test]
fn an_error_in_the_middle_of_a_transfer_flushes_and_touches_nothing_afterwards() {
    let pair = CardPair::new().unwrap();
    let devices = bring_up(&pair);
    let [a, b] = open(&devices, false);
    let (qa, qb) = (a.qp(), b.qp());
    connect([&qa, &qb], 0);
    let source = a.region(1 << 18, false);
    let target = b.region(1 << 18, true);
    let to = target.remote();
    for wr_id in 0..4 {
        let slice = source.slice(0, 1 << 18).unwrap();
        qa.post_send(&WorkRequest::write(wr_id, slice, to.address, to.rkey))
            .unwrap();
    }
    pair.run(500);
    qa.modify(Modify::Error).unwrap();
    let ends = a.completions(4);
    assert_eq!(
        ends.iter().map(|wc| wc.wr_id).collect::<Vec<_>>(),
        [0, 1, 2, 3]
    );
    assert_eq!(ends[3].status, WcStatus::WrFlushErr);
    source.deregister().unwrap();
    drop(target);
    // The other objects are dropped in the wrong order, with time for the rest of the transfer.
    drop(devices);
    drop((b.context, b.pd, qb, b.cq));
    drop((a.pd, a.cq, a.context));
    pair.run(20_000);
    drop(qa);
    assert_eq!((pair.bad_accesses(0), pair.bad_accesses(1)), (0, 0));
}

#[test]
fn send_queue_and_completion_ring_wrap() {
    let (_turn, cards) = cards();
    let [a, b] = open(&cards.devices, false);
    let (qa, qb) = (a.qp(), b.qp());
    connect([&qa, &qb], 1);
    let target = b.region(4096, true);
    let to = target.remote();
    let mut next = 0u64;
    // 160 of 8 places, and more than two rounds of 64 completions.
    while next < 160 {
        for _ in 0..8 {
            let bytes = next.to_le_bytes();
            let at = to.address + 8 * (next % 512);
            let request = WorkRequest::write(next, Source::Inline(&bytes), at, to.rkey);
            qa.post_send(&request).unwrap();
            next += 1;
        }
        let full = qa.post_send(&WorkRequest::nop(0));
        assert!(matches!(full, Err(PostError::Full { entries: 8 })));
        let ends: Vec<u64> = a.completions(8).iter().map(|wc| wc.wr_id).collect();
        assert_eq!(ends, (next - 8..next).collect::<Vec<_>>());
    }
    let arrived = bytes(&target);
    for number in 0..160u64 {
        let at = 8 * number as usize;
        assert_eq!(arrived[at..at + 8], number.to_le_bytes());
    }
}

#[test]
fn a_write_to_a_gpu_goes_to_final_addresses() {
    const PAGE: u64 = 1 << 16;
    let (_turn, cards) = cards();
    let [a, b] = open(&cards.devices, false);
    let (qa, qb) = (a.qp(), b.qp());
    connect([&qa, &qb], 9);
    let pages = Pages {
        size: PageSize::Size64K,
        addresses: vec![0x70_0003_0000, 0x70_0001_0000],
        base: 0x4000_0000,
        device: 1,
    };
    for page in &pages.addresses {
        cards.pair.add_gpu_memory(1, *page, PAGE);
    }
    let access = AccessFlags {
        remote_write: true,
        ..AccessFlags::default()
    };
    // SAFETY: the simulated GPU's memory belongs to this test alone.
    let region = unsafe { b.pd.register_translated(pages, access) }.unwrap();
    assert!(region.memory().is_none());
    let source = a.region(4096, false);
    let sent = pattern(4096, 1);
    source.memory().unwrap().write(0, &sent).unwrap();
    let to = region.remote();
    let at = to.address + PAGE - 1000;
    let slice = source.slice(0, 4096).unwrap();
    qa.post_send(&WorkRequest::write(1, slice, at, to.rkey))
        .unwrap();
    assert_eq!(a.completions(1)[0].status, WcStatus::Success);
    let mut arrived = vec![0; 4096];
    let (first, second) = arrived.split_at_mut(1000);
    cards
        .pair
        .load_gpu_memory(1, 0x70_0003_0000 + PAGE - 1000, first);
    cards.pair.load_gpu_memory(1, 0x70_0001_0000, second);
    assert!(arrived == sent, "other bytes arrived");
    assert_eq!(cards.pair.bad_accesses(1), 0);
}

#[test]
fn the_shortest_regions_are_written_there_and_back() {
    let (_turn, cards) = cards();
    let [a, b] = open(&cards.devices, false);
    let (qa, qb) = (a.qp(), b.qp());
    connect([&qa, &qb], 40);
    for length in [1, 2, 3, 5] {
        let sent = pattern(length, 0xc3);
        for (from, qp, to) in [(&a, &qa, &b), (&b, &qb, &a)] {
            let (source, target) = (from.region(length, false), to.region(length, true));
            source.memory().unwrap().write(0, &sent).unwrap();
            let (slice, place) = (source.slice(0, length as u32).unwrap(), target.remote());
            let write = WorkRequest::write(1, slice, place.address, place.rkey);
            qp.post_send(&write).unwrap();
            assert_eq!(from.completions(1)[0].status, WcStatus::Success);
            assert_eq!(bytes(&target), sent);
        }
    }
    assert_eq!(
        (cards.pair.bad_accesses(0), cards.pair.bad_accesses(1)),
        (0, 0)
    );
}
