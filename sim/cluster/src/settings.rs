//! Settings of a run.

use serde::{Deserialize, Serialize};
use sim_net::{HostId, Time};
use stellar_transport::spray::Policy;
use stellar_transport::time::Ticks;

use crate::{ClusterPolicy, Congestion};

/// Which queue pairs carry the flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueuePairs {
    /// Every flow has one of its own, as in htsim.
    #[default]
    PerFlow,
    /// All flows between two hosts share one, in both directions.
    PerPair,
}

/// Transport of the queue pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// MRC: many paths, NSCC, selective retransmission.
    #[default]
    Mrc,
    /// RC: one path at a time, go-back-N, a fixed window.
    Rc,
}

/// Headers of the packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Addressing {
    /// IPv4; switches choose among equal paths.
    #[default]
    Ipv4,
    /// IPv6 within IPv6, with the path as uSIDs in the destination: the entropy value chooses the spine.
    Srv6,
}

/// How often and when the queues of uplinks are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sampling {
    /// Time between two samples, in picoseconds.
    pub period: Time,
    /// First time, in picoseconds.
    pub from: Time,
    /// Last time, in picoseconds.
    pub to: Time,
}

/// Settings of every card and queue pair of a run, and of its end.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// Seed of everything random: the fabric's choices and the path sequences.
    pub seed: u64,
    /// Transport.
    pub transport: Transport,
    /// Congestion control (MRC).
    pub congestion: Congestion,
    /// Path policy. RC has one path with those that are not for it ([`ClusterPolicy::is_for_rc`]).
    pub policy: ClusterPolicy,
    /// Paths of a queue pair (MRC, and RC with a policy): 1 with [`Policy::SinglePath`] only, or an even number up to 128.
    pub paths: u8,
    /// log2 of the path MTU in bytes, 8 to 13.
    pub mtu_log2: u8,
    /// One SACK covers this many packets that do not request one, 1 to 63 (MRC).
    pub sack_every: u8,
    /// Retransmission timeout in microseconds.
    pub rto_us: u32,
    /// Most packets of a queue pair in flight (MRC). The card's default is 4,096.
    pub window: u16,
    /// Early loss detection at this distance in packets; 0 is off (MRC).
    pub early_loss: u16,
    /// Round trip of an idle path in picoseconds, from which NSCC's parameters follow; `None`: that of the longest path from the first host.
    pub base_rtt: Option<Time>,
    /// Which queue pairs carry the flows.
    pub queue_pairs: QueuePairs,
    /// Headers of the packets.
    pub addressing: Addressing,
    /// Length in microseconds of a sample of throughput with [`Baseline::Placed`](crate::Baseline::Placed); 0: there is no telemetry.
    pub telemetry_us: u32,
    /// Hosts whose queue pairs have a path MTU of 256 bytes, whatever the others have. Cards refuse packets that do not fit their path MTU (by a NACK in
    /// MRC, a NAK in RC), so flows of several packets fail there.
    pub small_mtu: Vec<HostId>,
    /// Cards count the packets of every path, which takes a kilobyte of memory per queue pair.
    pub path_loads: bool,
    /// Samples of the uplinks' queues.
    pub sampling: Option<Sampling>,
    /// The run ends then, in picoseconds, if it has not before.
    pub limit: Time,
}

impl Default for Settings {
    /// Oblivious spraying over 128 paths, MTU 4,096, a SACK for four packets, 1,024 packets in flight, timeout 250 us, no early loss detection, a queue pair per flow, at most
    /// one simulated second.
    fn default() -> Self {
        Self {
            seed: 1,
            transport: Transport::Mrc,
            congestion: Congestion::Nscc,
            policy: Policy::Obs.into(),
            paths: 128,
            mtu_log2: 12,
            sack_every: 4,
            rto_us: 250,
            window: 1024,
            early_loss: 0,
            base_rtt: None,
            queue_pairs: QueuePairs::PerFlow,
            addressing: Addressing::Ipv4,
            telemetry_us: 0,
            small_mtu: Vec::new(),
            path_loads: false,
            sampling: None,
            limit: 1_000_000_000_000,
        }
    }
}

impl Settings {
    /// The retransmission timeout as the transport counts it.
    pub(crate) fn rto(&self) -> Ticks {
        // Ticks are 8 ns. A time that is too long is refused with the queue pair's other registers.
        Ticks(self.rto_us.saturating_mul(125))
    }

    /// A number that depends on the seed and on `stream`, different for different streams.
    pub(crate) const fn draw(&self, stream: u64) -> u64 {
        // SplitMix64 (Steele, Lea and Flood 2014).
        let mut x = self
            .seed
            .wrapping_add((stream + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }
}
