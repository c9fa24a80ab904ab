//! The hash of a run: two runs with the same one sent frames of the same lengths at the same times.

use sim_net::{HostId, Time};

/// Hash over time, host, port and length of every frame that a host sent or received, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunHash(u64);

impl Default for RunHash {
    /// Offset basis of FNV-1a.
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl RunHash {
    /// A host sends a frame.
    pub fn departure(&mut self, time: Time, host: HostId, port: usize, length: usize) {
        self.add(time);
        self.add(u64::from(host.0) << 32 | (port << 24 | length << 1) as u64);
    }

    /// A frame reaches a host.
    pub fn arrival(&mut self, time: Time, host: HostId, port: usize, length: usize) {
        self.add(time);
        self.add(u64::from(host.0) << 32 | (port << 24 | length << 1 | 1) as u64);
    }

    /// One word: a step of FNV-1a over 64 bits in place of 8, with its high half folded in.
    fn add(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }

    /// The hash so far.
    pub const fn value(self) -> u64 {
        self.0
    }
}
