//! MRC extended transport header: message numbers.

use crate::header::{be16, split};
use crate::{Header, WireError};

/// METH, 4 bytes, in every MRC data packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meth {
    /// Number of the WRITE-with-immediate message, counted among those only, repeated in each of its packets.
    pub rqmsn: u16,
    /// Message number.
    pub msn: u16,
}

impl Header for Meth {
    const LEN: usize = 4;
    const NAME: &'static str = "METH";

    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (b, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        Ok((
            Self {
                rqmsn: be16(b, 0),
                msn: be16(b, 2),
            },
            rest,
        ))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.rqmsn.to_be_bytes());
        out.extend_from_slice(&self.msn.to_be_bytes());
    }
}
