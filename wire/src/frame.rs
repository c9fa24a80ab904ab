//! Whole RoCEv2 and MRC frames.

use crate::ethernet::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_VLAN};
use crate::ip::{PROTO_IPV4, PROTO_IPV6, PROTO_UDP};
use crate::ipv4::without_padding;
use crate::udp::ROCE_UDP_PORT;
use crate::{icrc, Bth, Ethernet, ExtHeaders, Header, Ip, Ipv6, Srv6Encap, Udp, Vlan, WireError};

/// One frame: `Ethernet [802.1Q] [outer IPv6] IPv4|IPv6 UDP BTH extension-headers payload pad iCRC`, without FCS.
///
/// [`Self::emit`] computes the fields that follow from others, whatever they contain here: EtherTypes, IP protocol and lengths, UDP length, the BTH's
/// pad count and (in MRC packets) its TSETH bit. [`Self::with_derived_fields`] returns the frame as it will be sent. `parse` returns these fields as
/// they were received. The UDP checksum is sent unchanged.
///
/// ```
/// use stellar_wire::{Bth, ExtHeaders, Opcode, Reth, RoceFrame};
///
/// let frame = RoceFrame {
///     bth: Bth { opcode: Opcode::RcWriteOnly, dest_qp: 0x11, psn: 7, ..Bth::default() },
///     ext: ExtHeaders { reth: Some(Reth { va: 0x1000, rkey: 5, dma_len: 3 }), ..ExtHeaders::default() },
///     payload: vec![1, 2, 3],
///     ..RoceFrame::default()
/// };
/// let bytes = frame.emit()?;
/// assert_eq!(RoceFrame::parse(&bytes)?, frame.with_derived_fields()?);
/// # Ok::<(), stellar_wire::WireError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoceFrame {
    pub eth: Ethernet,
    pub vlan: Option<Vlan>,
    pub srv6: Option<Srv6Encap>,
    /// The inner one if there is an encapsulation.
    pub ip: Ip,
    pub udp: Udp,
    pub bth: Bth,
    pub ext: ExtHeaders,
    /// Without pad. A CNP's 16 zero bytes and MRC's ERTH and EETH count as payload.
    pub payload: Vec<u8>,
}

/// Where in a frame's bytes the innermost IP packet is, and how it got there.
struct Outer<'a> {
    eth: Ethernet,
    vlan: Option<Vlan>,
    srv6: Option<Srv6Encap>,
    /// EtherType of the innermost IP version.
    ethertype: u16,
    packet: &'a [u8],
}

impl<'a> Outer<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self, WireError> {
        let (eth, mut packet) = Ethernet::parse(bytes)?;
        let (mut ethertype, mut vlan, mut srv6) = (eth.ethertype, None, None);
        if ethertype == ETHERTYPE_VLAN {
            let (tag, rest) = Vlan::parse(packet)?;
            (ethertype, packet, vlan) = (tag.ethertype, rest, Some(tag));
        }
        if ethertype == ETHERTYPE_IPV6 {
            let (outer, rest) = Ipv6::parse(packet)?;
            let inner = match outer.next_header {
                PROTO_IPV4 => Some(ETHERTYPE_IPV4),
                PROTO_IPV6 => Some(ETHERTYPE_IPV6),
                _ => None,
            };
            if let Some(inner) = inner {
                Ip::V6(outer).check_length(rest.len())?;
                (ethertype, packet, srv6) = (inner, rest, Some(outer.into()));
            }
        }
        Ok(Self {
            eth,
            vlan,
            srv6,
            ethertype,
            packet,
        })
    }
}

impl<'a> Outer<'a> {
    /// The innermost IP packet without padding by Ethernet, which an encapsulated packet never has.
    fn unpadded(&self) -> &'a [u8] {
        if self.srv6.is_none() && self.ethertype == ETHERTYPE_IPV4 {
            without_padding(self.packet)
        } else {
            self.packet
        }
    }
}

impl RoceFrame {
    /// Parses a frame with destination port [`ROCE_UDP_PORT`].
    ///
    /// # Errors
    /// See [`Self::parse_on_port`].
    pub fn parse(bytes: &[u8]) -> Result<Self, WireError> {
        Self::parse_on_port(bytes, ROCE_UDP_PORT)
    }

