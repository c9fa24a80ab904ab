//! Prefetch: which entries are read, which need not be read, and what `Configure` discards.

use hdl_send_queue::prefetch_state::{ALL_AHEAD, OWN_AHEAD};
use stellar_wire::host::{WcStatus, Wqe, WqeSize};

use crate::entries::Posted;
use crate::pair::Pair;
use crate::server::Server;
use crate::{quick, write};

/// Returns the number of entries of queue pair 0 that were read or used, and of those that are in the table.
fn there(server: &Server) -> (usize, usize) {
    (server.pairs[0].asked, server.pairs[0].handed.len())
}

#[test]
fn several_reads_are_under_way() {
    let mut server = quick(7);
    server.answered = 0.0;
    server.post(0, (0..5).map(write).collect());
    server.post(0, (5..60).map(write).collect());
    server.rest(80);
    // Reads go to the end of the block, then take whole blocks.
    assert_eq!(there(&server), (60, 0));
    assert_eq!(server.reads, 9);
    server.answered = 1.0;
    server.rest(200);
    assert_eq!(there(&server), (60, 60));
    server.drain();
}

/// Configures a queue pair with a ring of 1,024 entries.
fn configure_long(server: &mut Server, qp: usize) {
    let mut pair = Pair::new(qp as u32, &mut server.rng);
    pair.resize(10, WqeSize::Bytes64);
    server.configure_as(qp, pair);
}

/// Entries that a queue pair has read and not taken, with `taken` of them taken.
fn ahead(server: &Server, qp: usize, taken: usize) -> u64 {
    (server.pairs[qp].asked - taken) as u64
}

#[test]
fn a_queue_pair_alone_reads_as_far_ahead_as_all_may() {
    let mut server = quick(10);
    server.post(0, (0..900).map(write).collect());
    server.rest(2000);
    assert_eq!(ahead(&server, 0, 0), ALL_AHEAD);
    for round in 1..=10 {
        assert_eq!(server.take(0, 32), 32);
        server.rest(100);
        assert_eq!(ahead(&server, 0, 32 * round), ALL_AHEAD);
        assert_eq!(server.complete(0, 8), None);
    }
    server.drain();
}

#[test]
fn queue_pairs_share_what_may_be_read_ahead() {
    let mut server = quick(10);
    // The first one reads all that may be, and the others a burst each.
    for qp in 0..4 {
        configure_long(&mut server, qp);
        server.post(qp, (0..900).map(write).collect());
        server.rest(2000);
    }
    let far: Vec<_> = (0..4).map(|qp| ahead(&server, qp, 0)).collect();
    assert_eq!(far, [ALL_AHEAD, OWN_AHEAD, OWN_AHEAD, OWN_AHEAD]);
    // It reads on when all of them have few.
    let others = 3 * OWN_AHEAD;
    let mut taken = 0;
    while ahead(&server, 0, taken) + others > ALL_AHEAD {
        assert_eq!(server.take(0, 32), 32);
        taken += 32;
        server.rest(100);
        assert_eq!(server.pairs[0].asked as u64, ALL_AHEAD);
    }
    assert_eq!(server.take(0, 32), 32);
    server.rest(100);
    assert_eq!(ahead(&server, 0, taken + 32) + others, ALL_AHEAD);
    // What is configured anew has nothing ahead.
    for qp in 1..4 {
        configure_long(&mut server, qp);
    }
    server.rest(100);
    assert_eq!(server.take(0, 32), 32);
    server.rest(500);
    assert_eq!(ahead(&server, 0, taken + 64), ALL_AHEAD);
    server.drain();
}

/// Queue pairs that want to read at the same time get a burst each before one of them gets more.
#[test]
fn queue_pairs_take_turns_by_bursts() {
    let mut server = quick(10);
    configure_long(&mut server, 1);
    configure_long(&mut server, 2);
    server.fetch_taken = 0.0;
    // Reads that wait to leave keep the queue pairs from reading more.
    server.post(0, (0..200).map(write).collect());
    server.rest(100);
    for qp in 1..3 {
        server.post(qp, (0..100).map(write).collect());
    }
    server.readers.clear();
    server.fetch_taken = 1.0;
    server.rest(400);
    let runs: Vec<_> = server.readers.chunk_by(|a, b| a == b).collect();
    let runs: Vec<_> = runs.iter().map(|run| (run[0], run.len())).collect();
    let first = |qp| runs.iter().find(|run| run.0 == qp).map(|run| run.1);
    assert_eq!((first(1), first(2)), (Some(4), Some(4)), "{runs:?}");
    server.drain();
}

