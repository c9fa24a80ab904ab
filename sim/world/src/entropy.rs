//! The entropy values of a plan's paths: switches choose a path by them.

use stellar_transport::spray::{EntropyProfile, GeneratedEntropy, HeaderFields};
use stellar_wire::mrc::Entropy;

use crate::{Addressing, WorldError};

/// First entropy value if a plan names none: the first UDP source port of RoCEv2.
pub(crate) const FIRST_ENTROPY: u32 = 0xc000;
/// Backup entropy values beside generated ones, both planes together.
const BACKUPS: u8 = 16;

/// The entropy profile of all queue pairs of a plan. Path 0 is one of plane 0, path 1 one of plane 1, and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntropyPlan {
    /// Values at equal distances, and 16 backups behind them. Each queue pair begins elsewhere.
    Generated {
        /// The first value.
        base: u32,
        /// log2 of the distance, 0 to 24.
        stride_log2: u8,
    },
    /// Path n of every queue pair has the nth value. There are no backups.
    Explicit(Vec<u32>),
}

impl Default for EntropyPlan {
    /// From 0xc000 on, one after the other.
    fn default() -> Self {
        Self::Generated {
            base: FIRST_ENTROPY,
            stride_log2: 0,
        }
    }
}

impl EntropyPlan {
    /// The profile of queue pairs with this number of paths.
    ///
    /// # Errors
    /// [`WorldError::EntropyValues`] if paths have no value, or values no path, and [`WorldError::Profile`].
    pub fn profile(&self, paths: u8, addressing: Addressing) -> Result<EntropyProfile, WorldError> {
        let fields = match addressing {
            Addressing::Ipv4 => HeaderFields::SourcePort,
            Addressing::Ipv6 | Addressing::Srv6 => HeaderFields::SourcePortAndFlowLabel,
        };
        let profile = match *self {
            Self::Generated { base, stride_log2 } => {
                let generated = GeneratedEntropy {
                    base,
                    stride_log2,
                    active: paths.max(2),
                    backups: BACKUPS,
                };
                EntropyProfile::generated(generated, fields)?
            }
            Self::Explicit(ref values) => {
                if values.len() != usize::from(paths) {
                    let values = values.len();
                    return Err(WorldError::EntropyValues { values, paths });
                }
                let values: Vec<Entropy> = values.iter().copied().map(Entropy).collect();
                EntropyProfile::explicit(&values, &[], fields)?
            }
        };
        // A card needs a key by which it finds the path of a value.
        profile.rows()?;
        Ok(profile)
    }
}
