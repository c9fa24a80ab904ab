//! MRC probe extended transport header.

use super::Tseth;
use crate::header::{be16, split};
use crate::{Header, WireError};

/// PETH, 16 bytes. A probe uses no PSN and is answered by a SACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peth {
    pub vendor_info: u8,
    /// Returned by the answer in `ack_psn_offset`.
    pub probe_id: u16,
    pub src_context: u16,
    pub dst_context: u16,
    /// Time stamp, in TSETH's layout.
    pub timestamp: Tseth,
}

impl Peth {
    /// Bit of `probe_id` by which a requester of ours tells the answers of its tail probes from those of its path policy's. The bits below are the index of the
    /// entropy value.
    pub const TAIL_PROBE: u16 = 1 << 8;
}

impl Header for Peth {
    const LEN: usize = 16;
    const NAME: &'static str = "PETH";

    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (b, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        let (timestamp, _) = Tseth::parse(&b[12..])?;
        let header = Self {
            vendor_info: b[3],
            probe_id: be16(b, 4),
            src_context: be16(b, 8),
            dst_context: be16(b, 10),
            timestamp,
        };
        Ok((header, rest))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[0, 0, 0, self.vendor_info]);
        out.extend_from_slice(&self.probe_id.to_be_bytes());
        out.extend_from_slice(&[0, 0]);
        out.extend_from_slice(&self.src_context.to_be_bytes());
        out.extend_from_slice(&self.dst_context.to_be_bytes());
        self.timestamp.emit(out);
    }
}
