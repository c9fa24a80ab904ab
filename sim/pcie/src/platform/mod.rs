//! The platform of a simulated host: one switch with both endpoints of a card and a GPU, a root complex with IOMMU, and memory.

mod check;
mod settings;

use crate::config::{
    AcsConfig, CompleterConfig, FabricConfig, GpuConfig, IommuConfig, LinkConfig, NicConfig,
    RootComplexConfig, SwitchConfig, Window,
};
use crate::Bdf;

pub use check::SettingError;
pub use settings::{
    AcsSettings, Credits, IommuSettings, PcieReads, PcieSettings, ReadCompletions, RequestSizes,
};

/// Time of a small posted write from an endpoint into a GPU's memory on idle links, without the time of its bytes, in picoseconds: two links, the switch
/// between them, and the memory.
pub const fn write_latency(reads: PcieReads) -> u64 {
    reads.latency * 5 / EIGHTHS
}

/// The functions of the card's two endpoints.
pub const FUNCTIONS: [Bdf; 2] = [Bdf::from_id(0x1700), Bdf::from_id(0x1800)];
const SWITCH: Bdf = Bdf::from_id(0x1600);
const GPU: Bdf = Bdf::from_id(0x1900);
/// The GPU's BAR: all final addresses that the driver uses are in it.
const BAR: Window = Window {
    base: 0,
    size: 1 << 40,
};
/// Payload bandwidth of a Gen5 x8 link without DLLPs, in Mb/s: 252,062 after encoding, and 256 of 276 bytes of a completion.
const GEN5_X8_MBPS: u64 = 233_796;
/// Largest payload of a TLP: the links take every size, because the card's own register limits it.
const LARGEST_PAYLOAD: usize = 4096;
/// Eighths of a read's latency: two for memory, one for each of two links and a switch in both directions.
const EIGHTHS: u64 = 8;

/// The fabric of a host: one switch with both endpoints and the GPU, in whose ports ACS sends untranslated requests up and translated ones to the GPU. The card's own register
/// limits its payloads, so the links take every size.
pub fn config(settings: &PcieSettings) -> FabricConfig {
    let reads = settings.reads;
    let hop = reads.latency / EIGHTHS;
    let memory = reads.latency - 6 * hop;
    let wide = reads.rate_mbps > GEN5_X8_MBPS;
    let raw = if wide { 2 * GEN5_X8_MBPS } else { GEN5_X8_MBPS };
    let card = LinkConfig {
        lanes: if wide { 16 } else { 8 },
        latency_ps: hop,
        dllp_permille: 1000 - (1000 * reads.rate_mbps).div_ceil(raw).clamp(1, 1000),
        max_payload: LARGEST_PAYLOAD,
        credits: Credits::of(settings.credits.endpoint),
        ..LinkConfig::default()
    };
    let shared = LinkConfig {
        latency_ps: hop,
        max_payload: LARGEST_PAYLOAD,
        credits: Credits::of(settings.credits.shared),
        ..LinkConfig::gen5_x16()
    };
    let completer = |posted_delay| CompleterConfig {
        latency_ps: memory,
        posted_delay,
        rcb: settings.completions.boundary,
        max_completion: settings.completions.largest,
        interleave: settings.completions.interleave,
        read_delay: settings.completions.delay,
        ..CompleterConfig::default()
    };
    let nic = |(bdf, posted_delay)| NicConfig {
        link: card.clone(),
        completion_timeout_ps: settings
            .completion_timeout
            .unwrap_or_else(|| NicConfig::new(bdf).completion_timeout_ps),
        posted_delay,
        ats: true,
        acs: AcsConfig {
            source_validation: settings.acs.source_validation,
            translation_blocking: settings.acs.translation_blocking,
            request_redirect: settings.acs.request_redirect,
            direct_translated: settings.acs.direct_translated,
            ..AcsConfig::default()
        },
        ..NicConfig::new(bdf)
    };
    FabricConfig {
        seed: settings.seed,
        switches: vec![SwitchConfig {
            uplink: shared.clone(),
            latency_ps: hop,
            ..SwitchConfig::new(SWITCH)
        }],
        nics: FUNCTIONS
            .into_iter()
            .zip(settings.endpoint_delays)
            .map(nic)
            .collect(),
        gpus: vec![GpuConfig {
            link: shared,
            completer: completer(settings.gpu_delay),
            ..GpuConfig::new(GPU, BAR)
        }],
        root_complex: RootComplexConfig {
            latency_ps: hop,
            peer_writes: settings.peer_writes,
            completer: completer(settings.host_delay),
            ..RootComplexConfig::default()
        },
        iommu: IommuConfig {
            walk_latency_ps: settings.iommu.walk_latency,
            walkers: settings.iommu.walkers,
            iotlb_sets: settings.iommu.iotlb_sets,
            iotlb_ways: settings.iommu.iotlb_ways,
            ..IommuConfig::default()
        },
        ..FabricConfig::default()
    }
}
