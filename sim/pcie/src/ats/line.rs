//! The Ethernet line that feeds a NIC.

use crate::Picoseconds;

/// A line without loss: it pauses while the NIC's buffer is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineConfig {
    /// Bits per second, in units of 10^9.
    pub gbps: u64,
    /// Bytes of a packet beside its payload: headers, checksums, preamble, gap between frames.
    pub overhead: usize,
}

impl LineConfig {
    /// Time of a packet with this payload, rounded up to a picosecond.
    pub fn packet_time(&self, payload: usize) -> Picoseconds {
        let bits = 8 * (payload + self.overhead) as u64;
        (bits * 1000).div_ceil(self.gbps)
    }
}

/// Payload of a packet, to be written at an address of a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WritePacket {
    /// IO virtual address of the first byte.
    pub iova: u64,
    /// The bytes, one or more.
    pub data: Vec<u8>,
}

/// The packet on the line, and when the line is free.
pub(super) struct Line {
    config: LineConfig,
    free_at: Picoseconds,
    arriving: Option<(Picoseconds, WritePacket)>,
}

impl Line {
    pub const fn new(config: LineConfig) -> Self {
        Self {
            config,
            free_at: 0,
            arriving: None,
        }
    }

    /// Puts the next packet on the line, if it is free.
    pub fn begin(&mut self, now: Picoseconds, packets: &mut dyn Iterator<Item = WritePacket>) {
        if self.arriving.is_some() {
            return;
        }
        if let Some(packet) = packets.next() {
            let time = self.config.packet_time(packet.data.len());
            self.free_at = now.max(self.free_at) + time;
            self.arriving = Some((self.free_at, packet));
        }
    }

    /// The packet that has arrived by `now`.
    pub fn arrive(&mut self, now: Picoseconds) -> Option<WritePacket> {
        let (_, packet) = self.arriving.take_if(|(at, _)| *at <= now)?;
        Some(packet)
    }

    /// When the packet on the line has arrived.
    pub fn next_time(&self) -> Option<Picoseconds> {
        self.arriving.as_ref().map(|(at, _)| *at)
    }
}
