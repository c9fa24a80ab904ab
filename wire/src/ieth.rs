//! Invalidate extended transport header (InfiniBand architecture volume 1, section 9.3.7).

use crate::header::{be32, split};
use crate::{Header, WireError};

/// IETH, 4 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ieth {
    /// Key the responder shall invalidate.
    pub rkey: u32,
}

impl Header for Ieth {
    const LEN: usize = 4;
    const NAME: &'static str = "IETH";

    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (b, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        Ok((Self { rkey: be32(b, 0) }, rest))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.rkey.to_be_bytes());
    }
}
