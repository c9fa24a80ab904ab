//! Names of path policies on the command line of clusters.

use clap::builder::PossibleValue;
use sim_cluster::ClusterPolicy;

/// A path policy: one of the transport's, or a baseline.
#[derive(Clone, Copy)]
pub struct PolicyName(ClusterPolicy);

impl PolicyName {
    const ALL: [Self; ClusterPolicy::COUNT] = {
        let mut all = [Self(ClusterPolicy::ALL[0]); ClusterPolicy::COUNT];
        let mut i = 0;
        while i < all.len() {
            all[i] = Self(ClusterPolicy::ALL[i]);
            i += 1;
        }
        all
    };

    /// The policy of this name.
    pub const fn policy(self) -> ClusterPolicy {
        self.0
    }
}

impl clap::ValueEnum for PolicyName {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.help()))
    }
}
