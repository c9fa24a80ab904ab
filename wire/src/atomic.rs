//! Atomic request and response headers (InfiniBand architecture volume 1, sections 9.3.4 and 9.5.3).

use crate::header::{be32, be64, split};
use crate::{Header, WireError};

/// AtomicETH, 28 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtomicEth {
    /// Virtual address of the 8-byte operand at the responder.
    pub va: u64,
    pub rkey: u32,
    /// New value of a compare-and-swap, addend of a fetch-and-add.
    pub swap_add: u64,
    /// Value to compare with; unused by fetch-and-add.
    pub compare: u64,
}

impl Header for AtomicEth {
    const LEN: usize = 28;
    const NAME: &'static str = "AtomicETH";

    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (b, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        Ok((
            Self {
                va: be64(b, 0),
                rkey: be32(b, 8),
                swap_add: be64(b, 12),
                compare: be64(b, 20),
            },
            rest,
        ))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.va.to_be_bytes());
        out.extend_from_slice(&self.rkey.to_be_bytes());
        out.extend_from_slice(&self.swap_add.to_be_bytes());
        out.extend_from_slice(&self.compare.to_be_bytes());
    }
}

/// AtomicAckETH, 8 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtomicAckEth {
    /// Operand's value before the operation.
    pub original: u64,
}

impl Header for AtomicAckEth {
    const LEN: usize = 8;
    const NAME: &'static str = "AtomicAckETH";

    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (b, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        Ok((
            Self {
                original: be64(b, 0),
            },
            rest,
        ))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.original.to_be_bytes());
    }
}
