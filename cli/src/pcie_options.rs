//! The PCIe of simulated hosts, as options of every command that puts a card into one: a file, and an option for each of its keys.

use std::path::PathBuf;

use anyhow::{ensure, Context};
use clap::ValueEnum;
use serde::Deserialize;
use sim_pcie::platform::{PcieReads, PcieSettings, SettingError};
use sim_pcie::{DelayConfig, PeerWrites};
use std::num::NonZeroUsize;

/// Picoseconds of a nanosecond.
const NS: u64 = 1_000;
/// Picoseconds of a microsecond.
const US: u64 = 1_000_000;
/// Time of a write between root ports, if only their number is given: that of figure 14 (docs/pcie.md).
const PEER_WRITE_PS: u64 = 230 * NS;

/// File and options.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "PCIe of the simulated hosts (docs/pcie.md)")]
pub struct PcieOptions {
    /// TOML file with the settings below, whose keys are the options without --pcie- and with underscores (read_ns = 600); options override it
    #[arg(id = "pcie_file", long = "pcie", value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    keys: PcieKeys,
}

/// The settings that a file or options change. The option of a key is `--pcie-` and the key with hyphens.
#[derive(clap::Args, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[group(skip)]
#[serde(default, deny_unknown_fields)]
pub struct PcieKeys {
    /// Latency of a read of host or GPU memory on idle links, in nanoseconds [default: 600]
    #[arg(long = "pcie-read-ns", value_name = "NS")]
    read_ns: Option<u64>,
    /// Payload bandwidth of the link of each endpoint in Gb/s [default: 225]
    #[arg(long = "pcie-rate-gbps", value_name = "GBPS")]
    rate_gbps: Option<u64>,
    /// Maximum payload size (MPS) in bytes: 128, 256, 512 or 1024 [default: 256]
    #[arg(long = "pcie-max-payload", value_name = "BYTES")]
    max_payload: Option<u32>,
    /// Maximum read request size (MRRS) in bytes: 128 to 4096 [default: 512]
    #[arg(long = "pcie-max-read", value_name = "BYTES")]
    max_read: Option<u32>,
    /// Read completion boundary (RCB) in bytes: 64 or 128 [default: 64]
    #[arg(long = "pcie-rcb", value_name = "BYTES")]
    rcb: Option<usize>,
    /// Largest payload of a completion in bytes [default: 256]
    #[arg(long = "pcie-max-completion", value_name = "BYTES")]
    max_completion: Option<usize>,
    /// Reads take up to this much longer, at random, so that completions of different tags overtake each other [default: 0]
    #[arg(long = "pcie-reorder-ns", value_name = "NS")]
    reorder_ns: Option<u64>,
    /// Completions of several reads alternate at random: true or false [default: false]
    #[arg(long = "pcie-interleave", value_name = "BOOL")]
    interleave: Option<bool>,
    /// Credits at the links of the endpoints, in TLPs of 256 bytes of each class [default: 128]
    #[arg(long = "pcie-endpoint-credits", value_name = "TLPS")]
    endpoint_credits: Option<u32>,
    /// Credits at the links of switch and GPU [default: 512]
    #[arg(long = "pcie-shared-credits", value_name = "TLPS")]
    shared_credits: Option<u32>,
    /// Extra time of posted writes on the link of endpoint 0 [default: 0]
    #[arg(long = "pcie-posted-endpoint0-ns", value_name = "NS")]
    posted_endpoint0_ns: Option<u64>,
    /// The same of endpoint 1 [default: 0]
    #[arg(long = "pcie-posted-endpoint1-ns", value_name = "NS")]
    posted_endpoint1_ns: Option<u64>,
    /// Extra time until a posted write is visible in host memory [default: 0]
    #[arg(long = "pcie-posted-host-ns", value_name = "NS")]
    posted_host_ns: Option<u64>,
    /// Extra time until a posted write is visible in the GPU's memory [default: 0]
    #[arg(long = "pcie-posted-gpu-ns", value_name = "NS")]
    posted_gpu_ns: Option<u64>,
    /// ACS Source Validation of the switch ports above the card: true or false [default: true]
    #[arg(long = "pcie-acs-source-validation", value_name = "BOOL")]
    acs_source_validation: Option<bool>,
    /// ACS Translation Blocking: requests with translated addresses are refused, so the GPU cannot be reached [default: false]
    #[arg(long = "pcie-acs-translation-blocking", value_name = "BOOL")]
    acs_translation_blocking: Option<bool>,
    /// ACS P2P Request Redirect. It has to be true here, because the host's bus addresses lie in the GPU's BAR [default: true]
    #[arg(long = "pcie-acs-request-redirect", value_name = "BOOL")]
    acs_request_redirect: Option<bool>,
    /// ACS Direct Translated P2P; without it, requests with translated addresses reach the GPU through the root complex [default: true]
    #[arg(long = "pcie-acs-direct-translated", value_name = "BOOL")]
    acs_direct_translated: Option<bool>,
    /// IOMMU [default: translate]
    #[arg(long = "pcie-iommu", value_name = "MODE")]
    iommu: Option<IommuMode>,
    /// The IOMMU maps pages of 2 MiB and 1 GiB where it can; without, of 4 KiB only [default: true]
    #[arg(long = "pcie-iommu-large-pages", value_name = "BOOL")]
    iommu_large_pages: Option<bool>,
    /// Time of a page walk of the IOMMU [default: 400]
    #[arg(long = "pcie-iommu-walk-ns", value_name = "NS")]
    iommu_walk_ns: Option<u64>,
    /// Page walks at the same time [default: 8]
    #[arg(long = "pcie-iommu-walkers", value_name = "N")]
    iommu_walkers: Option<usize>,
    /// Sets of the IOTLB, a power of two [default: 64]
    #[arg(long = "pcie-iotlb-sets", value_name = "N")]
    iotlb_sets: Option<usize>,
    /// Ways of the IOTLB [default: 8]
    #[arg(long = "pcie-iotlb-ways", value_name = "N")]
    iotlb_ways: Option<usize>,
    /// Writes that the root complex sends back down to the GPU at the same time [default: no limit]
    #[arg(long = "pcie-peer-writes", value_name = "N")]
    peer_writes: Option<NonZeroUsize>,
    /// Time of each of these writes, with --pcie-peer-writes [default: 230]
    #[arg(long = "pcie-peer-write-ns", value_name = "NS")]
    peer_write_ns: Option<u64>,
    /// Time after which the fabric gives up a read that nobody completes [default: 50000]
    #[arg(long = "pcie-completion-timeout-us", value_name = "US")]
    completion_timeout_us: Option<u64>,
    /// Seed of everything random in the fabric [default: 0]
    #[arg(id = "pcie_seed", long = "pcie-seed", value_name = "SEED")]
    seed: Option<u64>,
}

