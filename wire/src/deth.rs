//! Datagram extended transport header (InfiniBand architecture volume 1, section 9.3.2).

use crate::header::{be24, be32, put24, split};
use crate::{Header, WireError};

/// DETH, 8 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deth {
    pub qkey: u32,
    /// Sender's queue pair, 24 bits.
    pub src_qp: u32,
}

impl Header for Deth {
    const LEN: usize = 8;
    const NAME: &'static str = "DETH";

    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (b, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        Ok((
            Self {
                qkey: be32(b, 0),
                src_qp: be24(b, 5),
            },
            rest,
        ))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.qkey.to_be_bytes());
        out.push(0);
        put24(out, "DETH.src_qp", self.src_qp);
    }
}
