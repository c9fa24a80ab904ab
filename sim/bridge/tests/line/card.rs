//! A stand-in for the card, and functions that the tests share.

use std::path::Path;
use std::time::{Duration, Instant};

use sim_bridge::{Bridge, BridgeConfig, HostAddresses, Impairment, LinkAddress};
use sim_net::Time;
use sim_nic::{Line, SentFrame, CLOCK_PS};
use stellar_wire::{Aeth, Bth, ExtHeaders, Opcode, RoceFrame};
use tempfile::TempDir;

/// Longest wait, in wall time.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Port that is bridged.
pub const PORT: usize = 1;
/// Address of the simulated host.
pub const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];

/// A bridge without faults and without pace.
pub fn config(address: LinkAddress) -> BridgeConfig {
    BridgeConfig {
        address,
        port: PORT,
        host: HostAddresses {
            mac: MAC,
            ips: vec!["10.0.0.1".parse().unwrap(), "fd00::1".parse().unwrap()],
        },
        to_card: Impairment::NONE,
        to_peer: Impairment::NONE,
        seed: 1,
        flip: None,
        capture: None,
        pace: 0,
    }
}

/// A folder with a datagram address in it.
pub fn datagram() -> (TempDir, LinkAddress) {
    let folder = tempfile::tempdir().unwrap();
    let [local, remote] = ["bridge", "peer"].map(|name| folder.path().join(name));
    (folder, LinkAddress::Datagram { local, remote })
}

/// Polls until `what` holds.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !holds() {
        assert!(Instant::now() < deadline, "not within {TIMEOUT:?}: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A different frame for every number, 60 bytes, of a protocol that the host's stack does not answer.
pub fn plain(number: u32) -> Vec<u8> {
    let mut frame = [
        &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5][..],
        &number.to_be_bytes(),
    ]
    .concat();
    frame.resize(60, 0x5a);
    frame
}

/// A different RoCEv2 frame for every number.
pub fn roce(number: u32) -> Vec<u8> {
    let frame = RoceFrame {
        bth: Bth {
            opcode: Opcode::RcAck,
            psn: number,
            ..Bth::default()
        },
        ext: ExtHeaders {
            aeth: Some(Aeth::default()),
            ..ExtHeaders::default()
        },
        ..RoceFrame::default()
    };
    frame.emit().unwrap()
}

/// An ARP request for an IPv4 address, 42 bytes.
pub fn who_has(target: [u8; 4]) -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend([2, 0, 0, 0, 0, 2, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
    frame.extend([2, 0, 0, 0, 0, 2, 10, 0, 0, 2, 0, 0, 0, 0, 0, 0]);
    frame.extend(target);
    frame
}

/// The card's end of a bridge: it has a clock, and records what arrives.
pub struct Card {
    pub bridge: Bridge,
    now: Time,
    /// Time, port and bytes of the frames that have arrived.
    pub arrived: Vec<(Time, usize, Vec<u8>)>,
}

impl Card {
    pub fn new(config: &BridgeConfig) -> Self {
        Self {
            bridge: Bridge::open(config).unwrap(),
            now: 0,
            arrived: Vec::new(),
        }
    }

    /// Simulates this number of cycles.
    pub fn run(&mut self, clocks: u32) {
        for _ in 0..clocks {
            let now = self.now;
            let arrived = &mut self.arrived;
            self.bridge
                .arrivals(now, &mut |port, frame| arrived.push((now, port, frame)));
            self.now += CLOCK_PS;
        }
    }

    /// Simulates cycles until this number of frames has arrived in all.
    #[track_caller]
    pub fn run_until_arrived(&mut self, count: usize) {
        until("frames arrive", || {
            self.run(64);
            self.arrived.len() >= count
        });
        assert_eq!(self.arrived.len(), count);
    }

    /// Sends a frame from the card.
    pub fn send(&mut self, port: usize, bytes: Vec<u8>) {
        let time = self.now;
        self.bridge.sent(SentFrame { time, port, bytes });
    }

    /// The frames that have arrived, without times.
    pub fn frames(&self) -> Vec<Vec<u8>> {
        self.arrived
            .iter()
            .map(|(.., frame)| frame.clone())
            .collect()
    }
}

/// Whether there is no socket at `path`.
pub fn is_free(path: &Path) -> bool {
    path.symlink_metadata().is_err()
}