/// What the IOMMU does with the card's untranslated requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
enum IommuMode {
    /// It maps for each function what software maps for the card
    Translate,
    /// It maps all of the host's memory at all times (Linux: iommu=pt)
    Passthrough,
}

/// The code of a size: log2 of its multiple of 128 bytes.
fn size_code(key: &'static str, bytes: u32, most: u32) -> Result<u8, SettingError> {
    if bytes.is_power_of_two() && (128..=most).contains(&bytes) {
        return Ok((bytes.ilog2() - 7) as u8);
    }
    Err(SettingError {
        key,
        value: bytes.to_string(),
        instead: format!("use a power of two from 128 to {most}"),
    })
}

/// Replaces `setting`, if there is a value.
fn set<T>(setting: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *setting = value;
    }
}

impl PcieKeys {
    /// The keys in `text`, which is TOML. `file` is its name in errors.
    fn from_toml(file: &str, text: &str) -> anyhow::Result<Self> {
        toml::from_str(text).with_context(|| format!("{file}: no PCIe settings (docs/pcie.md)"))
    }

    /// Changes `settings`, and checks them.
    fn apply(&self, settings: &mut PcieSettings) -> Result<(), SettingError> {
        let time = |value: Option<u64>, unit: u64| value.map(|value| value.saturating_mul(unit));
        let constant = |ns| time(ns, NS).map(DelayConfig::constant);
        set(&mut settings.reads.latency, time(self.read_ns, NS));
        set(&mut settings.reads.rate_mbps, time(self.rate_gbps, 1_000));
        if let Some(bytes) = self.max_payload {
            settings.sizes.payload = size_code("max_payload", bytes, 1_024)?;
        }
        if let Some(bytes) = self.max_read {
            settings.sizes.read = size_code("max_read", bytes, 4_096)?;
        }
        let completions = &mut settings.completions;
        set(&mut completions.boundary, self.rcb);
        set(&mut completions.largest, self.max_completion);
        set(&mut completions.interleave, self.interleave);
        let reorder = time(self.reorder_ns, NS).map(|most| DelayConfig::between(0, most));
        set(&mut completions.delay, reorder);
        set(&mut settings.credits.endpoint, self.endpoint_credits);
        set(&mut settings.credits.shared, self.shared_credits);
        let [endpoint0, endpoint1] = &mut settings.endpoint_delays;
        set(endpoint0, constant(self.posted_endpoint0_ns));
        set(endpoint1, constant(self.posted_endpoint1_ns));
        set(&mut settings.host_delay, constant(self.posted_host_ns));
        set(&mut settings.gpu_delay, constant(self.posted_gpu_ns));
        let acs = &mut settings.acs;
        set(&mut acs.source_validation, self.acs_source_validation);
        set(&mut acs.translation_blocking, self.acs_translation_blocking);
        set(&mut acs.request_redirect, self.acs_request_redirect);
        set(&mut acs.direct_translated, self.acs_direct_translated);
        let iommu = &mut settings.iommu;
        let passthrough = self.iommu.map(|mode| mode == IommuMode::Passthrough);
        set(&mut iommu.passthrough, passthrough);
        set(&mut iommu.large_pages, self.iommu_large_pages);
        set(&mut iommu.walk_latency, time(self.iommu_walk_ns, NS));
        set(&mut iommu.walkers, self.iommu_walkers);
        set(&mut iommu.iotlb_sets, self.iotlb_sets);
        set(&mut iommu.iotlb_ways, self.iotlb_ways);
        self.apply_peer_writes(settings)?;
        let timeout = time(self.completion_timeout_us, US);
        settings.completion_timeout = timeout.or(settings.completion_timeout);
        set(&mut settings.seed, self.seed);
        settings.check()
    }

