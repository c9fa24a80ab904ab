//! UDP header (RFC 768).

use crate::header::{be16, split};
use crate::ip::{compare_length, length16};
use crate::{Header, WireError};

/// Destination port of RoCEv2 (and the default of MRC).
pub const ROCE_UDP_PORT: u16 = 4791;

/// UDP header, 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Udp {
    /// Flow entropy in RoCEv2; the low half of the entropy value in MRC.
    pub sport: u16,
    pub dport: u16,
    /// Header and payload, iCRC included, in bytes.
    pub length: u16,
    /// Carried as it is, never computed or verified: RoCEv2 senders use 0, and the iCRC protects the packet.
    pub checksum: u16,
}

impl Default for Udp {
    /// Source port 0xc000, destination port [`ROCE_UDP_PORT`], length unset, no checksum.
    fn default() -> Self {
        Self {
            sport: 0xc000,
            dport: ROCE_UDP_PORT,
            length: 0,
            checksum: 0,
        }
    }
}

impl Udp {
    /// Checks the length field against the `payload` bytes that follow the header.
    ///
    /// # Errors
    /// [`WireError::LengthShort`], [`WireError::LengthLong`].
    pub fn check_length(&self, payload: usize) -> Result<(), WireError> {
        compare_length(Self::NAME, usize::from(self.length), Self::LEN + payload)
    }

    /// The header with its length set for `payload` bytes.
    ///
    /// # Errors
    /// [`WireError::TooLong`] if the length does not fit 16 bits.
    pub fn carrying(self, payload: usize) -> Result<Self, WireError> {
        Ok(Self {
            length: length16(Self::NAME, Self::LEN + payload)?,
            ..self
        })
    }
}

impl Header for Udp {
    const LEN: usize = 8;
    const NAME: &'static str = "UDP";

    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (b, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        Ok((
            Self {
                sport: be16(b, 0),
                dport: be16(b, 2),
                length: be16(b, 4),
                checksum: be16(b, 6),
            },
            rest,
        ))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        for field in [self.sport, self.dport, self.length, self.checksum] {
            out.extend_from_slice(&field.to_be_bytes());
        }
    }
}
