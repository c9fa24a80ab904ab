//! `message_table` against the reference, operation by operation.

mod block_pool;
mod entries;
mod long_entries;
mod operations;
mod pair;
mod pool;
mod prefetch;
mod server;
mod steps;

use std::collections::VecDeque;

use entries::{any_entry, Posted};
use hdl_send_queue::MessageTable;
use hdl_testkit::equivalence::{check, Random, TestRng};
use proptest::prelude::*;
use rand::Rng;
use rust_hdl::prelude::*;
use server::Server;
use stellar_transport::requester::MAX_OUTSTANDING;
use stellar_wire::host::{WcStatus, Wqe, WqeOpcode, WqeSize};
use stellar_wire::hw::messages::*;
use stellar_wire::hw::wqe;
use stellar_wire::hw::FromBits;

/// Four queue pairs that share 4 blocks of entries.
type Small = MessageTable<2, 2, 5>;
/// Four queue pairs with blocks for as many outstanding messages as the reference allows.
type Large = MessageTable<2, 9, 12>;
/// Two queue pairs that share 2 blocks of entries.
type Tiny = MessageTable<1, 1, 4>;

const CASES: u32 = 48;

fn random_request(rng: &mut TestRng) -> MessageRequest {
    let ops = [
        MessageOp::NextMessage,
        MessageOp::NextMessage,
        MessageOp::TakeMessages,
        MessageOp::TakeMessages,
        MessageOp::LookupBySlot,
        MessageOp::LookupByPsn,
        MessageOp::Complete,
        MessageOp::Complete,
        MessageOp::Doorbell,
        MessageOp::Doorbell,
        MessageOp::Fault,
        MessageOp::Flush,
        MessageOp::Configure,
    ];
    MessageRequest {
        op: ops[rng.random_range(0..ops.len())],
        qp: rng.random_range(0..2_u64).to_bits(),
        psn: rng.random_range(0..6_u64).to_bits(),
        count: rng.random_range(1..33_u64).to_bits(),
        only_short: rng.random(),
        slot: rng.random_range(0..6_u64).to_bits(),
        failed: Random::random(rng),
        status: Random::random(rng),
    }
}

/// Generates a line of a read of `qp`.
fn random_answer(rng: &mut TestRng, qp: usize, behind: usize) -> WqeFetched {
    let size = [WqeSize::Bytes64, WqeSize::Bytes128][rng.random_range(0..2)];
    let entry = any_entry(rng, rng.clone().random_range(0..6), size);
    WqeFetched {
        qp: (qp as u64).to_bits(),
        error: rng.random_bool(0.05),
        behind: (behind as u64).to_bits(),
        line: entry.line(0),
    }
}

#[test]
fn verilog_agrees_with_rust_hdl() {
    // The block assumes that no other lines come than those of its reads, and that those of a read come without a gap.
    let mut reads = [VecDeque::new(), VecDeque::new()];
    let mut mid_read = None;
    let drive = |block: &mut Tiny, rng: &mut TestRng| {
        if block.fetch.valid.val() & block.fetch.ready.val() {
            let fetch = block.fetch.record.val();
            reads[fetch.qp.index()].push_back(fetch.lines.index());
        }
        if block.fetched.valid.val() & block.fetched.ready.val() {
            let taken = block.fetched.record.val();
            let (qp, behind) = (taken.qp.index(), taken.behind.index());
            if mid_read.is_none() {
                reads[qp].pop_front();
            }
            mid_read = (behind > 0).then_some((qp, behind));
        }
        block.reset.next = false;
        block.request.valid.next = rng.random_bool(0.8);
        block.request.record.next = random_request(rng);
        block.settings.next = SendQueueConfig {
            base: Bits::random(rng),
            log2_entries: rng.random_range(1..5_u64).to_bits(),
            long_entries: rng.random(),
            mtu_log2: rng.random_range(8..14_u64).to_bits(),
            max_wimm: rng.random_range(0..3_u64).to_bits(),
        };
        block.fetch.ready.next = rng.random_bool(0.7);
        block.cqe.ready.next = rng.random_bool(0.7);
        let any_qp = rng.random_range(0..2);
        let next = reads[any_qp].front().map(|&lines| (any_qp, lines));
        let next = mid_read.or(next);
        let (qp, lines) = next.unwrap_or((any_qp, 1));
        block.fetched.valid.next = next.is_some();
        block.fetched.record.next = random_answer(rng, qp, lines - 1);
        block.pushed.valid.next = rng.random_bool(0.1);
        let pushed = random_answer(rng, any_qp, 0);
        let behind = wqe::Wqe::from_bits(pushed.line).slot + 1;
        block.pushed.record.next = pushed;
        block.pushed_producer.next = if rng.random_bool(0.9) {
            behind
        } else {
            Bits::random(rng)
        };
    };
    check(Tiny::default, Some(|b| &mut b.clock), drive, 1500, 1).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_operations_agree_with_the_reference(
        seed in any::<u64>(),
        steps in prop::collection::vec((0..4_usize, prop_oneof![4 => Just(0_usize), 1 => 1..40_usize], steps::step()), 1..300),
    ) {
        let mut server = Server::new(seed);
        for (qp, gap, step) in &steps {
            server.rest(*gap);
            step.run(&mut server, *qp);
        }
        server.drain();
    }
}

