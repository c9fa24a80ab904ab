//! Injection of one wrong header bit.

use std::fmt;
use std::str::FromStr;

use stellar_wire::{icrc, Bth, Header, Ipv4, Ipv6, Udp};
use thiserror::Error;

use crate::frame::roce_packet;

/// A header bit that the bridge inverts in every RoCEv2 frame of the card. The bridge recomputes the iCRC, so the peer sees a wrong header and not a
/// damaged frame. The text form is `BYTE.BIT`: byte 0 is the first byte of the base transport header, bit 7 the most significant bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitFlip {
    /// Byte offset from the start of the base transport header.
    pub byte: usize,
    /// Bit of the byte, 0 to 7.
    pub bit: u8,
}

/// A text that is not a bit position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("'{0}' names no bit; write BYTE.BIT with a byte from 0 to {last} of the base transport header and what follows it, and a bit from 0 to 7", last = BitFlip::LAST_BYTE)]
pub struct FlipError(String);

impl BitFlip {
    /// Largest byte offset: the end of the base transport header, a RETH and immediate data.
    pub const LAST_BYTE: usize = Bth::LEN + 16 + 4 - 1;

    /// Inverts the bit if `frame` is RoCEv2 and long enough. Returns whether it did.
    pub fn apply(self, frame: &mut [u8]) -> bool {
        let Some(ip) = roce_packet(frame) else {
            return false;
        };
        let packet = &mut frame[ip..];
        let is_v4 = packet[0] >> 4 == 4;
        let headers = if is_v4 { Ipv4::LEN } else { Ipv6::LEN } + Udp::LEN;
        let at = headers + self.byte;
        if at + icrc::LEN >= packet.len() {
            return false;
        }
        packet[at] ^= 1 << self.bit;
        icrc::seal(packet).is_ok()
    }
}

impl FromStr for BitFlip {
    type Err = FlipError;

    fn from_str(text: &str) -> Result<Self, FlipError> {
        let parse = || {
            let (byte, bit) = text.split_once('.')?;
            let flip = Self {
                byte: byte.parse().ok()?,
                bit: bit.parse().ok()?,
            };
            (flip.byte <= Self::LAST_BYTE && flip.bit < 8).then_some(flip)
        };
        parse().ok_or_else(|| FlipError(text.to_owned()))
    }
}

impl fmt::Display for BitFlip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.byte, self.bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stellar_wire::{Opcode, RoceFrame};

    fn frame() -> RoceFrame {
        let bth = Bth {
            opcode: Opcode::RcAck,
            psn: 0x12_3456,
            ..Bth::default()
        };
        RoceFrame {
            bth,
            ext: stellar_wire::ExtHeaders {
                aeth: Some(stellar_wire::Aeth::default()),
                ..Default::default()
            },
            ..RoceFrame::default()
        }
    }

    #[test]
    fn one_bit_is_other_and_the_icrc_fits() {
        let before = frame().emit().unwrap();
        let mut after = before.clone();
        // The least significant bit of the PSN, byte 11 of the header.
        let flip: BitFlip = "11.0".parse().unwrap();
        assert!(flip.apply(&mut after));
        let read = RoceFrame::parse(&after).unwrap();
        assert_eq!(read.bth.psn, 0x12_3457);
        let differing: u32 = before
            .iter()
            .zip(&after)
            .take(before.len() - icrc::LEN)
            .map(|(a, b)| (a ^ b).count_ones())
            .sum();
        assert_eq!(differing, 1);
    }

    #[test]
    fn a_frame_without_the_bit_stays_as_it_is() {
        let before = frame().emit().unwrap();
        let mut after = before.clone();
        // An acknowledgement has 12 + 4 bytes of headers.
        assert!(!"16.0".parse::<BitFlip>().unwrap().apply(&mut after));
        let mut other = vec![0xff; 60];
        assert!(!"0.0".parse::<BitFlip>().unwrap().apply(&mut other));
        assert_eq!((after, other), (before, vec![0xff; 60]));
    }

    #[test]
    fn texts_that_name_no_bit_are_refused() {
        for text in ["", "3", "3.8", "32.0", "a.b", "-1.0"] {
            let error = text.parse::<BitFlip>().unwrap_err().to_string();
            assert!(error.contains("BYTE.BIT"), "{text}: {error}");
        }
    }
}
