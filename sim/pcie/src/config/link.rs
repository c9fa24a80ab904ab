//! Speed, latency and buffers of a link.

use serde::{Deserialize, Serialize};

use crate::Picoseconds;

/// PCIe generation of a link, non-flit mode with 128b/130b encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Generation {
    /// 8 GT/s per lane.
    Gen3,
    /// 16 GT/s per lane.
    Gen4,
    /// 32 GT/s per lane.
    Gen5,
}

impl Generation {
    /// Gigatransfers (raw Gb) per second and lane.
    pub const fn gigatransfers(self) -> u64 {
        match self {
            Self::Gen3 => 8,
            Self::Gen4 => 16,
            Self::Gen5 => 32,
        }
    }
}

/// A link, the same in both directions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinkConfig {
    /// Speed per lane. Default Gen5.
    pub generation: Generation,
    /// Lanes: 1, 2, 4, 8 or 16. Default 8.
    pub lanes: u32,
    /// Latency from the last bit sent until the receiver can use the TLP (PHY, flight, data link layer). Default 100 ns.
    pub latency_ps: Picoseconds,
    /// Share of the bandwidth that DLLPs (ACK, UpdateFC) and SKPs take, in thousandths. Default 20.
    pub dllp_permille: u64,
    /// Maximum payload size that the receivers at both ends accept: 128 to 4,096, a power of two. Default 256.
    pub max_payload: usize,
    /// TLPs per flow-control class that may wait at the sender. Default 16.
    pub send_queue: usize,
    /// Credits that the receivers at both ends grant.
    pub credits: CreditConfig,
}

/// Flow-control credits of a receiver (PCIe base specification, section 2.6.1). A TLP takes one header credit of its class, and one data credit for
/// each 16 bytes of payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CreditConfig {
    /// Header credits for memory writes. Default 128, which covers the round trip of a default link with 128-byte payloads.
    pub posted_headers: u32,
    /// Data credits for memory writes. Default 2,048, which is 128 payloads of 256 bytes.
    pub posted_data: u32,
    /// Header credits for reads. Default 128.
    pub non_posted_headers: u32,
    /// Header credits for completions. Default 128.
    pub completion_headers: u32,
    /// Data credits for completions. Default 2,048.
    pub completion_data: u32,
}

impl Default for CreditConfig {
    fn default() -> Self {
        Self::for_tlps(128, 256)
    }
}

impl CreditConfig {
    /// Bytes of payload that a data credit covers.
    pub const DATA_UNIT: u32 = 16;

    /// Credits for `tlps` TLPs of each class with up to `payload` bytes.
    pub const fn for_tlps(tlps: u32, payload: u32) -> Self {
        let data = tlps * payload.div_ceil(Self::DATA_UNIT);
        Self {
            posted_headers: tlps,
            posted_data: data,
            non_posted_headers: tlps,
            completion_headers: tlps,
            completion_data: data,
        }
    }
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self {
            generation: Generation::Gen5,
            lanes: 8,
            latency_ps: 100_000,
            dllp_permille: 20,
            max_payload: 256,
            send_queue: 16,
            credits: CreditConfig::default(),
        }
    }
}

impl LinkConfig {
    /// Gen5 with 16 lanes, everything else default.
    pub fn gen5_x16() -> Self {
        Self {
            lanes: 16,
            ..Self::default()
        }
    }

    /// Time `bytes` occupy the link, 128b/130b encoding and DLLP share included, rounded up to a picosecond.
    pub fn occupancy(&self, bytes: usize) -> Picoseconds {
        let bits = bytes as u64 * 8;
        let per_lane_bits = self.generation.gigatransfers() * u64::from(self.lanes) * 128;
        (bits * 130 * 1000 * 1000).div_ceil(per_lane_bits * (1000 - self.dllp_permille))
    }
}
