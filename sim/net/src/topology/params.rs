//! Checked settings of a link.

use super::error::Problem;
use super::spec::LinkSettings;
use crate::{EcnThresholds, PfcThresholds, Time, Trimming};

/// Default capacity of a data queue, in bytes.
const QUEUE_BYTES: u64 = 1_000_000;
/// Default capacity of a control queue, in bytes.
const CONTROL_QUEUE_BYTES: u64 = 200_000;
/// Longest duration: sums of many durations must stay below 2^64 ps.
const LONGEST_NS: f64 = 1e15;

/// Settings of a link, the same in both directions. Queue settings are those of switches; hosts have none.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkParams {
    /// Rate in Mb/s.
    pub rate_mbps: u64,
    /// Propagation delay in ps.
    pub delay_ps: Time,
    /// Greatest random extra delay in ps.
    pub jitter_ps: Time,
    /// Probability that a frame is lost.
    pub loss: f64,
    /// Probability that a byte of a frame is changed.
    pub corruption: f64,
    /// Capacity of the data queue in bytes.
    pub queue_bytes: u64,
    /// Capacity of the control queue in bytes.
    pub control_queue_bytes: u64,
    /// ECN marking.
    pub ecn: Option<EcnThresholds>,
    /// Trimming.
    pub trim: Option<Trimming>,
    /// Flow control of the sender, if the receiver is a switch.
    pub pfc: Option<PfcThresholds>,
}

impl LinkParams {
    /// Checks settings; an error also names the wrong key.
    pub(super) fn check(set: &LinkSettings) -> Result<Self, (&'static str, Problem)> {
        let rate = set
            .rate_gbps
            .ok_or(("set.rate_gbps", Problem::MissingRate))?;
        if let Some(ecn) = &set.ecn {
            let probability = ecn.max_probability;
            check_probability(probability)
                .map_err(|problem| ("set.ecn.max_probability", problem))?;
            if ecn.min_bytes > ecn.max_bytes {
                let (min, max) = (ecn.min_bytes, ecn.max_bytes);
                return Err(("set.ecn", Problem::BadThresholds { min, max }));
            }
        }
        if let Some(pfc) = &set.pfc {
            if pfc.xon_bytes > pfc.xoff_bytes {
                let (xon, xoff) = (pfc.xon_bytes, pfc.xoff_bytes);
                return Err(("set.pfc", Problem::BadPause { xon, xoff }));
            }
        }
        if let Some(trim) = &set.trim {
            check_dscp(trim.dscp).map_err(|problem| ("set.trim.dscp", problem))?;
            if let Some(dscp) = trim.last_hop_dscp {
                check_dscp(dscp).map_err(|problem| ("set.trim.last_hop_dscp", problem))?;
            }
        }
        let time = |key, value: Option<f64>| {
            picoseconds(value.unwrap_or(0.0)).map_err(|problem| (key, problem))
        };
        let probability = |key, value: Option<f64>| {
            check_probability(value.unwrap_or(0.0)).map_err(|problem| (key, problem))
        };
        Ok(Self {
            rate_mbps: megabits(rate).map_err(|problem| ("set.rate_gbps", problem))?,
            delay_ps: time("set.delay_ns", set.delay_ns)?,
            jitter_ps: time("set.jitter_ns", set.jitter_ns)?,
            loss: probability("set.loss", set.loss)?,
            corruption: probability("set.corruption", set.corruption)?,
            queue_bytes: set.queue_bytes.unwrap_or(QUEUE_BYTES),
            control_queue_bytes: set.control_queue_bytes.unwrap_or(CONTROL_QUEUE_BYTES),
            ecn: set.ecn,
            trim: set.trim,
            pfc: set.pfc,
        })
    }
}

/// A rate in Gb/s as Mb/s.
fn megabits(gbps: f64) -> Result<u64, Problem> {
    let mbps = gbps * 1000.0;
    if (1.0..=1e9).contains(&mbps) && (mbps - mbps.round()).abs() < 1e-6 {
        Ok(mbps.round() as u64)
    } else {
        Err(Problem::BadRate(gbps))
    }
}

fn check_probability(value: f64) -> Result<f64, Problem> {
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(Problem::BadProbability(value))
    }
}

pub(super) fn check_dscp(dscp: u8) -> Result<(), Problem> {
    if dscp < 64 {
        Ok(())
    } else {
        Err(Problem::BadDscp(dscp))
    }
}

/// Nanoseconds as picoseconds.
pub(super) fn picoseconds(ns: f64) -> Result<Time, Problem> {
    if (0.0..LONGEST_NS).contains(&ns) {
        Ok((ns * 1000.0).round() as Time)
    } else {
        Err(Problem::BadDuration(ns))
    }
}
