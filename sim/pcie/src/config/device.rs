//! Devices below the root complex.

use serde::{Deserialize, Serialize};

use super::{CompleterConfig, DelayConfig, LinkConfig, Window};
use crate::bdf::Bdf;
use crate::Picoseconds;

/// ACS controls of a switch downstream port (PCIe base specification, section 6.12). All off by default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AcsConfig {
    /// Source Validation: refuse every request whose requester ID has not the bus number below this port.
    pub source_validation: bool,
    /// Translation Blocking: refuse every request whose AT is not 00.
    pub translation_blocking: bool,
    /// P2P Request Redirect: peer requests go up to the root complex.
    pub request_redirect: bool,
    /// P2P Egress Control: peer requests to the functions in `egress_denied` are refused.
    pub egress_control: bool,
    /// Direct Translated P2P: AT = 10 goes straight to the peer whatever redirect and egress control say.
    pub direct_translated: bool,
    /// The egress control vector, as a list of peer functions.
    pub egress_denied: Vec<Bdf>,
}

/// A NIC endpoint behind a switch downstream port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NicConfig {
    /// Its function.
    pub bdf: Bdf,
    /// Index of the switch it is under. Default 0.
    #[serde(default)]
    pub switch: usize,
    /// Its link. Default Gen5 x8.
    #[serde(default)]
    pub link: LinkConfig,
    /// ACS controls of the switch port above it.
    #[serde(default)]
    pub acs: AcsConfig,
    /// Whether the IOMMU allows it translated requests (AT = 10); can be changed later. Default false.
    #[serde(default)]
    pub ats: bool,
    /// Extra time of its posted writes on the link to the switch, as replays and waits for credit take. Everything that it sends later stays behind
    /// them, and they occupy the receiver's credits meanwhile. Default none.
    #[serde(default)]
    pub posted_delay: DelayConfig,
    /// Time after which a read without all of its completions has failed. Default 50 ms.
    #[serde(default = "default_completion_timeout")]
    pub completion_timeout_ps: Picoseconds,
}

fn default_completion_timeout() -> Picoseconds {
    50_000_000_000
}

impl NicConfig {
    /// A NIC under switch 0 with everything else default.
    pub fn new(bdf: Bdf) -> Self {
        Self {
            bdf,
            switch: 0,
            link: LinkConfig::default(),
            acs: AcsConfig::default(),
            ats: false,
            posted_delay: DelayConfig::default(),
            completion_timeout_ps: default_completion_timeout(),
        }
    }
}

/// A GPU behind a switch downstream port, whose memory is a BAR.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuConfig {
    /// Its function.
    pub bdf: Bdf,
    /// Its BAR: a power of two of at least 4 KiB, naturally aligned.
    pub bar: Window,
    /// Index of the switch it is under. Default 0.
    #[serde(default)]
    pub switch: usize,
    /// Its link. Default Gen5 x16.
    #[serde(default = "LinkConfig::gen5_x16")]
    pub link: LinkConfig,
    /// ACS controls of the switch port above it; they apply to requests of the GPU itself.
    #[serde(default)]
    pub acs: AcsConfig,
    /// How this device completes reads.
    #[serde(default)]
    pub completer: CompleterConfig,
}

impl GpuConfig {
    /// A GPU under switch 0 with everything else default.
    pub fn new(bdf: Bdf, bar: Window) -> Self {
        Self {
            bdf,
            bar,
            switch: 0,
            link: LinkConfig::gen5_x16(),
            acs: AcsConfig::default(),
            completer: CompleterConfig::default(),
        }
    }
}

/// A switch with one upstream port, which is connected to a root port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchConfig {
    /// Function of the upstream port; it is the completer of requests the switch refuses.
    pub bdf: Bdf,
    /// Link to the root port. Default Gen5 x16.
    #[serde(default = "LinkConfig::gen5_x16")]
    pub uplink: LinkConfig,
    /// Store-and-forward latency of the switch, on top of the links'. Default 100 ns.
    #[serde(default = "default_forward_latency")]
    pub latency_ps: Picoseconds,
}

fn default_forward_latency() -> Picoseconds {
    100_000
}

impl SwitchConfig {
    /// A switch with everything else default.
    pub fn new(bdf: Bdf) -> Self {
        Self {
            bdf,
            uplink: LinkConfig::gen5_x16(),
            latency_ps: default_forward_latency(),
        }
    }
}