/// While the entries of a read are stored, the next reads begin. A read of 8 entries begins a block, so its entries take 10 cycles.
#[test]
fn entries_are_stored_beside_other_work() {
    let mut server = quick(10);
    configure_long(&mut server, 1);
    server.answered = 0.0;
    for qp in 0..2 {
        server.post(qp, (0..128).map(write).collect());
    }
    server.rest(100);
    server.answered = 1.0;
    server.rest(400);
    let cycles = |qp: usize| &server.pairs[qp].handed;
    assert_eq!((cycles(0).len(), cycles(1).len()), (128, 128));
    let first = cycles(0)[0].min(cycles(1)[0]);
    let last = cycles(0)[127].max(cycles(1)[127]);
    let reads = 2 * 128 / 8;
    assert!(last - first <= 11 * (reads - 1), "{} cycles", last - first);
    server.drain();
}

/// A pushed entry waits until those of a read are stored, and is not lost.
#[test]
fn a_pushed_entry_waits_behind_the_entries_of_a_read() {
    for gap in 0..16 {
        let mut server = quick(10);
        configure_long(&mut server, 1);
        server.answered = 0.0;
        server.post(1, (0..8).map(write).collect());
        server.rest(30);
        server.answered = 1.0;
        server.rest(gap);
        server.push(0, 0, write(0));
        server.post(0, vec![write(0)]);
        server.rest(30);
        assert_eq!((there(&server), server.reads), ((1, 1), 1), "gap {gap}");
        assert!(server.current(0, 8));
        assert_eq!(server.take(1, 32), 8);
        server.drain();
    }
}

#[test]
fn a_wake_up_finds_a_whole_burst() {
    let mut server = quick(7);
    server.answered = 0.0;
    server.post(0, (0..100).map(write).collect());
    assert!(!server.current(0, 8));
    server.rest(60);
    server.answered = 0.3;
    while !server.woken[0] {
        server.rest(1);
    }
    let there = there(&server).1;
    assert!((32..40).contains(&there), "{there}");
    assert_eq!(server.take(0, 32), 32);
    server.answered = 1.0;
    server.drain();
}

/// A flush takes entries without a request that takes them.
#[test]
fn a_flush_reads_all_entries_of_a_long_ring() {
    let mut server = quick(10);
    configure_long(&mut server, 1);
    server.post(0, (0..900).map(write).collect());
    server.post(1, (0..900).map(write).collect());
    server.rest(500);
    server.flush(0, None);
    server.drain();
    assert_eq!(there(&server), (900, 900));
}

#[test]
fn an_entry_that_was_missed_wakes_its_queue_pair_once() {
    let mut server = quick(7);
    server.answered = 0.0;
    server.post(0, vec![write(0), write(1)]);
    assert!(!server.current(0, 8));
    server.rest(40);
    assert!(!server.woken[0]);
    server.answered = 1.0;
    server.rest(20);
    assert!(server.woken[0]);
    server.woken[0] = false;
    server.rest(40);
    assert!(!server.woken[0], "the second entry was not missed");
    assert!(server.current(0, 8));
    assert_eq!(server.take(0, 32), 1);
    server.rest(40);
    assert!(!server.woken[0], "there is no third entry");
    // It is missed when the messages before it are taken.
    server.answered = 0.0;
    server.push(0, 2, write(2));
    server.post(0, vec![write(2)]);
    server.post(0, vec![write(3)]);
    server.rest(20);
    assert_eq!(server.take(0, 32), 1);
    server.answered = 1.0;
    server.rest(20);
    assert!(server.woken[0]);
    server.drain();
}

