//! Immediate data extended transport header (InfiniBand architecture volume 1, section 9.3.6).

use crate::header::{be32, split};
use crate::{Header, WireError};

/// ImmDt, 4 bytes, delivered to the responder's completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImmDt(pub u32);

impl Header for ImmDt {
    const LEN: usize = 4;
    const NAME: &'static str = "ImmDt";

    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (b, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        Ok((Self(be32(b, 0)), rest))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.to_be_bytes());
    }
}
