//! Conversion between [`TxPacket`] and [`RoceFrame`]: the frame that the transmit lane must send for a record, and the record that sends a frame.

use rust_hdl::prelude::*;
use thiserror::Error;

use super::tx::*;
use super::tx_extensions::{extension_headers, extensions_record};
use crate::header::fit;
use crate::mtu::MAX_PAYLOAD;
use crate::{
    Bth, Ecn, Ethernet, Ip, Ipv4, Ipv6, MacAddr, Opcode, RoceFrame, Srv6Encap, Udp, Vlan, WireError,
};

/// Why a frame has no record, or a record no frame.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TxFrameError {
    /// The frame's extension headers are not those of its opcode.
    #[error(transparent)]
    Extensions(#[from] WireError),
    #[error("{opcode} packets cannot be sent by the transmit lane: it has no place for their extension headers")]
    UnsupportedOpcode { opcode: &'static str },
    #[error("opcode {0:#04x} is not defined")]
    UnknownOpcode(u8),
    #[error("{field} is {value:#x}: the transmit lane always sends {sent:#x}")]
    FixedField {
        field: &'static str,
        value: u64,
        sent: u64,
    },
    #[error("payload of {0} bytes: a packet carries at most {MAX_PAYLOAD}")]
    PayloadTooLong(usize),
    #[error("the record says {expected} bytes of payload, {found} are given")]
    PayloadLength { expected: usize, found: usize },
    #[error("SETH path hint {0} is not defined: use 0 to 2")]
    PathHint(u8),
}

fn fixed(field: &'static str, value: impl Into<u64>, sent: u64) -> Result<(), TxFrameError> {
    let value = value.into();
    if value == sent {
        Ok(())
    } else {
        Err(TxFrameError::FixedField { field, value, sent })
    }
}

/// A field of at most 64 bits. Panics if the value does not fit, as every `emit` does.
pub(super) fn narrow<const N: usize>(value: impl Into<u64>) -> Bits<N> {
    let value = value.into();
    if N < 64 {
        fit("field of a transmit record", value, N as u32);
    }
    value.to_bits()
}

fn wide<const N: usize>(value: u128) -> Bits<N> {
    (0..N).fold(Bits::default(), |bits, i| {
        bits.replace_bit(i, value >> i & 1 == 1)
    })
}

pub(super) fn number<const N: usize>(bits: Bits<N>) -> u128 {
    (0..N).fold(0, |value, i| value | u128::from(bits.get_bit(i)) << i)
}

fn mac_number(address: MacAddr) -> u64 {
    address
        .0
        .iter()
        .fold(0, |value, &byte| value << 8 | u64::from(byte))
}

fn mac_address(bits: Bits<48>) -> MacAddr {
    let value = number(bits);
    MacAddr(std::array::from_fn(|i| (value >> (40 - 8 * i)) as u8))
}

impl TxPacket {
    /// Returns the record that makes the lane send `frame`. The derived fields of the frame (see [`RoceFrame`]) are ignored.
    ///
    /// # Errors
    /// [`TxFrameError`], but not for a record: if the lane cannot send the frame.
    pub fn from_frame(frame: &RoceFrame) -> Result<Self, TxFrameError> {
        let opcode = frame.bth.opcode;
        frame.ext.check(opcode)?;
        if !can_send(opcode) {
            return Err(TxFrameError::UnsupportedOpcode {
                opcode: opcode.name(),
            });
        }
        if frame.payload.len() > MAX_PAYLOAD {
            return Err(TxFrameError::PayloadTooLong(frame.payload.len()));
        }
        fixed("UDP checksum", frame.udp.checksum, 0)?;
        Ok(Self {
            ethernet: TxEthernet {
                destination: narrow(mac_number(frame.eth.dst)),
                source: narrow(mac_number(frame.eth.src)),
                tagged: frame.vlan.is_some(),
                tag: frame.vlan.map_or(Bits::default(), |tag| {
                    narrow(u64::from(tag.pcp) << 13 | u64::from(tag.dei) << 12 | u64::from(tag.vid))
                }),
            },
            srv6: frame.srv6.map_or(TxSrv6::default(), srv6_record),
            ip: ip_record(&frame.ip)?,
            udp_source: narrow(frame.udp.sport),
            udp_destination: narrow(frame.udp.dport),
            bth: bth_record(&frame.bth)?,
            extensions: extensions_record(&frame.ext),
            payload_length: narrow(frame.payload.len() as u64),
        })
    }

    /// Returns the frame that the lane must send for this record with this payload. [`RoceFrame::emit`] computes the derived fields.
    ///
    /// # Errors
    /// [`TxFrameError::PayloadTooLong`], [`TxFrameError::PayloadLength`], [`TxFrameError::UnknownOpcode`],
    /// [`TxFrameError::UnsupportedOpcode`], [`TxFrameError::PathHint`].
    pub fn to_frame(&self, payload: Vec<u8>) -> Result<RoceFrame, TxFrameError> {
        let expected = number(self.payload_length) as usize;
        if expected > MAX_PAYLOAD {
            return Err(TxFrameError::PayloadTooLong(expected));
        }
        if expected != payload.len() {
            let found = payload.len();
            return Err(TxFrameError::PayloadLength { expected, found });
        }
        let code = number(self.bth.opcode) as u8;
        let opcode = Opcode::from_code(code).ok_or(TxFrameError::UnknownOpcode(code))?;
        if !can_send(opcode) {
            return Err(TxFrameError::UnsupportedOpcode {
                opcode: opcode.name(),
            });
        }
        let tag = number(self.ethernet.tag) as u16;
        Ok(RoceFrame {
            eth: Ethernet {
                dst: mac_address(self.ethernet.destination),
                src: mac_address(self.ethernet.source),
                ..Ethernet::default()
            },
            vlan: self.ethernet.tagged.then_some(Vlan {
                pcp: (tag >> 13) as u8,
                dei: tag & 0x1000 != 0,
                vid: tag & 0xfff,
                ..Vlan::default()
            }),
            srv6: self.srv6.present.then(|| srv6_header(&self.srv6)),
            ip: ip_header(&self.ip),
            udp: Udp {
                sport: number(self.udp_source) as u16,
                dport: number(self.udp_destination) as u16,
                ..Udp::default()
            },
            bth: bth_header(&self.bth, opcode),
            ext: extension_headers(&self.extensions, opcode)?,
            payload,
        })
    }
}

fn srv6_record(encap: Srv6Encap) -> TxSrv6 {
    TxSrv6 {
        present: true,
        source: wide(encap.src.into()),
        destination: wide(std::net::Ipv6Addr::from(encap.path).into()),
        dscp: narrow(encap.dscp),
        ecn: narrow(encap.ecn.bits()),
        hop_limit: narrow(encap.hop_limit),
        flow_label: narrow(encap.flow_label),
    }
}

fn srv6_header(record: &TxSrv6) -> Srv6Encap {
    Srv6Encap {
        dscp: number(record.dscp) as u8,
        ecn: Ecn::from_traffic_class(number(record.ecn) as u8),
        flow_label: number(record.flow_label) as u32,
        hop_limit: number(record.hop_limit) as u8,
        src: number(record.source).into(),
        path: std::net::Ipv6Addr::from(number(record.destination)).into(),
    }
}

fn ip_record(ip: &Ip) -> Result<TxIp, TxFrameError> {
    Ok(match ip {
        Ip::V4(ip) => {
            fixed("IPv4 reserved flag", ip.reserved_flag, 0)?;
            fixed("IPv4 do-not-fragment flag", ip.dont_fragment, 1)?;
            fixed("IPv4 more-fragments flag", ip.more_fragments, 0)?;
            fixed("IPv4 fragment offset", ip.fragment_offset, 0)?;
            TxIp {
                version6: false,
                source: wide(u32::from(ip.src).into()),
                destination: wide(u32::from(ip.dst).into()),
                dscp: narrow(ip.dscp),
                ecn: narrow(ip.ecn.bits()),
                hop_limit: narrow(ip.ttl),
                identification: narrow(ip.id),
                flow_label: Bits::default(),
            }
        }
        Ip::V6(ip) => TxIp {
            version6: true,
            source: wide(ip.src.into()),
            destination: wide(ip.dst.into()),
            dscp: narrow(ip.dscp),
            ecn: narrow(ip.ecn.bits()),
            hop_limit: narrow(ip.hop_limit),
            identification: Bits::default(),
            flow_label: narrow(ip.flow_label),
        },
    })
}

fn ip_header(record: &TxIp) -> Ip {
    let (dscp, hop_limit) = (number(record.dscp) as u8, number(record.hop_limit) as u8);
    let ecn = Ecn::from_traffic_class(number(record.ecn) as u8);
    if record.version6 {
        Ip::V6(Ipv6 {
            dscp,
            ecn,
            flow_label: number(record.flow_label) as u32,
            hop_limit,
            src: number(record.source).into(),
            dst: number(record.destination).into(),
            ..Ipv6::default()
        })
    } else {
        Ip::V4(Ipv4 {
            dscp,
            ecn,
            id: number(record.identification) as u16,
            ttl: hop_limit,
            src: (number(record.source) as u32).into(),
            dst: (number(record.destination) as u32).into(),
            ..Ipv4::default()
        })
    }
}

fn bth_record(bth: &Bth) -> Result<TxBth, TxFrameError> {
    fixed("BTH transport version", bth.tver, 0)?;
    fixed("BTH reserved bits of byte 4", bth.resv6, 0)?;
    fixed("BTH reserved bits of byte 8", bth.resv7, 0)?;
    if !bth.opcode.is_mrc() {
        fixed("BTH TSETH bit outside MRC", bth.tseth_present, 0)?;
    }
    Ok(TxBth {
        opcode: narrow(bth.opcode.code()),
        solicited: bth.solicited,
        mig_req: bth.mig_req,
        fecn: bth.fecn,
        becn: bth.becn,
        ack_req: bth.ack_req,
        retransmission: bth.retransmit,
        pkey: narrow(bth.pkey),
        dest_qp: narrow(bth.dest_qp),
        psn: narrow(bth.psn),
    })
}

fn bth_header(record: &TxBth, opcode: Opcode) -> Bth {
    Bth {
        opcode,
        solicited: record.solicited,
        mig_req: record.mig_req,
        fecn: record.fecn,
        becn: record.becn,
        ack_req: record.ack_req,
        retransmit: record.retransmission,
        pkey: number(record.pkey) as u16,
        dest_qp: number(record.dest_qp) as u32,
        psn: number(record.psn) as u32,
        ..Bth::default()
    }
}
