//! RDMA extended transport header (InfiniBand architecture volume 1, section 9.3.3).

use crate::header::{be32, be64, split};
use crate::{Header, WireError};

/// RETH, 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reth {
    /// Virtual address at the responder. In MRC: of this packet's first payload byte.
    pub va: u64,
    pub rkey: u32,
    /// Length of the whole message in bytes (this project's rule for MRC too, where every packet has a RETH).
    pub dma_len: u32,
}

impl Header for Reth {
    const LEN: usize = 16;
    const NAME: &'static str = "RETH";

    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (b, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        Ok((
            Self {
                va: be64(b, 0),
                rkey: be32(b, 8),
                dma_len: be32(b, 12),
            },
            rest,
        ))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.va.to_be_bytes());
        out.extend_from_slice(&self.rkey.to_be_bytes());
        out.extend_from_slice(&self.dma_len.to_be_bytes());
    }
}
