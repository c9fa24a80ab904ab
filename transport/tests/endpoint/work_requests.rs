//! The send queue: rings in memory, flags of work requests, completion queues.

use stellar_transport::endpoint::TransportConfig;
use stellar_transport::requester::SqRing;
use stellar_wire::host::{Doorbell, EventKind, WcStatus, Wqe, WqeOpcode, WqeSize};

use WcStatus::{LocLenErr, LocQpOpErr, Success, WrFlushErr};

use crate::endpoint::network::Fate;
use crate::endpoint::pair::{mrc, perfect, qp, ring, statuses, write, write_imm, Pair};

const QP: u32 = 5;

/// Writes work requests into the ring of card 0's queue pair, each with as many bytes as an entry has, and rings the doorbell.
fn ring_in<const N: usize>(pair: &mut Pair, base: u64, first: u16, entries: &[[u8; N]]) {
    for (i, bytes) in (first..).zip(entries) {
        let address = base + u64::from(i % 16) * N as u64;
        for (byte, at) in bytes.iter().zip(address..) {
            *pair.cards[0]
                .memory_mut()
                .byte_mut(false, at)
                .expect("ring") = *byte;
        }
    }
    let producer = first + entries.len() as u16;
    let doorbell = Doorbell { qp: QP, producer };
    pair.cards[0]
        .ring_doorbell(100 + QP, doorbell)
        .expect("doorbell");
}

const RING: u64 = 0x9000_0000;

fn with_ring() -> Pair {
    with_ring_of(WqeSize::Bytes64)
}

fn with_ring_of(entry: WqeSize) -> Pair {
    let mut pair = Pair::new(perfect);
    pair.connect(|card| {
        let mut qp = qp(card, QP, 10, TransportConfig::Mrc(mrc(10)));
        let ring = ring(RING).map(|ring| SqRing { entry, ..ring });
        qp.sq = ring.filter(|_| card == 0);
        qp
    });
    pair.cards[0]
        .memory_mut()
        .pages
        .insert((false, RING >> 12), vec![0; 4096]);
    pair
}

#[test]
fn a_ring_in_memory_goes_round() {
    let mut pair = with_ring();
    for round in 0..10u16 {
        let first = round * 7;
        let wqes = (first..first + 7).map(|slot| {
            let at = u64::from(slot) * 100;
            let wqe = Wqe {
                slot,
                ..write(at, at, 99, slot.into())
            };
            pair.expect_write(&wqe);
            wqe.to_bytes()
        });
        let wqes: Vec<_> = wqes.collect();
        ring_in(&mut pair, RING, first, &wqes);
        pair.run();
    }
    pair.finish(QP, 0..70);
}

/// A WRITE with this number of bytes of inline data in a ring.
fn inline_in_ring(slot: u16, bytes: usize) -> Wqe {
    let data: Vec<u8> = (0..bytes as u8).map(|i| i ^ (slot as u8) << 3).collect();
    let wqe = Wqe {
        slot,
        ..write(0, u64::from(slot) * 100, 0, slot.into())
    };
    wqe.with_inline(&data).expect("inline data")
}

#[test]
fn entries_of_either_size_have_inline_data_up_to_their_end() {
    let mut pair = with_ring_of(WqeSize::Bytes64);
    for slot in 0..33 {
        let wqe = inline_in_ring(slot, slot.into());
        pair.expect_write(&wqe);
        ring_in(&mut pair, RING, slot, &[wqe.to_bytes()]);
        pair.run();
    }
    pair.finish(QP, 0..33);

    let mut pair = with_ring_of(WqeSize::Bytes128);
    for slot in 0..65 {
        let wqe = inline_in_ring(slot, slot.into());
        pair.expect_write(&wqe);
        ring_in(&mut pair, RING, slot, &[wqe.to_long_bytes()]);
        pair.run();
    }
    pair.finish(QP, 0..65);
}

#[test]
fn inline_data_beyond_the_end_of_the_entry_are_refused() {
    let mut pair = with_ring_of(WqeSize::Bytes64);
    ring_in(&mut pair, RING, 0, &[inline_in_ring(0, 33).to_bytes()]);
    pair.run();
    let found = statuses(&pair.completions(0, QP));
    assert_eq!(found, [(0, LocLenErr)]);

    let longer = Wqe {
        length: 65,
        ..inline_in_ring(0, 64)
    };
    let mut pair = with_ring_of(WqeSize::Bytes128);
    ring_in(&mut pair, RING, 0, &[longer.to_long_bytes()]);
    pair.run();
    let found = statuses(&pair.completions(0, QP));
    assert_eq!(found, [(0, LocLenErr)]);
}

