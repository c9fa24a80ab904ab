//! What the engine keeps of a queue pair.
//!
//! Values of a plane are counted by **place**: 0 to 63 the active value of that slot, 64 to 71 the backups. An EV index is
//! `place << 1 | plane`.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{SprayConfig, SprayPolicy};

/// Entropy values and rotation of one plane.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PlaneRow {
    /// Slots served by a value that is neither assumed bad nor denied: their own, or a backup.
    pub in_service: Bits<64>,
    /// Slots to bypass because the value serving them was marked.
    pub skip: Bits<64>,
    /// Places whose value is assumed bad, and not denied.
    pub assumed_bad: Bits<72>,
    /// Places whose value software took out of use.
    pub denied: Bits<72>,
    /// Backups that serve a slot.
    pub serving: Bits<8>,
    /// The slot of each serving backup, six bits each.
    pub serves: Bits<48>,
    /// Key of the rotation's order.
    pub key: Bits<28>,
    /// Next position, 0 to 64; 64 is the end.
    pub position: Bits<7>,
}

/// Registers, sequence and what concerns both planes.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PairRow {
    pub policy: SprayPolicy,
    pub paths: Bits<8>,
    pub profile: Bits<3>,
    pub rotation: Bits<6>,
    pub skip_next_turn: Bit,
    pub probe_interval: Bits<31>,
    pub lfsr: Bits<32>,
    /// Single path: index of the path in use.
    pub home: Bits<7>,
    /// There was a probe, at `last_probe`.
    pub probed: Bit,
    pub last_probe: Bits<32>,
    /// Index from which on the next value to probe is looked for; 144 is past the last.
    pub probe_from: Bits<8>,
}

/// Both planes: the one an operation is about, and the other. In memory, the former is plane 0.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Planes {
    pub own: PlaneRow,
    pub other: PlaneRow,
}

/// A word of the engine's memory.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SprayRow {
    pub pair: PairRow,
    pub planes: Planes,
}

/// The planes with their parts exchanged, or as they are. 1 level.
#[hdl_fn]
pub fn exchanged(planes: Planes, exchange: Bit) -> Planes {
    Planes {
        own: if exchange { planes.other } else { planes.own },
        other: if exchange { planes.own } else { planes.other },
    }
}

/// A queue pair before its draws.
#[hdl_fn]
pub fn configured(settings: SprayConfig) -> PairRow {
    PairRow {
        policy: settings.policy,
        paths: settings.paths,
        profile: settings.profile,
        rotation: settings.rotation,
        skip_next_turn: settings.skip_next_turn,
        probe_interval: settings.probe_interval,
        lfsr: settings.seed,
        home: bits::<7>(0),
        probed: false,
        last_probe: bits::<32>(0),
        probe_from: bits::<8>(0),
    }
}

/// A queue pair after the probe of a value.
#[hdl_fn]
pub fn probed(pair: PairRow, index: Bits<8>, now: Bits<32>) -> PairRow {
    PairRow {
        probed: true,
        last_probe: now,
        probe_from: index + 1,
        ..pair
    }
}

/// A plane at the start of its sequence.
#[hdl_fn]
fn fresh(slots: Bits<7>, key: Bits<28>, position: Bits<7>) -> PlaneRow {
    PlaneRow {
        in_service: !(Bits::<64>::mask() << slots),
        skip: bits::<64>(0),
        assumed_bad: bits::<72>(0),
        denied: bits::<72>(0),
        serving: bits::<8>(0),
        serves: bits::<48>(0),
        key,
        position,
    }
}

/// Planes with their keys at the start of a queue pair's sequence: round robin begins at its draw `start`, the others at the first position.
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

/// Active values that are assumed bad or denied.
#[hdl_fn]
pub fn withdrawn(row: PlaneRow) -> Bits<64> {
    row.assumed_bad.get_bits::<64>(0) | row.denied.get_bits::<64>(0)
}

/// The slot a backup serves, if it serves one. 2 levels.
#[hdl_fn]
pub fn slot_of_backup(row: PlaneRow, backup: Bits<3>) -> Bits<6> {
    let mut slot = row.serves.get_bits::<6>(0);
    for i in 1..8 {
        slot = if backup == bits::<3>(i as u64) {
            row.serves.get_bits::<6>(6 * i)
        } else {
            slot
        };
    }
    slot
}

/// The backup that serves `slot`: one bit at most. 3 levels.
#[hdl_fn]
pub fn backup_of_slot(row: PlaneRow, slot: Bits<6>) -> Bits<8> {
    let mut hits = bits::<8>(0);
    for i in 0..8 {
        let hit = row.serving.get_bit(i) & (row.serves.get_bits::<6>(6 * i) == slot);
        hits = hits.replace_bit(i, hit);
    }
    hits
}

/// Number of the one bit that is set, 0 without. 1 level.
#[hdl_fn]
pub fn number_of_bit(one_hot: Bits<8>) -> Bits<3> {
    let mut number = bits::<3>(0);
    number = number.replace_bit(0, (one_hot & bits::<8>(0xaa)).any());
    number = number.replace_bit(1, (one_hot & bits::<8>(0xcc)).any());
    number.replace_bit(2, (one_hot & bits::<8>(0xf0)).any())
}

/// Backups a plane has, of a profile with `count` in both.
#[hdl_fn]
pub fn backups_of(count: Bits<5>) -> Bits<8> {
    !(Bits::<8>::mask() << count.get_bits::<4>(1))
}

/// Whether a plane with `slots` active values and `backups` has this index. 3 levels.
#[hdl_fn]
pub fn has_index(index: Bits<8>, slots: Bits<7>, backups: Bits<8>) -> Bit {
    let number = index.get_bits::<3>(1);
    if index.get_bit(7) {
        backups.get_bit(number.index()) & !index.get_bits::<3>(4).any()
    } else {
        index.get_bits::<7>(1) < slots
    }
}

/// Active values plane 0 (`odd` false) or 1 has, of `paths` in both.
#[hdl_fn]
pub fn slots_of(paths: Bits<8>, odd: Bit) -> Bits<7> {
    let more = (paths + 1).get_bits::<7>(1);
    if odd {
        paths.get_bits::<7>(1)
    } else {
        more
    }
}
