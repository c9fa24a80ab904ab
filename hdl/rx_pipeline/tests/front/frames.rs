//! Frames that shrink: RDMA writes of every shape, and what can be wrong with them.

use proptest::prelude::*;
use proptest::sample::Index;
use stellar_transport::rx::{classify_frame, DropReason, FrameOutcome, RxConfig};
use stellar_wire::ip::{IPV6_FRAGMENT, PROTO_UDP};
use stellar_wire::mrc::{Meth, Tseth};
use stellar_wire::{
    frame::reseal, Bth, Ecn, ExtHeaders, ImmDt, Ip, Ipv4, Ipv6, Opcode, Reth, RoceFrame, Srv6Encap,
    Udp, Vlan,
};

/// Longest IP packet the lane takes.
pub const MAX_IP_BYTES: usize = 8448;

/// A frame on its way to the MAC port.
#[derive(Clone, Debug)]
pub struct TestFrame {
    pub bytes: Vec<u8>,
    pub mac_error: bool,
}

impl TestFrame {
    pub fn good(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            mac_error: false,
        }
    }

    /// Returns the expected outcome. It is the reference's, except that the lane refuses packets longer than it could ever place.
    pub fn expected(&self) -> FrameOutcome {
        let mut outcome = classify_frame(&self.bytes, self.mac_error, &RxConfig::default());
        let earlier = [
            DropReason::MacError,
            DropReason::NotRoce,
            DropReason::BadIpChecksum,
            DropReason::IpFragment,
        ];
        if self.packet().len() > MAX_IP_BYTES && !earlier.contains(&outcome.reason) {
            outcome = FrameOutcome {
                reason: DropReason::BadLength,
                headers: None,
            };
        }
        outcome
    }

    /// The bytes the lane buffers: from the IP header on, empty if the frame ends before it.
    pub fn packet(&self) -> &[u8] {
        let at = |i: usize| self.bytes.get(i).copied().unwrap_or(0);
        let mut start = 14;
        if (at(12), at(13)) == (0x81, 0x00) {
            start = 18;
        }
        let ipv6 = (at(start - 2), at(start - 1)) == (0x86, 0xdd);
        if ipv6 && at(start) >> 4 == 6 && matches!(at(start + 6), 4 | 41) {
            start += 40;
        }
        self.bytes.get(start..).unwrap_or(&[])
    }
}

/// An RDMA write of any opcode the lane executes.
pub fn write() -> impl Strategy<Value = RoceFrame> {
    let codes = prop_oneof![0x06..=0x0bu8, 0xc6..=0xcbu8];
    let lengths = prop_oneof![
        0..200usize,
        0..200usize,
        1000..1100usize,
        4090..=4096usize,
        8185..=8192usize
    ];
    let flags = any::<(bool, bool, bool, bool, bool, bool)>();
    let encapsulation = (any::<bool>(), any::<bool>(), 0..4u8, 0..4u8);
    let numbers = any::<(u64, u32, u32, u32, u16, u16, u16, u16)>();
    (codes, lengths, flags, encapsulation, numbers).prop_map(
        |(code, length, flags, (tagged, srv6, ecn, outer_ecn), numbers)| {
            let opcode = Opcode::from_code(code).expect("a write");
            let (ipv6, timed, ack_req, solicited, retransmit, _) = flags;
            let (va, rkey, dma_len, psn, sport, pkey, msn, rqmsn) = numbers;
            let mrc = opcode.is_mrc();
            let ecn = Ecn::from_traffic_class(ecn);
            RoceFrame {
                vlan: tagged.then(Vlan::default),
                srv6: srv6.then(|| Srv6Encap {
                    ecn: Ecn::from_traffic_class(outer_ecn),
                    ..Srv6Encap::default()
                }),
                ip: if ipv6 {
                    Ip::V6(Ipv6 {
                        ecn,
                        flow_label: rkey >> 12,
                        dscp: (psn >> 26) as u8,
                        ..Ipv6::default()
                    })
                } else {
                    Ip::V4(Ipv4 {
                        ecn,
                        id: msn,
                        src: rkey.into(),
                        dst: dma_len.into(),
                        ..Ipv4::default()
                    })
                },
                udp: Udp {
                    sport,
                    checksum: rqmsn,
                    ..Udp::default()
                },
                bth: Bth {
                    opcode,
                    solicited,
                    ack_req,
                    retransmit,
                    pkey,
                    fecn: rkey & 1 == 1,
                    dest_qp: dma_len & 0xff_ffff,
                    psn: psn & 0xff_ffff,
                    ..Bth::default()
                },
                ext: ExtHeaders {
                    meth: mrc.then_some(Meth { rqmsn, msn }),
                    tseth: (mrc && timed).then_some(Tseth {
                        tx_timestamp: pkey,
                        ..Tseth::default()
                    }),
                    reth: opcode.has_reth().then_some(Reth { va, rkey, dma_len }),
                    imm: opcode.has_imm().then_some(ImmDt(psn.rotate_left(8))),
                    ..ExtHeaders::default()
                },
                payload: (0..length).map(|i| ((i as u64 * 167) ^ va) as u8).collect(),
                ..RoceFrame::default()
            }
        },
    )
}

