//! Rings of 128-byte entries.

use stellar_wire::host::{Wqe, WqeOpcode, WqeSize};

use crate::entries::Posted;
use crate::pair::Pair;
use crate::server::Server;
use crate::{quick, write};

/// A table without stalls. The first queue pair has a ring of 128 entries of 128 bytes.
fn quick_long() -> Server {
    let mut server = quick(7);
    configure(&mut server, WqeSize::Bytes128);
    server
}

fn configure(server: &mut Server, entry: WqeSize) {
    let mut pair = Pair::new(0, &mut server.rng);
    pair.resize(7, entry);
    server.configure_as(0, pair);
}

/// A WRITE with `length` bytes of inline data.
fn inline(slot: u16, length: usize) -> Posted {
    let data: Vec<u8> = (0..length).map(|i| slot as u8 ^ (3 * i) as u8).collect();
    let wqe = Wqe {
        opcode: WqeOpcode::Write,
        slot,
        wr_id: slot.into(),
        ..Wqe::default()
    };
    Posted::good(wqe.with_inline(&data).expect("inline data"))
}

#[test]
fn a_read_has_four_entries() {
    let mut server = quick_long();
    server.post(0, (0..5).map(write).collect());
    server.post(0, (5..60).map(write).collect());
    server.rest(400);
    assert_eq!(
        (server.pairs[0].asked, server.pairs[0].handed.len()),
        (60, 60)
    );
    // 0 to 3, 4, 5 to 7, and 13 of four entries.
    assert_eq!(server.reads, 16);
    assert_eq!(server.take(0, 32), 32);
    assert_eq!(server.take(0, 32), 28);
    assert_eq!(server.complete(0, 8), None);
    server.drain();
}

#[test]
fn inline_data_of_both_lines_come_with_their_message() {
    let mut server = quick_long();
    let lengths = [64, 0, 32, 33, 63, 1, 31, 64];
    server.post(
        0,
        (0..)
            .zip(lengths)
            .map(|(slot, n)| inline(slot, n))
            .collect(),
    );
    server.rest(100);
    // Every message is compared with the reference, with all of its bytes.
    assert_eq!(server.take(0, 8), 8);
    for ahead in 0..8 {
        assert!(server.holding(0, ahead), "packet {ahead}");
    }
    assert_eq!(server.complete(0, 8), None);
    server.drain();
}

#[test]
fn a_pushed_entry_is_used_unless_it_has_a_second_line() {
    let mut server = quick_long();
    for (slot, length, reads) in [(0, 32, 0), (1, 33, 1), (2, 64, 2), (3, 20, 2)] {
        let entry = inline(slot, length);
        server.push(0, slot.into(), entry);
        server.post(0, vec![entry]);
        server.rest(60);
        assert_eq!(server.reads, reads, "{length} bytes");
        assert!(server.current(0, 8));
    }
    assert_eq!(server.complete(0, 8), None);
    server.drain();
}

#[test]
fn lines_under_way_are_dropped_when_a_ring_of_another_size_follows() {
    for (old, new) in [
        (WqeSize::Bytes128, WqeSize::Bytes64),
        (WqeSize::Bytes64, WqeSize::Bytes128),
    ] {
        let mut server = quick(7);
        configure(&mut server, old);
        server.answered = 0.0;
        server.post(0, (0..20).map(write).collect());
        server.rest(60);
        assert_eq!(server.pairs[0].asked, 20);
        configure(&mut server, new);
        server.answered = 1.0;
        let entries = (0..20).map(|slot| inline(slot, (slot as usize * 7) % 33));
        server.post(0, entries.collect());
        server.rest(200);
        assert_eq!(server.take(0, 20), 20);
        assert_eq!(server.complete(0, 8), None);
        server.drain();
    }
}
