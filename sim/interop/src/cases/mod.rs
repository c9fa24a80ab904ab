//! The cases and their names.

mod errors;
mod impaired;
mod several;
mod sizes;
mod teardown;
mod wrong_bit;

use std::fmt;

use crate::bed::{Bed, Writer};

/// IP version of both ends' addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpVersion {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// The body of a case. It is `Ok` if both ends behaved as the standard requires.
type Run = Box<dyn Fn(&mut Bed) -> anyhow::Result<()>>;

/// One case: a scenario with its checks.
pub struct Case {
    /// Name: words joined by hyphens.
    pub name: String,
    /// The short form includes this case.
    pub is_short: bool,
    /// IP version of both ends' addresses.
    pub version: IpVersion,
    /// Retransmissions are allowed.
    pub may_retransmit: bool,
    /// The bridge corrupts the card's headers on purpose. Such a case has a capture of its own, which tshark does not check.
    pub is_wrong_on_purpose: bool,
    pub(crate) run: Run,
}

impl Case {
    /// A case over IPv4 that allows no retransmission.
    fn new(
        name: impl Into<String>,
        run: impl Fn(&mut Bed) -> anyhow::Result<()> + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            is_short: false,
            version: IpVersion::V4,
            may_retransmit: false,
            is_wrong_on_purpose: false,
            run: Box::new(run),
        }
    }

    fn short(self) -> Self {
        Self {
            is_short: true,
            ..self
        }
    }

    fn over(self, version: IpVersion) -> Self {
        Self { version, ..self }
    }

    fn may_retransmit(self) -> Self {
        Self {
            may_retransmit: true,
            ..self
        }
    }

    fn wrong_on_purpose(self) -> Self {
        Self {
            is_wrong_on_purpose: true,
            may_retransmit: true,
            ..self
        }
    }
}

impl Writer {
    /// Both writers, the peer first.
    const BOTH: [Self; 2] = [Self::Peer, Self::Card];
}

impl fmt::Display for Writer {
    /// The direction of its data, as case names contain it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Peer => "to-card",
            Self::Card => "to-peer",
        })
    }
}

/// All cases in the order in which they run. Those over IPv4 come first, because a change of the version resets the card. Those that are wrong on purpose
/// come last, because they have a capture of their own.
pub fn all() -> Vec<Case> {
    let mut cases = sizes::cases();
    cases.extend(several::cases());
    cases.extend(impaired::cases());
    cases.extend(errors::cases());
    cases.extend(teardown::cases());
    cases.extend(wrong_bit::cases());
    cases.sort_by_key(|case| (case.is_wrong_on_purpose, case.version == IpVersion::V6));
    cases
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_both_versions_and_forms_are_there() {
        let cases = all();
        let names: HashSet<_> = cases.iter().map(|case| &case.name).collect();
        assert_eq!(names.len(), cases.len());
        let short = cases.iter().filter(|case| case.is_short).count();
        assert!(short > 0 && short < cases.len());
        let v6 = cases.iter().filter(|case| case.version == IpVersion::V6);
        assert!(v6.clone().any(|case| case.is_short) && v6.count() >= 4);
    }
}
