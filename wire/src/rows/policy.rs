//! Path policies: their encoding, and the table of what distinguishes them (`docs/policies.md`).

#[cfg(feature = "hdl")]
use rust_hdl::prelude::*;

use crate::record_enum::record_enum;

record_enum! {
    /// How a queue pair chooses among its paths (`docs/policies.md`). Every policy leaves out what software denied and planes that are down.
    pub enum SprayPolicy {
        /// One path drawn from the seed, kept as long as it is usable; then the next usable one in index order.
        SinglePath,
        /// Paths in index order, starting at one drawn from the seed so that queue pairs do not march in step.
        RoundRobin,
        /// Oblivious spraying (STELLAR section 7.2): a new pseudo-random order for every rotation, no feedback.
        Obs,
        /// Oblivious order over the entropy values that feedback has not put aside (OCP MRC 1.0).
        EvState,
        /// Oblivious order, in which a path loses a turn for every mark, and more for a trimmed or late packet (STrack).
        Bitmap,
        /// Recycled entropies (REPS): paths of packets that were acknowledged without a mark are taken again; without one, oblivious order.
        Reps,
        /// Recycled paths as [`Self::Reps`]; without one, the order of [`Self::Bitmap`].
        Mixed,
        /// One path. Another one is drawn when too many packets of a round trip were marked, or one was late (FlowBender).
        FlowBender,
        /// One path. When it is slow, others are probed; it is left for one that is much faster, after a delay that keeps packets in order (Hopper).
        Hopper,
        /// One path. When it stays congested, data pauses while paths are probed; it is left for the one that answers first, once nothing is in flight (HP3).
        Hp3,
    }
}

record_enum! {
    /// What a path policy does to the congestion window of its queue pair.
    pub enum WindowChange {
        /// Nothing.
        Keep,
        /// The window is remembered.
        Save,
        /// The window is the one that was remembered, within the programmed limits.
        Restore,
        /// The window is the one that was remembered, times [`DRAIN_RAISE_HALVES`] / 2, within the programmed limits.
        Raise,
    }
}

/// What distinguishes a policy from others. Reference and hardware take it from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyTraits {
    /// Name on the command line and in results.
    pub name: &'static str,
    /// A queue pair uses one path at a time. It may have a single one.
    pub one_path: bool,
    /// Rotations are ordered by keys; otherwise by index.
    pub permuted: bool,
    /// Entropy values have states; those assumed bad are replaced and probed.
    pub states: bool,
    /// Feedback counts turns that a path loses.
    pub counts: bool,
    /// Good paths are taken again.
    pub recycles: bool,
    /// Marks of a round trip move the queue pair to another path.
    pub bends: bool,
    /// Round trips of probes move the queue pair to a faster path.
    pub hops: bool,
    /// The queue pair moves to another path when nothing is in flight, and then changes its congestion window.
    pub drains: bool,
    /// A line for help texts.
    pub help: &'static str,
}

const NO: bool = false;

/// The table of policies, in the order of [`SprayPolicy`].
#[rustfmt::skip]
const TABLE: [PolicyTraits; SprayPolicy::COUNT] = [
    //                  one path, permuted, states, counts, recycles, bends, hops, drains
    row("single",      [true,     NO,       NO,     NO,     NO,       NO,    NO,   NO], "One path"),
    row("round-robin", [NO,       NO,       NO,     NO,     NO,       NO,    NO,   NO], "Paths in turn"),
    row("obs",         [NO,       true,     NO,     NO,     NO,       NO,    NO,   NO], "Oblivious spraying in a pseudo-random order"),
    row("ev-state",    [NO,       true,     true,   NO,     NO,       NO,    NO,   NO], "Oblivious order over the entropy values that feedback has not excluded"),
    row("bitmap",      [NO,       true,     NO,     true,   NO,       NO,    NO,   NO], "Oblivious order, in which a path loses turns for marks, trims and timeouts"),
    row("reps",        [NO,       true,     NO,     NO,     true,     NO,    NO,   NO], "Paths that were acknowledged without a mark, otherwise oblivious order"),
    row("mixed",       [NO,       true,     NO,     true,   true,     NO,    NO,   NO], "Paths that were acknowledged without a mark, otherwise as bitmap"),
    row("flow-bender", [true,     NO,       NO,     NO,     NO,       true,  NO,   NO], "One path, and another one when it is congested or lossy"),
    row("hopper",      [true,     NO,       NO,     NO,     NO,       NO,    true, NO], "One path, and another one when probes of that are much faster"),
    row("hp3",         [true,     NO,       NO,     NO,     NO,       NO,    NO,   true], "One path, and another one that answers a probe first, once nothing is in flight"),
];

