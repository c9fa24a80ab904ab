//! Entropy profiles of the card: which values the paths of its queue pairs have.

use std::collections::BTreeMap;
use std::sync::Arc;

use stellar_wire::config::{EntropyProfile, GeneratedEntropy, HeaderFields, ProfileRows};
use stellar_wire::mrc::Entropy;
use stellar_wire::rows::ConfigSelect;
use thiserror::Error;

use crate::card::{lock, Card};
use crate::device::DeviceError;
use crate::error::Error;
use crate::open::{Device, Shared};
use crate::probe::Probe;

/// The profile of queue pairs that name none, and of those of guests.
pub(crate) const DEFAULT_PROFILE: u8 = 0;
/// Its values at bring-up: 128 active ones and 8 backups as UDP source ports from 0xc000 on.
const DEFAULT_VALUES: GeneratedEntropy = GeneratedEntropy {
    base: 0xc000,
    stride_log2: 0,
    active: 128,
    backups: 8,
};

/// An entropy profile that a card or a queue pair cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ProfileUseError {
    /// The card has no profile of this number.
    #[error("no entropy profile {number}: the card has 0 to {}", .profiles - 1)]
    Number {
        /// The number.
        number: u8,
        /// How many there are.
        profiles: u8,
    },
    /// The profile can have generated values only.
    #[error("entropy profile {number} cannot have explicit values: on this card the first {explicit} can; use one of those, or values at equal distances")]
    NotExplicit {
        /// The number.
        number: u8,
        /// How many profiles may be explicit.
        explicit: u8,
    },
    /// Queue pairs have the profile.
    #[error("entropy profile {0} is in use: move the queue pairs that have it to ERROR or RESET first, or write another profile")]
    InUse(u8),
    /// The profile was not written.
    #[error("entropy profile {0} has no values: write it first, or use profile 0")]
    Unwritten(u8),
}

/// The profiles that were written.
pub(crate) struct Profiles {
    fields: HeaderFields,
    /// A queue pair that the card has rows of holds its profile too.
    written: BTreeMap<u8, Arc<EntropyProfile>>,
}

impl Profiles {
    /// Profiles of a card at bring-up, whose ports have addresses of IPv4 or IPv6.
    pub fn new(is_ipv4: bool) -> Result<Self, Error> {
        let fields = match is_ipv4 {
            true => HeaderFields::SourcePort,
            false => HeaderFields::SourcePortAndFlowLabel,
        };
        let values = EntropyProfile::generated(DEFAULT_VALUES, fields)?;
        let written = BTreeMap::from([(DEFAULT_PROFILE, Arc::new(values))]);
        Ok(Self { fields, written })
    }

    /// Writes the profiles to a card.
    pub fn write_all(&self, card: &Card) -> Result<(), Error> {
        let mut all = self.written.iter();
        all.try_for_each(|(&number, profile)| Ok(write_rows(card, number, &profile.rows()?)?))
    }

    /// The profile that a queue pair names.
    pub fn named(&self, number: u8, probe: &Probe) -> Result<Arc<EntropyProfile>, Error> {
        check_number(number, probe)?;
        let profile = self.written.get(&number).map(Arc::clone);
        Ok(profile.ok_or(ProfileUseError::Unwritten(number))?)
    }
}

fn check_number(number: u8, probe: &Probe) -> Result<(), ProfileUseError> {
    let profiles = probe.data_path.entropy_profiles();
    if number < profiles {
        return Ok(());
    }
    Err(ProfileUseError::Number { number, profiles })
}

/// Writes a profile and its values.
fn write_rows(card: &Card, number: u8, rows: &ProfileRows) -> Result<(), DeviceError> {
    for (index, row) in rows.values_of(number) {
        card.write_row(ConfigSelect::Explicit, index, row)?;
    }
    card.write_row(ConfigSelect::Profile, number.into(), &rows.profile)
}

impl Shared {
    /// Writes a profile that no queue pair has.
    fn write_profile(&self, number: u8, profile: EntropyProfile) -> Result<(), Error> {
        check_number(number, &self.probe)?;
        let explicit = self.probe.data_path.explicit_profiles;
        if profile.as_generated().is_none() && number >= explicit {
            return Err(ProfileUseError::NotExplicit { number, explicit }.into());
        }
        let rows = profile.rows()?;
        let mut profiles = lock(&self.profiles);
        let old = profiles.written.get(&number);
        if old.is_some_and(|old| Arc::strong_count(old) > 1) {
            return Err(ProfileUseError::InUse(number).into());
        }
        // If the card does not take a row, the profile has no values.
        profiles.written.remove(&number);
        write_rows(&self.card, number, &rows)?;
        profiles.written.insert(number, Arc::new(profile));
        Ok(())
    }

    fn header_fields(&self) -> HeaderFields {
        lock(&self.profiles).fields
    }
}

impl Device {
    /// Gives an entropy profile values at equal distances. Queue pairs that enter RTR name it ([`crate::PathAttributes::profile`]). Profile 0 has the values of
    /// [`Device::first_entropy`] at first, and all queue pairs of guests.
    ///
    /// # Errors
    /// [`Error::Profile`] if the values cannot be a profile, [`Error::ProfileUse`] if the card has no such profile or queue pairs have it: nothing changes.
    /// [`Error::Device`]: the profile has no values.
    pub fn set_generated_profile(&self, number: u8, values: GeneratedEntropy) -> Result<(), Error> {
        let profile = EntropyProfile::generated(values, self.0.header_fields())?;
        self.0.write_profile(number, profile)
    }

    /// Gives an entropy profile these values. Path n of a queue pair that names it has the nth of the active ones, and backup 128 + n the nth of the backups. Even ones
    /// belong to port 0. The low 16 bits of a value are the UDP source port, and the others, over IPv6, the low bits of the flow label. Only the first
    /// [`crate::Limits::explicit_profiles`] profiles can have such values.
    ///
    /// # Errors
    /// As [`Self::set_generated_profile`].
    pub fn set_explicit_profile(
        &self,
        number: u8,
        active: &[u32],
        backups: &[u32],
    ) -> Result<(), Error> {
        let values = |values: &[u32]| values.iter().copied().map(Entropy).collect::<Vec<_>>();
        let fields = self.0.header_fields();
        let profile = EntropyProfile::explicit(&values(active), &values(backups), fields)?;
        self.0.write_profile(number, profile)
    }

    /// UDP source port of the first entropy value of queue pairs that name no profile. The other values follow it; even ones belong to plane 0. Profile 0 may
    /// have got other values, and then it is 0 if they are explicit.
    pub fn first_entropy(&self) -> u16 {
        let profiles = lock(&self.0.profiles);
        let values = profiles.written.get(&DEFAULT_PROFILE);
        let values = values.and_then(|profile| profile.as_generated());
        values.map_or(0, |values| values.base as u16)
    }
}
