//! Injected faults.

use std::os::unix::net::UnixDatagram;

use sim_bridge::{BitFlip, BridgeConfig, Impairment};
use stellar_wire::RoceFrame;
use tempfile::TempDir;

use crate::card::{config, datagram, plain, roce, until, Card, PORT};
use crate::datagram::{peer, receive};

const FRAMES: u32 = 200;
const FAULTY: Impairment = Impairment {
    drop: 0.1,
    duplicate: 0.1,
    reorder: 0.1,
};

/// A card and a peer with a bridge that impairs both directions alike, and the folder of their sockets.
fn impaired(both: Impairment, seed: u64) -> (TempDir, Card, UnixDatagram) {
    let (folder, address) = datagram();
    let card = Card::new(&BridgeConfig {
        to_card: both,
        to_peer: both,
        seed,
        ..config(address.clone())
    });
    let peer = peer(&address);
    (folder, card, peer)
}

/// The frames that arrive at the card and at the peer, of equally many sent.
fn run(seed: u64) -> [Vec<Vec<u8>>; 2] {
    let (_folder, mut card, peer) = impaired(FAULTY, seed);
    let mut at_the_peer = Vec::new();
    for number in 0..FRAMES {
        card.send(PORT, roce(number));
        peer.send(&roce(number)).unwrap();
        until("the frame has been taken", || {
            card.run(1);
            card.bridge.counts().from_peer == u64::from(number) + 1
        });
    }
    // Frames other than RoCEv2 are not impaired. So this frame arrives last, unless a frame is held back.
    until("nothing is held back", || {
        card.run(64);
        !card.bridge.needs_clock()
    });
    card.send(PORT, plain(0));
    while at_the_peer.last() != Some(&plain(0)) {
        at_the_peer.push(receive(&peer));
    }
    let counts = card.bridge.counts();
    assert!(counts.dropped > 0 && counts.duplicated > 0 && counts.held_back > 0);
    let crossed = card.arrived.len() as u64 + at_the_peer.len() as u64;
    let expected = 2 * u64::from(FRAMES) + 1 + counts.duplicated - counts.dropped;
    assert_eq!(crossed, expected);
    [card.frames(), at_the_peer]
}

#[test]
fn the_same_seed_has_the_same_frames_and_another_has_others() {
    let first = run(3);
    assert!(run(3) == first, "the same seed, other frames");
    let other = run(4);
    assert!(other[0] != first[0] && other[1] != first[1]);
    assert!(first[0] != first[1][..first[1].len() - 1]);
}

#[test]
fn only_rocev2_is_lost_and_treatment_can_change() {
    let (_folder, mut card, peer) = impaired(
        Impairment {
            drop: 1.0,
            ..Impairment::NONE
        },
        1,
    );
    card.send(PORT, roce(1));
    card.send(PORT, plain(1));
    assert_eq!(receive(&peer), plain(1));
    peer.send(&roce(1)).unwrap();
    peer.send(&plain(1)).unwrap();
    card.run_until_arrived(1);
    assert_eq!(card.frames(), [plain(1)]);
    assert_eq!(card.bridge.counts().dropped, 2);
    let none = Impairment::NONE;
    let too_much = Impairment { drop: 2.0, ..none };
    assert!(card.bridge.set_impairments(none, too_much).is_err());
    card.bridge.set_impairments(none, none).unwrap();
    card.send(PORT, roce(2));
    assert_eq!(receive(&peer), roce(2));
    assert_eq!(card.bridge.counts().dropped, 2);
}

#[test]
fn a_frame_that_nothing_overtakes_needs_the_clock_to_arrive() {
    let (_folder, mut card, peer) = impaired(
        Impairment {
            reorder: 1.0,
            ..Impairment::NONE
        },
        1,
    );
    peer.send(&roce(1)).unwrap();
    card.send(PORT, roce(2));
    until("it is held back", || {
        card.run(1);
        card.bridge.counts().held_back == 2
    });
    assert!(card.bridge.needs_clock() && card.arrived.is_empty());
    // 20 us, and the cycles in which the socket was read.
    card.run(5_001);
    assert_eq!(card.frames(), [roce(1)]);
    assert_eq!(receive(&peer), roce(2));
    assert!(!card.bridge.needs_clock());
}

#[test]
fn a_wrong_bit_is_in_the_cards_rocev2_frames_alone() {
    let (_folder, address) = datagram();
    let flip: BitFlip = "11.0".parse().unwrap();
    let mut card = Card::new(&BridgeConfig {
        flip: Some(flip),
        ..config(address.clone())
    });
    let peer = peer(&address);
    card.send(PORT, roce(4));
    card.send(PORT, plain(4));
    let flipped = RoceFrame::parse(&receive(&peer)).unwrap();
    assert_eq!(flipped.bth.psn, 5);
    assert_eq!(receive(&peer), plain(4));
    peer.send(&roce(4)).unwrap();
    card.run_until_arrived(1);
    assert_eq!(card.frames(), [roce(4)]);
    card.bridge.set_flip(None);
    card.send(PORT, roce(6));
    assert_eq!(receive(&peer), roce(6));
}
