//! One queue pair as the reference has it: the receive lane's window in front, the responder behind, and a peer that sends.

use std::collections::VecDeque;

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use stellar_transport::requester::{CompletionQueue, QpIdentity};
use stellar_transport::responder::Responder;
use stellar_transport::rx::{PacketHeaders, Psn, PsnTrack, QpMode};
use stellar_transport::spray::ReversePaths;
use stellar_wire::config::ImmConfig;
use stellar_wire::hw::pack::to_words;
use stellar_wire::hw::responder::ResponderConfig;
use stellar_wire::mrc::{Entropy, Meth};
use stellar_wire::{Position, Reth};

use crate::bench::{MOST, PARTS};

/// The configuration of a queue pair.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub mode: QpMode,
    pub mtu_log2: u8,
    pub initial_psn: u32,
    pub max_wimm: u16,
    pub completions: bool,
    pub sack_every: u8,
    /// Packets of the peer's longest messages.
    pub longest: u32,
}

impl Setup {
    /// The row of the queue pair `at`.
    pub fn to_hw(self, at: usize) -> Vec<u32> {
        let imm = ImmConfig {
            max_wimm: self.max_wimm,
            completions: self.completions,
        };
        to_words(ResponderConfig {
            mrc: self.mode == QpMode::Mrc,
            mtu_log2: u64::from(self.mtu_log2).to_bits(),
            initial_psn: u64::from(self.initial_psn).to_bits(),
            max_wimm: u64::from(self.max_wimm).to_bits(),
            stash: u64::from(PARTS[at].start).to_bits(),
            log2_stash: u64::from(imm.log2_stash()).to_bits(),
            sack_every: u64::from(self.sack_every).to_bits(),
            completions: self.completions,
        })
    }
}

pub struct Pair {
    pub number: u32,
    pub setup: Setup,
    pub track: PsnTrack,
    pub responder: Responder,
    pub cq: CompletionQueue,
    pub reverse: ReversePaths,
    pub failed: bool,
    /// Packets the peer has not sent yet, by PSN.
    pub pending: VecDeque<PacketHeaders>,
    next_psn: Psn,
    msn: u16,
    rqmsn: u16,
    /// Last PSNs of WRITEs with immediate that are not in order yet.
    under_way: Vec<Psn>,
}

impl Pair {
    /// A queue pair of a card with a window of `window` packets.
    pub fn new(number: u32, setup: Setup, window: u32) -> Self {
        let first = Psn::new(setup.initial_psn);
        let identity = QpIdentity {
            local: number,
            peer: 0x1234,
            pd: 1,
            mtu: 1 << setup.mtu_log2,
        };
        Self {
            number,
            setup,
            track: PsnTrack::with_window(first, window),
            responder: Responder::new(
                identity,
                first,
                setup.max_wimm,
                setup.completions,
                setup.sack_every,
            )
            .with_window(window),
            cq: CompletionQueue::new(2 * u32::from(MOST)),
            reverse: ReversePaths::default(),
            failed: false,
            pending: VecDeque::new(),
            next_psn: first,
            msn: 0,
            rqmsn: 0,
            under_way: vec![],
        }
    }

    /// Makes messages until there are `count` packets to send. A peer that follows the rules has at most MAX_WIMM WRITEs with immediate in flight.
    pub fn prepare(&mut self, count: usize, rng: &mut ChaCha8Rng) {
        while self.pending.len() < count {
            let packets = match rng.random_range(0..8) {
                0..4 => 1,
                4..7 => rng.random_range(1..=6),
                _ => rng.random_range(1..=self.setup.longest),
            };
            self.under_way
                .retain(|last| !last.is_behind(self.track.epsn()));
            let may = self.under_way.len() < usize::from(self.setup.max_wimm);
            let immediate = rng.random::<bool>() && (may || self.setup.mode == QpMode::Rc);
            let last = rng.random_range(0..=1_u32 << self.setup.mtu_log2);
            // An empty payload is for a message of one packet only.
            let last = if packets > 1 { last.max(1) } else { last };
            self.message(packets, last, immediate.then(|| rng.random()));
        }
    }

    /// Sends a message of `packets`, the last of which has `last_length` bytes.
    pub fn message(&mut self, packets: u32, last_length: u32, immediate: Option<u32>) {
        let mtu = 1_u32 << self.setup.mtu_log2;
        let length = (packets - 1) * mtu + last_length;
        let mrc = self.setup.mode == QpMode::Mrc;
        for index in 0..packets {
            let position = match (index, packets - index) {
                (0, 1) => Position::Only,
                (0, _) => Position::First,
                (_, 1) => Position::Last,
                _ => Position::Middle,
            };
            let ends = index + 1 == packets;
            let reth = Reth {
                va: u64::from(index * mtu),
                rkey: 5,
                dma_len: length,
            };
            self.pending.push_back(PacketHeaders {
                mode: self.setup.mode,
                position,
                reth: (mrc || index == 0).then_some(reth),
                immediate: immediate.filter(|_| ends),
                meth: mrc.then_some(Meth {
                    rqmsn: if immediate.is_some() { self.rqmsn } else { 0 },
                    msn: self.msn,
                }),
                timestamp: None,
                ack_req: ends,
                solicited: false,
                retransmission: false,
                pkey: 0xffff,
                dest_qp: self.number,
                refused: false,
                psn: self.next_psn,
                ecn_ce: false,
                entropy: Entropy::default(),
                payload_offset: 58,
                payload_length: if ends { last_length } else { mtu } as u16,
            });
            self.next_psn = self.next_psn.plus(1);
        }
        self.msn = self.msn.wrapping_add(1);
        if immediate.is_some() {
            self.rqmsn = self.rqmsn.wrapping_add(1);
            self.under_way.push(self.next_psn.previous());
        }
    }
}
