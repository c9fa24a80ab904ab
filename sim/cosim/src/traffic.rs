//! RDMA WRITE messages as packets, in the form that a requester would send.

use rand::seq::SliceRandom;
use rand::Rng;
use stellar_wire::mrc::{Meth, Tseth};
use stellar_wire::{
    Bth, Ecn, ExtHeaders, ImmDt, Ip, Ipv4, Ipv6, Opcode, Reth, RoceFrame, Srv6Encap, Udp,
    UsidContainer, Vlan,
};

/// Encapsulation of a message's packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wrapping {
    pub ipv6: bool,
    /// SRv6 encapsulation with a random path per packet.
    pub srv6: bool,
    pub vlan: bool,
    pub timestamp: bool,
}

/// One RDMA WRITE.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    /// MRC (RETH in every packet) or RC.
    pub mrc: bool,
    pub qp: u32,
    /// PSN of the first packet.
    pub psn: u32,
    /// METH.MSN (MRC).
    pub msn: u16,
    pub va: u64,
    pub rkey: u32,
    pub data: &'a [u8],
    /// Path MTU in bytes.
    pub mtu: usize,
    pub immediate: Option<u32>,
    pub wrapping: Wrapping,
}

impl Message<'_> {
    /// Number of packets of the message: one even if it is empty.
    pub fn packets(&self) -> u32 {
        self.data.len().div_ceil(self.mtu).max(1) as u32
    }

    /// The message's frames in sending order, each with an entropy value from `rng`.
    pub fn frames(&self, rng: &mut impl Rng) -> Vec<RoceFrame> {
        let count = self.packets() as usize;
        (0..count).map(|i| self.frame(i, count, rng)).collect()
    }

    fn frame(&self, i: usize, count: usize, rng: &mut impl Rng) -> RoceFrame {
        let (first, last) = (i == 0, i + 1 == count);
        let start = i * self.mtu;
        let payload = &self.data[start..self.data.len().min(start + self.mtu)];
        let immediate = self.immediate.filter(|_| last);
        let reth = (self.mrc || first).then(|| Reth {
            va: self.va + start as u64,
            rkey: self.rkey,
            dma_len: self.data.len() as u32,
        });
        let w = self.wrapping;
        let entropy: u32 = rng.random();
        RoceFrame {
            vlan: w.vlan.then(|| Vlan {
                vid: 100,
                ..Vlan::default()
            }),
            srv6: w.srv6.then(|| Srv6Encap {
                path: UsidContainer::new(
                    0xfcbb_bb00,
                    &[rng.random_range(1..64), rng.random_range(64..128)],
                )
                .expect("two uSIDs fit"),
                ..Srv6Encap::default()
            }),
            ip: if w.ipv6 {
                Ip::V6(Ipv6 {
                    src: "fd00::1".parse().expect("an address"),
                    dst: "fd00::2".parse().expect("an address"),
                    flow_label: entropy >> 16,
                    ..Ipv6::default()
                })
            } else {
                Ip::V4(Ipv4 {
                    src: [10, 0, 0, 1].into(),
                    dst: [10, 0, 0, 2].into(),
                    ecn: Ecn::Ect0,
                    ..Ipv4::default()
                })
            },
            udp: Udp {
                sport: 0xc000 | (entropy & 0x3fff) as u16,
                ..Udp::default()
            },
            bth: Bth {
                opcode: self.opcode(first, last),
                dest_qp: self.qp,
                psn: (self.psn + i as u32) & 0xff_ffff,
                ack_req: last,
                ..Bth::default()
            },
            ext: ExtHeaders {
                meth: self.mrc.then_some(Meth {
                    rqmsn: 0,
                    msn: self.msn,
                }),
                tseth: (self.mrc && w.timestamp).then(|| Tseth {
                    tx_timestamp: rng.random(),
                    own_resolution: false,
                    format: 1,
                }),
                reth,
                imm: immediate.map(ImmDt),
                ..ExtHeaders::default()
            },
            payload: payload.to_vec(),
            ..RoceFrame::default()
        }
    }

    fn opcode(&self, first: bool, last: bool) -> Opcode {
        let immediate = self.immediate.is_some();
        match (self.mrc, first, last, immediate) {
            (true, true, true, false) => Opcode::MrcWriteOnly,
            (true, true, true, true) => Opcode::MrcWriteOnlyImm,
            (true, true, false, _) => Opcode::MrcWriteFirst,
            (true, false, false, _) => Opcode::MrcWriteMiddle,
            (true, false, true, false) => Opcode::MrcWriteLast,
            (true, false, true, true) => Opcode::MrcWriteLastImm,
            (false, true, true, false) => Opcode::RcWriteOnly,
            (false, true, true, true) => Opcode::RcWriteOnlyImm,
            (false, true, false, _) => Opcode::RcWriteFirst,
            (false, false, false, _) => Opcode::RcWriteMiddle,
            (false, false, true, false) => Opcode::RcWriteLast,
            (false, false, true, true) => Opcode::RcWriteLastImm,
        }
    }
}

/// Shuffles packets as a spraying fabric does: no packet moves further than `window` places.
pub fn reorder<T>(packets: &mut [T], window: usize, rng: &mut impl Rng) {
    for chunk in packets.chunks_mut(window.max(1)) {
        chunk.shuffle(rng);
    }
}
