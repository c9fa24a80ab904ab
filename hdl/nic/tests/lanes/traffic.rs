//! Queue pairs, a region, and frames for them.

use std::net::IpAddr;

use rand::Rng;
use stellar_transport::rx::{
    ControlPeer, EmttRow, MrRow, Owner, PageSize, Psn, QpMode, QpRow, QpState, TableWrite,
};
use stellar_wire::config::PlaneAddress;
use stellar_wire::mrc::{CcState, Entropy, Meth, Neth, Peth, Seth, Tseth};
use stellar_wire::{
    frame::reseal, Aeth, Bth, Ecn, ExtHeaders, ImmDt, Ip, Ipv4, MacAddr, Opcode, Reth, RoceFrame,
    Udp,
};

pub const PD: u32 = 5;
pub const RKEY: u32 = 3 << 8 | 0x5a;
const PAGES: u32 = 32;
pub const BASE_VA: u64 = 0x7f00_0000_0000;
pub const REGION: u64 = (PAGES as u64) << 12;
/// Device of all pages.
pub const DEVICE: u64 = 1;
/// log2 of the path MTU.
pub const MTU_LOG2: u8 = 10;

/// Odd queue pairs are RC, even ones MRC.
pub fn mode(qp: u32) -> QpMode {
    if qp & 1 == 0 {
        QpMode::Mrc
    } else {
        QpMode::Rc
    }
}

/// Every second RC queue pair has a path policy.
pub fn has_probes(qp: u32) -> bool {
    qp & 3 == 3
}

pub fn context(qp: u32, initial: u32) -> TableWrite {
    TableWrite::Qp {
        index: qp,
        context: QpRow {
            state: QpState::Ready,
            mode: mode(qp),
            pd: PD,
            pkey: 0xffff,
            mtu_log2: MTU_LOG2,
            initial_psn: Psn::new(initial),
            remote_write: true,
        },
    }
}

/// One region over pages of GPU and host memory.
pub fn region() -> Vec<TableWrite> {
    let page = |n: u32| TableWrite::Emtt {
        index: 100 + n,
        entry: EmttRow {
            valid: true,
            owner: [Owner::Gpu, Owner::Host, Owner::Host][n as usize % 3],
            device: DEVICE as u16,
            frame: 0x40_0000 + u64::from(n * 7),
        },
    };
    let region = TableWrite::Mr {
        index: RKEY >> 8,
        entry: MrRow {
            valid: true,
            key: RKEY as u8,
            pd: PD,
            remote_write: true,
            remote_read: false,
            remote_atomic: false,
            page_size: PageSize::Size4K,
            base_va: BASE_VA,
            length: REGION,
            first_emtt: 100,
            on_demand: false,
        },
    };
    (0..PAGES).map(page).chain([region]).collect()
}

pub fn peer(qp: u32) -> ControlPeer {
    let address = |port: u8| IpAddr::from([10, 9, qp as u8, port]);
    ControlPeer {
        mode: mode(qp),
        pkey: 0xffff,
        qp: 0x4000 + qp,
        addresses: [address(0), address(1)],
        probes: has_probes(qp),
    }
}

/// Address of a port.
pub fn own(lane: usize) -> PlaneAddress {
    PlaneAddress {
        mac: MacAddr::default(),
        ip: [10, 0, 0, lane as u8].into(),
    }
}

/// The packet comes from another source, or goes to another destination.
pub fn misdirected(frame: &[u8], rng: &mut impl Rng) -> Vec<u8> {
    let mut bytes = frame.to_vec();
    match rng.random_range(0..3) {
        // Destination MAC address, source and destination IP address: offsets in an untagged IPv4 frame.
        0 => bytes[rng.random_range(0..6)] ^= 0x10,
        1 => bytes[rng.random_range(26..30)] ^= 0x40,
        _ => bytes[rng.random_range(30..34)] ^= 0x40,
    }
    reseal(&mut bytes).expect("a RoCE frame");
    bytes
}

/// Headers of a packet from the peer's port.
fn envelope(
    qp: u32,
    lane: usize,
    opcode: Opcode,
    psn: u32,
    entropy: u16,
    marked: bool,
) -> RoceFrame {
    let IpAddr::V4(src) = peer(qp).addresses[lane] else {
        unreachable!("the peers have IPv4 addresses")
    };
    RoceFrame {
        ip: Ip::V4(Ipv4 {
            src,
            dst: [10, 0, 0, lane as u8].into(),
            ecn: if marked {
                Ecn::CongestionExperienced
            } else {
                Ecn::Ect0
            },
            ..Ipv4::default()
        }),
        udp: Udp {
            sport: entropy,
            ..Udp::default()
        },
        bth: Bth {
            opcode,
            dest_qp: qp,
            psn: psn & 0xff_ffff,
            pkey: 0xffff,
            ack_req: entropy & 1 == 1,
            ..Bth::default()
        },
        ..RoceFrame::default()
    }
}

