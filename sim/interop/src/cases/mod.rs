//! The cases, by name.

mod errors;
mod impaired;
mod several;
mod sizes;
mod teardown;
mod wrong_bit;

use std::fmt;

use crate::bed::{Bed, Writer};

/// Version of the addresses at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpVersion {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// What came of a case that did not fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Both ends did what the standard says.
    Passed,
    /// The card lacks something. What happens instead was checked, and is said.
    Open(&'static str),
}

/// What a case does.
type Run = Box<dyn Fn(&mut Bed) -> anyhow::Result<Outcome>>;

/// A case.
pub struct Case {
    /// Its name, of words with hyphens.
    pub name: String,
    /// It belongs to the short form.
    pub is_short: bool,
    /// Version of both ends' addresses.
    pub version: IpVersion,
    /// Packets may come again on the wire.
    pub may_repeat: bool,
    /// The packets of the card are wrong on purpose, so the capture is another one and tshark does not look at it.
    pub is_wrong_on_purpose: bool,
    pub(crate) run: Run,
}

impl Case {
    /// A case over IPv4 in which no packet comes again.
    fn new(
        name: impl Into<String>,
        run: impl Fn(&mut Bed) -> anyhow::Result<Outcome> + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            is_short: false,
            version: IpVersion::V4,
            may_repeat: false,
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

    fn may_repeat(self) -> Self {
        Self {
            may_repeat: true,
            ..self
        }
    }

    fn wrong_on_purpose(self) -> Self {
        Self {
            is_wrong_on_purpose: true,
            may_repeat: true,
            ..self
        }
    }
}

impl Writer {
    /// Both, the peer first.
    const BOTH: [Self; 2] = [Self::Peer, Self::Card];
}

impl fmt::Display for Writer {
    /// Where it writes to, as it stands in names of cases.
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
