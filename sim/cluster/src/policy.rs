//! The path policies that a cluster's queue pairs may have.

use serde::{Serialize, Serializer};
use stellar_transport::spray::Policy;

use crate::Baseline;

/// A policy of the transport, or one to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterPolicy {
    /// One of the transport's reference.
    Transport(Policy),
    /// One that the card does not have.
    Baseline(Baseline),
}

impl ClusterPolicy {
    /// Number of policies.
    pub const COUNT: usize = Policy::COUNT + Baseline::ALL.len();

    /// All of them, those of the transport first.
    pub const ALL: [Self; Self::COUNT] = {
        let mut all = [Self::Transport(Policy::Obs); Self::COUNT];
        let mut i = 0;
        while i < Self::COUNT {
            all[i] = if i < Policy::COUNT {
                Self::Transport(Policy::ALL[i])
            } else {
                Self::Baseline(Baseline::ALL[i - Policy::COUNT])
            };
            i += 1;
        }
        all
    };

    /// Name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Transport(policy) => policy.name(),
            Self::Baseline(baseline) => baseline.name(),
        }
    }

    /// A line for help texts.
    pub const fn help(self) -> &'static str {
        match self {
            Self::Transport(policy) => policy.traits().help,
            Self::Baseline(baseline) => baseline.help(),
        }
    }

    /// The policy of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.name() == name)
    }

    /// The policy that the registers of a queue pair name: with a baseline the one that it replaces.
    pub(crate) const fn registers(self) -> Policy {
        match self {
            Self::Transport(policy) => policy,
            Self::Baseline(baseline) => baseline.registers(),
        }
    }

    /// Whether RC may have it: it changes the path with packets in order.
    pub const fn is_for_rc(self) -> bool {
        match self {
            Self::Transport(policy) => policy.traits().serves_rc(),
            Self::Baseline(_) => false,
        }
    }

    /// It, if the card does not have it.
    pub const fn baseline(self) -> Option<Baseline> {
        match self {
            Self::Transport(_) => None,
            Self::Baseline(baseline) => Some(baseline),
        }
    }
}

impl From<Policy> for ClusterPolicy {
    fn from(policy: Policy) -> Self {
        Self::Transport(policy)
    }
}

impl Serialize for ClusterPolicy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
