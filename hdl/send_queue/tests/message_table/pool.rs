//! The pool of blocks: who gets one, and that all of them return.

use stellar_wire::host::{Wqe, WqeSize};

use crate::entries::Posted;
use crate::pair::Pair;
use crate::server::Server;
use crate::{quick, write};

/// Takes and completes everything that is in the table of a queue pair.
fn execute(server: &mut Server, qp: usize) -> usize {
    let mut messages = 0;
    loop {
        let taken = server.take(qp, 32);
        if taken == 0 {
            return messages;
        }
        messages += taken;
        assert_eq!(server.complete(qp, 8), None);
    }
}

/// Configures a queue pair with a ring of 128 entries.
fn configure(server: &mut Server, qp: usize) {
    let mut pair = Pair::new(qp as u32, &mut server.rng);
    pair.resize(7, WqeSize::Bytes64);
    server.configure_as(qp, pair);
}

/// Returns a table of four queue pairs and four blocks, without stalls.
fn small() -> Server {
    let mut server = Server::new(4);
    (server.fetch_taken, server.cqe_taken, server.answered) = (1.0, 1.0, 1.0);
    for qp in 0..4 {
        configure(&mut server, qp);
    }
    server
}

#[test]
fn one_queue_pair_gets_half_of_the_blocks_and_one_more() {
    let mut server = small();
    server.post(0, (0..60).map(write).collect());
    server.rest(200);
    assert_eq!(server.pairs[0].handed.len(), 24);
    for qp in 1..4 {
        server.post(qp, (0..60).map(write).collect());
        server.rest(100);
    }
    let there: Vec<_> = server.pairs.iter().map(|pair| pair.handed.len()).collect();
    // One block is left for two queue pairs without one.
    assert_eq!(there, [24, 8, 0, 0]);
}

#[test]
fn queue_pairs_without_a_block_are_served_in_order_when_blocks_return() {
    let mut server = small();
    server.post(0, (0..60).map(write).collect());
    server.rest(200);
    for qp in 1..4 {
        server.post(qp, (0..60).map(write).collect());
        assert_eq!(server.take(qp, 32), 0);
        server.rest(100);
    }
    // A block of queue pair 0 returns: the one that waited first gets it, although queue pair 0 waits longer.
    assert_eq!(server.take(0, 9), 9);
    assert_eq!(server.complete(0, 8), None);
    server.rest(100);
    assert_eq!(server.pairs[2].handed.len(), 8);
    assert_eq!(server.pairs[3].handed.len(), 0);
    assert!(server.woken[2] && !server.woken[3]);
    assert_eq!(server.take(2, 8), 8);
    assert_eq!(server.complete(2, 8), None);
    server.rest(100);
    assert_eq!(server.pairs[3].handed.len(), 8);
    assert!(server.woken[3]);
    server.drain();
}

#[test]
fn nobody_waits_for_ever_while_others_keep_posting() {
    let mut server = small();
    for qp in 0..4 {
        server.post(qp, (0..40).map(write).collect());
    }
    let mut executed = [0; 4];
    for _ in 0..100 {
        for (qp, executed) in executed.iter_mut().enumerate() {
            server.rest(20);
            *executed += execute(&mut server, qp);
            let posted = server.pairs[qp].posted.len();
            if posted < 1000 && server.pairs[qp].room() >= 20 {
                let slots = (posted..posted + 20).map(|slot| write(slot as u16));
                server.post(qp, slots.collect());
            }
        }
    }
    assert!(executed.iter().all(|&n| n > 400), "{executed:?}");
    server.drain();
}

#[test]
fn all_blocks_return_when_all_has_completed_or_was_configured() {
    let mut server = small();
    for round in 0..40 {
        for qp in 0..4 {
            let posted = server.pairs[qp].posted.len();
            let slots = (posted..posted + 5).map(|slot| write(slot as u16));
            server.post(qp, slots.collect());
            server.rest(if round % 3 == 0 { 0 } else { 60 });
            if round % 4 == 3 {
                configure(&mut server, qp);
            } else if round % 4 == 1 {
                server.take(qp, 2);
                server.flush(qp, None);
                server.settle();
                configure(&mut server, qp);
            } else {
                server.rest(60);
                assert_eq!(execute(&mut server, qp), 5, "round {round}");
            }
        }
    }
    // So one queue pair gets as many blocks as at the beginning.
    server.rest(100);
    for qp in 0..4 {
        configure(&mut server, qp);
    }
    server.post(0, (0..60).map(write).collect());
    server.rest(200);
    assert_eq!(server.pairs[0].handed.len(), 24);
}

#[test]
fn messages_of_a_burst_come_in_consecutive_cycles_and_complete_as_fast() {
    let mut server = quick(7);
    let long = |slot| {
        Posted::good(Wqe {
            length: 3 * 8192,
            ..Wqe::from_long_bytes(&write(slot).bytes).expect("an entry")
        })
    };
    let entries = (0..40).map(|slot| if slot == 39 { long(slot) } else { write(slot) });
    server.post(0, entries.collect());
    server.rest(2000);
    assert_eq!(server.take(0, 32), 32);
    assert_eq!(server.took, 4 + 31);
    // The last one has more packets than the burst.
    assert_eq!(server.take(0, 8), 8);
    assert_eq!(server.complete(0, 8), None);
    assert_eq!(server.took, 4 + 39);
    assert_eq!(server.take(0, 32), 1);
    assert_eq!(server.complete(0, 8), None);
    server.drain();
}
