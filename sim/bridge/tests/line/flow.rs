//! Flow control: frames that wait, and the wake-up of the simulation.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use sim_bridge::LinkAddress;

use crate::card::{config, datagram, plain, until, Card};
use crate::datagram::peer;

/// Frames of a burst: more than any queue on the way holds.
const FRAMES: u32 = 1000;
/// A sender that has sent nothing for this long is taken to be blocked.
const LONG: Duration = Duration::from_millis(300);

/// Sends a burst from a thread of its own, and counts the frames sent.
fn burst(mut send: impl FnMut(&[u8]) + Send + 'static) -> (JoinHandle<()>, Arc<AtomicU32>) {
    let sent = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&sent);
    let sender = thread::spawn(move || {
        for number in 0..FRAMES {
            send(&frame(number));
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    (sender, sent)
}

fn frame(number: u32) -> Vec<u8> {
    let mut frame = plain(number);
    frame.resize(1500, 0x11);
    frame
}

/// A burst waits while the clock is stopped, and arrives completely when it runs.
fn check(mut card: Card, sender: JoinHandle<()>, sent: &AtomicU32) {
    let (mut before, mut since) = (0, Instant::now());
    until("the sender is held back", || {
        let now = sent.load(Ordering::Relaxed);
        if now != before {
            (before, since) = (now, Instant::now());
        }
        since.elapsed() > LONG
    });
    assert!((1..FRAMES).contains(&before), "{before} frames were taken");
    assert!(card.bridge.needs_clock());
    assert_eq!(card.bridge.counts().from_peer, 0);
    card.run_until_arrived(FRAMES as usize);
    sender.join().unwrap();
    let expected: Vec<_> = (0..FRAMES).map(frame).collect();
    assert!(card.frames() == expected, "others, or in another order");
    assert!(!card.bridge.needs_clock());
    let counts = card.bridge.counts();
    assert_eq!((counts.from_peer, counts.lost), (FRAMES.into(), 0));
}

#[test]
fn a_burst_of_datagrams_is_held_back_and_none_is_lost() {
    let (_folder, address) = datagram();
    let card = Card::new(&config(address.clone()));
    let peer = peer(&address);
    let (sender, sent) = burst(move |frame| {
        peer.send(frame).unwrap();
    });
    check(card, sender, &sent);
}

#[test]
fn a_burst_on_a_stream_is_held_back_and_none_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("link");
    let card = Card::new(&config(LinkAddress::Listen(path.clone())));
    let mut stream = UnixStream::connect(&path).unwrap();
    let (sender, sent) = burst(move |frame| {
        let length = frame.len() as u32;
        let message = [&length.to_be_bytes(), frame].concat();
        stream.write_all(&message).unwrap();
    });
    check(card, sender, &sent);
}

#[test]
fn a_frame_wakes_who_sleeps() {
    let (_folder, address) = datagram();
    let mut card = Card::new(&config(address.clone()));
    let (tell, told) = std::sync::mpsc::channel();
    card.bridge.on_arrival(move || tell.send(()).unwrap());
    let peer = peer(&address);
    assert!(!card.bridge.needs_clock());
    for count in 1..4 {
        peer.send(&plain(0)).unwrap();
        told.recv_timeout(Duration::from_secs(60)).unwrap();
        assert!(card.bridge.needs_clock());
        card.run_until_arrived(count);
        assert!(!card.bridge.needs_clock());
    }
}

#[test]
fn simulated_time_takes_as_long_as_it_is_told() {
    let (_folder, address) = datagram();
    let mut card = Card::new(&sim_bridge::BridgeConfig {
        pace: 2000,
        ..config(address)
    });
    let began = Instant::now();
    // 40 us of simulated time. The pace is checked every 64 cycles, so the last ones before the end are not limited.
    card.run(10_000);
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(78), "{took:?}");
}
