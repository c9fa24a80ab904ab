//! Paths of queue pairs, for software that watches and changes them while a cluster runs.

use sim_net::{HostId, Time};
use stellar_transport::spray::EvIndex;
use stellar_wire::host::{PathCount, QpCounter};
use stellar_wire::rows::PathUseRow;

use crate::host::Host;
use crate::{Carrier, Cluster, ClusterError};

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

    /// Entropy values of an MRC queue pair, backups included: one of them serves a path that is denied.
    pub fn paths_of(&self, host: HostId, qp: u32) -> Vec<EvIndex> {
        let endpoint = &self.hosts[host.0 as usize].endpoint;
        EvIndex::all()
            .filter(|&index| endpoint.ev_state(qp, index).is_some())
            .collect()
    }

    /// What the card has counted on each of [`Self::paths_of`] since the last call. Empty without [`Settings::path_loads`](crate::Settings::path_loads).
    pub fn take_path_counts(&mut self, host: HostId, qp: u32) -> Vec<PathCount> {
        let paths = self.paths_of(host, qp);
        let endpoint = &mut self.hosts[host.0 as usize].endpoint;
        paths
            .into_iter()
            .filter_map(|index| endpoint.take_path_count(qp, index))
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
