//! A peer at a stream socket, in both roles.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use sim_bridge::LinkAddress;
use tempfile::TempDir;

use crate::card::{config, is_free, plain, until, Card, PORT};

/// The side that connects.
#[derive(Clone, Copy, Debug)]
enum Role {
    BridgeListens,
    PeerListens,
}

const ROLES: [Role; 2] = [Role::BridgeListens, Role::PeerListens];

/// The peer's end.
struct Peer {
    role: Role,
    path: PathBuf,
    listener: Option<UnixListener>,
}

impl Peer {
    /// Connects, or waits for the bridge to connect. A listening peer starts to listen at the first call.
    fn meet(&mut self) -> UnixStream {
        let path = &self.path;
        match self.role {
            Role::BridgeListens => UnixStream::connect(path).unwrap(),
            Role::PeerListens => {
                let listener = self
                    .listener
                    .get_or_insert_with(|| UnixListener::bind(path).unwrap());
                listener.accept().unwrap().0
            }
        }
    }
}

fn path() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("link");
    (folder, path)
}

fn address(role: Role, path: &Path) -> LinkAddress {
    match role {
        Role::BridgeListens => LinkAddress::Listen(path.to_owned()),
        Role::PeerListens => LinkAddress::Connect(path.to_owned()),
    }
}

/// A bridge, and its peer, which is not connected yet.
fn link(role: Role) -> (TempDir, Card, Peer) {
    let (folder, path) = path();
    let card = Card::new(&config(address(role, &path)));
    let peer = Peer {
        role,
        path,
        listener: None,
    };
    (folder, card, peer)
}

/// A frame in the format of the socket.
fn message(frame: &[u8]) -> Vec<u8> {
    let length = u32::try_from(frame.len()).unwrap();
    [&length.to_be_bytes(), frame].concat()
}

fn receive(stream: &mut UnixStream) -> Vec<u8> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut frame = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut frame).unwrap();
    frame
}

/// Waits until the bridge has closed a connection.
fn wait_for_end(stream: &mut UnixStream) {
    let mut byte = [0];
    match stream.read(&mut byte) {
        Ok(0) => {}
        // The bridge closed the connection before it had read everything.
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        other => panic!("the connection is open: {other:?}"),
    }
}

/// Sends a frame in each direction; the card has received `before` frames so far.
fn check(card: &mut Card, stream: &mut UnixStream, before: usize) {
    let number = before as u32;
    stream.write_all(&message(&plain(number))).unwrap();
    card.run_until_arrived(before + 1);
    assert_eq!(card.frames()[before], plain(number));
    // The bridge has accepted the connection, because it has received a frame.
    card.send(PORT, plain(number + 1000));
    assert_eq!(receive(stream), plain(number + 1000));
}

#[test]
fn frames_cross_both_ways_and_the_peer_may_go_and_come_back() {
    for role in ROLES {
        let (_folder, mut card, mut peer) = link(role);
        card.send(PORT, plain(7));
        until("a frame for nobody is lost", || {
            card.bridge.counts().lost == 1
        });
        for round in 0..3 {
            let mut stream = peer.meet();
            check(&mut card, &mut stream, 2 * round);
            check(&mut card, &mut stream, 2 * round + 1);
        }
        assert_eq!(card.bridge.counts().lost, 1, "{role:?}");
    }
}

#[test]
fn a_frame_in_pieces_and_frames_in_one_piece_arrive_whole() {
    for role in ROLES {
        let (_folder, mut card, mut peer) = link(role);
        let mut stream = peer.meet();
        let large: Vec<u8> = (0..65_549).map(|at| at as u8).collect();
        for byte in message(&plain(0)) {
            stream.write_all(&[byte]).unwrap();
        }
        let rest = [plain(1), large.clone(), plain(2)];
        stream
            .write_all(&rest.each_ref().map(|frame| message(frame)).concat())
            .unwrap();
        card.run_until_arrived(4);
        assert_eq!(card.frames(), [plain(0), plain(1), large, plain(2)]);
    }
}

#[test]
fn what_is_no_frame_ends_the_connection_and_the_next_one_works() {
    let too_long = 65_550u32.to_be_bytes();
    for role in ROLES {
        let (_folder, mut card, mut peer) = link(role);
        let bad: [&[u8]; 4] = [b"GET / HTTP/1.1\r\n\r\n", &[0; 4], &too_long, &[0xff; 5000]];
        for (round, bad) in bad.into_iter().enumerate() {
            let mut stream = peer.meet();
            check(&mut card, &mut stream, round);
            stream.write_all(bad).unwrap();
            wait_for_end(&mut stream);
        }
        // A connection that ends in the middle of a frame delivers no part of it.
        let mut stream = peer.meet();
        stream.write_all(&message(&plain(50))[..20]).unwrap();
        drop(stream);
        check(&mut card, &mut peer.meet(), 4);
        assert_eq!(card.bridge.counts().malformed, 0, "{role:?}");
    }
}

/// The bridge is writing a message to a peer that does not read, when the peer sends something that ends the connection.
#[test]
fn a_peer_that_reads_nothing_and_talks_nonsense_is_cut_off() {
    for role in ROLES {
        let (_folder, mut card, mut peer) = link(role);
        let mut stream = peer.meet();
        check(&mut card, &mut stream, 0);
        // Far more data than the socket's buffers hold.
        for number in 0..100 {
            let mut frame = plain(number);
            frame.resize(60_000, 0);
            card.send(PORT, frame);
        }
        stream.write_all(&[0; 4]).unwrap();
        let mut next = peer.meet();
        // When this frame arrives, the bridge has seen the end of the first connection.
        next.write_all(&message(&plain(1))).unwrap();
        card.run_until_arrived(2);
        until("the card reaches the next peer", || {
            card.send(PORT, plain(1000));
            next.set_nonblocking(true).unwrap();
            let begun = next.read(&mut [0]);
            begun.is_ok()
        });
        // This does not require that data of the first connection is read.
        drop(stream);
    }
}

#[test]
fn the_socket_goes_with_the_bridge() {
    let (_folder, path) = path();
    for number in 0..3 {
        let mut card = Card::new(&config(LinkAddress::Listen(path.clone())));
        let mut stream = UnixStream::connect(&path).unwrap();
        stream.write_all(&message(&plain(number))).unwrap();
        card.run_until_arrived(1);
        drop(card);
        assert!(is_free(&path), "the socket is left");
        wait_for_end(&mut stream);
    }
}
