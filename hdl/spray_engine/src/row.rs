//! State of a queue pair.
//!
//! A **place** counts the values of a plane: 0 to 63 are the active values of the slots, 64 to 71 the backups. An EV index is `place << 1 | plane`.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{SprayConfig, SprayPolicy, PROFILE_BITS};
use stellar_wire::rows::BASE_RTT_BITS;

use crate::policy::counts_turns;
use crate::policy::flow_bender::BendRow;
use crate::policy::hopper::HopRow;
use crate::policy::hp3::DrainRow;
use crate::policy::recycled::{RecycledRow, Ring};
use crate::policy::turns::Turns;

/// Entropy values and rotation of one plane.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PlaneRow {
    /// Slots that a good or skipped value serves: their own, or a backup.
    pub in_service: Bits<64>,
    /// Turns for which a slot is skipped, because of feedback about the value that serves it.
    pub turns: Turns,
    /// Places whose value is assumed bad and not denied.
    pub assumed_bad: Bits<72>,
    /// Places whose value was denied by software.
    pub denied: Bits<72>,
    /// Backups that serve a slot.
    pub serving: Bits<8>,
    /// Slot of each backup, six bits each. Valid if the backup serves a slot.
    pub serves: Bits<48>,
    /// Key of the rotation.
    pub key: Bits<28>,
    /// Next position of the rotation, 0 to 64. 64 is the end.
    pub position: Bits<7>,
    /// Slots to take again.
    pub ring: Ring,
}

/// Registers, pseudo-random sequence, and state that both planes share.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PairRow {
    pub policy: SprayPolicy,
    pub paths: Bits<8>,
    pub profile: Bits<PROFILE_BITS>,
    pub rotation: Bits<6>,
    pub skip_next_turn: Bit,
    pub probe_interval: Bits<31>,
    pub base_rtt: Bits<BASE_RTT_BITS>,
    pub bend_after: Bits<4>,
    pub lfsr: Bits<32>,
    /// One path at a time: index of the path in use.
    pub home: Bits<7>,
    /// A probe was sent, at `last_probe`.
    pub probed: Bit,
    pub last_probe: Bits<32>,
    /// Index at which the search for the next value to probe starts; 144 is past the last.
    pub probe_from: Bits<8>,
    pub recycled: RecycledRow,
    pub bend: BendRow,
    pub hop: HopRow,
    pub drain: DrainRow,
}

/// Both planes: the own plane of an operation, and the other one. In memory the own plane is plane 0.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Planes {
    pub own: PlaneRow,
    pub other: PlaneRow,
}

/// Row of the engine's memory.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SprayRow {
    pub pair: PairRow,
    pub planes: Planes,
}

/// Swaps the planes if `exchange` is set. 1 level.
#[hdl_fn]
pub fn swap_planes(planes: Planes, exchange: Bit) -> Planes {
    Planes {
        own: if exchange { planes.other } else { planes.own },
        other: if exchange { planes.own } else { planes.other },
    }
}

/// Returns the initial registers of a queue pair, before its keys are drawn.
#[hdl_fn]
pub fn configured(settings: SprayConfig) -> PairRow {
    PairRow {
        policy: settings.policy,
        paths: settings.paths,
        profile: settings.profile,
        rotation: settings.rotation,
        skip_next_turn: settings.skip_next_turn | counts_turns(settings.policy),
        probe_interval: settings.probe_interval,
        base_rtt: settings.base_rtt,
        bend_after: settings.bend_after,
        lfsr: settings.seed,
        home: bits::<7>(0),
        probed: false,
        last_probe: bits::<32>(0),
        probe_from: bits::<8>(0),
        recycled: RecycledRow::default(),
        bend: BendRow::default(),
        hop: HopRow::default(),
        drain: DrainRow::default(),
    }
}

/// Returns the state after the probe of a path. The next one's path is searched from `drawn` on.
#[hdl_fn]
pub fn probed_path(pair: PairRow, drawn: Bits<7>, word: Bits<32>) -> PairRow {
    PairRow {
        hop: HopRow {
            to_probe: pair.hop.to_probe - 1,
            ..pair.hop
        },
        probe_from: bit_cast::<8, 7>(drawn),
        lfsr: word,
        ..pair
    }
}