/// Returns a table without stalls. The first queue pair has a ring of 2^`log2_entries` entries.
fn quick(log2_entries: u8) -> Server {
    let mut server = Server::large(3);
    (server.fetch_taken, server.cqe_taken, server.answered) = (1.0, 1.0, 1.0);
    let mut pair = pair::Pair::new(0, &mut server.rng);
    pair.resize(log2_entries, WqeSize::Bytes64);
    server.configure_as(0, pair);
    server
}

fn write(slot: u16) -> Posted {
    Posted::good(Wqe {
        opcode: WqeOpcode::Write,
        slot,
        length: 100,
        wr_id: slot.into(),
        ..Wqe::default()
    })
}

#[test]
fn a_doorbell_takes_three_cycles_while_the_prefetch_rests() {
    let mut server = quick(4);
    for entries in 1..=4 {
        server.rest(100);
        server.post(0, vec![write(0); entries]);
        assert_eq!(server.took, 3, "{entries} entries");
    }
}

#[test]
fn no_more_messages_are_outstanding_than_there_is_space_for() {
    let mut server = quick(11);
    server.post(0, (0..1100).map(write).collect());
    server.rest(2000);
    for _ in 0..MAX_OUTSTANDING {
        assert!(server.current(0, 8));
    }
    assert!(!server.current(0, 8));
    assert_eq!(server.pairs[0].outstanding(), MAX_OUTSTANDING);
    assert_eq!(server.complete(0, 8), None);
    // One operation completes all messages, each with a completion.
    assert_eq!(server.took, 4 + (MAX_OUTSTANDING as u64 - 1));
    assert!(server.current(0, 8));
    server.drain();
}

#[test]
fn the_message_of_a_packet_is_found_among_many() {
    let mut server = quick(7);
    // Every third entry is a NOP, which has no packets.
    let entry = |slot| match slot % 3 {
        2 => Posted::good(Wqe {
            opcode: WqeOpcode::Nop,
            slot,
            ..Wqe::default()
        }),
        _ => write(slot),
    };
    server.post(0, (0..63).map(entry).collect());
    for _ in 0..63 {
        server.rest(16);
        server.current(0, 8);
    }
    let sent = server.pairs[0].next.distance_from(server.pairs[0].una);
    assert_eq!(sent, 42, "packets sent");
    for ahead in 0..sent {
        assert!(server.holding(0, ahead as i32), "packet {ahead}");
    }
    for ahead in [-1, sent as i32] {
        assert!(!server.holding(0, ahead), "packet {ahead}");
    }
    server.drain();
}

