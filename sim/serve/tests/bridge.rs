//! A lone card with a bridge: when its clock runs, unusual frames, and the end of the server.

use std::os::unix::net::UnixDatagram;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sim_bridge::{Bridge, BridgeConfig, HostAddresses, Impairment, LinkAddress};
use sim_nic::PcieSettings;
use sim_serve::Server;
use stellar_driver::{
    Counter, Device, DeviceConfig, DropReason, PciFunction, PortAddress, Probe, VfioUser,
};
use tempfile::TempDir;

/// Longest wait, in wall time.
const WALL: Duration = Duration::from_secs(600);
/// The clock continues for this long after the last activity.
const QUIET: Duration = Duration::from_micros(300);
/// MAC address of the bridged port.
const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];

/// A card, and the peer at its port 0.
struct Bench {
    folder: TempDir,
    server: Server,
    bridge: Bridge,
    peer: UnixDatagram,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [local, remote] = ["bridge", "peer"].map(|name| folder.path().join(name));
        let peer = UnixDatagram::bind(&remote).unwrap();
        peer.set_read_timeout(Some(WALL)).unwrap();
        let bridge = Bridge::open(&BridgeConfig {
            address: LinkAddress::Datagram {
                local: local.clone(),
                remote,
            },
            port: 0,
            host: HostAddresses {
                mac: MAC,
                ips: vec!["10.0.0.1".parse().unwrap()],
            },
            to_card: Impairment::NONE,
            to_peer: Impairment::NONE,
            seed: 1,
            flip: None,
            capture: None,
            pace: 0,
        })
        .unwrap();
        peer.connect(&local).unwrap();
        let server =
            Server::start_lone(folder.path(), bridge.clone(), &PcieSettings::default()).unwrap();
        assert_eq!(server.sockets(), [folder.path().join("nic0.sock")]);
        Self {
            folder,
            server,
            bridge,
            peer,
        }
    }

    fn open(&self) -> VfioUser {
        VfioUser::open_within(self.server.sockets()[0], WALL).unwrap()
    }

    fn bring_up(&self) -> Device {
        let ports = [0, 1].map(|plane| PortAddress {
            mac: [2, 0, 0, plane, 0, 1],
            ip: [10, plane, 0, 1].into(),
        });
        let probe = Probe::new(Arc::new(self.open())).unwrap();
        probe.bring_up(DeviceConfig::new(ports, 1)).unwrap()
    }

    /// Sends an ARP request for the card's IP address, and waits for the reply.
    fn ask(&self) {
        self.peer.send(&question()).unwrap();
        let mut answer = [0; 100];
        assert_eq!(self.peer.recv(&mut answer).unwrap(), 60);
        assert_eq!(answer[22..28], MAC);
    }
}

/// An ARP request.
fn question() -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend([2, 0, 0, 0, 0, 2, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
    frame.extend([2, 0, 0, 0, 0, 2, 10, 0, 0, 2]);
    frame.extend([0, 0, 0, 0, 0, 0, 10, 0, 0, 1]);
    frame
}

/// Polls until `what` holds.
#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + WALL;
    while !holds() {
        assert!(Instant::now() < deadline, "not within {WALL:?}: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until the clock has stopped. Returns its time.
fn rest(function: &VfioUser) -> Duration {
    let mut then = function.now();
    until("the clock stands still", || {
        std::thread::sleep(Duration::from_millis(300));
        let now = function.now();
        std::mem::replace(&mut then, now) == now
    });
    then
}

#[test]
fn a_frame_wakes_the_clock_which_comes_to_a_stand_again() {
    let bench = Bench::new();
    // First without a driver.
    bench.ask();
    // Then with a driver that only reads the clock.
    let function = bench.open();
    let mut before = rest(&function);
    for _ in 0..3 {
        bench.ask();
        let after = rest(&function);
        let ran = after - before;
        assert!((QUIET..QUIET + QUIET / 10).contains(&ran), "{ran:?}");
        before = after;
    }
    drop(function);
    bench.ask();
}

#[test]
fn the_simulation_ends_with_the_server_and_the_bridge_with_both() {
    let bench = Bench::new();
    bench.ask();
    let Bench {
        folder,
        server,
        bridge,
        ..
    } = bench;
    drop(server);
    assert!(!folder.path().join("nic0.sock").exists());
    // The simulation is the last owner of the bridge, and frames may wake it at any time.
    drop(bridge);
    let socket = folder.path().join("bridge");
    until("the simulation has ended", || !socket.exists());
}

#[test]
fn the_card_takes_frames_of_any_length_and_content() {
    let bench = Bench::new();
    let device = bench.bring_up();
    let lengths = (14..80).chain([1514, 1515, 4096, 9000, 9100, 16_384, 40_000, 65_549]);
    let headers: [&[u8]; 6] = [
        // An unknown EtherType, IPv4 with and without UDP to port 4791, IPv6, a VLAN tag, and a length field.
        &[0x88, 0xb5],
        &[
            8, 0, 0x45, 0, 0, 40, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1, 0xc0, 0,
            0x12, 0xb7,
        ],
        &[8, 0, 0x4f, 0xff, 0xff, 0xff],
        &[0x86, 0xdd, 0x60, 0, 0, 0, 0xff, 0xff, 17],
        &[0x81, 0, 0, 1, 8, 0, 0x45],
        &[0, 46],
    ];
    let mut sent = 0;
    for length in lengths {
        for header in headers {
            let mut frame = [&MAC[..], &[2, 0, 0, 0, 0, 2], header].concat();
            frame.resize(length, 0x5a);
            bench.peer.send(&frame).unwrap();
            sent += 1;
        }
    }
    bench.ask();
    assert_eq!(bench.bridge.counts().from_peer, sent + 1);
    assert_eq!(bench.bridge.counts().malformed, 0);
    let counters = || device.counters().unwrap();
    until("the card has refused all of them", || {
        let refused: u64 = counters().iter().map(|counter| counter.value).sum();
        refused == sent + 1
    });
    let is_accepted = |counter: &Counter| counter.reason == DropReason::None;
    assert!(!counters().iter().any(is_accepted));
    assert_eq!(bench.server.counts(0).unwrap().bad_accesses, 0);
}

#[test]
fn drivers_come_and_go_while_frames_arrive() {
    let bench = Bench::new();
    let is_over = Arc::new(AtomicBool::new(false));
    let (over, flood) = (Arc::clone(&is_over), bench.peer.try_clone().unwrap());
    let flooding = std::thread::spawn(move || {
        let mut frame = [&MAC[..], &[2, 0, 0, 0, 0, 2, 0x88, 0xb5]].concat();
        frame.resize(1000, 0x5a);
        while !over.load(Ordering::Relaxed) {
            flood.send(&frame).unwrap();
        }
    });
    for _ in 0..2 {
        let device = bench.bring_up();
        assert!(device.counters().is_ok());
    }
    // A driver that disconnects without a message, whatever it was doing.
    drop(bench.open());
    bench.ask();
    is_over.store(true, Ordering::Relaxed);
    flooding.join().unwrap();
    let function = bench.open();
    rest(&function);
    assert!(!bench.bridge.needs_clock());
}
