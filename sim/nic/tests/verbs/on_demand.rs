//! Tests of regions whose pages are mapped when they are first used.

use std::time::Duration;

use stellar_driver::*;

use crate::verbs::hosts::*;

const PAGE: u64 = 4096;

fn on_demand(host: &Host, pages: u64) -> MemoryRegion {
    let shape = OnDemandShape {
        length: pages * PAGE - 100,
        page_size: PageSize::Size4K,
    };
    let access = AccessFlags {
        remote_write: true,
        ..AccessFlags::default()
    };
    host.pd.register_on_demand(shape, access).unwrap()
}

fn content(region: &MemoryRegion) -> Vec<u8> {
    let mut bytes = vec![0xee; region.length() as usize];
    region.load(0, &mut bytes).unwrap();
    bytes
}

fn absent(device: &Device) -> u64 {
    let counters = device.counters().unwrap();
    let of = |counter: &&Counter| counter.reason == DropReason::PageAbsent;
    counters.iter().find(of).map_or(0, |counter| counter.value)
}

/// Returns the sender's next completion, while the receiver polls its completions; and the receiver's completions.
fn next_sent(a: &Host, b: &Host) -> (Completion, Vec<Completion>) {
    let device = a.context.device();
    let function = device.probe().function();
    let end = function.now() + TIMEOUT;
    let mut received = Vec::new();
    loop {
        assert!(function.now() < end, "no completion");
        received.extend(b.cq.poll(1).unwrap());
        match a.cq.poll(1).unwrap().pop() {
            Some(completion) => return (completion, received),
            None => function.relax(),
        }
    }
}

#[test]
fn pages_come_when_they_are_sent_from_and_written_to_and_go_when_they_are_discarded() {
    let (_turn, cards) = cards();
    let [a, b] = open(&cards.devices, false);
    let (qa, qb) = (a.qp(), b.qp());
    connect([&qa, &qb], 0xff_fffc);
    let (source, mut target) = (on_demand(&a, 12), on_demand(&b, 16));
    assert_eq!([source.resident(), target.resident()], [0, 0]);
    let sent = pattern(20_000, 0x3c);
    source.store(5, &sent).unwrap();
    assert_eq!(source.resident(), 5 * PAGE);
    let to = target.remote();
    let lost = absent(&cards.devices[1]);

    // The last pages are zeros, because nothing was stored there.
    let slice = source.slice(5, 30_003).unwrap();
    let write = |wr_id| WorkRequest::write(wr_id, slice, to.address + 4_099, to.rkey);
    qa.post_send(&write(1)).unwrap();
    assert_eq!(source.resident(), 8 * PAGE);
    assert_eq!(next_sent(&a, &b).0.status, WcStatus::Success);
    let mut expected = vec![0; target.length() as usize];
    expected[4_099..24_099].copy_from_slice(&sent);
    assert!(content(&target) == expected, "other bytes arrived");
    let came = target.resident();
    assert!((8 * PAGE..=9 * PAGE).contains(&came), "{came:#x} are there");
    let lost = absent(&cards.devices[1]) - lost;
    assert!((1..=16).contains(&lost), "{lost} packets were lost");
    let counters = qb.counters().unwrap();
    assert_eq!(counters.get(QpCounter::PagesAbsent), lost);

    // Pages that are present are not requested again.
    qa.post_send(&write(2)).unwrap();
    assert_eq!(next_sent(&a, &b).0.status, WcStatus::Success);
    assert_eq!(target.resident(), came);

    target.discard(PAGE + 1, 3 * PAGE).unwrap();
    assert_eq!(target.resident(), came - 2 * PAGE);
    expected[2 * PAGE as usize..4 * PAGE as usize].fill(0);
    assert!(content(&target) == expected, "other bytes are left");
    qa.post_send(&write(3).with_immediate(7)).unwrap();
    let (done, received) = next_sent(&a, &b);
    assert_eq!(done.status, WcStatus::Success);
    assert_eq!(
        arrived(&received),
        [(CqeOpcode::RecvRdmaWithImm, Some(7), 30_003, qb.number())]
    );
    expected[4_099..24_099].copy_from_slice(&sent);
    assert!(content(&target) == expected, "other bytes arrived again");
    target.discard(0, target.length()).unwrap();
    assert_eq!(target.resident(), 0);
    target.deregister().unwrap();
    assert_eq!(
        [cards.pair.bad_accesses(0), cards.pair.bad_accesses(1)],
        [0, 0]
    );
}

#[test]
fn pages_that_nobody_brings_end_the_sender_and_over_rc_any_that_is_not_there() {
    let (_turn, cards) = cards();
    let [a, b] = open(&cards.devices, false);
    let target = on_demand(&b, 2);
    let to = target.remote();
    let write = |wr_id| WorkRequest::write(wr_id, Source::Inline(b"some"), to.address, to.rkey);

    let (qa, qb) = (a.qp(), b.qp());
    let told = [&qa, &qb].map(|qp| qp.connection(9));
    ready(&qa, told[1]);
    ready(&qb, told[0]);
    let hasty = RtsAttributes {
        timeout: Duration::from_micros(20),
        retry_count: 1,
        ..RtsAttributes::new(9)
    };
    qa.modify(Modify::Rts(hasty)).unwrap();
    qa.post_send(&write(1)).unwrap();
    assert_eq!(a.completions(1)[0].status, WcStatus::RetryExcErr);
    assert_eq!(target.resident(), 0);

    let (ra, rb) = (a.qp_over(Transport::Rc), b.qp_over(Transport::Rc));
    connect([&ra, &rb], 100);
    // The page that came too late for the other queue pair goes again.
    assert!(b.cq.poll(1).unwrap().is_empty());
    assert_eq!(target.resident(), PAGE);
    let mut target = target;
    target.discard(0, target.length()).unwrap();
    ra.post_send(&write(2)).unwrap();
    assert_eq!(a.completions(1)[0].status, WcStatus::RemAccessErr);

    let (ra, rb) = (a.qp_over(Transport::Rc), b.qp_over(Transport::Rc));
    connect([&ra, &rb], 100);
    target.prefetch(0, 1).unwrap();
    ra.post_send(&write(3)).unwrap();
    assert_eq!(a.completions(1)[0].status, WcStatus::Success);
    assert_eq!(content(&target)[..4], *b"some");
    assert_eq!(
        [cards.pair.bad_accesses(0), cards.pair.bad_accesses(1)],
        [0, 0]
    );
}

#[test]
fn who_waits_for_completions_brings_pages_meanwhile() {
    let (_turn, cards) = cards();
    let [a, b] = open(&cards.devices, true);
    let (qa, qb) = (a.qp(), b.qp());
    connect([&qa, &qb], 1);
    let target = on_demand(&b, 4);
    let to = target.remote();
    let write = WorkRequest::write(1, Source::Inline(b"told"), to.address + PAGE, to.rkey);
    qa.post_send(&write.with_immediate(5)).unwrap();
    let told = b.cq.wait(1, TIMEOUT).unwrap();
    assert_eq!(told[0].immediate, Some(5));
    assert_eq!(content(&target)[PAGE as usize..][..4], *b"told");
}