const fn row(name: &'static str, traits: [bool; 8], help: &'static str) -> PolicyTraits {
    let [one_path, permuted, states, counts, recycles, bends, hops, drains] = traits;
    PolicyTraits {
        name,
        one_path,
        permuted,
        states,
        counts,
        recycles,
        bends,
        hops,
        drains,
        help,
    }
}

impl PolicyTraits {
    /// Every acknowledgement matters to the policy, not only those with a mark.
    pub const fn hears_all(&self) -> bool {
        self.recycles || self.bends || self.hops || self.drains
    }

    /// The policy sends probes of its own.
    pub const fn probes(&self) -> bool {
        self.states || self.probes_paths()
    }

    /// The probes are of paths that the queue pair may change to; it may hold data back meanwhile.
    pub const fn probes_paths(&self) -> bool {
        self.hops || self.drains
    }

    /// RC may have the policy: it changes the path when nothing that is in flight can be overtaken, by what probes tell it of paths. Another policy would make RC,
    /// which takes every packet out of order for a loss, send packets again.
    pub const fn serves_rc(&self) -> bool {
        self.probes_paths()
    }
}

impl SprayPolicy {
    /// The row of the table of policies.
    #[inline]
    pub const fn traits(self) -> PolicyTraits {
        TABLE[self.index() as usize]
    }

    /// Name on the command line and in results.
    pub const fn name(self) -> &'static str {
        self.traits().name
    }

    /// The policy of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.name() == name)
    }

    /// The policy with this encoding, if there is one.
    pub fn from_index(index: u8) -> Option<Self> {
        Self::ALL.get(usize::from(index)).copied()
    }
}

/// Turns that a path loses with [`PolicyTraits::counts`]: by a mark, by a trimmed packet, and at most (a late packet, or the receiver's request). STrack, as
/// in the Ultra Ethernet Consortium's simulator.
pub const MARK_TURNS: u8 = 1;
/// See [`MARK_TURNS`].
pub const TRIM_TURNS: u8 = 4;
/// See [`MARK_TURNS`].
pub const MOST_TURNS: u8 = 15;

/// log2 of the paths of a plane that [`PolicyTraits::recycles`] remembers (REPS: 8).
pub const RECYCLED_BITS: usize = 3;
/// Ticks for which the remembered paths are taken again and again after a packet was late: 100 us.
pub const FREEZE_TICKS: u32 = 12_500;
/// Packets that have to be acknowledged after that before paths are remembered again (REPS: 16 packets).
pub const EXPLORED_PACKETS: u8 = 16;

/// [`PolicyTraits::bends`]: a round trip is congested if more than one packet of this number was marked (FlowBender: 5 %).
pub const BEND_ONE_IN: u32 = 20;

/// [`PolicyTraits::hops`]: other paths are probed if the round trip exceeds this number of halves of the base round trip (Hopper, Table 1: 1.5).
pub const HOP_PROBE_HALVES: u32 = 3;
/// The path may be left if the round trip exceeds this number of halves of the base round trip (Hopper, Table 1: 2.5).
pub const HOP_SWITCH_HALVES: u32 = 5;

/// The round trip in ticks above which a path is congested, for a queue pair that gets no marks: RC. It is that of [`HOP_SWITCH_HALVES`], and fits 16 bits.
pub const fn slow_round_trip(base_rtt: u32) -> u32 {
    HOP_SWITCH_HALVES * base_rtt / 2
}

/// Base round trips for which the round trip of a probe counts, and epochs for which no path is probed twice (Hopper, Table 1: `ttl_prob` = 4).
pub const HOP_EPOCHS: u32 = 4;
/// Another path is better if this many of its round trips are shorter than one less of those of the path in use: 80 % (Hopper, Table 1).
pub const HOP_BETTER: u32 = 5;
/// Paths that are probed at a time (Hopper: power of two choices).
pub const HOP_PROBES: u8 = 2;
/// Base round trips for which a hop is delayed at most.
pub const HOP_MOST_DELAY: u32 = 2;
/// [`PolicyTraits::drains`]: rounds in a row with a mark before data pauses. HP3's talk has no number.
pub const DRAIN_ROUNDS: u8 = 3;
/// Paths that are probed in a pause, with the one in use. HP3's talk has no number.
pub const DRAIN_PROBES: u8 = 8;
/// Base round trips after which a pause without an answer ends.
pub const DRAIN_PATIENCE: u32 = 2;
/// Rounds without another pause after one that was for nothing.
pub const DRAIN_REST: u8 = 8;
/// Halves of the window before the pause that the window is on a new path.
pub const DRAIN_RAISE_HALVES: u32 = 3;

/// log2 of the longest base round trip, in ticks, plus 1.
pub const BASE_RTT_BITS: usize = 14;
