//! Names of path policies on the command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use sim_cluster::ClusterPolicy;
use stellar_transport::spray::Policy;

/// Parses the name of a policy that cards have.
pub fn of_cards() -> impl TypedValueParser<Value = Policy> {
    among(
        Policy::ALL,
        |policy| policy.traits().name,
        |policy| policy.traits().help,
    )
}

/// Parses the name of a policy that clusters have: one of the cards', or a baseline.
pub fn of_clusters() -> impl TypedValueParser<Value = ClusterPolicy> {
    among(ClusterPolicy::ALL, ClusterPolicy::name, ClusterPolicy::help)
}

fn among<P: Copy + Send + Sync + 'static, const COUNT: usize>(
    all: [P; COUNT],
    name: fn(P) -> &'static str,
    help: fn(P) -> &'static str,
) -> impl TypedValueParser<Value = P> {
    let values = all.map(|policy| PossibleValue::new(name(policy)).help(help(policy)));
    PossibleValuesParser::new(values).map(move |chosen| {
        let mut policies = all.into_iter();
        let policy = policies.find(|&policy| name(policy) == chosen);
        policy.expect("clap takes these names only")
    })
}
