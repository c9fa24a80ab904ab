//! Path choice: which entropy value, and so which path and plane, each packet takes.
//!
//! A queue pair has up to 128 active paths, half in each plane, and up to eight spare ones per plane. Every packet asks
//! [`Spray`] for a path; what comes back about a path (ECN marks, timeouts, probes) changes its state. The policies:
//! one path, round robin, oblivious spraying (STELLAR section 7.2, the default) and spraying over entropy-value states
//! (OCP MRC 1.0). `docs/multipath.md` has the steps and widths; the code here is what the hardware does, bit for bit.

mod config;
mod ev;
mod ev_table;
mod hardware;
mod permutation;
mod profile;
mod reverse;
mod rotation;
mod select;
mod srv6_template;

pub use config::{Policy, SkipScope, SprayConfig, SprayError};
pub use ev::{EvIndex, EvState, Feedback, Path, PlaneMask};
pub use permutation::{Lfsr32, Permutation};
pub use profile::{EntropyProfile, GeneratedEntropy, HeaderFields, ProfileError};
pub use reverse::ReversePaths;
pub use select::Spray;
pub use srv6_template::{EntropyField, Srv6Template, TemplateError};
