//! Frames behind the bridge, and frames that it discards.

use crate::card::{config, datagram, plain, until, who_has, Card, MAC, PORT};
use crate::datagram::{peer, receive};

#[test]
fn arp_is_answered_and_the_card_sees_the_question_too() {
    let (_folder, address) = datagram();
    let mut card = Card::new(&config(address.clone()));
    let peer = peer(&address);
    peer.send(&who_has([10, 0, 0, 9])).unwrap();
    peer.send(&who_has([10, 0, 0, 1])).unwrap();
    card.run_until_arrived(2);
    let answer = receive(&peer);
    assert_eq!(answer.len(), 60);
    // Destination and source; and in the ARP packet a reply with this MAC address for this IP address.
    assert_eq!(answer[..6], [2, 0, 0, 0, 0, 2]);
    assert_eq!(answer[6..12], MAC);
    assert_eq!(answer[20..22], [0, 2]);
    assert_eq!(answer[22..28], MAC);
    assert_eq!(answer[28..32], [10, 0, 0, 1]);
    let counts = card.bridge.counts();
    assert_eq!((counts.from_peer, counts.from_card), (2, 1));
}

#[test]
fn short_frames_are_padded_both_ways() {
    let (_folder, address) = datagram();
    let mut card = Card::new(&config(address.clone()));
    let peer = peer(&address);
    for length in [14, 42, 59, 60, 61] {
        let short = plain(5)[..length.min(60)].to_vec();
        let short = [short, vec![1; length.saturating_sub(60)]].concat();
        let mut padded = short.clone();
        padded.resize(length.max(60), 0);
        peer.send(&short).unwrap();
        let before = card.arrived.len();
        card.run_until_arrived(before + 1);
        assert_eq!(card.frames()[before], padded, "{length} bytes");
        card.send(PORT, short);
        assert_eq!(receive(&peer), padded, "{length} bytes");
    }
}

#[test]
fn what_is_no_ethernet_frame_is_counted_and_goes_nowhere() {
    let (_folder, address) = datagram();
    let mut card = Card::new(&config(address.clone()));
    let peer = peer(&address);
    for length in [0, 1, 13, 65_550, 100_000] {
        peer.send(&vec![0x22; length]).unwrap();
    }
    let longest = vec![0x33; 65_549];
    peer.send(&longest).unwrap();
    card.run_until_arrived(1);
    assert!(card.frames() == [longest], "another frame");
    let counts = card.bridge.counts();
    assert_eq!((counts.from_peer, counts.malformed), (1, 5));
}

#[test]
fn frames_of_the_other_port_are_counted_and_go_nowhere() {
    let (_folder, address) = datagram();
    let mut card = Card::new(&config(address.clone()));
    let peer = peer(&address);
    card.send(1 - PORT, plain(1));
    card.send(PORT, plain(2));
    card.send(1 - PORT, plain(3));
    assert_eq!(receive(&peer), plain(2));
    let counts = card.bridge.counts();
    assert_eq!((counts.from_card, counts.unplugged, counts.lost), (1, 2, 0));
}

#[test]
fn frames_arrive_as_far_apart_as_the_wire_has_them() {
    let (_folder, address) = datagram();
    let mut card = Card::new(&config(address.clone()));
    let peer = peer(&address);
    let mut frame = plain(0);
    frame.resize(4000, 0);
    for _ in 0..8 {
        peer.send(&frame).unwrap();
    }
    // All frames are queued before the first one arrives.
    until("they are there", || card.bridge.needs_clock());
    std::thread::sleep(std::time::Duration::from_millis(200));
    card.run_until_arrived(8);
    for two in card.arrived.windows(2) {
        // The times include preamble, FCS and gap, at 200 Gb/s.
        assert!(two[1].0 - two[0].0 >= 4024 * 40 - sim_nic::CLOCK_PS);
    }
    let (first, last) = (card.arrived[0].0, card.arrived[7].0);
    assert!(last - first >= 7 * 4024 * 40);
}
