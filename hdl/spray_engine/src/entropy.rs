//! Entropy values of generated profiles: index to value, and back.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::EntropyProfileEntry;

use crate::row::*;

/// Active values of a plane in a profile; what rotations count in.
#[hdl_fn]
pub fn profile_slots(profile: EntropyProfileEntry) -> Bits<7> {
    (profile.active + 1).get_bits::<7>(1)
}

/// Number in the profile of the active value in `slot` of `plane`. 4 levels.
#[hdl_fn]
pub fn active_number(
    profile: EntropyProfileEntry,
    rotation: Bits<6>,
    slot: Bits<6>,
    plane: Bit,
) -> Bits<8> {
    let wide = bit_cast::<8, 6>(slot);
    let ahead = wide + bit_cast::<8, 6>(rotation);
    // Beside the slot, which comes late.
    let less = bit_cast::<8, 6>(rotation) - bit_cast::<8, 7>(profile_slots(profile));
    let back = wide + less;
    let place = if back.get_bit(7) { ahead } else { back };
    (place << 1) | bit_cast::<8, 1>(plane.into())
}

/// Number in the profile of a backup of `plane`. 1 level and a carry chain.
#[hdl_fn]
pub fn backup_number(profile: EntropyProfileEntry, backup: Bits<3>, plane: Bit) -> Bits<8> {
    let pair = (bit_cast::<8, 3>(backup) << 1) | bit_cast::<8, 1>(plane.into());
    profile.active + pair
}

/// The value of a number. 4 levels and a carry chain.
#[hdl_fn]
pub fn value_of(profile: EntropyProfileEntry, number: Bits<8>) -> Bits<32> {
    profile.base + (bit_cast::<32, 8>(number) << profile.stride_log2)
}

/// An entropy value's number in a profile.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Numbered {
    /// It may be one of the profile's.
    pub exact: Bit,
    pub number: Bits<8>,
}

/// The number of a value `distance` above the base, modulo 2^32. No value of a profile lies beyond 2^32, so one below the base has a
/// number that the profile does not reach. 6 levels.
#[hdl_fn]
pub fn number_of(profile: EntropyProfileEntry, distance: Bits<32>) -> Numbered {
    let beyond = Bits::<32>::mask() << profile.stride_log2;
    let shifted = distance >> profile.stride_log2;
    let uneven = (distance & !beyond).any() | shifted.get_bits::<24>(8).any();
    Numbered {
        exact: !uneven,
        number: shifted.get_bits::<8>(0),
    }
}

/// An entropy value's index in a queue pair.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Indexed {
    /// The profile has it; the queue pair may not.
    pub known: Bit,
    pub index: Bits<8>,
}

/// The index of a number, for a queue pair with this rotation. 5 levels.
#[hdl_fn]
pub fn index_of(profile: EntropyProfileEntry, rotation: Bits<6>, numbered: Numbered) -> Indexed {
    let count = profile.active + bit_cast::<8, 5>(profile.backups);
    let number = numbered.number;
    let slot = bit_cast::<8, 7>(number.get_bits::<7>(1));
    let back = slot - bit_cast::<8, 6>(rotation);
    let more = bit_cast::<8, 7>(profile_slots(profile)) - bit_cast::<8, 6>(rotation);
    let ahead = slot + more;
    let place = if back.get_bit(7) { ahead } else { back };
    let rotated = (place << 1) | bit_cast::<8, 1>(number.get_bits::<1>(0));
    let backup = number + (bits::<8>(128) - profile.active);
    let active = number < profile.active;
    Indexed {
        known: numbered.exact & (number < count),
        index: if active { rotated } else { backup },
    }
}

/// A value to send on.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Served {
    pub index: Bits<8>,
    /// Its number in the profile.
    pub number: Bits<8>,
}

/// The value at `slot` of a plane: the backup that serves it, or its own; or backup `backup` if `is_backup`. 5 levels.
#[hdl_fn]
fn value_at(
    profile: EntropyProfileEntry,
    rotation: Bits<6>,
    plane: Bit,
    slot: Bits<6>,
    is_backup: Bit,
    backup: Bits<3>,
) -> Served {
    let backup_value = backup_number(profile, backup, plane);
    let active_value = active_number(profile, rotation, slot, plane);
    let place = if is_backup {
        bits::<7>(64) | bit_cast::<7, 3>(backup)
    } else {
        bit_cast::<7, 6>(slot)
    };
    Served {
        index: (bit_cast::<8, 7>(place) << 1) | bit_cast::<8, 1>(plane.into()),
        number: if is_backup {
            backup_value
        } else {
            active_value
        },
    }
}

/// The value that serves `slot` of the plane `row`. 6 levels.
#[hdl_fn]
pub fn value_in_slot(
    profile: EntropyProfileEntry,
    rotation: Bits<6>,
    plane: Bit,
    slot: Bits<6>,
    row: PlaneRow,
) -> Served {
    let in_slot = backup_of_slot(row, slot);
    let backup = number_of_bit(in_slot);
    value_at(profile, rotation, plane, slot, in_slot.any(), backup)
}

/// The value of `place`, whatever serves the slot. 4 levels.
#[hdl_fn]
pub fn value_of_place(
    profile: EntropyProfileEntry,
    rotation: Bits<6>,
    plane: Bit,
    place: Bits<7>,
) -> Served {
    let backup = place.get_bits::<3>(0);
    value_at(
        profile,
        rotation,
        plane,
        place.get_bits::<6>(0),
        place.get_bit(6),
        backup,
    )
}
