//! Queue pairs between hosts.

use std::collections::HashMap;
use std::sync::Arc;

use sim_net::{FlowHash, FlowKey, HostId, Node, SwitchId, Topology};
use stellar_transport::congestion::NsccParams;
use stellar_transport::endpoint::{ImmConfig, Peer, QpConfig, TransportConfig, PORTS};
use stellar_transport::requester::{coalesce_from, MrcConfig, RcConfig, NO_COALESCING};
use stellar_transport::rx::Psn;
use stellar_transport::spray::{
    built_in, EntropyProfile, GeneratedEntropy, HeaderFields, PathPolicy, PlaneMask, SkipScope,
    SprayConfig,
};
use stellar_transport::time::Ticks;
use stellar_wire::ip::PROTO_UDP;

use crate::congestion::Paced;
use crate::host::{Host, PeerOf};
use crate::round_trip::longest_round_trip;
use crate::{
    Addressing, Baseline, BaselineParams, ClusterError, Dcqcn, DcqcnParams, Settings, Transport,
};

/// First UDP source port of the entropy values.
const FIRST_ENTROPY: u32 = 0xc000;
/// UDP source ports that RC queue pairs use.
const RC_PORTS: u64 = 0x4000;
/// Path MTU of hosts with a small one: 256 bytes.
const SMALL_MTU_LOG2: u8 = 8;
/// Backup entropy values, both planes together.
const BACKUPS: u8 = 16;
/// Most outstanding WRITEs with immediate in each direction of a queue pair.
const MAX_WIMM: u16 = 256;
/// Entries of a completion queue. It is read after every call that can add to it.
const COMPLETIONS: u32 = 256;

/// Makes queue pairs, all of the same registers but for seeds and first PSNs.
pub(crate) struct Connector {
    settings: Settings,
    nscc: NsccParams,
    /// DCQCN in place of NSCC.
    dcqcn: Option<DcqcnParams>,
    gbps: u32,
    profile: Arc<EntropyProfile>,
    topology: Arc<Topology>,
    /// Queue pairs that were placed, by the switch of the host: those of the first senders, and those that answer.
    placed: [HashMap<Option<SwitchId>, u32>; 2],
    /// Queue pairs made so far.
    made: u64,
}

impl Connector {
    pub(crate) fn new(topology: &Arc<Topology>, settings: &Settings) -> Result<Self, ClusterError> {
        let mtu = 1 << settings.mtu_log2.min(31);
        let rtt = settings
            .base_rtt
            .unwrap_or_else(|| longest_round_trip(topology, mtu as usize));
        let rates = topology.hosts().first().map(|host| {
            let links = host.ports.iter().map(|port| port.link.0 as usize);
            links.map(|link| topology.links()[link].params.rate_mbps)
        });
        let mbps: u64 = rates.into_iter().flatten().sum();
        let gbps = (mbps / 1000).clamp(1, u32::MAX.into()) as u32;
        let trims = topology
            .links()
            .iter()
            .any(|link| link.params.trim.is_some());
        let dcqcn = settings.congestion.dcqcn(gbps);
        if dcqcn.is_some() {
            fits_dcqcn(settings)?;
        }
        let profile = GeneratedEntropy {
            base: FIRST_ENTROPY,
            stride_log2: 0,
            active: settings.paths.max(2),
            backups: BACKUPS,
        };
        Ok(Self {
            nscc: NsccParams::from_path(Ticks::from_ps(rtt), gbps, mtu, trims)?,
            dcqcn,
            gbps,
            profile: Arc::new(EntropyProfile::generated(
                profile,
                match settings.addressing {
                    Addressing::Ipv4 => HeaderFields::SourcePort,
                    Addressing::Srv6 => HeaderFields::SourcePortAndFlowLabel,
                },
            )?),
            topology: Arc::clone(topology),
            placed: Default::default(),
            settings: settings.clone(),
            made: 0,
        })
    }

    /// Makes a queue pair at both hosts, of which `ends[first]` sends first; returns their numbers.
    pub(crate) fn connect(
        &mut self,
        hosts: &mut [Host],
        ends: [HostId; 2],
        first: usize,
        now: Ticks,
    ) -> Result<[u32; 2], ClusterError> {
        let mut numbers = [0; 2];
        for (number, end) in numbers.iter_mut().zip(ends) {
            let next = hosts[end.0 as usize].next_qp();
            *number = next.ok_or(ClusterError::QueuePairs(end.0))?;
        }
        let draws = [0, 1].map(|end| self.settings.draw(2 * self.made + end));
        self.made += 1;
        let psns = draws.map(|draw| Psn::new(draw as u32 % (1 << 24)));
        for (end, other) in [(0, 1), (1, 0)] {
            let place = self.place(ends[end], end != first);
            let srv6 = match self.settings.addressing {
                Addressing::Ipv4 => None,
                Addressing::Srv6 => {
                    let routes = self.topology.source_routes(ends[other]);
                    Some(routes.map_err(ClusterError::SourceRoute)?)
                }
            };
            let peer = &hosts[ends[other].0 as usize];
            let planes = peer.addresses;
            let host = &mut hosts[ends[end].0 as usize];
            let config = QpConfig {
                number: numbers[end],
                page: 0,
                peer: Peer {
                    qp: numbers[other],
                    planes,
                },
                pd: 0,
                pkey: 0xffff,
                mtu_log2: if self.settings.small_mtu.contains(&ends[end]) {
                    SMALL_MTU_LOG2
                } else {
                    self.settings.mtu_log2
                },
                sq_psn: psns[end],
                rq_psn: psns[other],
                remote_write: true,
                sq: None,
                cq_entries: COMPLETIONS,
                imm: ImmConfig {
                    max_wimm: MAX_WIMM,
                    completions: true,
                },
                sack_every: self.settings.sack_every,
                srv6,
                transport: self.transport((draws[end] >> 24) as u32, host.lines),
            };
            let policy = self.baseline(draws[end] as u32, place)?;
            match self.paced(policy, &config.transport, now) {
                Some(policy) => host.endpoint.create_qp_with_policy(config, policy, now)?,
                None => host.endpoint.create_qp(config, now)?,
            }
            let addresses = std::array::from_fn(|port| {
                FlowHash::new(&FlowKey {
                    src: host.addresses[port].ip,
                    dst: planes[port].ip,
                    protocol: PROTO_UDP,
                    flow_label: 0,
                })
            });
            host.add_peer(PeerOf {
                host: ends[other],
                addresses,
            });
        }
        Ok(numbers)
    }

