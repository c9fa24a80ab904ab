//! The packets of a queue pair that are not acknowledged, with their paths.

use std::collections::VecDeque;

use stellar_transport::rx::Psn;
use stellar_transport::spray::{EvIndex, Paths};

/// Plane and slot of the path of an entropy value, if that is in service.
pub(super) fn path(paths: &Paths, index: EvIndex) -> Option<(u8, u8)> {
    Some((index.plane(), paths.slot_in_service(index)?))
}

/// A packet on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    /// Plane and slot of its path.
    pub path: (u8, u8),
    /// Bytes of payload.
    pub length: u16,
}

/// Packets that have left and of which nothing is known to have arrived, by PSN.
#[derive(Clone, Debug, Default)]
pub(super) struct Outstanding {
    first: Option<Psn>,
    packets: VecDeque<Option<Packet>>,
}

impl Outstanding {
    /// A packet leaves. Returns what left with this PSN before, if that is still outstanding.
    pub fn sent(&mut self, psn: Psn, packet: Packet) -> Option<Packet> {
        if self.packets.is_empty() {
            self.first = Some(psn);
        }
        let first = self.first.unwrap_or(psn);
        if psn.is_behind(first) {
            return None;
        }
        let at = psn.distance_from(first) as usize;
        if at >= self.packets.len() {
            self.packets.resize(at + 1, None);
        }
        self.packets[at].replace(packet)
    }

    /// A packet on `path` has arrived: the one that left first, because a path keeps the order.
    pub fn arrived(&mut self, path: (u8, u8)) -> Option<(Psn, Packet)> {
        let first = self.first?;
        let mut places = (0..).zip(&mut self.packets);
        let (at, found) =
            places.find(|(_, packet)| packet.is_some_and(|packet| packet.path == path))?;
        Some((first.plus(at), found.take()?))
    }

    /// The length of the packet on `path` that left first.
    pub fn oldest(&self, path: (u8, u8)) -> Option<u16> {
        let mut packets = self.packets.iter().flatten();
        Some(packets.find(|packet| packet.path == path)?.length)
    }

    /// Everything before `una` has arrived: takes the first such packet of which that was not known.
    pub fn passed(&mut self, una: Psn) -> Option<Packet> {
        while self.first.is_some_and(|first| first.is_behind(una)) {
            let packet = self.packets.pop_front()?;
            self.first = self.first.map(|first| first.plus(1));
            if packet.is_some() {
                return packet;
            }
        }
        None
    }
}