#[test]
fn a_packet_behind_a_message_of_half_of_all_numbers_is_found() {
    let mut server = quick(4);
    let mut pair = pair::Pair::new(0, &mut server.rng);
    pair.resize(4, WqeSize::Bytes64);
    pair.mtu = 256;
    server.configure_as(0, pair);
    let longest = |slot| {
        Posted::good(Wqe {
            opcode: WqeOpcode::Write,
            slot,
            length: 1 << 31,
            ..Wqe::default()
        })
    };
    server.post(0, vec![longest(0), longest(1)]);
    server.rest(30);
    // Half of the first message is sent, and all of that but its last quarter is acknowledged. Then the rest is sent, and as much of the second message as
    // may be in flight.
    assert!(server.current(0, 8));
    assert_eq!(server.complete(0, 8), None);
    assert!(server.current(0, 8));
    assert_eq!(server.complete(0, 4), None);
    assert!(server.current(0, 8));
    assert_eq!(server.pairs[0].outstanding(), 2);
    let sent = server.pairs[0].next.distance_from(server.pairs[0].una) as i32;
    for ahead in [0, sent / 2 - 1, sent / 2, sent - 1] {
        assert!(server.holding(0, ahead), "packet {ahead}");
    }
}

#[test]
fn a_completion_that_is_not_taken_holds_up_the_next() {
    let mut server = quick(4);
    server.post(0, (0..3).map(write).collect());
    for _ in 0..3 {
        server.rest(16);
        assert!(server.current(0, 8));
    }
    server.cqe_taken = 0.01;
    server.complete(0, 8);
    assert!(server.took > 20, "{} cycles", server.took);
    server.settle();
}

#[test]
fn a_flushed_queue_pair_completes_whatever_was_posted_and_is_posted() {
    let mut server = quick(7);
    server.post(0, (0..60).map(write).collect());
    for _ in 0..5 {
        server.rest(16);
        assert!(server.current(0, 8));
    }
    let failed = server.slot(0, -2);
    server.flush(0, Some((failed, WcStatus::RemAccessErr)));
    assert_eq!(server.pairs[0].completions.len(), 60);
    server.settle();
    server.post(0, (60..80).map(write).collect());
    assert_eq!(server.pairs[0].completions.len(), 20);
    assert!(!server.current(0, 8));
    server.settle();
}

#[test]
fn a_flushed_queue_pair_waits_for_its_visit_once_however_often_it_is_rung() {
    let mut server = quick(15);
    server.post(0, vec![write(0), write(1)]);
    server.post(1, vec![write(0)]);
    server.cqe_taken = 0.0;
    server.flush(0, None);
    server.rest(64);
    // The first completion is not accepted. There are more doorbells than queue pairs that can wait.
    for slot in 2..1100 {
        server.post(0, vec![write(slot)]);
    }
    server.flush(1, None);
    server.cqe_taken = 1.0;
    server.settle();
}

#[test]
fn a_reset_forgets_everything() {
    let mut server = Server::new(5);
    for _ in 0..20 {
        for qp in 0..4 {
            server.post_any(qp, 3);
            server.current(qp, 8);
        }
        server.flush(1, None);
        server.restart();
    }
    server.drain();
}

#[test]
fn slots_and_message_numbers_wrap() {
    let mut server = quick(15);
    server.woken[0] = false;
    // All message numbers, and a few again.
    for (round, messages) in (0_u16..).zip([1 << 14, 1 << 14, 1 << 14, 1 << 14, 100]) {
        let first = round.wrapping_mul(1 << 14);
        server.post(
            0,
            (0..messages)
                .map(|i| write(first.wrapping_add(i)))
                .collect(),
        );
        for _ in 0..messages {
            while !server.current(0, 8) {
                server.rest(4);
            }
            assert_eq!(server.complete(0, 8), None);
        }
    }
    server.settle();
    assert_eq!(server.pairs[0].taken(), (1 << 16) + 100);
}

#[test]
#[should_panic(
    expected = "use Q of 1 (2 queue pairs) to 16, B of 1 (2 blocks of entries) to 10, and E = B + 3"
)]
fn sizes_that_cannot_be_are_refused() {
    let _ = MessageTable::<2, 6, 8>::default();
}
