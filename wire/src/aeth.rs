//! Acknowledge extended transport header (InfiniBand architecture volume 1, sections 9.3.5 and 9.7.5.2).

use crate::code_enum::code_enum;
use crate::header::{be24, fit, put24, split};
use crate::host::WcStatus;
use crate::time::Ticks;
use crate::{Header, WireError};

/// Unit of the times of RNR NAKs in ticks: 0.01 ms.
pub const RNR_UNIT: u32 = Ticks::from_us(10).0;

code_enum! {
    /// Why a request was refused (low five bits of a NAK syndrome).
    pub enum NakCode {
        PsnSequenceError = 0,
        InvalidRequest = 1,
        RemoteAccessError = 2,
        RemoteOperationalError = 3,
        InvalidRdRequest = 4,
    }
}

/// AETH syndrome, 8 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Syndrome {
    /// Type 000, positive acknowledgement; `credits` is the 5-bit credit code, [`Syndrome::UNLIMITED_CREDITS`] if
    /// the responder does not limit the requester.
    Ack { credits: u8 },
    /// Type 001, receiver not ready; `timer` is the 5-bit delay code.
    RnrNak { timer: u8 },
    /// Type 011, refused.
    Nak(NakCode),
    /// Any other value, kept unchanged.
    Reserved(u8),
}

impl Syndrome {
    /// Credit code for "no end-to-end flow control".
    pub const UNLIMITED_CREDITS: u8 = 0x1f;

    /// Parses the syndrome byte of an AETH.
    pub const fn from_byte(byte: u8) -> Self {
        let value = byte & 0x1f;
        match byte >> 5 {
            0b000 => Self::Ack { credits: value },
            0b001 => Self::RnrNak { timer: value },
            0b011 => match NakCode::from_code(value) {
                Some(code) => Self::Nak(code),
                None => Self::Reserved(byte),
            },
            _ => Self::Reserved(byte),
        }
    }

    /// Status of a message of which the responder refused a packet with this syndrome for good; `None` if it is no such NAK.
    pub const fn refusal(self) -> Option<WcStatus> {
        match self {
            Self::Nak(NakCode::PsnSequenceError) => None,
            Self::Nak(NakCode::RemoteAccessError) => Some(WcStatus::RemAccessErr),
            Self::Nak(NakCode::InvalidRequest) => Some(WcStatus::RemInvReqErr),
            Self::Nak(NakCode::RemoteOperationalError | NakCode::InvalidRdRequest) => {
                Some(WcStatus::RemOpErr)
            }
            Self::Ack { .. } | Self::RnrNak { .. } | Self::Reserved(_) => None,
        }
    }

    /// To the wire.
    ///
    /// # Panics
    /// If a credit or timer code exceeds 5 bits.
    pub fn to_byte(self) -> u8 {
        match self {
            Self::Ack { credits } => fit("AETH.credits", credits, 5),
            Self::RnrNak { timer } => 0b001 << 5 | fit("AETH.timer", timer, 5),
            Self::Nak(code) => 0b011 << 5 | code.code(),
            Self::Reserved(byte) => byte,
        }
    }
}

/// Time that a requester waits after an RNR NAK with the delay code `timer`: 0.01 ms to 655.36 ms (InfiniBand architecture volume 1, section 9.7.5.2.8, table of
/// RNR NAK timer codes). Codes from 2 on are 2, 3, 4, 6, 8, 12, ... times 0.01 ms, and code 0 continues the row behind 31.
pub const fn rnr_wait(timer: u8) -> Ticks {
    let place = if timer == 0 { 32 } else { timer as u32 & 31 };
    let base = if place & 1 == 1 && place != 1 {
        RNR_UNIT * 3 / 2
    } else {
        RNR_UNIT
    };
    Ticks(base << (place / 2))
}

/// AETH, 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aeth {
    pub syndrome: Syndrome,
    /// Message sequence number, 24 bits: messages the responder has completed.
    pub msn: u32,
}

impl Default for Aeth {
    /// The default is a positive acknowledgement with unlimited credits.
    fn default() -> Self {
        Self {
            syndrome: Syndrome::Ack {
                credits: Syndrome::UNLIMITED_CREDITS,
            },
            msn: 0,
        }
    }
}

impl Header for Aeth {
    const LEN: usize = 4;
    const NAME: &'static str = "AETH";

    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (b, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        Ok((
            Self {
                syndrome: Syndrome::from_byte(b[0]),
                msn: be24(b, 1),
            },
            rest,
        ))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.push(self.syndrome.to_byte());
        put24(out, "AETH.msn", self.msn);
    }
}
