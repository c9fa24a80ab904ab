//! MRC congestion control state of type 0 (NSCC), which follows SETH.

use crate::header::{be16, be24, fit, put24, split};
use crate::{Header, WireError};

/// CC_STATE, 8 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CcState {
    /// `tx_timestamp` of the acknowledged packet, reflected.
    pub tx_timestamp: u16,
    /// Packets received out of order, 15 bits.
    pub ooo_count: u16,
    /// The sender may restore its window.
    pub restore_cwnd: bool,
    /// Receiver's penalty on the window, 7 bits: 0 none, 64 halves, 127 one packet per round trip.
    pub rcv_cwnd_pen: u8,
    /// Bytes received, in units of 256, 24 bits.
    pub rcvd_bytes: u32,
}

impl Header for CcState {
    const LEN: usize = 8;
    const NAME: &'static str = "CC_STATE";

    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (b, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        let state = Self {
            tx_timestamp: be16(b, 0),
            ooo_count: be16(b, 2) & 0x7fff,
            restore_cwnd: b[4] & 0x80 != 0,
            rcv_cwnd_pen: b[4] & 0x7f,
            rcvd_bytes: be24(b, 5),
        };
        Ok((state, rest))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.tx_timestamp.to_be_bytes());
        out.extend_from_slice(&fit("CC_STATE.ooo_count", self.ooo_count, 15).to_be_bytes());
        out.push(
            u8::from(self.restore_cwnd) << 7 | fit("CC_STATE.rcv_cwnd_pen", self.rcv_cwnd_pen, 7),
        );
        put24(out, "CC_STATE.rcvd_bytes", self.rcvd_bytes);
    }
}
