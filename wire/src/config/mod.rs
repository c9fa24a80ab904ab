//! What software configures a card and its queue pairs with: values, their checks, and the table rows that follow from them.
//!
//! The driver and the software reference of the transport take the same configurations: [`EndpointConfig`] of a card, [`QpConfig`] of a queue pair.

mod coalescing;
mod endpoint;
mod lane;
mod nscc;
mod path;
mod profile;
mod requester;
mod rows;
mod spray;
mod srv6;

pub use coalescing::{coalesce_from, default_sack_every, MAX_SACK_EVERY, NO_COALESCING};
pub use endpoint::{
    ConfigError, EndpointConfig, ImmConfig, Peer, PlaneAddress, QpConfig, TransportConfig, PAGES,
    PORTS,
};
pub use lane::{MaxPayload, MaxPayloadError, RxConfig};
pub use nscc::{NsccParams, ParamError, MAX_WINDOW};
pub use path::{EvIndex, Path, PlaneMask};
pub use profile::{EntropyProfile, HeaderFields, ProfileError};
pub use requester::{
    Backoff, MrcConfig, QpIdentity, RcConfig, RequesterConfigError, SqRing, DEFAULT_RTO,
};
pub use spray::{Policy, SkipScope, SprayConfig, SprayError};
pub use srv6::{EntropyField, Srv6Template, TemplateError};

/// Packets that an MRC sender may be ahead of the first one missing: the largest MPR this card works with.
pub const WINDOW: u32 = 1024;
