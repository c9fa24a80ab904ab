//! Settings that no platform has.

use thiserror::Error;

use super::{PcieSettings, LARGEST_PAYLOAD};
use crate::config::DelayConfig;

/// Bounds of the latency of a read in picoseconds: below, the links and the switch have no time; above, a transfer stands still.
const LATENCY: std::ops::RangeInclusive<u64> = 100_000..=100_000_000;
/// Bounds of the bandwidth of an endpoint in Mb/s, of Gen3 x1 and Gen5 x16.
const RATE: std::ops::RangeInclusive<u64> = 1_000..=460_000;
/// Longest extra delay in picoseconds.
const LONGEST: u64 = 1_000_000_000;
/// Credits of a receiver, in TLPs of 256 bytes: the least are those of one largest payload.
const CREDITS: std::ops::RangeInclusive<u32> = LARGEST_PAYLOAD as u32 / 256..=1 << 20;
/// Most entries of the IOTLB in either dimension, and most walks.
const MOST_ENTRIES: usize = 1 << 20;

/// A setting that no platform has: which one, its value, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{key}` is {value}: {instead}")]
pub struct SettingError {
    /// Name of the setting in files (docs/pcie.md).
    pub key: &'static str,
    /// Its value.
    pub value: String,
    /// What is possible.
    pub instead: String,
}

fn refuse<T>(
    key: &'static str,
    value: impl ToString,
    instead: impl Into<String>,
) -> Result<T, SettingError> {
    Err(SettingError {
        key,
        value: value.to_string(),
        instead: instead.into(),
    })
}

/// Refuses a value beyond its bounds. Both are in a unit of which `shown` are one of the key's.
fn check_range(
    key: &'static str,
    value: u64,
    bounds: &std::ops::RangeInclusive<u64>,
    shown: u64,
) -> Result<(), SettingError> {
    if bounds.contains(&value) {
        return Ok(());
    }
    let (least, most) = (bounds.start().div_ceil(shown), bounds.end() / shown);
    refuse(key, value / shown, format!("use {least} to {most}"))
}

impl PcieSettings {
    /// Checks everything from which a platform is built.
    ///
    /// # Errors
    /// [`SettingError`]: the first setting that cannot be.
    pub fn check(&self) -> Result<(), SettingError> {
        check_range("read_ns", self.reads.latency, &LATENCY, 1_000)?;
        check_range("rate_gbps", self.reads.rate_mbps, &RATE, 1_000)?;
        if self.sizes.payload > 3 {
            let bytes = 128u32 << self.sizes.payload;
            return refuse("max_payload", bytes, "use 128, 256, 512 or 1024");
        }
        if self.sizes.read > 5 {
            let bytes = 128u32 << self.sizes.read;
            return refuse("max_read", bytes, "use 128, 256, 512, 1024, 2048 or 4096");
        }
        self.check_completions()?;
        let credits = u64::from(*CREDITS.start())..=u64::from(*CREDITS.end());
        let Self { credits: given, .. } = self;
        check_range("endpoint_credits", given.endpoint.into(), &credits, 1)?;
        check_range("shared_credits", given.shared.into(), &credits, 1)?;
        let delays: [(&str, DelayConfig); 5] = [
            ("reorder_ns", self.completions.delay),
            ("posted_endpoint0_ns", self.endpoint_delays[0]),
            ("posted_endpoint1_ns", self.endpoint_delays[1]),
            ("posted_host_ns", self.host_delay),
            ("posted_gpu_ns", self.gpu_delay),
        ];
        for (key, delay) in delays {
            check_range(key, delay.max_ps, &(0..=LONGEST), 1_000)?;
        }
        if !self.acs.request_redirect {
            let instead = "leave it on: the host's bus addresses lie in the GPU's BAR, so without Request Redirect they would reach the GPU";
            return refuse("acs_request_redirect", false, instead);
        }
        self.check_iommu()?;
        if self.completion_timeout == Some(0) {
            return refuse("completion_timeout_us", 0, "use 1 or more");
        }
        Ok(())
    }

    fn check_completions(&self) -> Result<(), SettingError> {
        let completions = &self.completions;
        if ![64, 128].contains(&completions.boundary) {
            return refuse("rcb", completions.boundary, "use 64 or 128");
        }
        let largest = completions.largest;
        let fits = (completions.boundary..=LARGEST_PAYLOAD).contains(&largest);
        if !(fits && largest.is_power_of_two()) {
            let instead = format!(
                "use a power of two from `rcb`, {}, to {LARGEST_PAYLOAD}",
                completions.boundary
            );
            return refuse("max_completion", largest, instead);
        }
        Ok(())
    }

    fn check_iommu(&self) -> Result<(), SettingError> {
        let iommu = &self.iommu;
        let counts = [
            ("iommu_walkers", iommu.walkers),
            ("iotlb_sets", iommu.iotlb_sets),
            ("iotlb_ways", iommu.iotlb_ways),
        ];
        for (key, count) in counts {
            check_range(key, count as u64, &(1..=MOST_ENTRIES as u64), 1)?;
        }
        if !iommu.iotlb_sets.is_power_of_two() {
            return refuse("iotlb_sets", iommu.iotlb_sets, "use a power of two");
        }
        check_range("iommu_walk_ns", iommu.walk_latency, &(0..=LONGEST), 1_000)
    }
}
