//! A random queue pair between two hosts, and the messages that go over it in one direction.

use rand::seq::IndexedRandom;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use sim_nic::chosen_shape;
use sim_pcie::Window;
use stellar_driver::*;

use crate::verbs::hosts::Host;

/// Messages of a flow.
pub const MESSAGES: usize = 8;
/// Part of the target that one message may write to, in bytes.
const SLOT: usize = 1 << 14;
const BYTES: usize = MESSAGES * SLOT;

/// A queue pair at each host, memory that one of them sends, and memory that the other receives.
pub struct Flow {
    /// The host that sends.
    pub from: usize,
    /// The queue pairs of both hosts.
    pub pairs: [QueuePair; 2],
    pub source: MemoryRegion,
    pub target: MemoryRegion,
    sent: Vec<u8>,
    /// What the target holds when all messages have arrived.
    pub expected: Vec<u8>,
}

/// Connects two queue pairs. Both ends have the same path MTU.
fn connect(pairs: &[QueuePair; 2], rng: &mut ChaCha8Rng) {
    let psn = rng.random_range(0..1 << 24);
    let mtu_log2 = rng.random_range(8..=12);
    let policy = *Policy::ALL.choose(rng).unwrap();
    let paths = match policy {
        Policy::SinglePath => 1,
        _ => 2 * rng.random_range(1..=64),
    };
    let port = rng.random_range(0..chosen_shape().ports() as u8);
    let told = pairs.each_ref().map(|qp| qp.connection(psn));
    for (qp, peer) in pairs.iter().zip([told[1], told[0]]) {
        qp.modify(Modify::Init(InitAttributes::default())).unwrap();
        match qp.transport() {
            Transport::Mrc => {
                let mut attributes = RtrAttributes::new(peer);
                attributes.path.mtu_log2 = mtu_log2;
                attributes.path.policy = policy;
                attributes.path.paths = paths;
                qp.modify(Modify::Rtr(attributes)).unwrap();
                qp.modify(Modify::Rts(RtsAttributes::new(psn))).unwrap();
            }
            Transport::Rc => {
                let mut attributes = RcRtrAttributes::new(peer);
                attributes.mtu_log2 = mtu_log2;
                attributes.port = port;
                qp.modify(Modify::RcRtr(attributes)).unwrap();
                qp.modify(Modify::RcRts(RcRtsAttributes::new(psn))).unwrap();
            }
        }
    }
}

/// The bus addresses of host memory.
fn window(region: &MemoryRegion) -> Window {
    Window {
        base: region.address(),
        size: region.length(),
    }
}

impl Flow {
    pub fn new(hosts: &[Host; 2], rng: &mut ChaCha8Rng) -> Self {
        let transport = *[Transport::Mrc, Transport::Rc].choose(rng).unwrap();
        let pairs = [0, 1].map(|host: usize| hosts[host].qp_over(transport));
        connect(&pairs, rng);
        let from = rng.random_range(0..2);
        let source = hosts[from].region(BYTES, false);
        let target = hosts[1 - from].region(BYTES, true);
        let [mut sent, mut expected] = [vec![0; BYTES], vec![0; BYTES]];
        rng.fill(&mut sent[..]);
        rng.fill(&mut expected[..]);
        source.memory().unwrap().write(0, &sent).unwrap();
        target.memory().unwrap().write(0, &expected).unwrap();
        Self {
            from,
            pairs,
            source,
            target,
            sent,
            expected,
        }
    }

    /// Posts a WRITE of any length from anywhere to anywhere in slot `id` of the target.
    pub fn post(&mut self, id: usize, rng: &mut ChaCha8Rng) {
        let most = *[64, 1024, SLOT].choose(rng).unwrap();
        let length = rng.random_range(1..=most);
        let to = id * SLOT + rng.random_range(0..=SLOT - length);
        let at = rng.random_range(0..=BYTES - length);
        let slice = self.source.slice(at as u64, length as u32).unwrap();
        let remote = self.target.remote();
        let write = WorkRequest::write(id as u64, slice, remote.address + to as u64, remote.rkey);
        let write = if rng.random() {
            write.with_immediate(id as u32)
        } else {
            write
        };
        self.pairs[self.from].post_send(&write).unwrap();
        self.expected[to..to + length].copy_from_slice(&self.sent[at..at + length]);
    }

    /// Denies or allows a path while messages are under way. The driver refuses it over RC, in the error state, for a path that is not there, and for the last one.
    pub fn use_path(&self, rng: &mut ChaCha8Rng) {
        let (qp, index) = (&self.pairs[self.from], rng.random_range(0..140));
        let used = if rng.random_bool(0.7) {
            qp.deny_path(index)
        } else {
            qp.allow_path(index)
        };
        match used {
            Ok(()) => assert_eq!(qp.transport(), Transport::Mrc),
            Err(Error::Transport { own, .. }) => assert_eq!(own, Transport::Rc),
            Err(Error::PathUse { .. } | Error::NoPaths { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }

    /// Memory that the sending card reads.
    pub fn read_window(&self) -> Window {
        window(&self.source)
    }

    /// Memory that the receiving card writes.
    pub fn written_window(&self) -> Window {
        window(&self.target)
    }
}
