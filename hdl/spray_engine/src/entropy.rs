//! Entropy values: from index to value, and from value to index.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{
    EntropyBucket, EntropyProfileEntry, EXPLICIT_BITS, EXPLICIT_ROW_BITS, NUMBER_BITS, PROFILE_BITS,
};

use crate::row::{backup_of_slot, number_of_bit, PlaneRow};

/// Returns the number of active values per plane in a profile. Rotations of the profile are counted modulo this number.
#[hdl_fn]
pub fn profile_slots(profile: EntropyProfileEntry) -> Bits<7> {
    (profile.active + 1).get_bits::<7>(1)
}

/// Returns the number in the profile of the active value in `slot` of `plane`. 4 levels.
#[hdl_fn]
pub fn active_number(
    profile: EntropyProfileEntry,
    rotation: Bits<6>,
    slot: Bits<6>,
    plane: Bit,
) -> Bits<8> {
    let wide = bit_cast::<8, 6>(slot);
    let ahead = wide + bit_cast::<8, 6>(rotation);
    // Computed in parallel with the slot, which arrives late.
    let less = bit_cast::<8, 6>(rotation) - bit_cast::<8, 7>(profile_slots(profile));
    let back = wide + less;
    let place = if back.get_bit(7) { ahead } else { back };
    (place << 1) | bit_cast::<8, 1>(plane.into())
}

/// Returns the number in the profile of a backup of `plane`. 1 level and a carry chain.
#[hdl_fn]
pub fn backup_number(profile: EntropyProfileEntry, backup: Bits<3>, plane: Bit) -> Bits<8> {
    let pair = (bit_cast::<8, 3>(backup) << 1) | bit_cast::<8, 1>(plane.into());
    profile.active + pair
}

/// Returns the value with this number in a generated profile. 4 levels and a carry chain.
#[hdl_fn]
pub fn value_of(profile: EntropyProfileEntry, number: Bits<8>) -> Bits<32> {
    profile.base + (bit_cast::<32, 8>(number) << profile.stride_log2)
}

/// Number of an entropy value in a profile.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Numbered {
    /// The value may belong to the profile.
    pub exact: Bit,
    pub number: Bits<8>,
}

/// Returns the row of an explicit profile, of those of all.
#[hdl_fn]
pub fn explicit_row(
    profile: Bits<PROFILE_BITS>,
    number: Bits<NUMBER_BITS>,
) -> Bits<EXPLICIT_ROW_BITS> {
    let explicit = profile.get_bits::<EXPLICIT_BITS>(0);
    (bit_cast::<EXPLICIT_ROW_BITS, EXPLICIT_BITS>(explicit) << (NUMBER_BITS as u64))
        | bit_cast::<EXPLICIT_ROW_BITS, NUMBER_BITS>(number)
}

/// Returns the bucket of a value in an explicit profile with this key: `stellar_wire::rows::bucket_of`. 3 levels.
#[hdl_fn]
pub fn bucket_of(value: Bits<32>, key: Bits<32>) -> Bits<NUMBER_BITS> {
    let mut bucket = bits::<NUMBER_BITS>(0);
    bucket = bucket.replace_bit(0, (value & key).xor());
    for i in 1..NUMBER_BITS {
        let turned = (key << (i as u64)) | (key >> (32 - i as u64));
        bucket = bucket.replace_bit(i, (value & turned).xor());
    }
    bucket
}

/// A value that was compared with those of its bucket.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Compared {
    pub is_first: Bit,
    pub is_second: Bit,
    pub first_number: Bits<8>,
    pub second_number: Bits<8>,
}

/// Compares a value with those of its bucket. 3 levels.
#[hdl_fn]
pub fn compared(bucket: EntropyBucket, value: Bits<32>) -> Compared {
    Compared {
        is_first: bucket.first == value,
        is_second: bucket.second == value,
        first_number: bucket.first_number,
        second_number: bucket.second_number,
    }
}

/// Returns the number of a value that is in this bucket of its profile, or nowhere. A place without a value has a number that no profile has. 1 level.
#[hdl_fn]
pub fn number_in(bucket: Compared) -> Numbered {
    Numbered {
        exact: bucket.is_first | bucket.is_second,
        number: if bucket.is_first {
            bucket.first_number
        } else {
            bucket.second_number
        },
    }
}

/// Returns the number of the value of a generated profile that is `distance` above the base, modulo 2^32. No profile exceeds 2^32, so a value below the base gets a number that the
/// profile does not have. 6 levels.
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

/// Index of an entropy value in a queue pair.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Indexed {
    /// The profile has the value. The queue pair may not use it.
    pub known: Bit,
    pub index: Bits<8>,
}

/// Returns the index of a number for a queue pair with this rotation. 5 levels.
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

/// An entropy value to send with.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Served {
    pub index: Bits<8>,
    /// Number of the value in the profile.
    pub number: Bits<8>,
}

/// Returns the value of `slot` of a plane, or backup `backup` if `is_backup`. 5 levels.
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

/// Returns the value that serves `slot`: a backup, or the slot's own value. 6 levels.
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

/// Returns the value that belongs to `place`, even if a backup serves the slot. 4 levels.
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
