//! Configurations that describe no fabric.

use thiserror::Error;

use crate::bdf::Bdf;

/// What is wrong with a configuration, where, and what to change.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// There is no switch.
    #[error("the fabric has no switch; add one with `FabricBuilder::switch`")]
    NoSwitch,
    /// A device names a switch that does not exist.
    #[error(
        "{device} is under switch {switch}, but there are only {count}; switches count from 0"
    )]
    UnknownSwitch {
        /// The device.
        device: Bdf,
        /// Its switch index.
        switch: usize,
        /// Number of switches.
        count: usize,
    },
    /// Two functions share an identity.
    #[error("{0} is used twice; give every switch, NIC, GPU and the root complex its own")]
    DuplicateBdf(Bdf),
    /// A link without bandwidth, or with a width that PCIe does not have.
    #[error("link of {of}: lanes = {lanes}; use 1, 2, 4, 8 or 16")]
    Lanes {
        /// Device or switch whose link it is.
        of: Bdf,
        /// Configured lanes.
        lanes: u32,
    },
    /// DLLPs would take all of the bandwidth.
    #[error("link of {of}: dllp_permille = {permille} leaves no bandwidth; use less than 1000")]
    DllpShare {
        /// Device or switch whose link it is.
        of: Bdf,
        /// Configured share.
        permille: u64,
    },
    /// A maximum payload size that PCIe does not have.
    #[error("link of {of}: max_payload = {bytes}; use 128, 256, 512, 1024, 2048 or 4096")]
    MaxPayload {
        /// Device or switch whose link it is.
        of: Bdf,
        /// Configured size.
        bytes: usize,
    },
    /// A queue or buffer without entries.
    #[error("link of {of}: {what} is 0, nothing could ever pass; use at least 1")]
    NoRoom {
        /// Device or switch whose link it is.
        of: Bdf,
        /// Name of the setting.
        what: &'static str,
    },
    /// Too few data credits: a TLP of the largest payload could never pass.
    #[error("link of {of}: credits.{what} = {credits}, but a payload of max_payload = {payload} bytes takes {needed}; use at least that")]
    TooFewCredits {
        /// Device or switch whose link it is.
        of: Bdf,
        /// Name of the setting.
        what: &'static str,
        /// Configured credits.
        credits: u32,
        /// Maximum payload of the link.
        payload: usize,
        /// Credits that it takes.
        needed: u32,
    },
    /// The largest delay is less than the least, or spikes are more frequent than TLPs.
    #[error("{of}: {what}: use min_ps up to max_ps, here {min_ps} and {max_ps}, and spike_per_million up to 1000000, here {spikes}")]
    Delay {
        /// The device, or the root complex.
        of: Bdf,
        /// Name of the setting.
        what: &'static str,
        /// Configured least delay.
        min_ps: u64,
        /// Configured largest delay.
        max_ps: u64,
        /// Configured spikes of a million.
        spikes: u32,
    },
    /// A completer that accepts no reads.
    #[error("{0}: completer.outstanding_reads is 0, no read would be answered; use at least 1")]
    NoReads(Bdf),
    /// A NIC whose reads fail at once.
    #[error("{0}: completion_timeout_ps is 0, every read would fail; use at least the longest round trip")]
    NoTime(Bdf),
    /// A fault of more than all requests.
    #[error("faults: per_million = {0}; use at most 1000000, which is every request")]
    FaultRate(u32),
    /// A rule that no request can match.
    #[error("faults: lost-completion with only = \"write\" matches nothing, because writes have no completions; use \"read\" or leave it out")]
    LostWrite,
    /// A read completion boundary that PCIe does not have.
    #[error("{of}: completer.rcb = {bytes}; use 64 or 128")]
    Rcb {
        /// The completer.
        of: Bdf,
        /// Configured boundary.
        bytes: usize,
    },
    /// A completion size that breaks the boundary rule.
    #[error("{of}: completer.max_completion = {bytes}; use a power of two, at least its read completion boundary")]
    MaxCompletion {
        /// The completer.
        of: Bdf,
        /// Configured size.
        bytes: usize,
    },
    /// A BAR of a size or at an address that a BAR register cannot express.
    #[error("bar of {of} at {base:#x}, {size:#x} bytes: size must be a power of two of at least 0x1000, the base a multiple of it")]
    Bar {
        /// The GPU.
        of: Bdf,
        /// Base address.
        base: u64,
        /// Size in bytes.
        size: u64,
    },
    /// A host memory window that is empty, does not consist of pages, or wraps around.
    #[error("host memory at {base:#x}, {size:#x} bytes: base and size must be multiples of 0x1000, size not 0, end within 64 bits")]
    HostWindow {
        /// Base address.
        base: u64,
        /// Size in bytes.
        size: u64,
    },
    /// Two windows contain the same address.
    #[error("{first} and {second} overlap; move one")]
    Overlap {
        /// One window.
        first: String,
        /// The other.
        second: String,
    },
    /// An egress control vector names a function that is not a device of this fabric.
    #[error("acs.egress_denied of {of}: {peer} is no NIC or GPU of this fabric; name one")]
    UnknownPeer {
        /// Device under the port.
        of: Bdf,
        /// The unknown function.
        peer: Bdf,
    },
    /// An IOMMU structure of size 0.
    #[error("iommu: {0} is 0; use at least 1")]
    EmptyIommu(&'static str),
}