    /// The number of a queue pair among those of the switch of its host.
    fn place(&mut self, host: HostId, answers: bool) -> u32 {
        let uplink = self.topology.uplink(host, 0);
        let switch = uplink.and_then(|channel| match self.topology.ends(channel).1 {
            Node::Switch(switch) => Some(switch),
            Node::Host { .. } => None,
        });
        let next = self.placed[usize::from(answers)].entry(switch).or_default();
        let place = *next;
        *next = next.wrapping_add(1);
        place
    }

    /// The path policy of a queue pair, if the card does not have it.
    fn baseline(&self, seed: u32, place: u32) -> Result<Option<Box<dyn PathPolicy>>, ClusterError> {
        let settings = &self.settings;
        let params = BaselineParams {
            base_rtt: Ticks(self.nscc.registers().base_rtt.into()),
            gbps: self.gbps,
            mtu: 1 << settings.mtu_log2,
            paths: settings.paths,
            seed: seed.max(1),
            place,
            telemetry: (settings.telemetry_us > 0)
                .then(|| Ticks(settings.telemetry_us.saturating_mul(125))),
        };
        let baseline = settings.policy.baseline();
        let policy = baseline.map(|baseline| baseline.policy(&params));
        Ok(policy.transpose()?)
    }

    /// The path policy of a queue pair at the pace of DCQCN, if that is its congestion control; `policy` otherwise.
    fn paced(
        &self,
        policy: Option<Box<dyn PathPolicy>>,
        transport: &TransportConfig,
        now: Ticks,
    ) -> Option<Box<dyn PathPolicy>> {
        let (Some(params), TransportConfig::Mrc(mrc)) = (self.dcqcn, transport) else {
            return policy;
        };
        let inner = policy.unwrap_or_else(|| built_in(&mrc.spray));
        let base_rtt = Ticks(self.nscc.registers().base_rtt.into());
        // Acknowledgements come later by the packets that one SACK covers.
        let unacknowledged = u64::from(self.settings.sack_every) << self.settings.mtu_log2.min(31);
        let window = base_rtt.as_ns() * u64::from(self.gbps) / 8 + unacknowledged;
        let window = window.min(u32::MAX.into()) as u32;
        Some(Box::new(Paced::new(inner, Dcqcn::new(params), window, now)))
    }

    /// Registers of the requester of a queue pair with the random number `draw`, at a host with so many lines.
    fn transport(&self, draw: u32, lines: usize) -> TransportConfig {
        let settings = &self.settings;
        let spray = self.spray(draw);
        if settings.transport == Transport::Rc {
            return TransportConfig::Rc(RcConfig {
                udp_sport: (u64::from(FIRST_ENTROPY) + u64::from(draw) % RC_PORTS) as u16,
                plane: if lines == PORTS {
                    (draw >> 31) as u8
                } else {
                    0
                },
                rto: settings.rto(),
                paths: settings.policy.is_for_rc().then_some(spray),
                ..RcConfig::default()
            });
        }
        let (mpr, mtu) = (settings.window, 1 << settings.mtu_log2);
        let baseline = settings.policy.baseline();
        TransportConfig::Mrc(MrcConfig {
            mpr,
            rto: settings.rto(),
            early_loss: settings.early_loss,
            coalesce_from: if baseline.is_some_and(Baseline::hears_every_packet) {
                NO_COALESCING
            } else if self.dcqcn.is_some() {
                // NSCC's window, which goes on beside it, must not decide.
                0
            } else {
                coalesce_from(mpr, settings.sack_every, mtu)
            },
            ..MrcConfig::new(self.nscc, spray)
        })
    }

    /// Registers of the path choice of a queue pair with the random number `draw`.
    fn spray(&self, draw: u32) -> SprayConfig {
        let settings = &self.settings;
        SprayConfig {
            policy: settings.policy.registers(),
            paths: settings.paths,
            planes_up: PlaneMask::BOTH,
            seed: draw.max(1),
            profile: Arc::clone(&self.profile),
            // A slot of what is placed is a spine.
            rotation: if settings.policy.baseline() == Some(Baseline::Placed) {
                0
            } else {
                (draw % u32::from(self.profile.slots())) as u8
            },
            skip: SkipScope::default(),
            probe_interval: Ticks::from_us(10),
            base_rtt: Ticks(self.nscc.registers().base_rtt.into()),
            bend_after: 1,
        }
    }
}

/// DCQCN is over MRC, with a path policy that leaves the window to it.
fn fits_dcqcn(settings: &Settings) -> Result<(), ClusterError> {
    if settings.transport == Transport::Rc {
        return Err(ClusterError::CongestionOfRc);
    }
    let has_window = settings
        .policy
        .baseline()
        .is_some_and(Baseline::hears_every_packet);
    if has_window {
        return Err(ClusterError::CongestionOfPolicy {
            policy: settings.policy.name(),
        });
    }
    Ok(())
}
