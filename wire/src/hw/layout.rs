//! Where header fields lie, in bytes from the start of their header, for hardware that takes headers apart and puts them together.
//! Lengths of headers are those of [`crate::Header`].

use crate::{Ethernet, Header, Ipv4, Ipv6, Udp, Vlan};

/// Ethernet II.
pub mod ethernet {
    pub const DESTINATION: usize = 0;
    pub const SOURCE: usize = 6;
    pub const ETHERTYPE: usize = 12;
}

/// 802.1Q tag, counted from the byte after the EtherType that announces it.
pub mod vlan {
    /// Priority, drop eligible indicator, VLAN identifier.
    pub const CONTROL: usize = 0;
    pub const ETHERTYPE: usize = 2;
}

/// IPv4 (RFC 791).
pub mod ipv4 {
    pub const VERSION_IHL: usize = 0;
    pub const TOS: usize = 1;
    pub const TOTAL_LENGTH: usize = 2;
    pub const IDENTIFICATION: usize = 4;
    pub const FRAGMENT: usize = 6;
    pub const TTL: usize = 8;
    pub const PROTOCOL: usize = 9;
    pub const CHECKSUM: usize = 10;
    pub const SOURCE: usize = 12;
    pub const DESTINATION: usize = 16;
}

/// IPv6 (RFC 8200). The traffic class lies across bytes 0 and 1, the flow label in the low 20 bits of bytes 1 to 3.
pub mod ipv6 {
    pub const VERSION: usize = 0;
    pub const TRAFFIC_CLASS_LOW: usize = 1;
    /// The low 16 bits of the flow label.
    pub const FLOW_LABEL_LOW: usize = 2;
    pub const PAYLOAD_LENGTH: usize = 4;
    pub const NEXT_HEADER: usize = 6;
    pub const HOP_LIMIT: usize = 7;
    pub const SOURCE: usize = 8;
    pub const DESTINATION: usize = 24;
}

/// UDP (RFC 768).
pub mod udp {
    pub const SOURCE_PORT: usize = 0;
    pub const DESTINATION_PORT: usize = 2;
    pub const LENGTH: usize = 4;
    pub const CHECKSUM: usize = 6;
}

/// Base transport header (IBTA volume 1, 9.2; bits RTX and TSETH of byte 8 from MRC 1.0).
pub mod bth {
    pub const OPCODE: usize = 0;
    /// Solicited, migration, pad count, transport version.
    pub const FLAGS: usize = 1;
    /// Bits of `FLAGS`.
    pub const SOLICITED_BIT: usize = 7;
    pub const PAD_BIT: usize = 4;
    pub const PAD_BITS: usize = 2;
    pub const VERSION_BIT: usize = 0;
    pub const VERSION_BITS: usize = 4;
    pub const PKEY: usize = 2;
    /// Congestion bits, which switches may change.
    pub const CONGESTION: usize = 4;
    pub const DEST_QP: usize = 5;
    /// Acknowledge request, RTX, TSETH.
    pub const ACK_REQ: usize = 8;
    /// Bits of `ACK_REQ`.
    pub const ACK_REQ_BIT: usize = 7;
    pub const RETRANSMISSION_BIT: usize = 5;
    pub const TSETH_BIT: usize = 4;
    pub const PSN: usize = 9;
}

/// RDMA extended transport header.
pub mod reth {
    pub const VA: usize = 0;
    pub const RKEY: usize = 8;
    pub const DMA_LENGTH: usize = 12;
}

/// Acknowledge extended transport header.
pub mod aeth {
    pub const SYNDROME: usize = 0;
    pub const MSN: usize = 1;
}

/// MRC message numbers.
pub mod meth {
    pub const RQMSN: usize = 0;
    pub const MSN: usize = 2;
}

/// MRC time stamp.
pub mod tseth {
    pub const TIMESTAMP: usize = 0;
    /// Bit 7: the unit is the sender's own.
    pub const RESOLUTION: usize = 2;
    /// Low four bits.
    pub const FORMAT: usize = 3;
}

/// MRC selective acknowledgement.
pub mod seth {
    /// Path hint, and whether it answers a probe.
    pub const FLAGS: usize = 1;
    /// Bits of `FLAGS`.
    pub const PATH_HINT_BIT: usize = 5;
    pub const PATH_HINT_BITS: usize = 2;
    pub const PROBE_RESPONSE_BIT: usize = 1;
    pub const ACK_PSN_OFFSET: usize = 2;
    pub const ENTROPY: usize = 4;
    pub const SOURCE_CONTEXT: usize = 8;
    pub const DESTINATION_CONTEXT: usize = 10;
    pub const CACK_PSN: usize = 13;
    pub const CONGESTION: usize = 16;
    pub const MPR: usize = 17;
    pub const SACK_OFFSET: usize = 18;
    pub const BITMAP: usize = 20;
}

/// MRC congestion control state of type 0.
pub mod cc_state {
    pub const TIMESTAMP: usize = 0;
    pub const OOO_COUNT: usize = 2;
    /// Restore flag, and the penalty below it.
    pub const PENALTY: usize = 4;
    /// Bit of `PENALTY`.
    pub const RESTORE_BIT: usize = 7;
    pub const RECEIVED_BYTES: usize = 5;
}

/// MRC negative acknowledgement.
pub mod neth {
    pub const REASON: usize = 2;
    pub const VENDOR_INFO: usize = 3;
    pub const ENTROPY: usize = 4;
    pub const SOURCE_CONTEXT: usize = 8;
    pub const DESTINATION_CONTEXT: usize = 10;
    pub const NACK_PSN: usize = 13;
    pub const CONGESTION: usize = 16;
    pub const TIMESTAMP: usize = 18;
}

