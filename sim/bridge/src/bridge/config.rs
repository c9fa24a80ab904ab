//! What a bridge is made with, and what it counts and shows.

use std::path::PathBuf;

use sim_net::Time;
use sim_world::Direction;

use crate::address::LinkAddress;
use crate::flip::BitFlip;
use crate::host_stack::HostAddresses;
use crate::impairment::{Fate, Impairment};

/// What a bridge is made with.
#[derive(Clone, Debug, PartialEq)]
pub struct BridgeConfig {
    /// Where the peer is met.
    pub address: LinkAddress,
    /// Port of the card, 0 or 1. What leaves by the other one is lost, and counted.
    pub port: usize,
    /// Addresses of the simulated host at that port, for ARP, neighbour discovery and ping.
    pub host: HostAddresses,
    /// What happens to RoCEv2 frames on their way to the card.
    pub to_card: Impairment,
    /// The same on their way to the peer.
    pub to_peer: Impairment,
    /// Seed of these decisions.
    pub seed: u64,
    /// A wrong header bit in every RoCEv2 frame of the card.
    pub flip: Option<BitFlip>,
    /// File for a capture (pcapng) of what crosses the bridge, in simulated time.
    pub capture: Option<PathBuf>,
    /// Wall time that simulated time takes at least, as a ratio ([`Pace`]); 0 for no limit.
    pub pace: u32,
}

/// A frame at the bridge.
#[derive(Clone, Copy, Debug)]
pub struct Crossing<'a> {
    /// Picoseconds since power-up of the card.
    pub time: Time,
    /// Which way, as the card's port sees it.
    pub direction: Direction,
    /// Destination address to iCRC.
    pub frame: &'a [u8],
    /// What the bridge did to it.
    pub fate: Fate,
}

/// Frames so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BridgeCounts {
    /// Frames of the peer.
    pub from_peer: u64,
    /// Frames of the card, and of the host's stack.
    pub from_card: u64,
    /// Frames dropped on purpose, either way.
    pub dropped: u64,
    /// Frames duplicated on purpose, either way.
    pub duplicated: u64,
    /// Frames held back on purpose, either way, so that others overtake them.
    pub held_back: u64,
    /// Frames of the peer that are no Ethernet frames: shorter than 14 bytes, or too long.
    pub malformed: u64,
    /// Frames that left the card by its other port.
    pub unplugged: u64,
    /// Frames that the peer was not there for, or did not take.
    pub lost: u64,
}
