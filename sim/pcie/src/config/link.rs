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
    /// TLPs per flow-control class for which the receiver grants credit. Default 128, which covers the round trip
    /// of a default link with 128-byte payloads.
    pub receive_buffer: usize,
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
            receive_buffer: 128,
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