    fn apply_peer_writes(&self, settings: &mut PcieSettings) -> Result<(), SettingError> {
        if let Some(in_flight) = self.peer_writes {
            let latency_ps = settings
                .peer_writes
                .map_or(PEER_WRITE_PS, |writes| writes.latency_ps);
            settings.peer_writes = Some(PeerWrites {
                in_flight,
                latency_ps,
            });
        }
        match (&mut settings.peer_writes, self.peer_write_ns) {
            (Some(writes), Some(ns)) => writes.latency_ps = ns.saturating_mul(NS),
            (None, Some(ns)) => {
                return Err(SettingError {
                    key: "peer_write_ns",
                    value: ns.to_string(),
                    instead: "give `peer_writes` too, the number of these writes".to_owned(),
                });
            }
            (_, None) => {}
        }
        Ok(())
    }
}

impl PcieOptions {
    /// The settings: the defaults, then the file, then the options.
    pub fn settings(&self) -> anyhow::Result<PcieSettings> {
        let mut settings = PcieSettings::default();
        if let Some(path) = &self.file {
            let file = path.display().to_string();
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read the PCIe settings {file}"))?;
            let keys = PcieKeys::from_toml(&file, &text)?;
            keys.apply(&mut settings).with_context(|| file)?;
        }
        self.keys
            .apply(&mut settings)
            .context("an option --pcie-..., whose name is that of its setting")?;
        Ok(settings)
    }

    /// Whether there is a file or an option.
    fn is_given(&self) -> bool {
        self.file.is_some() || self.keys != PcieKeys::default()
    }

    /// Refuses file and options where they would do nothing. `why` completes the sentence, and says what to do.
    pub fn check_unused(&self, why: &str) -> anyhow::Result<()> {
        ensure!(!self.is_given(), "--pcie and --pcie-... do nothing {why}");
        Ok(())
    }

    /// The settings of NICs that have no fabric, and only know what a read costs.
    pub fn reads(&self) -> anyhow::Result<PcieReads> {
        let settings = self.settings()?;
        ensure!(
            settings == PcieSettings::from(settings.reads),
            "the software reference has no PCIe fabric: of --pcie and --pcie-..., only read_ns and rate_gbps mean something to it; use the others with --nic rtl"
        );
        Ok(settings.reads)
    }
}

#[cfg(test)]
mod tests;