#[test]
fn entries_of_a_ring_that_cannot_be_executed() {
    let good = |slot: u16| {
        Wqe {
            slot,
            ..write(0, 0, 10, slot.into())
        }
        .to_bytes()
    };
    let mut undefined = good(1);
    undefined[0] = 0x7f;
    let stale = Wqe {
        slot: 9,
        ..write(0, 0, 10, 1)
    }
    .to_bytes();
    for bad in [undefined, stale] {
        let mut pair = with_ring();
        ring_in(&mut pair, RING, 0, &[good(0), bad, good(2)]);
        pair.run();
        let found = statuses(&pair.completions(0, QP));
        assert_eq!(found, [(0, Success), (1, LocQpOpErr), (2, WrFlushErr)]);
    }
    // The ring's memory does not respond, so the entries cannot be identified.
    let mut pair = with_ring();
    ring_in(&mut pair, RING, 0, &[good(0), good(1)]);
    pair.cards[0]
        .memory_mut()
        .pages
        .remove(&(false, RING >> 12));
    pair.run();
    assert_eq!(
        statuses(&pair.completions(0, QP)),
        [(0, LocQpOpErr), (0, WrFlushErr)]
    );
}

/// A pair whose completion queues have four entries.
fn short_queues() -> Pair {
    let mut pair = Pair::new(perfect);
    pair.connect(|card| {
        let mut qp = qp(card, QP, 10, TransportConfig::Mrc(mrc(10)));
        qp.cq_entries = 4;
        qp
    });
    pair
}

#[test]
fn a_completion_queue_that_is_full_loses_and_its_queue_pair_fails() {
    let mut pair = short_queues();
    for i in 0..6 {
        pair.post(QP, write(i, i, 1, i));
    }
    pair.run();
    let completions = pair.completions(0, QP);
    assert_eq!(
        statuses(&completions),
        Vec::from_iter((0..4).map(|i| (i, Success)))
    );
    let flushed = u64::from(WrFlushErr.code());
    for (kind, data) in [(EventKind::CqOverrun, 4), (EventKind::QpError, flushed)] {
        let event = pair.cards[0].poll_event().expect("an event");
        assert_eq!((event.kind, event.data), (kind, data));
    }
    assert_eq!(pair.cards[0].counters().completions_lost, 2);
    // There is room again, but the queue would have a gap.
    pair.post(QP, write(9, 9, 1, 9));
    pair.run();
    assert_eq!(pair.completions(0, QP), []);
    assert_eq!(pair.cards[0].poll_event(), None, "one event per queue");
    assert_eq!(pair.cards[0].counters().completions_lost, 3);
}

#[test]
fn the_phase_of_completions_changes_with_each_round() {
    let mut pair = short_queues();
    for phase in [true, false, true] {
        for i in 0..4 {
            pair.post(QP, write(i, i, 1, i));
        }
        pair.run();
        let completions = pair.completions(0, QP);
        assert_eq!(completions.len(), 4);
        assert!(completions.iter().all(|c| c.phase == phase));
    }
}

#[test]
fn unsignaled_work_completes_silently_and_inline_needs_no_memory() {
    let mut pair = Pair::mrc(perfect);
    let inline = write(0, 300, 0, 2).with_inline(b"sixteen bytes !!");
    let inline = inline.expect("inline data");
    pair.post(
        QP,
        Wqe {
            signaled: false,
            ..write(0, 0, 100, 1)
        },
    );
    pair.post(QP, inline);
    pair.post(
        QP,
        Wqe {
            signaled: false,
            ..write_imm(0, 400, 100, 3, 1)
        },
    );
    pair.post(
        QP,
        Wqe {
            opcode: WqeOpcode::Nop,
            wr_id: 4,
            ..Wqe::default()
        },
    );
    pair.finish(QP, [2, 4]);
}

#[test]
fn a_fence_waits_for_everything_before_it() {
    let mut pair = Pair::mrc(|seen| Fate {
        delay: if seen.is_data() && seen.psn() == 0x1000 {
            8000
        } else {
            0
        },
        ..Fate::default()
    });
    pair.network.log = Some(Vec::new());
    pair.post(QP, write(0, 0, 3000, 1));
    pair.post(
        QP,
        Wqe {
            fence: true,
            ..write(3000, 3000, 3000, 2)
        },
    );
    pair.run_for(7000);
    assert_eq!(pair.cards[0].qp_counters(QP).expect("counters").packets, 3);
    pair.finish(QP, [1, 2]);
}

#[test]
fn a_fence_does_not_wait_for_a_nop() {
    let mut pair = Pair::mrc(perfect);
    pair.post(
        QP,
        Wqe {
            wr_id: 1,
            ..Wqe::default()
        },
    );
    pair.post(
        QP,
        Wqe {
            fence: true,
            ..write(0, 0, 10, 2)
        },
    );
    pair.finish(QP, [1, 2]);
}
