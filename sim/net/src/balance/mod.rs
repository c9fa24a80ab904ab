//! How switches choose among equal paths.

mod conga;
mod conweave;
mod drill;
mod flowlets;
mod settings;

use crate::channel::Channel;
use crate::flight::PacketId;
use crate::hash::{choose, mix};
use crate::parcel::Class;
use crate::stats::Ledger;
use crate::topology::Topology;
use crate::{ChannelId, SwitchId, Time};

pub(crate) use settings::BadBalancer;
pub use settings::Balancer;

/// What a switch knows when it has to choose.
pub(crate) struct Choice<'a> {
    pub now: Time,
    pub at: SwitchId,
    /// The switch with the packet's host.
    pub last: SwitchId,
    /// Hash of the packet's flow.
    pub flow: u64,
    pub class: Class,
    pub len: u32,
    /// The packet comes from a host of this switch.
    pub is_first: bool,
    /// Output channels that lie on a shortest path and are up, in the order of the topology's links; at least one.
    pub group: &'a [ChannelId],
    pub loads: Loads<'a>,
}

/// Depths of the queues of a fabric.
#[derive(Clone, Copy)]
pub(crate) struct Loads<'a> {
    pub channels: &'a [Channel],
    pub ledgers: &'a [Ledger],
    pub now: Time,
}

impl Loads<'_> {
    /// Bytes that wait for a channel or are on its line.
    pub(crate) fn bytes(&self, id: ChannelId) -> u64 {
        let channel = &self.channels[id.index()];
        let ledger = &self.ledgers[id.index()];
        let line = if channel.busy_until > self.now {
            channel.line_len
        } else {
            0
        };
        ledger.data.bytes + ledger.control.bytes + u64::from(line)
    }

    /// The channel of `candidates` with the fewest bytes; of equal ones the first.
    pub(crate) fn least(&self, candidates: impl Iterator<Item = ChannelId>) -> Option<ChannelId> {
        candidates.min_by_key(|&id| self.bytes(id))
    }
}

/// A packet that a switch has decided about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Forwarded {
    pub now: Time,
    pub at: SwitchId,
    pub packet: PacketId,
    pub out: ChannelId,
    pub len: u32,
    /// The switch with the packet's host.
    pub last: SwitchId,
    /// It comes from a host of this switch.
    pub is_first: bool,
}

/// What a balancer has a switch do with packets to its hosts.
#[derive(Default)]
pub(crate) struct Effects {
    /// The switch keeps the packet, until it is among those released.
    pub holds: bool,
    /// Packets that go to their channels before the packet.
    pub before: Vec<(PacketId, ChannelId)>,
    /// Packets that go to their channels after the packet.
    pub released: Vec<(PacketId, ChannelId)>,
    /// Times at which the balancer is called, and what it is told then.
    pub timers: Vec<(Time, u32)>,
}

/// A balancer in a running fabric: the state of all switches.
pub(crate) trait Choose: Send {
    /// Chooses the output of a packet for which there are several.
    fn choose(&mut self, choice: &Choice<'_>) -> ChannelId;

    /// A switch sends a packet to `out`, chosen or not.
    fn forwarded(&mut self, _: &Forwarded) {}

    /// A packet gets a congestion mark.
    fn marked(&mut self, _: PacketId) {}

    /// A switch takes a packet to one of its own hosts.
    fn delivers(&mut self, _: &Forwarded, _: &mut Effects) {}

    /// A time has come that [`Effects::timers`] had.
    fn on_timer(&mut self, _: u32, _: Time, _: &mut Effects) {}
}

/// Random numbers of the switches. Each switch has a sequence of its own, which the fabric's seed decides.
pub(crate) struct Dice(Vec<u64>);

impl Dice {
    pub(crate) fn new(topology: &Topology, seed: u64) -> Self {
        Self::of_switches(topology.switches().len() as u64, seed)
    }

    fn of_switches(count: u64, seed: u64) -> Self {
        let switches = 0..count;
        // Not the seeds of the hashes of ECMP.
        Self(switches.map(|index| mix(mix(!seed) ^ index)).collect())
    }

    /// One of `choices` indices at a switch.
    pub(crate) fn draw(&mut self, at: SwitchId, choices: usize) -> usize {
        let state = &mut self.0[at.index()];
        // A counter that is mixed: SplitMix64.
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        choose(mix(*state), choices)
    }
}

/// Random packet spraying: any output, for each packet anew (Dixit et al., INFOCOM 2013, section III).
struct Spray(Dice);

impl Choose for Spray {
    fn choose(&mut self, choice: &Choice<'_>) -> ChannelId {
        choice.group[self.0.draw(choice.at, choice.group.len())]
    }
}

/// Adaptive routing: the output with the fewest bytes, for each packet anew; of equal ones a random one.
struct Adaptive(Dice);

impl Choose for Adaptive {
    fn choose(&mut self, choice: &Choice<'_>) -> ChannelId {
        let start = self.0.draw(choice.at, choice.group.len());
        let (before, from) = choice.group.split_at(start);
        let around = from.iter().chain(before).copied();
        choice.loads.least(around).unwrap_or(choice.group[0])
    }
}
