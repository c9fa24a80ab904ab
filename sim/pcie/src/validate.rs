//! Checks a configuration before a fabric is built from it.

use std::collections::BTreeSet;

use crate::bdf::Bdf;
use crate::config::{
    CompleterConfig, ConfigError, CreditConfig, DelayConfig, FabricConfig, FaultKind, FaultRule,
    LinkConfig, RequestKind, Window,
};

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
    for nic in &config.nics {
        check_delay(nic.bdf, "posted_delay", &nic.posted_delay)?;
        if nic.completion_timeout_ps == 0 {
            return Err(ConfigError::NoTime(nic.bdf));
        }
    }
    config.faults.iter().try_for_each(check_fault)?;
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
        (
            link.credits.posted_headers as usize,
            "credits.posted_headers",
        ),
        (
            link.credits.non_posted_headers as usize,
            "credits.non_posted_headers",
        ),
        (
            link.credits.completion_headers as usize,
            "credits.completion_headers",
        ),
    ] {
        if room == 0 {
            return Err(ConfigError::NoRoom { of, what });
        }
    }
    let needed = (bytes as u32).div_ceil(CreditConfig::DATA_UNIT);
    for (credits, what) in [
        (link.credits.posted_data, "posted_data"),
        (link.credits.completion_data, "completion_data"),
    ] {
        if credits < needed {
            return Err(ConfigError::TooFewCredits {
                of,
                what,
                credits,
                payload: bytes,
                needed,
            });
        }
    }
    Ok(())
}

fn check_delay(of: Bdf, what: &'static str, delay: &DelayConfig) -> Result<(), ConfigError> {
    if delay.min_ps <= delay.max_ps && delay.spike_per_million <= 1_000_000 {
        return Ok(());
    }
    Err(ConfigError::Delay {
        of,
        what,
        min_ps: delay.min_ps,
        max_ps: delay.max_ps,
        spikes: delay.spike_per_million,
    })
}

/// Checks a rule by itself.
pub(crate) fn check_fault(rule: &FaultRule) -> Result<(), ConfigError> {
    if rule.per_million > 1_000_000 {
        return Err(ConfigError::FaultRate(rule.per_million));
    }
    let of_reads = matches!(
        rule.fault,
        FaultKind::LostCompletion | FaultKind::Corruption | FaultKind::LateCompletion(_)
    );
    if of_reads && rule.only == Some(RequestKind::Write) {
        return Err(ConfigError::LostWrite);
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
    check_delay(of, "completer.posted_delay", &completer.posted_delay)?;
    check_delay(of, "completer.read_delay", &completer.read_delay)?;
    if completer.outstanding_reads == 0 {
        return Err(ConfigError::NoReads(of));
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
