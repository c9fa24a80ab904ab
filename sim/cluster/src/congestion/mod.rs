//! Congestion control to compare with. The card has NSCC only, so the rest is not in the transport's reference: it is a [`PathPolicy`](stellar_transport::spray::PathPolicy)
//! around that of the queue pair, with a window and a pace of its own. `docs/cluster.md` has rules and constants.

mod dcqcn;
mod paced;

pub use dcqcn::{Dcqcn, DcqcnParams};
pub use paced::Paced;

use serde::{Deserialize, Serialize};

/// Congestion control of the queue pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Congestion {
    /// NSCC, as the card has it: a window that follows marks and round trips.
    #[default]
    Nscc,
    /// DCQCN with the constants of ConWeave's simulator ([`DcqcnParams::conweave`]), and at most one bandwidth-delay product in flight, as IRN.
    Dcqcn,
    /// The same with the constants of DCQCN's paper ([`DcqcnParams::paper`]).
    #[serde(rename = "dcqcn-2015")]
    DcqcnPaper,
}

impl Congestion {
    /// The constants at a host with `gbps` Gb/s, with DCQCN.
    pub fn dcqcn(self, gbps: u32) -> Option<DcqcnParams> {
        match self {
            Self::Nscc => None,
            Self::Dcqcn => Some(DcqcnParams::conweave(gbps)),
            Self::DcqcnPaper => Some(DcqcnParams::paper(gbps)),
        }
    }
}