#[test]
fn an_entry_pushed_with_its_doorbell_is_not_read() {
    let mut server = quick(7);
    for slot in 0..20 {
        server.push(0, slot, write(slot as u16));
        server.post(0, vec![write(slot as u16)]);
    }
    for _ in 0..20 {
        assert!(server.current(0, 8));
    }
    assert_eq!((there(&server), server.reads), ((20, 20), 0));
    // All entries after one that was not pushed are read. So is an entry that the push of another queue pair replaced.
    server.push(0, 21, write(21));
    server.post(0, vec![write(20), write(21)]);
    server.rest(30);
    assert_eq!((there(&server), server.reads), ((22, 22), 1));
    server.push(0, 22, write(22));
    server.push(1, 0, write(0));
    server.pairs[0].pushed.clear();
    server.post(0, vec![write(22)]);
    server.rest(30);
    assert_eq!((there(&server), server.reads), ((23, 23), 2));
    server.drain();
}

#[test]
fn a_pushed_entry_is_seen_seven_cycles_after_its_doorbell() {
    let mut server = quick(7);
    server.push(0, 0, write(0));
    server.post(0, vec![write(0)]);
    // The next request is accepted in the cycle after the response.
    let accepted = server.now - server.took - 1;
    server.rest(1);
    assert_eq!(server.pairs[0].handed, [accepted + 4]);
    assert!(server.current(0, 8));
    server.drain();
}

#[test]
fn a_pushed_entry_that_says_another_slot_is_refused_where_it_lies() {
    let mut server = quick(4);
    let misplaced = Posted::good(Wqe {
        slot: 0,
        length: 7,
        ..Wqe::default()
    });
    server.push(0, 1, misplaced);
    server.post(0, vec![write(0), misplaced]);
    server.rest(30);
    assert_eq!(there(&server), (2, 2));
    assert!(server.current(0, 8), "the entry of slot 0 that was posted");
    assert!(!server.current(0, 8));
    let refused = Some((1, WcStatus::LocQpOpErr));
    assert_eq!(server.complete(0, 8), refused);
    server.flush(0, refused);
    server.drain();
}

#[test]
fn an_entry_pushed_before_configure_is_forgotten() {
    let mut server = quick(4);
    server.push(0, 0, write(0));
    server.configure(0);
    server.rest(16);
    server.post(0, vec![write(0)]);
    server.rest(30);
    assert_eq!((there(&server), server.reads), ((1, 1), 1));
    assert!(server.current(0, 8));
    server.drain();
}

#[test]
fn answers_of_the_time_before_configure_are_dropped() {
    let mut server = quick(7);
    server.answered = 0.0;
    server.post(0, (0..20).map(write).collect());
    server.rest(30);
    assert_eq!(there(&server), (20, 0));
    assert!(!server.current(0, 8));
    server.configure(0);
    server.rest(16);
    assert!(
        server.woken[0],
        "who waited for an entry hears that none will come"
    );
    server.post(0, vec![write(0)]);
    server.rest(16);
    assert!(!server.current(0, 8), "the old read is still outstanding");
    assert_eq!(server.pairs[0].reading.len(), 21);
    server.answered = 1.0;
    server.rest(80);
    assert!(server.woken[0]);
    assert!(server.current(0, 8));
    server.drain();
}

#[test]
fn reads_that_wait_to_leave_during_configure_are_dropped() {
    let mut server = quick(7);
    server.fetch_taken = 0.0;
    server.post(0, (0..20).map(write).collect());
    server.rest(30);
    server.configure(0);
    server.post(0, vec![write(0)]);
    server.rest(16);
    server.fetch_taken = 1.0;
    server.rest(80);
    assert_eq!((there(&server), server.reads), ((1, 1), 4));
    assert!(server.current(0, 8));
    server.drain();
}

/// The prefetch may be busy with the entries of another queue pair when `Configure` comes.
#[test]
fn entries_of_the_time_before_configure_are_not_executed_right_after_it() {
    let mut server = quick(7);
    for round in 0..200 {
        server.post_any(0, 2);
        server.rest(40);
        server.configure(1);
        server.post_any(1, 60);
        server.rest(round % 40);
        server.configure(0);
        assert!(!server.current(0, 8), "round {round}");
    }
}
