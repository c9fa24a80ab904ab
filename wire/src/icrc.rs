//! Invariant CRC of RoCE packets (InfiniBand architecture volume 1, section 7.8.1; annexes A16 and A17 for RoCE).
//!
//! The iCRC is the CRC-32 of IEEE 802.3. It is computed over eight bytes of ones in place of the local route header, followed by the packet from the
//! first IP byte to the end of the pad. Every field that a router may change is replaced by ones: IPv4 TOS, TTL and checksum; IPv6 traffic class,
//! flow label and hop limit; UDP checksum; BTH byte 4. The least significant byte is sent first.

use crate::ip::{PROTO_IBA, PROTO_UDP};
use crate::{Bth, Header, Ipv4, Ipv6, Udp, WireError};

/// Length of the iCRC in bytes.
pub const LEN: usize = 4;

/// CRC register (before the final inversion) after the eight bytes of ones that stand for the local route header.
pub const REGISTER_AFTER_LRH: u32 = 0xdebb_20e3;

/// CRC register (before the final inversion) after a good packet including its iCRC.
pub const REGISTER_RESIDUE: u32 = 0xdebb_20e3;

/// Masked copy of the headers up to and including the BTH, which are all that needs masking.
fn masked_headers(packet: &[u8]) -> Result<Vec<u8>, WireError> {
    let truncated = |header, need| WireError::Truncated {
        header,
        need,
        have: packet.len(),
    };
    let version = packet.first().ok_or(truncated("IP", 1))? >> 4;
    let (ip_name, ip_len, protocol_at) = match version {
        4 => (Ipv4::NAME, Ipv4::LEN, 9),
        6 => (Ipv6::NAME, Ipv6::LEN, 6),
        found => return Err(WireError::IpVersion { expected: 4, found }),
    };
    let protocol = *packet.get(protocol_at).ok_or(truncated(ip_name, ip_len))?;
    let udp_len = match protocol {
        PROTO_UDP => Udp::LEN,
        PROTO_IBA if version == 6 => 0, // RoCE v1: the BTH follows the GRH, which has IPv6's layout.
        other => return Err(WireError::IpProtocol(other)),
    };
    let bth_at = ip_len + udp_len;
    let need = bth_at + Bth::LEN;
    let mut headers = packet
        .get(..need)
        .ok_or(truncated("IP to BTH", need))?
        .to_vec();
    if version == 4 {
        if headers[0] & 0x0f != 5 {
            return Err(WireError::Ipv4Options {
                ihl: headers[0] & 0x0f,
            });
        }
        headers[1] = 0xff;
        headers[8] = 0xff;
        headers[10..12].fill(0xff);
    } else {
        headers[0] |= 0x0f;
        headers[1..4].fill(0xff);
        headers[7] = 0xff;
    }
    if udp_len != 0 {
        headers[ip_len + 6..ip_len + 8].fill(0xff);
    }
    headers[bth_at + 4] = 0xff;
    Ok(headers)
}

/// Computes the iCRC of a RoCE packet. The bytes are those from its first IP byte (for RoCE v1: GRH byte) to the end of its pad, without the iCRC
/// itself.
///
/// # Errors
/// [`WireError::Truncated`] if the bytes end before the BTH does; [`WireError::IpVersion`],
/// [`WireError::Ipv4Options`], [`WireError::IpProtocol`] if they are not a RoCE packet. Lengths and checksums are not
/// looked at.
pub fn compute(packet: &[u8]) -> Result<u32, WireError> {
    let headers = masked_headers(packet)?;
    let mut crc = crc32fast::Hasher::new();
    crc.update(&[0xff; 8]);
    crc.update(&headers);
    crc.update(&packet[headers.len()..]);
    Ok(crc.finalize())
}

/// Splits a packet that ends in its iCRC.
fn split_trailer(packet: &[u8]) -> Result<(&[u8], &[u8; LEN]), WireError> {
    packet
        .split_last_chunk::<LEN>()
        .ok_or(WireError::Truncated {
            header: "iCRC",
            need: LEN,
            have: packet.len(),
        })
}

/// Checks a RoCE packet, given from its first IP byte up to and including its iCRC.
///
/// # Errors
/// [`WireError::Icrc`] if it does not match; those of [`compute`].
pub fn verify(packet: &[u8]) -> Result<(), WireError> {
    let (covered, trailer) = split_trailer(packet)?;
    let (found, computed) = (u32::from_le_bytes(*trailer), compute(covered)?);
    if found == computed {
        Ok(())
    } else {
        Err(WireError::Icrc { found, computed })
    }
}

/// Overwrites the last four bytes of a RoCE packet, given from its first IP byte, with the iCRC of the other bytes. It is for packets whose bytes
/// were changed on purpose.
///
/// # Errors
/// The errors of [`compute`].
pub fn seal(packet: &mut [u8]) -> Result<(), WireError> {
    let (covered, _) = split_trailer(packet)?;
    let (end, icrc) = (covered.len(), compute(covered)?);
    packet[end..].copy_from_slice(&icrc.to_le_bytes());
    Ok(())
}