    /// Parses a frame whose UDP destination port must be `port`. It checks the headers from the outside in. It checks the iCRC before all fields of
    /// the BTH, because these fields cannot be trusted before.
    ///
    /// # Errors
    /// The first of these that applies, in this order: [`WireError::EtherType`], [`WireError::IpVersion`], [`WireError::Ipv4Options`],
    /// [`WireError::Ipv4Checksum`], IP [`WireError::LengthShort`] and [`WireError::LengthLong`], [`WireError::Ipv4Fragment`],
    /// [`WireError::IpProtocol`], [`WireError::UdpPort`], UDP length as for IP, [`WireError::Icrc`], [`WireError::UnknownOpcode`],
    /// [`WireError::TransportVersion`], [`WireError::BadField`], [`WireError::BadPad`]. A header that is cut off gives [`WireError::Truncated`].
    pub fn parse_on_port(bytes: &[u8], port: u16) -> Result<Self, WireError> {
        let outer = Outer::parse(bytes)?;
        let packet = outer.unpadded();
        let Outer {
            eth,
            vlan,
            srv6,
            ethertype,
            ..
        } = outer;
        let (ip, datagram) = Ip::parse(ethertype, packet)?;
        ip.check_length(datagram.len())?;
        if matches!(ip, Ip::V4(ip) if ip.is_fragment()) {
            return Err(WireError::Ipv4Fragment);
        }
        if ip.protocol() != PROTO_UDP {
            return Err(WireError::IpProtocol(ip.protocol()));
        }
        let (udp, transport) = Udp::parse(datagram)?;
        if udp.dport != port {
            return Err(WireError::UdpPort {
                expected: port,
                found: udp.dport,
            });
        }
        udp.check_length(transport.len())?;
        let need = Bth::LEN + icrc::LEN;
        if transport.len() < need {
            return Err(WireError::Truncated {
                header: "BTH and iCRC",
                need,
                have: transport.len(),
            });
        }
        icrc::verify(packet)?;
        let (bth, rest) = Bth::parse(&transport[..transport.len() - icrc::LEN])?;
        if bth.tver != 0 {
            return Err(WireError::TransportVersion(bth.tver));
        }
        let (ext, after_headers) = ExtHeaders::parse(&bth, rest)?;
        let payload = strip_pad(&bth, after_headers)?.to_vec();
        Ok(Self {
            eth,
            vlan,
            srv6,
            ip,
            udp,
            bth,
            ext,
            payload,
        })
    }

    /// Bytes of the BTH's pad this payload needs.
    fn pad_len(&self) -> usize {
        self.payload.len().wrapping_neg() % 4
    }

    /// The frame with every derived field set, as [`Self::emit`] sends it.
    ///
    /// # Errors
    /// [`WireError::ExtMismatch`] if the extension headers are not those of the opcode; [`WireError::TooLong`] if
    /// the packet exceeds IP's 65,535 bytes.
    pub fn with_derived_fields(mut self) -> Result<Self, WireError> {
        self.ext.check(self.bth.opcode)?;
        self.bth.pad_count = self.pad_len() as u8;
        if self.bth.opcode.is_mrc() {
            self.bth.tseth_present = self.ext.tseth.is_some();
        }
        let transport =
            Bth::LEN + self.ext.wire_len() + self.payload.len() + self.pad_len() + icrc::LEN;
        self.udp = self.udp.carrying(transport)?;
        self.ip = self.ip.carrying(PROTO_UDP, usize::from(self.udp.length))?;
        let ethertype = if self.srv6.is_some() {
            ETHERTYPE_IPV6
        } else {
            self.ip.ethertype()
        };
        self.eth.ethertype = match &mut self.vlan {
            Some(tag) => {
                tag.ethertype = ethertype;
                ETHERTYPE_VLAN
            }
            None => ethertype,
        };
        Ok(self)
    }

    /// The frame's bytes, from the destination MAC address to the iCRC.
    ///
    /// # Errors
    /// The errors of [`Self::with_derived_fields`].
    ///
    /// # Panics
    /// If a field's value does not fit its width.
    pub fn emit(&self) -> Result<Vec<u8>, WireError> {
        let frame = self.clone().with_derived_fields()?;
        let packet_len = frame.ip.header_len() + usize::from(frame.udp.length);
        let mut out = Vec::with_capacity(Ethernet::LEN + Vlan::LEN + Ipv6::LEN + packet_len);
        frame.eth.emit(&mut out);
        if let Some(tag) = &frame.vlan {
            tag.emit(&mut out);
        }
        if let Some(encap) = &frame.srv6 {
            encap
                .outer_header(frame.ip.encapsulated_protocol(), packet_len)?
                .emit(&mut out);
        }
        let packet_at = out.len();
        frame.ip.emit(&mut out);
        frame.udp.emit(&mut out);
        frame.bth.emit(&mut out);
        frame.ext.emit(&mut out);
        out.extend_from_slice(&frame.payload);
        out.resize(packet_at + packet_len, 0); // pad, and room for the iCRC
        icrc::seal(&mut out[packet_at..])?;
        Ok(out)
    }
}

/// Checks the pad count against the bytes between headers and iCRC; returns the payload.
fn strip_pad<'a>(bth: &Bth, after_headers: &'a [u8]) -> Result<&'a [u8], WireError> {
    let bad = WireError::BadPad {
        pad: bth.pad_count,
        after_headers: after_headers.len(),
    };
    if !after_headers.len().is_multiple_of(4) {
        return Err(bad);
    }
    let payload_len = after_headers
        .len()
        .checked_sub(usize::from(bth.pad_count))
        .ok_or(bad)?;
    Ok(&after_headers[..payload_len])
}

/// Writes a valid iCRC into a frame whose bytes were changed on purpose, and changes nothing else. So a frame with a wrong field reaches the check
/// for that field.
///
/// # Errors
/// If the innermost IP packet cannot be found or is not RoCE: as [`RoceFrame::parse`] and [`icrc::compute`].
pub fn reseal(bytes: &mut [u8]) -> Result<(), WireError> {
    let outer = Outer::parse(bytes)?;
    let packet_at = bytes.len() - outer.packet.len();
    let packet_end = packet_at + outer.unpadded().len();
    icrc::seal(&mut bytes[packet_at..packet_end])
}
