//! Entropy-value profiles: which 32-bit values the paths of a queue pair have.
//!
//! A profile is shared by many queue pairs. Each adds its own rotation, so that queue pairs of one profile start at
//! different uplinks (structured placement) without a table of their own.

use std::collections::BTreeMap;

use crate::mrc::Entropy;
use thiserror::Error;

use super::explicit::{explicit_rows, key_for};
use super::EvIndex;
use crate::rows::{ExplicitRow, ProfileRow, NUMBER_BITS};

/// Header fields that carry entropy values, which bounds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderFields {
    /// IPv4: UDP source port, 16 bits; the receiver reflects zero above.
    SourcePort,
    /// IPv6: UDP source port and 16 bits of the flow label, 32 bits.
    SourcePortAndFlowLabel,
}

impl HeaderFields {
    const fn largest(self) -> u32 {
        match self {
            Self::SourcePort => 0xffff,
            Self::SourcePortAndFlowLabel => u32::MAX,
        }
    }
}

/// Values at equal distances: number `n` is `base + n * 2^stride_log2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GeneratedEntropy {
    /// Value of number 0.
    pub base: u32,
    /// Distance between neighbours, as a power of two, 0 to 24.
    pub stride_log2: u8,
    /// Active values, numbers from 0 on: 1 or even, at most 128.
    pub active: u8,
    /// Backups, numbers after the active ones: even, at most 16.
    pub backups: u8,
}

/// The rows of a profile on a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileRows {
    /// The profile's own row.
    pub profile: ProfileRow,
    /// Rows of its values from 0 on; none if they are generated.
    pub explicit: Vec<ExplicitRow>,
}

impl ProfileRows {
    /// The rows of the values of profile `number` of a card, each with its place in the card's table of explicit values.
    pub fn values_of(&self, number: u8) -> impl Iterator<Item = (u32, &ExplicitRow)> + '_ {
        let first = u32::from(number) << NUMBER_BITS;
        (first..).zip(&self.explicit)
    }
}

/// A set of entropy values that cannot be a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ProfileError {
    /// Number of active values.
    #[error("{0} active entropy values; use 1 or an even number up to 128 (half in each plane)")]
    Active(usize),
    /// Number of backups.
    #[error("{0} backup entropy values; use an even number up to 16 (half in each plane)")]
    Backups(usize),
    /// Distance of generated values.
    #[error("entropy values 2^{0} apart; use 2^0 to 2^24")]
    Stride(u8),
    /// Two paths with one name.
    #[error("entropy value {value:#x} stands at index {first} and at index {second}; feedback could not tell them apart")]
    Duplicate {
        /// The entropy value that both entries have.
        value: u32,
        /// Index of its first use.
        first: u8,
        /// Index of its second use.
        second: u8,
    },
    /// A value the headers cannot carry.
    #[error("entropy value {value:#x} at index {index} is above {largest:#x}, the largest the packet's headers carry")]
    TooWide {
        /// The entropy value. In a generated profile it is the computed sum.
        value: u64,
        /// Its index.
        index: u8,
        /// Largest that fits.
        largest: u32,
    },
    /// No key was found for the card's table of values.
    #[error("no key of {0} that were tried gives each bucket of the card at most two of the entropy values; change some of them")]
    NoKey(u32),
}

/// The entropy values of a queue pair's paths, in index order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntropyProfile {
    active: u8,
    backups: u8,
    values: Values,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Values {
    /// The values by number, and the number of each value.
    Explicit(Vec<Entropy>, BTreeMap<u32, u8>),
    Generated {
        base: u32,
        stride_log2: u8,
    },
}

impl EntropyProfile {
    /// A profile that software writes value by value. Even places are plane 0, odd ones plane 1, in both lists.
    ///
    /// # Errors
    /// [`ProfileError`] if a number of values is not allowed, or a value occurs twice or does not fit `fields`.
    pub fn explicit(
        active: &[Entropy],
        backups: &[Entropy],
        fields: HeaderFields,
    ) -> Result<Self, ProfileError> {
        let (active_count, backup_count) = counts(active.len(), backups.len())?;
        let values = [active, backups].concat();
        let mut numbers = BTreeMap::new();
        for (number, value) in (0..).zip(&values) {
            let index = index_of_number(number, active_count);
            if value.0 > fields.largest() {
                return Err(ProfileError::TooWide {
                    value: value.0.into(),
                    index: index.value(),
                    largest: fields.largest(),
                });
            }
            if let Some(first) = numbers.insert(value.0, number) {
                return Err(ProfileError::Duplicate {
                    value: value.0,
                    first: index_of_number(first, active_count).value(),
                    second: index.value(),
                });
            }
        }
        Ok(Self {
            active: active_count,
            backups: backup_count,
            values: Values::Explicit(values, numbers),
        })
    }