/// A WRITE of one packet.
pub struct Write {
    pub qp: u32,
    pub lane: usize,
    pub psn: u32,
    /// Offset from the start of the region.
    pub offset: u64,
    pub length: usize,
    pub immediate: bool,
}

impl Write {
    pub fn frame(&self, rng: &mut impl Rng) -> Vec<u8> {
        let mrc = mode(self.qp) == QpMode::Mrc;
        let opcode = match (mrc, self.immediate) {
            (true, false) => Opcode::MrcWriteOnly,
            (true, true) => Opcode::MrcWriteOnlyImm,
            (false, false) => Opcode::RcWriteOnly,
            (false, true) => Opcode::RcWriteOnlyImm,
        };
        let mut frame = envelope(
            self.qp,
            self.lane,
            opcode,
            self.psn,
            rng.random(),
            rng.random(),
        );
        frame.ext = ExtHeaders {
            meth: mrc.then(|| Meth {
                rqmsn: rng.random(),
                msn: rng.random(),
            }),
            tseth: (mrc && rng.random()).then(|| Tseth {
                tx_timestamp: rng.random(),
                ..Tseth::default()
            }),
            reth: Some(Reth {
                va: BASE_VA + self.offset,
                rkey: RKEY,
                dma_len: self.length as u32,
            }),
            imm: self.immediate.then(|| ImmDt(rng.random())),
            ..ExtHeaders::default()
        };
        frame.payload = (0..self.length).map(|_| rng.random()).collect();
        frame.emit().expect("a frame")
    }
}

/// A control packet from the peer, or from another sender.
pub fn control(qp: u32, lane: usize, probe: bool, foreign: bool, rng: &mut impl Rng) -> Vec<u8> {
    let opcode = match (mode(qp), probe, rng.random()) {
        (QpMode::Rc, true, _) if has_probes(qp) => Opcode::MrcProbe,
        (QpMode::Rc, false, true) if has_probes(qp) => Opcode::MrcSack,
        (QpMode::Rc, _, _) => Opcode::RcAck,
        (QpMode::Mrc, true, _) => Opcode::MrcProbe,
        (QpMode::Mrc, false, true) => Opcode::MrcSack,
        (QpMode::Mrc, false, false) => Opcode::MrcNack,
    };
    let mut frame = envelope(qp, lane, opcode, rng.random(), rng.random(), rng.random());
    let src_context = peer(qp).qp as u16 ^ u16::from(foreign && opcode != Opcode::RcAck);
    let dst_context = qp as u16;
    if foreign && opcode == Opcode::RcAck {
        frame.bth.pkey = 0x1234;
    }
    match opcode {
        Opcode::RcAck => {
            frame.ext.aeth = Some(Aeth {
                msn: rng.random_range(0..1 << 24),
                ..Aeth::default()
            })
        }
        Opcode::MrcProbe => {
            frame.ext.peth = Some(Peth {
                probe_id: rng.random(),
                src_context,
                dst_context,
                timestamp: Tseth {
                    tx_timestamp: rng.random(),
                    ..Tseth::default()
                },
                ..Peth::default()
            });
        }
        Opcode::MrcSack => {
            frame.ext.seth = Some(Seth {
                probe_response: mode(qp) == QpMode::Rc,
                entropy: Entropy(rng.random()),
                src_context,
                dst_context,
                cack_psn: rng.random_range(0..1 << 24),
                bitmap: rng.random(),
                ..Seth::default()
            });
            frame.ext.cc_state = Some(CcState {
                tx_timestamp: rng.random(),
                ..CcState::default()
            });
        }
        _ => {
            frame.ext.neth = Some(Neth {
                entropy: Entropy(rng.random()),
                src_context,
                dst_context,
                nack_psn: rng.random_range(0..1 << 24),
                ..Neth::default()
            });
        }
    }
    frame.emit().expect("a frame")
}

/// An RC request that the lane refuses.
pub fn refused(qp: u32, lane: usize, psn: u32, rng: &mut impl Rng) -> Vec<u8> {
    let opcode = [Opcode::RcSendOnly, Opcode::RcReadRequest][usize::from(rng.random::<bool>())];
    let mut frame = envelope(qp, lane, opcode, psn, rng.random(), rng.random());
    if opcode == Opcode::RcReadRequest {
        frame.ext.reth = Some(Reth {
            va: BASE_VA,
            rkey: RKEY,
            dma_len: 64,
        });
    } else {
        frame.payload = vec![7; rng.random_range(0..100)];
    }
    frame.emit().expect("a frame")
}
