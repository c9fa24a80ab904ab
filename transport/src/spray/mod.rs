//! Path choice: which entropy value, and so which path and plane, each packet takes.
//!
//! A queue pair has up to 128 active paths, half in each plane, and up to eight spare ones per plane. [`Spray`]
//! chooses a path for every packet; acknowledgements and other feedback (ECN marks, timeouts, probes) change what it knows of the paths. A
//! [`PathPolicy`] says how; `docs/policies.md` lists the policies. `docs/multipath.md` has the steps and widths; the code here is what the hardware does,
//! bit for bit.

mod ev;
mod ev_table;
mod paths;
mod permutation;
mod policy;
mod reverse;
mod rotation;
#[allow(clippy::module_inception)] // The path choice itself.
mod spray;

pub use ev::EvState;
pub use paths::Paths;
pub use permutation::{Lfsr32, Permutation};
pub use policy::{built_in, PathPolicy};
pub use reverse::ReversePaths;
pub use spray::Spray;
pub use stellar_wire::config::{
    EntropyField, EntropyProfile, EvIndex, GeneratedEntropy, HeaderFields, Path, PlaneMask, Policy,
    ProfileError, ProfileRows, SkipScope, SprayConfig, SprayError, Srv6Template, TemplateError,
};
pub use stellar_wire::rows::{PathAck, SprayFeedback as Feedback};