/// A change of a good frame.
#[derive(Clone, Debug)]
enum Damage {
    None,
    MacError,
    /// Bits flipped anywhere, iCRC as it was.
    Flip(Vec<(Index, u8)>),
    /// Bytes changed among the headers, iCRC made good again where that is possible.
    Headers(Vec<(Index, u8)>),
    /// A bit of the destination MAC address.
    Destination(usize),
    Cut(Index),
    /// Nothing follows the IP header, which announces this protocol.
    Bare(u8),
    Append(Vec<u8>),
    /// The shortest packet of RoCE, and these bytes behind it: two of them are Ethernet's padding if it is over IPv4.
    Padded(Vec<u8>),
    /// IP and UDP have another length, on which they agree.
    Resize(Index),
    Opcode(u8),
    /// The packet becomes a fragment: bits of the IPv4 flags and offset, or an IPv6 fragment header announced.
    Fragment(u16),
    Noise(Vec<u8>),
    /// More bytes than the lane takes.
    Long(usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let changes = || proptest::collection::vec((any::<Index>(), any::<u8>()), 1..4);
    prop_oneof![
        6 => Just(Damage::None),
        1 => Just(Damage::MacError),
        1 => changes().prop_map(Damage::Flip),
        4 => changes().prop_map(Damage::Headers),
        1 => (0..48usize).prop_map(Damage::Destination),
        2 => any::<Index>().prop_map(Damage::Cut),
        1 => prop_oneof![Just(PROTO_UDP), any::<u8>()].prop_map(Damage::Bare),
        1 => proptest::collection::vec(any::<u8>(), 1..70).prop_map(Damage::Append),
        2 => proptest::collection::vec(any::<u8>(), 1..4).prop_map(Damage::Padded),
        2 => any::<Index>().prop_map(Damage::Resize),
        1 => any::<u8>().prop_map(Damage::Opcode),
        1 => (1..0x4000u16).prop_map(Damage::Fragment),
        1 => proptest::collection::vec(any::<u8>(), 1..300).prop_map(Damage::Noise),
        1 => (4200..9000usize).prop_map(Damage::Long),
    ]
}

/// Any frame, good or not.
pub fn any_frame() -> impl Strategy<Value = TestFrame> {
    any_of(write())
}

/// Any of these frames, good or not.
pub fn any_of(frames: impl Strategy<Value = RoceFrame>) -> impl Strategy<Value = TestFrame> {
    (frames, damage()).prop_map(|(frame, damage)| spoil(&frame, damage))
}

fn spoil(frame: &RoceFrame, damage: Damage) -> TestFrame {
    let mut bytes = frame.emit().expect("a frame that can be sent");
    let whole = TestFrame::good(bytes.clone());
    let ip_at = bytes.len() - whole.packet().len();
    let bth_at = ip_at + frame.ip.header_len() + 8;
    let headers = bytes.len().min(bth_at + 40);
    let mut mac_error = false;
    match damage {
        Damage::None => {}
        Damage::MacError => mac_error = true,
        Damage::Flip(changes) => {
            for (at, bit) in changes {
                let at = at.index(bytes.len());
                bytes[at] ^= 1 << (bit % 8);
            }
        }
        Damage::Headers(changes) => {
            for (at, value) in changes {
                bytes[12 + at.index(headers - 12)] = value;
            }
            let _ = reseal(&mut bytes);
        }
        Damage::Destination(bit) => bytes[bit / 8] ^= 1 << (bit % 8),
        Damage::Cut(at) => bytes.truncate(1 + at.index(bytes.len())),
        Damage::Bare(protocol) => {
            let at = if matches!(frame.ip, Ip::V6(_)) { 6 } else { 9 };
            bytes[ip_at + at] = protocol;
            bytes.truncate(bth_at - 8);
        }
        Damage::Append(more) => bytes.extend(more),
        Damage::Padded(padding) => {
            let shortest = RoceFrame {
                srv6: None,
                bth: Bth {
                    opcode: Opcode::RcSendOnly,
                    ..frame.bth
                },
                ext: ExtHeaders::default(),
                payload: vec![],
                ..frame.clone()
            };
            bytes = shortest.emit().expect("a frame that can be sent");
            bytes.extend(padding);
        }
        Damage::Resize(to) => {
            bytes.resize(bth_at + to.index(120), 0x5a);
            agree_on_length(&mut bytes, ip_at, bth_at);
        }
        Damage::Opcode(code) => {
            bytes[bth_at] = code;
            let _ = reseal(&mut bytes);
        }
        Damage::Fragment(bits) => {
            if matches!(frame.ip, Ip::V6(_)) {
                bytes[ip_at + 6] = IPV6_FRAGMENT;
            } else {
                bytes[ip_at + 6..ip_at + 8].copy_from_slice(&bits.to_be_bytes());
            }
            agree_on_length(&mut bytes, ip_at, bth_at);
        }
        Damage::Noise(noise) => bytes = noise,
        Damage::Long(length) => {
            bytes.resize(length, 0xa5);
            agree_on_length(&mut bytes, ip_at, bth_at);
        }
    }
    TestFrame { bytes, mac_error }
}

/// Writes the frame's true length into UDP and the inner IP header, and makes both checksums good.
pub fn agree_on_length(bytes: &mut [u8], ip_at: usize, bth_at: usize) {
    let put = |bytes: &mut [u8], at: usize, value: usize| {
        bytes[at..at + 2].copy_from_slice(&(value as u16).to_be_bytes());
    };
    let (total, udp) = (bytes.len() - ip_at, bytes.len() - (bth_at - 8));
    put(bytes, bth_at - 4, udp);
    if bth_at - ip_at == 48 {
        put(bytes, ip_at + 4, udp);
    } else {
        put(bytes, ip_at + 2, total);
        let header: [u8; 20] = bytes[ip_at..ip_at + 20].try_into().expect("20 bytes");
        put(
            bytes,
            ip_at + 10,
            stellar_wire::ipv4::header_checksum(&header).into(),
        );
    }
    let _ = stellar_wire::icrc::seal(&mut bytes[ip_at..]);
}
