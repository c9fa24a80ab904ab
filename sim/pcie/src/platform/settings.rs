//! What a simulated host's PCIe can be told.

use crate::config::{CompleterConfig, CreditConfig, DelayConfig, IommuConfig, PeerWrites};
use crate::Picoseconds;

/// Cost of a NIC's reads of payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PcieReads {
    /// From the request to its last byte on an idle link, without the time of the bytes themselves, in picoseconds.
    pub latency: Picoseconds,
    /// Payload bandwidth of one port's PCIe endpoint in Mb/s.
    pub rate_mbps: u64,
}

impl Default for PcieReads {
    /// 600 ns, and 225 Gb/s: PCIe 4.0 x16 (252 Gb/s after encoding) less the headers of 256-byte completions.
    fn default() -> Self {
        Self {
            latency: 600_000,
            rate_mbps: 225_000,
        }
    }
}

impl PcieReads {
    /// Time of `bytes` at the bandwidth, rounded up to a picosecond.
    pub const fn transfer_time(self, bytes: u64) -> Picoseconds {
        (bytes * 8_000_000).div_ceil(self.rate_mbps)
    }
}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// ACS controls of the switch ports above the card's endpoints (PCIe base specification, section 6.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcsSettings {
    /// Source Validation.
    pub source_validation: bool,
    /// Translation Blocking: no GPU can be reached at a final address.
    pub translation_blocking: bool,
    /// P2P Request Redirect. It has to be on: bus addresses of the host lie in the GPU's BAR.
    pub request_redirect: bool,
    /// Direct Translated P2P: without it, requests at final addresses go to the GPU through the root complex.
    pub direct_translated: bool,
}

impl Default for AcsSettings {
    /// Everything but Translation Blocking: untranslated requests go up, translated ones straight to the GPU.
    fn default() -> Self {
        Self {
            source_validation: true,
            translation_blocking: false,
            request_redirect: true,
            direct_translated: true,
        }
    }
}

/// The IOMMU in front of the host's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IommuSettings {
    /// All of the host's memory is mapped for both functions at all times, in pages of 1 GiB, as with Linux' `iommu=pt`: what software did not map is refused by
    /// the memory alone. Otherwise each function has a domain with what software has mapped for the card.
    pub passthrough: bool,
    /// What software maps is mapped in the largest pages that address and length allow (4 KiB, 2 MiB, 1 GiB). Otherwise all pages have 4 KiB, as behind an IOMMU without
    /// large pages, or with memory that is not contiguous.
    pub large_pages: bool,
    /// Time of a page walk in picoseconds.
    pub walk_latency: Picoseconds,
    /// Page walks at the same time.
    pub walkers: usize,
    /// Sets and ways of the IOTLB.
    pub iotlb_sets: usize,
    /// See `iotlb_sets`.
    pub iotlb_ways: usize,
}

impl Default for IommuSettings {
    /// Domains; IOTLB and walks of [`IommuConfig`].
    fn default() -> Self {
        let iommu = IommuConfig::default();
        Self {
            passthrough: false,
            large_pages: true,
            walk_latency: iommu.walk_latency_ps,
            walkers: iommu.walkers,
            iotlb_sets: iommu.iotlb_sets,
            iotlb_ways: iommu.iotlb_ways,
        }
    }
}

/// How the PCIe fabric of a simulated host behaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PcieSettings {
    /// Time and bandwidth of reads.
    pub reads: PcieReads,
    /// Sizes of requests.
    pub sizes: RequestSizes,
    /// How memories complete reads.
    pub completions: ReadCompletions,
    /// Credits of the receivers.
    pub credits: Credits,
    /// Seed of everything random.
    pub seed: u64,
    /// Extra time of posted writes on the link of each endpoint.
    pub endpoint_delays: [DelayConfig; 2],
    /// Extra time until a write is visible in host memory.
    pub host_delay: DelayConfig,
    /// Extra time until a write is visible in the GPU's memory.
    pub gpu_delay: DelayConfig,
    /// ACS of the switch.
    pub acs: AcsSettings,
    /// The IOMMU.
    pub iommu: IommuSettings,
    /// Limit of the writes that the root complex sends back down to the GPU.
    pub peer_writes: Option<PeerWrites>,
    /// Picoseconds after which the fabric gives up a read that nobody has completed; 50 ms if there is none. Then its tag may be used again.
    pub completion_timeout: Option<Picoseconds>,
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

/// Credits that receivers grant, in TLPs of 256 bytes of each class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credits {
    /// At both ends of the links of the card's endpoints.
    pub endpoint: u32,
    /// At both ends of the links of switch and GPU.
    pub shared: u32,
}

impl Default for Credits {
    /// 128 as the model's links have. The shared links have 128 KiB, 512 TLPs: a link of 64 GB/s goes on with them while a TLP takes 2 us to its effect and its credits
    /// back.
    fn default() -> Self {
        Self {
            endpoint: 128,
            shared: 512,
        }
    }
}

impl Credits {
    /// The credits of a link.
    pub(super) const fn of(tlps: u32) -> CreditConfig {
        CreditConfig::for_tlps(tlps, 256)
    }
}
