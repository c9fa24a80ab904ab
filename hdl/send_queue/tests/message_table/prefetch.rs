//! Prefetch: which entries are read, which need not be read, and what `Configure` discards.

use stellar_wire::host::{WcStatus, Wqe};

use crate::entries::Posted;
use crate::server::Server;
use crate::{quick, write};

/// Starts entry 0. Then entry 1, which came with its doorbell, is requested; two entries follow it. `fetch_taken` is the probability that their read is
/// accepted in a cycle.
fn start_before_pushed(server: &mut Server, fetch_taken: f64) {
    server.post(0, vec![write(0)]);
    server.rest(16);
    server.push(0, 1, write(1));
    server.post(0, vec![write(1)]);
    server.post(0, vec![write(2), write(3)]);
    server.fetch_taken = fetch_taken;
    assert!(server.current(0, 8));
}

/// Checks that `entries` of the ring before the last `Configure` are read and dropped, before the new ring is read.
fn reads_the_old_ring_first(server: &mut Server, entries: usize) {
    (server.fetch_taken, server.answered) = (1.0, 0.0);
    server.rest(16);
    assert_eq!(server.pairs[0].reading, vec![None; entries]);
    server.post(0, vec![write(0)]);
    server.rest(16);
    assert_eq!(server.pairs[0].asked, 0);
    server.answered = 1.0;
    server.rest(40);
    assert_eq!((server.pairs[0].asked, server.pairs[0].came), (1, 1));
    assert!(server.current(0, 8));
    server.drain();
}

#[test]
fn entries_are_read_ahead_in_blocks_as_far_as_they_can_be_kept() {
    let mut server = quick(7);
    server.post(0, (0..5).map(write).collect());
    server.rest(40);
    assert_eq!(server.pairs[0].asked, 5);
    assert!(server.woken[0]);
    server.post(0, (5..60).map(write).collect());
    server.rest(80);
    assert_eq!(server.pairs[0].asked, 5, "nothing was asked for");
    assert_eq!(server.waits, 0);
    assert!(server.current(0, 8));
    server.rest(80);
    // Reads go to the end of the block, then take whole blocks: one entry is delivered, 16 are buffered.
    assert_eq!(server.pairs[0].asked, 16);
    for taken in 2..60 {
        assert!(server.current(0, 8), "entry {taken}");
        assert_eq!(server.complete(0, 8), None);
        server.rest(40);
        let asked = server.pairs[0].asked;
        assert!(
            asked == 60 || (taken + 9..=taken + 17).contains(&asked),
            "{asked} of {taken}"
        );
    }
}

#[test]
fn an_entry_pushed_with_its_doorbell_is_not_read() {
    let mut server = quick(7);
    for slot in 0..3 {
        server.push(0, slot, write(slot as u16));
        server.post(0, vec![write(slot as u16)]);
        server.rest(16);
        assert!(server.current(0, 8));
    }
    assert_eq!(server.pairs[0].handed.len(), 3);
    // All entries after one that was not pushed are read. So is an entry that the push of another queue pair replaced.
    server.push(0, 4, write(4));
    server.post(0, vec![write(3), write(4)]);
    server.rest(16);
    assert_eq!((server.pairs[0].asked, server.pairs[0].came), (5, 5));
    server.current(0, 8);
    server.rest(16);
    server.current(0, 8);
    server.push(0, 5, write(5));
    server.push(1, 0, write(0));
    server.pairs[0].pushed.clear();
    server.post(0, vec![write(5)]);
    server.rest(16);
    assert_eq!((server.pairs[0].asked, server.pairs[0].came), (6, 6));
    server.drain();
}

#[test]
fn entries_pushed_one_behind_the_other_are_kept() {
    let mut server = quick(7);
    // One entry is delivered, 16 are buffered; two more are read.
    for slot in 0..19 {
        server.push(0, slot, write(slot as u16));
        server.post(0, vec![write(slot as u16)]);
    }
    server.rest(16);
    assert_eq!(server.pairs[0].asked, 1, "nothing but entry 0 was taken");
    for taken in 1..20 {
        assert!(server.current(0, 8), "entry {taken}");
        server.rest(if taken < 8 { 16 } else { 40 });
    }
    assert_eq!((server.pairs[0].asked, server.pairs[0].came), (19, 19));
    assert_eq!(server.reads, 1);
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
    assert_eq!((server.pairs[0].asked, server.pairs[0].came), (2, 2));
    assert!(server.current(0, 8), "the entry of slot 0 that was posted");
    server.rest(16);
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
    assert_eq!((server.pairs[0].asked, server.pairs[0].came), (1, 1));
    assert!(server.current(0, 8));
    server.drain();
}

#[test]
fn answers_of_the_time_before_configure_are_dropped() {
    let mut server = quick(4);
    server.answered = 0.0;
    server.post(0, (0..8).map(write).collect());
    server.rest(16);
    server.woken[0] = false;
    server.configure(0);
    server.rest(16);
    assert!(
        server.woken[0],
        "who waited for an entry hears that none will come"
    );
    server.post(0, vec![write(0)]);
    server.rest(16);
    assert!(!server.current(0, 8), "the old read is still outstanding");
    assert_eq!(server.waits, 1);
    assert_eq!(server.pairs[0].asked, 0);
    server.answered = 1.0;
    server.rest(60);
    assert!(server.woken[0]);
    assert_eq!(server.pairs[0].asked, 1);
    assert!(server.current(0, 8));
    server.drain();
}

#[test]
fn entries_behind_a_pushed_one_are_read_before_its_wake() {
    let mut server = quick(4);
    start_before_pushed(&mut server, 1.0);
    server.rest(30);
    assert_eq!((server.pairs[0].asked, server.pairs[0].came), (4, 4));
    assert_eq!(server.pairs[0].handed.len(), 2);
    server.drain();
}

#[test]
fn a_read_behind_a_pushed_entry_may_leave_after_configure() {
    let mut server = quick(4);
    start_before_pushed(&mut server, 0.0);
    // The wake-up and the read of the following entries have not been observed yet.
    server.configure(0);
    reads_the_old_ring_first(&mut server, 2);
}

#[test]
fn a_read_that_an_answer_starts_during_configure_is_dropped() {
    // The read before it waits for its data, or to be accepted.
    for (fetch_taken, answered) in [(1.0, 0.0), (0.0, 1.0)] {
        let mut server = quick(1);
        server.post(0, vec![write(0)]);
        server.rest(16);
        assert!(server.current(0, 8));
        (server.fetch_taken, server.answered) = (fetch_taken, answered);
        // The end of the ring lies between the two entries, so each needs a read.
        server.post(0, vec![write(1), write(2)]);
        server.rest(16);
        let left = usize::from(fetch_taken == 1.0);
        assert_eq!((server.pairs[0].asked, server.pairs[0].came), (1 + left, 1));
        (server.fetch_taken, server.answered) = (1.0, 1.0);
        server.configure(0);
        assert!(server.pairs[0].reading.is_empty());
        reads_the_old_ring_first(&mut server, 1);
    }
}
