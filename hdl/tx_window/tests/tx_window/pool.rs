//! The pool: what a queue pair may take, and that every block comes back.

use stellar_transport::requester::Window;
use stellar_transport::rx::Psn;

use crate::server::Server;
use crate::steps::packets;
use crate::{sack_of, sent};

/// Adds packets to a window until the pool has no room for it.
fn fill(server: &mut Server, qp: usize) {
    let first = server.windows[qp].una();
    loop {
        server.query(qp, first);
        let before = server.windows[qp].len();
        let burst = packets(32, sent(7, 100, 1));
        server.burst(qp, &burst, &crate::burst::Pace::full(32));
        if server.windows[qp].len() == before {
            return;
        }
    }
}

#[test]
fn a_queue_pair_that_takes_everything_leaves_a_share_of_the_same_size() {
    let mut server = Server::new(&[5, 37, 64, 0xff_ffff]);
    for qp in 0..4 {
        fill(&mut server, qp);
        assert!(server.pool.free() > 0);
    }
    let held: Vec<u32> = server.windows.iter().map(Window::blocks).collect();
    // The first one is limited by its window, the others by the pool: (512 - 129) / 2, half of the rest, and so on.
    assert_eq!(held, [129, 129, 127, 64]);
}

#[test]
fn every_way_in_which_a_window_ends_returns_its_blocks() {
    let mut server = Server::new(&[5, 37, 64, 0xff_ffff]);
    for round in 0..3 {
        for qp in 0..4 {
            fill(&mut server, qp);
        }
        for qp in 0..4 {
            let window = &server.windows[qp];
            let (una, last) = (window.una(), window.next().previous());
            match (round + qp) % 3 {
                // All at once, in halves, or by a new configuration.
                0 => server.sack(qp, &sack_of(last, last), 0),
                1 => {
                    let middle = una.plus(window.len() / 2);
                    server.sack(qp, &sack_of(middle, middle), 0);
                    server.sack(qp, &sack_of(last, last), 0);
                }
                _ => server.configure(qp, Psn::new(round as u32 * 77)),
            }
            // The blocks are in the free list again, in another order than after the reset.
            server.query(qp, una);
        }
        assert_eq!(server.pool.free(), 512);
    }
}

#[test]
fn a_window_without_packets_holds_no_block() {
    let mut server = Server::with_two_blocks(&[1, 2, 3, 4]);
    for turn in 0..40 {
        // Each queue pair in turn takes a block and gives it back, in the middle of a block.
        let qp = turn % 4;
        let psn = server.windows[qp].next();
        server.push(qp, sent(1, 100, 0));
        server.query((qp + 1) % 4, psn);
        let other = server.windows[(qp + 1) % 4].next();
        server.push((qp + 1) % 4, sent(2, 100, 0));
        assert_eq!(server.pool.free(), 0);
        server.query((qp + 2) % 4, psn);
        server.sack(qp, &sack_of(psn, psn), 0);
        server.sack((qp + 1) % 4, &sack_of(other, other), 0);
        assert_eq!(server.pool.free(), 2);
    }
}
