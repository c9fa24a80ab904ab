//! Configuration, counters and observations of a bridge.

use std::path::PathBuf;

use sim_net::Time;
use sim_world::Direction;

use crate::address::LinkAddress;
use crate::flip::BitFlip;
use crate::host_stack::HostAddresses;
use crate::impairment::{Fate, Impairment};

/// Configuration of a bridge.
#[derive(Clone, Debug, PartialEq)]
pub struct BridgeConfig {
    /// The socket to the peer.
    pub address: LinkAddress,
    /// Bridged port of the card, 0 or 1. Frames that leave by the other port are counted and lost.
    pub port: usize,
    /// Addresses of the simulated host at that port, for ARP, neighbour discovery and ping.
    pub host: HostAddresses,
    /// Impairment of RoCEv2 frames to the card.
    pub to_card: Impairment,
    /// Impairment of RoCEv2 frames to the peer.
    pub to_peer: Impairment,
    /// Seed of the impairments.
    pub seed: u64,
    /// Header bit to invert in every RoCEv2 frame of the card.
    pub flip: Option<BitFlip>,
    /// File for a capture (pcapng) with simulated times.
    pub capture: Option<PathBuf>,
    /// Minimum ratio of wall time to simulated time ([`crate::Pace`]); 0 for no limit.
    pub pace: u32,
}

/// A frame at the bridge.
#[derive(Clone, Copy, Debug)]
pub struct Crossing<'a> {
    /// Picoseconds since power-up of the card.
    pub time: Time,
    /// Direction as the card's port sees it.
    pub direction: Direction,
    /// Destination address to iCRC.
    pub frame: &'a [u8],
    /// Treatment by the bridge.
    pub fate: Fate,
}

/// Frame counters of a bridge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BridgeCounts {
    /// Frames received from the peer.
    pub from_peer: u64,
    /// Frames sent by the card and by the host's IP stack.
    pub from_card: u64,
    /// Frames dropped on purpose, both directions.
    pub dropped: u64,
    /// Frames duplicated on purpose, both directions.
    pub duplicated: u64,
    /// Frames held back on purpose so that others overtake them, both directions.
    pub held_back: u64,
    /// Frames of the peer that are shorter than an Ethernet header, or too long.
    pub malformed: u64,
    /// Frames that left the card by the port that is not bridged.
    pub unplugged: u64,
    /// Frames to the peer that were lost: no peer was connected, or it did not read them.
    pub lost: u64,
}