/// Returns the state after the probe of a value.
#[hdl_fn]
pub fn probed(pair: PairRow, index: Bits<8>, now: Bits<32>) -> PairRow {
    PairRow {
        probed: true,
        last_probe: now,
        probe_from: index + 1,
        ..pair
    }
}

/// Returns a plane at the start of its sequence.
#[hdl_fn]
fn fresh(slots: Bits<7>, key: Bits<28>, position: Bits<7>) -> PlaneRow {
    PlaneRow {
        in_service: !(Bits::<64>::mask() << slots),
        turns: Turns::default(),
        assumed_bad: bits::<72>(0),
        denied: bits::<72>(0),
        serving: bits::<8>(0),
        serves: bits::<48>(0),
        key,
        position,
        ring: Ring::default(),
    }
}

/// Returns the planes at the start of the sequence; their keys have been drawn. Round robin begins at the drawn path `start`, the other policies at the first
/// position.
#[hdl_fn]
pub fn begun(planes: Planes, pair: PairRow, start: Bits<7>) -> Planes {
    let position = if pair.policy == SprayPolicy::RoundRobin {
        bit_cast::<7, 6>(start.get_bits::<6>(1))
    } else {
        bits::<7>(0)
    };
    Planes {
        own: fresh(slots_of(pair.paths, false), planes.own.key, position),
        other: fresh(slots_of(pair.paths, true), planes.other.key, position),
    }
}

/// Returns the active values that are assumed bad or denied.
#[hdl_fn]
pub fn withdrawn(row: PlaneRow) -> Bits<64> {
    row.assumed_bad.get_bits::<64>(0) | row.denied.get_bits::<64>(0)
}

/// Returns one of eight slots, halving their number by each bit of `number`. 2 levels.
#[hdl_fn]
pub fn slot_of_eight(slots: Bits<48>, number: Bits<3>) -> Bits<6> {
    let four = if number.get_bit(2) {
        slots.get_bits::<24>(24)
    } else {
        slots.get_bits::<24>(0)
    };
    let two = if number.get_bit(1) {
        four.get_bits::<12>(12)
    } else {
        four.get_bits::<12>(0)
    };
    if number.get_bit(0) {
        two.get_bits::<6>(6)
    } else {
        two.get_bits::<6>(0)
    }
}

/// Returns the slot of a backup, valid if it serves one. 2 levels.
#[hdl_fn]
pub fn slot_of_backup(row: PlaneRow, backup: Bits<3>) -> Bits<6> {
    slot_of_eight(row.serves, backup)
}

/// Returns the backup that serves `slot`, one-hot; no bit is set if there is none. 3 levels.
#[hdl_fn]
pub fn backup_of_slot(row: PlaneRow, slot: Bits<6>) -> Bits<8> {
    let mut hits = bits::<8>(0);
    for i in 0..8 {
        let hit = row.serving.get_bit(i) & (row.serves.get_bits::<6>(6 * i) == slot);
        hits = hits.replace_bit(i, hit);
    }
    hits
}

/// Returns the position of the bit that is set, or 0. 1 level.
#[hdl_fn]
pub fn number_of_bit(one_hot: Bits<8>) -> Bits<3> {
    let mut number = bits::<3>(0);
    number = number.replace_bit(0, (one_hot & bits::<8>(0xaa)).any());
    number = number.replace_bit(1, (one_hot & bits::<8>(0xcc)).any());
    number.replace_bit(2, (one_hot & bits::<8>(0xf0)).any())
}

/// Returns the backups of one plane. `count` is the number in both.
#[hdl_fn]
pub fn backups_of(count: Bits<5>) -> Bits<8> {
    !(Bits::<8>::mask() << count.get_bits::<4>(1))
}

/// Returns whether a plane with `slots` active values and `backups` has this index. 3 levels.
#[hdl_fn]
pub fn has_index(index: Bits<8>, slots: Bits<7>, backups: Bits<8>) -> Bit {
    let number = index.get_bits::<3>(1);
    if index.get_bit(7) {
        backups.get_bit(number.index()) & !index.get_bits::<3>(4).any()
    } else {
        index.get_bits::<7>(1) < slots
    }
}

/// Returns the number of active values of plane 0 (`odd` low) or plane 1. `paths` is the number in both.
#[hdl_fn]
pub fn slots_of(paths: Bits<8>, odd: Bit) -> Bits<7> {
    let more = (paths + 1).get_bits::<7>(1);
    if odd {
        paths.get_bits::<7>(1)
    } else {
        more
    }
}
