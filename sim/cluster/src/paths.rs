//! Paths of queue pairs, for software that watches and changes them while a cluster runs.

use sim_net::{HostId, Time};
use stellar_transport::requester::PathHarm;
use stellar_transport::spray::EvIndex;
use stellar_wire::host::QpCounter;
use stellar_wire::rows::PathUseRow;

use crate::host::Host;
use crate::{Carrier, Cluster, ClusterError};

/// What a card counted on one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathTraffic {
    /// The path's entropy value.
    pub index: EvIndex,
    /// Data packets sent, retransmissions included.
    pub sent: u64,
    /// What they suffered.
    pub harm: PathHarm,
}

impl<C: Carrier> Cluster<C> {
    /// Runs as [`Self::run`] does, but not beyond `until`, in picoseconds.
    ///
    /// # Errors
    /// Those of [`Self::run`].
    pub fn run_until(&mut self, until: Time) -> Result<(), ClusterError> {
        let limit = self.settings.limit;
        self.settings.limit = limit.min(until);
        let result = self.run(|_| {});
        self.settings.limit = limit;
        result
    }

    /// Whether all flows are done or have failed.
    pub fn is_done(&self) -> bool {
        self.open == 0
    }

    /// Hosts and queue pairs that send the flows which have started, each once.
    pub fn senders(&self) -> Vec<(HostId, u32)> {
        let started = self.flows.iter().zip(&self.states);
        let started = started.filter(|(_, state)| state.started.is_some());
        let mut senders: Vec<_> = started.map(|(flow, state)| (flow.src, state.qp)).collect();
        senders.sort_unstable();
        senders.dedup();
        senders
    }

    /// What was counted on each entropy value of an MRC queue pair, backups included: one of them serves a path that is denied. None without
    /// [`Settings::path_loads`](crate::Settings::path_loads).
    pub fn path_traffic(&self, host: HostId, qp: u32) -> Vec<PathTraffic> {
        let endpoint = &self.hosts[host.0 as usize].endpoint;
        let loads = endpoint.path_loads(qp).unwrap_or_default();
        let harm = endpoint.path_harm(qp).unwrap_or_default();
        let counts = (0..).zip(loads).zip(harm);
        counts
            .filter_map(|((value, &sent), &harm)| {
                let index = EvIndex::new(value)?;
                endpoint.ev_state(qp, index)?;
                Some(PathTraffic { index, sent, harm })
            })
            .collect()
    }

    /// Denies a queue pair a path, or allows it again.
    ///
    /// # Errors
    /// Those of [`Self::run`]: the host may send at once.
    pub fn use_path(
        &mut self,
        host: HostId,
        qp: u32,
        change: PathUseRow,
    ) -> Result<(), ClusterError> {
        let endpoint = &mut self.hosts[host.0 as usize].endpoint;
        endpoint.use_path(qp, change);
        self.act(host)
    }

    /// Payload bytes that all hosts have received, each once.
    pub fn bytes_received(&self) -> u64 {
        let of_host = |host: &Host| -> u64 {
            let counters = host
                .queue_pairs()
                .filter_map(|qp| host.endpoint.all_qp_counters(qp));
            counters
                .map(|counters| counters.get(QpCounter::BytesReceived))
                .sum()
        };
        self.hosts.iter().map(of_host).sum()
    }
}
