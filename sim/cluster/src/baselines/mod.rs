//! Path policies to compare with. The card does not have them, so they are not in the transport's reference: each is a [`PathPolicy`] of its own, one
//! file each. `docs/policies.md` has their rules and sources.

mod best_rtt;
mod dwrr;
mod mp_rdma;
mod outstanding;
mod per_path;
mod placed;
mod round_trips;

use best_rtt::BestRtt;
use dwrr::Dwrr;
use mp_rdma::MpRdma;
use outstanding::Outstanding;
use per_path::PerPath;
use placed::Placed;
use round_trips::{RoundTrips, Rounds};
use stellar_transport::congestion::{NsccParams, ParamError};
use stellar_transport::spray::{PathPolicy, Policy};
use stellar_transport::time::Ticks;

/// Slots of a plane.
const SLOTS: usize = 64;

/// A path policy that the card does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// Paths in turn, each as often as its round trip is short: deficit weighted round robin.
    Dwrr,
    /// The path with the shortest round trip.
    BestRtt,
    /// The path of the packet whose acknowledgement lets the next one leave, and a window that only marks decrease: MP-RDMA.
    MpRdma,
    /// Oblivious spraying over paths of which each has a congestion window of its own.
    PerPath,
    /// The path that a plan places; another one when throughput falls, if there is telemetry.
    Placed,
}

/// What a baseline takes from its queue pair.
#[derive(Clone, Copy, Debug)]
pub struct BaselineParams {
    /// Round trip without other traffic.
    pub base_rtt: Ticks,
    /// Rate of the host in Gb/s.
    pub gbps: u32,
    /// Path MTU in bytes.
    pub mtu: u32,
    /// Paths of the queue pair.
    pub paths: u8,
    /// Seed of what is random, not 0.
    pub seed: u32,
    /// Number of the queue pair among those of its switch, by which it is placed.
    pub place: u32,
    /// Length of a sample of throughput; `None`: there is no telemetry.
    pub telemetry: Option<Ticks>,
}

impl Baseline {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Dwrr,
        Self::BestRtt,
        Self::MpRdma,
        Self::PerPath,
        Self::Placed,
    ];

    /// Name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dwrr => "dwrr",
            Self::BestRtt => "best-rtt",
            Self::MpRdma => "mp-rdma",
            Self::PerPath => "per-path",
            Self::Placed => "placed",
        }
    }

    /// A line for help texts.
    pub const fn help(self) -> &'static str {
        match self {
            Self::Dwrr => "Paths in turn, weighted by their round trips; a baseline, not in the card",
            Self::BestRtt => "The path with the shortest round trip; a baseline, not in the card",
            Self::MpRdma => "The path that was acknowledged, and MP-RDMA's window; a baseline, not in the card",
            Self::PerPath => "Oblivious order, and a congestion window for each path; a baseline, not in the card",
            Self::Placed => {
                "One path by a plan, and another one when throughput falls; a baseline, not in the card"
            }
        }
    }

    /// The policy that it replaces.
    pub(crate) const fn registers(self) -> Policy {
        match self {
            Self::Placed => Policy::SinglePath,
            _ => Policy::Obs,
        }
    }

    /// Whether it has to hear of every packet by itself, so that every packet requests a SACK.
    pub(crate) const fn hears_every_packet(self) -> bool {
        matches!(self, Self::MpRdma | Self::PerPath)
    }

    /// The policy of one queue pair, at its start.
    ///
    /// # Errors
    /// [`ParamError`] if congestion control does not fit a path.
    pub fn policy(self, params: &BaselineParams) -> Result<Box<dyn PathPolicy>, ParamError> {
        let nscc = |gbps| NsccParams::from_path(params.base_rtt, gbps, params.mtu, false);
        Ok(match self {
            Self::Dwrr => Box::new(Dwrr::default()),
            Self::BestRtt => Box::new(BestRtt::default()),
            Self::MpRdma => {
                let most = nscc(params.gbps)?.registers().max_cwnd / params.mtu;
                Box::new(MpRdma::new(params.mtu, most, params.seed))
            }
            Self::PerPath => {
                let share = params.gbps.div_ceil(params.paths.max(1).into());
                Box::new(PerPath::new(&nscc(share)?, params.mtu))
            }
            Self::Placed => Box::new(Placed::new(params.place, params.paths, params.telemetry)),
        })
    }
}
