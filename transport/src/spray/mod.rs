//! Path choice: which entropy value, and so which path and plane, each packet takes.
//!
//! A queue pair has up to 128 active paths, half in each plane, and up to eight spare ones per plane. [`Spray`]
//! chooses a path for every packet; feedback about a path (ECN marks, timeouts, probes) changes its state. The policies are
//! one path, round robin, oblivious spraying (STELLAR section 7.2, the default) and spraying over entropy-value states
//! (OCP MRC 1.0). `docs/multipath.md` has the steps and widths; the code here is what the hardware does, bit for bit.

mod ev;
mod ev_table;
mod permutation;
mod reverse;
mod rotation;
mod select;

pub use ev::{EvState, Feedback};
pub use permutation::{Lfsr32, Permutation};
pub use reverse::ReversePaths;
pub use select::Spray;
pub use stellar_wire::config::{
    EntropyField, EntropyProfile, EvIndex, HeaderFields, Path, PlaneMask, Policy, ProfileError,
    SkipScope, SprayConfig, SprayError, Srv6Template, TemplateError,
};
pub use stellar_wire::rows::GeneratedEntropy;
