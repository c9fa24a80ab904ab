//! Checks a configuration before a fabric is built from it.

use std::collections::BTreeSet;

use thiserror::Error;

use crate::bdf::Bdf;
use crate::config::{CompleterConfig, FabricConfig, LinkConfig, Window};

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
    #[error("link of {of}: {lanes} lanes; use 1, 2, 4, 8 or 16")]
    Lanes {
        /// Device or switch whose link it is.
        of: Bdf,
        /// Configured lanes.
        lanes: u32,
    },
    /// DLLPs would take all of the bandwidth.
    #[error(
        "link of {of}: {permille} thousandths for DLLPs leave no bandwidth; use less than 1000"
    )]
    DllpShare {
        /// Device or switch whose link it is.
        of: Bdf,
        /// Configured share.
        permille: u64,
    },
    /// A maximum payload size that PCIe does not have.
    #[error("link of {of}: maximum payload {bytes} bytes; use 128, 256, 512, 1024, 2048 or 4096")]
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
    /// A read completion boundary that PCIe does not have.
    #[error("{of}: read completion boundary {bytes}; use 64 or 128")]
    Rcb {
        /// The completer.
        of: Bdf,
        /// Configured boundary.
        bytes: usize,
    },
    /// A completion size that breaks the boundary rule.
    #[error("{of}: largest completion {bytes} bytes; use a power of two, at least its read completion boundary")]
    MaxCompletion {
        /// The completer.
        of: Bdf,
        /// Configured size.
        bytes: usize,
    },
    /// A BAR of a size or at an address that a BAR register cannot express.
    #[error("BAR of {of} at {base:#x}, {size:#x} bytes: size must be a power of two of at least 0x1000, the base a multiple of it")]
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
    #[error("egress control of {of} denies {peer}, which is no NIC or GPU of this fabric")]
    UnknownPeer {
        /// Device under the port.
        of: Bdf,
        /// The unknown function.
        peer: Bdf,
    },
    /// An IOMMU structure of size 0.
    #[error("IOMMU: {0} is 0; use at least 1")]
    EmptyIommu(&'static str),
}

/// Checks everything that construction relies on.
pub(crate) fn validate(config: &FabricConfig) -> Result<(), ConfigError> {
    if config.switches.is_empty() {
        return Err(ConfigError::NoSwitch);
    }
    let devices: Vec<_> = (config
        .nics
        .iter()
        .map(|n| (n.bdf, n.switch, &n.link, &n.acs)))
    .chain(
        config
            .gpus
            .iter()
            .map(|g| (g.bdf, g.switch, &g.link, &g.acs)),
    )
    .collect();
    let mut seen = BTreeSet::from([config.root_complex.bdf]);
    let switches = config.switches.iter().map(|s| (s.bdf, &s.uplink));
    for (bdf, link) in switches.chain(devices.iter().map(|d| (d.0, d.2))) {
        if !seen.insert(bdf) {
            return Err(ConfigError::DuplicateBdf(bdf));
        }
        check_link(bdf, link)?;
    }
    for &(device, switch, _, acs) in &devices {
        let count = config.switches.len();
        if switch >= count {
            return Err(ConfigError::UnknownSwitch {
                device,
                switch,
                count,
            });
        }
        let known = |peer: &&Bdf| devices.iter().any(|d| d.0 == **peer);
        if let Some(&peer) = acs.egress_denied.iter().find(|peer| !known(peer)) {
            return Err(ConfigError::UnknownPeer { of: device, peer });
        }
    }
    check_completer(config.root_complex.bdf, &config.root_complex.completer)?;
    for gpu in &config.gpus {
        check_completer(gpu.bdf, &gpu.completer)?;
    }
    check_windows(config)?;
    let iommu = &config.iommu;
    for (size, name) in [
        (iommu.iotlb_sets, "iotlb_sets"),
        (iommu.iotlb_ways, "iotlb_ways"),
        (iommu.walkers, "walkers"),
        (iommu.fault_queue, "fault_queue"),
    ] {
        if size == 0 {
            return Err(ConfigError::EmptyIommu(name));
        }
    }
    Ok(())
}

fn check_link(of: Bdf, link: &LinkConfig) -> Result<(), ConfigError> {
    let lanes = link.lanes;
    if !matches!(lanes, 1 | 2 | 4 | 8 | 16) {
        return Err(ConfigError::Lanes { of, lanes });
    }
    let permille = link.dllp_permille;
    if permille >= 1000 {
        return Err(ConfigError::DllpShare { of, permille });
    }
    let bytes = link.max_payload;
    if !bytes.is_power_of_two() || !(128..=4096).contains(&bytes) {
        return Err(ConfigError::MaxPayload { of, bytes });
    }
    for (room, what) in [
        (link.send_queue, "send_queue"),
        (link.receive_buffer, "receive_buffer"),
    ] {
        if room == 0 {
            return Err(ConfigError::NoRoom { of, what });
        }
    }
    Ok(())
}

fn check_completer(of: Bdf, completer: &CompleterConfig) -> Result<(), ConfigError> {
    let bytes = completer.rcb;
    if !matches!(bytes, 64 | 128) {
        return Err(ConfigError::Rcb { of, bytes });
    }
    let bytes = completer.max_completion;
    if !bytes.is_power_of_two() || bytes < completer.rcb {
        return Err(ConfigError::MaxCompletion { of, bytes });
    }
    Ok(())
}

fn check_windows(config: &FabricConfig) -> Result<(), ConfigError> {
    let mut windows: Vec<(String, Window)> = Vec::new();
    for gpu in &config.gpus {
        let Window { base, size } = gpu.bar;
        if !size.is_power_of_two() || size < 4096 || base % size != 0 {
            return Err(ConfigError::Bar {
                of: gpu.bdf,
                base,
                size,
            });
        }
        windows.push((format!("BAR of {}", gpu.bdf), gpu.bar));
    }
    for window in &config.host_memory {
        let Window { base, size } = *window;
        let wraps = base.checked_add(size).is_none();
        if size == 0 || base % 4096 != 0 || size % 4096 != 0 || wraps {
            return Err(ConfigError::HostWindow { base, size });
        }
        windows.push((format!("host memory at {base:#x}"), *window));
    }
    for (i, (first, a)) in windows.iter().enumerate() {
        if let Some((second, _)) = windows[..i].iter().find(|(_, b)| a.overlaps(b)) {
            return Err(ConfigError::Overlap {
                first: second.clone(),
                second: first.clone(),
            });
        }
    }
    Ok(())
}