    /// A profile the NIC expands by itself.
    ///
    /// # Errors
    /// [`ProfileError`] if a number of values is not allowed or the last value does not fit `fields`.
    pub fn generated(
        generated: GeneratedEntropy,
        fields: HeaderFields,
    ) -> Result<Self, ProfileError> {
        let (active, backups) = counts(generated.active.into(), generated.backups.into())?;
        let last = active + backups - 1;
        let stride_log2 = generated.stride_log2;
        if stride_log2 > 24 {
            return Err(ProfileError::Stride(stride_log2));
        }
        let value = u64::from(generated.base) + (u64::from(last) << stride_log2);
        if value > u64::from(fields.largest()) {
            return Err(ProfileError::TooWide {
                value,
                index: index_of_number(last, active).value(),
                largest: fields.largest(),
            });
        }
        Ok(Self {
            active,
            backups,
            values: Values::Generated {
                base: generated.base,
                stride_log2,
            },
        })
    }

    /// How the values are generated; `None` if software wrote them one by one.
    pub const fn as_generated(&self) -> Option<GeneratedEntropy> {
        match self.values {
            Values::Generated { base, stride_log2 } => Some(GeneratedEntropy {
                base,
                stride_log2,
                active: self.active,
                backups: self.backups,
            }),
            Values::Explicit(..) => None,
        }
    }

    /// The profile as a card has it.
    ///
    /// # Errors
    /// [`ProfileError::NoKey`].
    pub fn rows(&self) -> Result<ProfileRows, ProfileError> {
        let row = ProfileRow {
            active: self.active,
            backups: self.backups,
            ..ProfileRow::default()
        };
        Ok(match &self.values {
            Values::Generated { base, stride_log2 } => ProfileRows {
                profile: ProfileRow {
                    base: *base,
                    stride_log2: *stride_log2,
                    ..row
                },
                explicit: Vec::new(),
            },
            Values::Explicit(values, _) => {
                let key = key_for(values)?;
                ProfileRows {
                    profile: ProfileRow {
                        base: key,
                        explicit: true,
                        ..row
                    },
                    explicit: explicit_rows(values, key),
                }
            }
        })
    }

    /// Number of active values.
    pub const fn active(&self) -> u8 {
        self.active
    }

    /// Number of backups.
    pub const fn backups(&self) -> u8 {
        self.backups
    }

    /// Active values of a plane; what rotations count in.
    pub const fn slots(&self) -> u8 {
        self.active.div_ceil(2)
    }

    /// The value of `index` for a queue pair whose active values start `rotation` slots (less than
    /// [`Self::slots`]) into the profile; `None` if there is no such value. Backups do not rotate.
    #[inline]
    pub fn entropy(&self, index: EvIndex, rotation: u8) -> Option<Entropy> {
        let number = if index.is_backup() {
            let number = index.value() - EvIndex::ACTIVE as u8;
            (number < self.backups).then_some(self.active + number)?
        } else {
            (index.value() < self.active).then_some(())?;
            let slot = index.place() + rotation;
            let slot = if slot >= self.slots() {
                slot - self.slots()
            } else {
                slot
            };
            EvIndex::active(index.plane(), slot).value()
        };
        match &self.values {
            Values::Explicit(values, _) => values.get(usize::from(number)).copied(),
            Values::Generated { base, stride_log2 } => {
                Some(Entropy(base + (u32::from(number) << stride_log2)))
            }
        }
    }

    /// The index whose value is `entropy` for a queue pair with this rotation; `None` if no path has it.
    #[inline]
    pub fn index_of(&self, entropy: Entropy, rotation: u8) -> Option<EvIndex> {
        let number = match &self.values {
            Values::Explicit(_, numbers) => *numbers.get(&entropy.0)?,
            Values::Generated { base, stride_log2 } => {
                let distance = entropy.0.checked_sub(*base)?;
                let number = u8::try_from(u64::from(distance) >> stride_log2).ok()?;
                let exact = u64::from(number) << stride_log2 == u64::from(distance);
                (exact && number < self.active + self.backups).then_some(number)?
            }
        };
        let index = index_of_number(number, self.active);
        if index.is_backup() {
            return Some(index);
        }
        let slot = index.place();
        let slot = if slot < rotation {
            slot + self.slots() - rotation
        } else {
            slot - rotation
        };
        Some(EvIndex::active(index.plane(), slot))
    }
}

/// Index of the `number`th value of a profile with `active` active ones.
fn index_of_number(number: u8, active: u8) -> EvIndex {
    match number.checked_sub(active) {
        None => EvIndex::active(number & 1, number >> 1),
        Some(backup) => EvIndex::backup(backup & 1, backup >> 1),
    }
}

fn counts(active: usize, backups: usize) -> Result<(u8, u8), ProfileError> {
    if !(active == 1 || active.is_multiple_of(2) && (2..=EvIndex::ACTIVE).contains(&active)) {
        return Err(ProfileError::Active(active));
    }
    if !backups.is_multiple_of(2) || backups > EvIndex::BACKUPS {
        return Err(ProfileError::Backups(backups));
    }
    Ok((active as u8, backups as u8))
}
