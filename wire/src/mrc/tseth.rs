//! MRC time stamp extended transport header.

use crate::header::{be16, fit, split};
use crate::{Header, WireError};

/// TSETH, 4 bytes, optional in data packets and part of probes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tseth {
    /// Sender's clock when the packet left, in the unit the format names.
    pub tx_timestamp: u16,
    /// The time unit is the implementation's own.
    pub own_resolution: bool,
    /// Format of the time stamp, 4 bits.
    pub format: u8,
}

impl Tseth {
    /// Format of a time stamp in ticks of 8 ns, the one our cards send.
    pub const FORMAT_TICKS: u8 = 1;
}

impl Header for Tseth {
    const LEN: usize = 4;
    const NAME: &'static str = "TSETH";

    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (b, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        Ok((
            Self {
                tx_timestamp: be16(b, 0),
                own_resolution: b[2] & 0x80 != 0,
                format: b[3] & 0x0f,
            },
            rest,
        ))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.tx_timestamp.to_be_bytes());
        out.push(u8::from(self.own_resolution) << 7);
        out.push(fit("TSETH.format", self.format, 4));
    }
}
