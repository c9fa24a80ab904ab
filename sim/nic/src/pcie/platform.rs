//! The PCIe platform of a simulated host.

use sim_pcie::{
    AcsConfig, Bdf, CompleterConfig, CreditConfig, DelayConfig, FabricConfig, GpuConfig,
    LinkConfig, NicConfig, PeerWrites, RootComplexConfig, SwitchConfig, Window,
};
use sim_world::PcieReads;

/// Sizes of PCIe requests, which the firmware of a host sets: 128 bytes shifted left by these codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestSizes {
    /// Largest payload of a write, 0 to 3.
    pub payload: u8,
    /// Largest read, 0 to 5.
    pub read: u8,
}

impl Default for RequestSizes {
    /// Payload of 256 bytes, reads of 512.
    fn default() -> Self {
        Self {
            payload: 1,
            read: 2,
        }
    }
}

/// How memories complete reads.
#[derive(Clone, Copy, Debug)]
pub struct ReadCompletions {
    /// Read completion boundary: 64 or 128 bytes.
    pub boundary: usize,
    /// Largest payload of a completion in bytes: a power of two, the boundary or more.
    pub largest: usize,
    /// Completions of several reads alternate at random.
    pub interleave: bool,
    /// Extra time of each read, by which reads overtake each other.
    pub delay: DelayConfig,
}

impl Default for ReadCompletions {
    fn default() -> Self {
        let completer = CompleterConfig::default();
        Self {
            boundary: completer.rcb,
            largest: completer.max_completion,
            interleave: completer.interleave,
            delay: completer.read_delay,
        }
    }
}

/// How the PCIe fabric of a simulated host behaves.
#[derive(Clone, Copy, Debug, Default)]
pub struct PcieSettings {
    pub reads: PcieReads,
    pub sizes: RequestSizes,
    pub completions: ReadCompletions,
    /// Seed of everything random.
    pub seed: u64,
    /// Extra time of posted writes on the link of each endpoint.
    pub endpoint_delays: [DelayConfig; 2],
    /// Extra time until a write is visible in host memory.
    pub host_delay: DelayConfig,
    /// Extra time until a write is visible in the GPU's memory.
    pub gpu_delay: DelayConfig,
    /// Limit of the writes that the root complex sends back down to the GPU, such as those of [`crate::SimHosts::map_gpu_through_root`].
    pub peer_writes: Option<PeerWrites>,
    /// Picoseconds after which the fabric gives up a read that nobody has completed; 50 ms if there is none. Then its tag may be used again.
    pub completion_timeout: Option<u64>,
    /// Answers flush reads at once, so that they push no writes. No PCIe does this: tests show with it that they notice payload that comes too late.
    pub answer_flushes_at_once: bool,
}

impl From<PcieReads> for PcieSettings {
    fn from(reads: PcieReads) -> Self {
        Self {
            reads,
            ..Self::default()
        }
    }
}

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
/// TLPs of 256 bytes of each class for which root complex and GPU have credits: 128 KiB. A link of 64 GB/s goes on with them while a TLP takes 2 us to its
/// effect and its credits back.
const SHARED_CREDITS: u32 = 512;
/// Eighths of a read's latency: two for memory, one for each of two links and a switch in both directions.
const EIGHTHS: u64 = 8;

/// One switch with both endpoints and the GPU, in whose ports ACS sends untranslated requests up and translated ones to the GPU. The card's own register
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
        max_payload: 4096,
        ..LinkConfig::default()
    };
    let shared = LinkConfig {
        latency_ps: hop,
        max_payload: 4096,
        credits: CreditConfig::for_tlps(SHARED_CREDITS, 256),
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
            source_validation: true,
            request_redirect: true,
            direct_translated: true,
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
        ..FabricConfig::default()
    }
}
