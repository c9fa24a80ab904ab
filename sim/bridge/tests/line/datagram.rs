//! A peer at a datagram socket.

use std::fs;
use std::os::unix::net::UnixDatagram;

use sim_bridge::LinkAddress;

use crate::card::{config, datagram, is_free, plain, until, Card, PORT};

/// The peer's socket, and the path of the bridge's.
pub fn peer(address: &LinkAddress) -> UnixDatagram {
    let LinkAddress::Datagram { local, remote } = address else {
        panic!("{address} has no datagrams");
    };
    let peer = UnixDatagram::bind(remote).unwrap();
    peer.connect(local).unwrap();
    peer
}

/// The next frame at the peer.
pub fn receive(peer: &UnixDatagram) -> Vec<u8> {
    let mut buffer = vec![0; 1 << 17];
    let length = peer.recv(&mut buffer).unwrap();
    buffer.truncate(length);
    buffer
}

#[test]
fn frames_cross_both_ways() {
    let (_folder, address) = datagram();
    let mut card = Card::new(&config(address.clone()));
    let peer = peer(&address);
    let sent: Vec<_> = (0..5).map(plain).collect();
    for frame in &sent {
        peer.send(frame).unwrap();
    }
    card.run_until_arrived(5);
    assert_eq!(card.frames(), sent);
    assert!(card.arrived.iter().all(|&(_, port, _)| port == PORT));
    for number in 10..15 {
        card.send(PORT, plain(number));
    }
    for number in 10..15 {
        assert_eq!(receive(&peer), plain(number));
    }
    let counts = card.bridge.counts();
    assert_eq!((counts.from_peer, counts.from_card, counts.lost), (5, 5, 0));
}

#[test]
fn the_peer_may_come_late_and_go_and_come_back() {
    let (folder, address) = datagram();
    let remote = folder.path().join("peer");
    let mut card = Card::new(&config(address.clone()));
    for round in 0..3 {
        // First there is no socket, then a file without a listener, then no socket again.
        card.send(PORT, plain(99));
        until("a frame for nobody is lost", || {
            card.bridge.counts().lost == u64::from(round) + 1
        });
        if round == 1 {
            fs::remove_file(&remote).unwrap();
        }
        let peer = peer(&address);
        card.send(PORT, plain(round));
        assert_eq!(receive(&peer), plain(round));
        peer.send(&plain(round)).unwrap();
        card.run_until_arrived(round as usize + 1);
        if round == 1 {
            fs::remove_file(&remote).unwrap();
        }
    }
    assert_eq!(card.frames(), [0, 1, 2].map(plain));
}

#[test]
fn the_socket_goes_with_the_bridge() {
    let (folder, address) = datagram();
    let local = folder.path().join("bridge");
    for number in 0..3 {
        let mut card = Card::new(&config(address.clone()));
        let peer = UnixDatagram::unbound().unwrap();
        peer.send_to(&plain(number), &local).unwrap();
        card.run_until_arrived(1);
        drop(card);
        assert!(is_free(&local), "the socket is left");
    }
}