/// MRC probe.
pub mod peth {
    pub const VENDOR_INFO: usize = 3;
    pub const PROBE_ID: usize = 4;
    pub const SOURCE_CONTEXT: usize = 8;
    pub const DESTINATION_CONTEXT: usize = 10;
    /// Length of a TSETH in bytes.
    pub const TSETH: usize = 12;
}

/// Bytes before the first IP header: untagged, tagged.
pub const ETHERNET_BYTES: [usize; 2] = [Ethernet::LEN, Ethernet::LEN + Vlan::LEN];

/// Bytes before the IP header a lane works on, by whether the frame is tagged and whether it is encapsulated.
pub const fn shift_bytes(tagged: bool, encapsulated: bool) -> usize {
    let ethernet = ETHERNET_BYTES[tagged as usize];
    if encapsulated {
        ethernet + Ipv6::LEN
    } else {
        ethernet
    }
}

/// Bytes, from the first IP byte, that hold everything the invariant CRC takes as ones.
pub const ICRC_MASK_BYTES: usize = Ipv6::LEN + Udp::LEN + bth::CONGESTION + 1;

/// Bits, from the first IP bit in lane order, that the invariant CRC takes as ones because routers may change them ([`crate::icrc`]).
/// IPv4: TOS, TTL, header checksum; IPv6: traffic class, flow label, hop limit; both: UDP checksum, BTH byte 4.
pub fn icrc_masked_bits(version6: bool) -> Vec<usize> {
    let (ip_bytes, ip_len): (&[usize], usize) = if version6 {
        let bytes = &[
            ipv6::TRAFFIC_CLASS_LOW,
            ipv6::FLOW_LABEL_LOW,
            ipv6::FLOW_LABEL_LOW + 1,
            ipv6::HOP_LIMIT,
        ];
        (bytes, Ipv6::LEN)
    } else {
        let bytes = &[ipv4::TOS, ipv4::TTL, ipv4::CHECKSUM, ipv4::CHECKSUM + 1];
        (bytes, Ipv4::LEN)
    };
    let after_ip = [
        ip_len + udp::CHECKSUM,
        ip_len + udp::CHECKSUM + 1,
        ip_len + Udp::LEN + bth::CONGESTION,
    ];
    // The version shares its byte with the high half of the traffic class.
    let version_byte = if version6 { 0..4 } else { 0..0 };
    ip_bytes
        .iter()
        .chain(&after_ip)
        .flat_map(|at| 8 * at..8 * at + 8)
        .chain(version_byte.map(|bit| 8 * ipv6::VERSION + bit))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mrc::{PathHint, Seth};
    use crate::{icrc, Bth};

    #[test]
    fn bits_of_flags_are_those_of_the_byte_view() {
        let bits =
            |byte: u8, bit: usize, width: usize| usize::from(byte) >> bit & ((1 << width) - 1);
        let mut bytes = vec![];
        let bth = Bth {
            solicited: true,
            pad_count: 2,
            tver: 9,
            retransmit: true,
            ..Bth::default()
        };
        bth.emit(&mut bytes);
        let flags = bytes[bth::FLAGS];
        assert_eq!(bits(flags, bth::SOLICITED_BIT, 1), 1);
        assert_eq!(bits(flags, bth::PAD_BIT, bth::PAD_BITS), 2);
        assert_eq!(bits(flags, bth::VERSION_BIT, bth::VERSION_BITS), 9);
        for (header, bit) in [
            (
                Bth {
                    ack_req: true,
                    ..Bth::default()
                },
                bth::ACK_REQ_BIT,
            ),
            (
                Bth {
                    retransmit: true,
                    ..Bth::default()
                },
                bth::RETRANSMISSION_BIT,
            ),
            (
                Bth {
                    tseth_present: true,
                    ..Bth::default()
                },
                bth::TSETH_BIT,
            ),
        ] {
            let mut bytes = vec![];
            header.emit(&mut bytes);
            assert_eq!(bytes[bth::ACK_REQ], 1 << bit);
        }
        for (path_hint, probe_response) in [(PathHint::AlwaysSkip, false), (PathHint::Good, true)] {
            let mut bytes = vec![];
            let header = Seth {
                path_hint,
                probe_response,
                ..Seth::default()
            };
            header.emit(&mut bytes);
            let flags = bytes[seth::FLAGS];
            let hint = bits(flags, seth::PATH_HINT_BIT, seth::PATH_HINT_BITS);
            assert_eq!(hint, usize::from(path_hint.code()));
            assert_eq!(
                bits(flags, seth::PROBE_RESPONSE_BIT, 1),
                usize::from(probe_response)
            );
        }
    }

    /// The reference's CRC does not see the masked bits, and sees every other bit of the headers.
    #[test]
    fn masked_bits_are_those_the_reference_does_not_see() {
        for (version6, ip_len) in [(false, Ipv4::LEN), (true, Ipv6::LEN)] {
            let masked = icrc_masked_bits(version6);
            let headers = ip_len + Udp::LEN + Bth::LEN;
            let mut packet = vec![0u8; headers];
            packet[0] = if version6 { 0x60 } else { 0x45 };
            packet[if version6 { 6 } else { 9 }] = crate::ip::PROTO_UDP;
            let before = icrc::compute(&packet).expect("a RoCE packet");
            for bit in 0..8 * headers {
                packet[bit / 8] ^= 1 << (bit % 8);
                // A change of version, header length or protocol makes it another packet, which the reference refuses.
                if let Ok(after) = icrc::compute(&packet) {
                    assert_eq!(after == before, masked.contains(&bit), "bit {bit}");
                }
                packet[bit / 8] ^= 1 << (bit % 8);
            }
            assert!(masked.iter().all(|bit| bit / 8 < ICRC_MASK_BYTES));
        }
    }
}
