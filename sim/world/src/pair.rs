//! Two hosts with the software reference as NIC, connected by a [`Plan`].

use std::sync::Arc;

use sim_net::{Fabric, Frame, HostId, Time};
use stellar_transport::congestion::NsccParams;
use stellar_transport::endpoint::{EndpointConfig, ImmConfig, Peer, QpConfig, TransportConfig};
use stellar_transport::requester::{coalesce_from, MrcConfig, RcConfig, SqRing};
use stellar_transport::rx::{Psn, RxConfig};
use stellar_transport::spray::{
    EntropyProfile, PlaneMask, Policy, SkipScope, SprayConfig, Srv6Template,
};
use stellar_transport::time::Ticks;
use stellar_wire::config::STASH_ENTRIES;
use stellar_wire::mrc::{CcState, Meth, Seth};
use stellar_wire::{Bth, Ethernet, ExtHeaders, Ip, Ipv4, Opcode, Reth, RoceFrame};

use crate::config::{MrcPlan, TransportPlan};
use crate::entropy::FIRST_ENTROPY;
use crate::region::PD;
use crate::{HostMemory, NicKind, Plan, ReferenceNic, World, WorldError};

/// Number of the first queue pair at both hosts; the others follow.
pub const FIRST_QP: u32 = 2;
/// Index of the sender in the world of a pair.
pub const SENDER: usize = 0;
/// Index of the receiver in the world of a pair.
pub const RECEIVER: usize = 1;

/// Code points of data packets and of their acknowledgements (OCP MRC leaves both to the operator).
const DATA_DSCP: u8 = 10;
const CONTROL_DSCP: u8 = 46;
/// Attempts to send a packet across a lossy fabric when its round trip is measured.
const ATTEMPTS: u64 = 64;

/// A world of two hosts. The default NIC is the software reference.
pub type PairWorld<N = ReferenceNic> = World<N>;

/// Builds the world of `plan`: two hosts, and queue pairs with the numbers of [`Plan::numbers`] between them. Each queue pair has its own doorbell
/// page, with the same number.
///
/// # Errors
/// The errors of [`Plan::check`], [`WorldError::Unreachable`], and those of the endpoints.
pub fn connect<N: NicKind>(plan: &Plan) -> Result<PairWorld<N>, WorldError> {
    plan.check()?;
    let fabric = Fabric::new(Arc::clone(&plan.topology), plan.seed);
    let mut world = World::new(fabric, plan.seed);
    for (host, id) in [(SENDER, plan.sender), (RECEIVER, plan.receiver)] {
        let memory = HostMemory::new(plan.seed.wrapping_mul(2).wrapping_add(host as u64));
        let nic = N::build(host, card_config(plan, id), memory, &plan.pcie)?;
        world.add_host(id, nic)?;
    }
    if plan.capture {
        world.capture()?;
    }
    if let Some(clock) = &plan.clock {
        world.show_time(Arc::clone(clock));
    }
    let rtt = base_round_trip::<N>(plan)?;
    let transport = Transport::new(plan, rtt)?;
    let route = |to| plan.addressing.source_route(&plan.topology, to);
    let (there, back) = (route(plan.receiver)?, route(plan.sender)?);
    for number in plan.numbers() {
        for (host, peer, srv6) in [
            (SENDER, plan.receiver, there),
            (RECEIVER, plan.sender, back),
        ] {
            let host = world.host_mut(host);
            let sq = host.add_ring(number, number, plan)?;
            let end = End {
                number,
                peer,
                pd: PD,
                sq,
                srv6,
                max_wimm: max_wimm(N::MAX_WIMM, plan.qps),
            };
            host.nic.create_qp(end.config(plan, &transport), 0)?;
        }
    }
    Ok(world)
}

/// MAX_WIMM of each of `queue_pairs` queue pairs of a card that takes up to `most`: they have equal parts of its stash.
pub(crate) const fn max_wimm(most: u16, queue_pairs: u32) -> u16 {
    let share = 1 << (STASH_ENTRIES / queue_pairs).ilog2();
    if share < most as u32 {
        share as u16
    } else {
        most
    }
}

/// Configuration of the card of a host.
pub(crate) fn card_config(plan: &Plan, id: HostId) -> EndpointConfig {
    EndpointConfig {
        planes: plan.addressing.planes(&plan.topology, id),
        rx: RxConfig::default(),
        data_dscp: DATA_DSCP,
        control_dscp: CONTROL_DSCP,
        event_entries: 4096,
    }
}

/// What distinguishes one end of a connection. Both ends have the same number.
pub(crate) struct End {
    pub number: u32,
    /// Host of the other end.
    pub peer: HostId,
    pub pd: u32,
    pub sq: SqRing,
    /// Source routes to the peer.
    pub srv6: Option<Srv6Template>,
    pub max_wimm: u16,
}

impl End {
    /// The queue pair of this end, with a doorbell page of its own, which has the same number.
    pub fn config(&self, plan: &Plan, transport: &Transport) -> QpConfig {
        QpConfig {
            number: self.number,
            page: self.number,
            peer: Peer {
                qp: self.number,
                planes: plan.addressing.planes(&plan.topology, self.peer),
            },
            pd: self.pd,
            pkey: 0xffff,
            mtu_log2: plan.mtu_log2,
            sq_psn: Psn::new(plan.first_psn),
            rq_psn: Psn::new(plan.first_psn),
            remote_write: true,
            sq: Some(self.sq),
            cq_entries: 2 << plan.sq_log2,
            imm: ImmConfig {
                max_wimm: self.max_wimm,
                completions: true,
            },
            sack_every: plan.transport.sack_every(1 << plan.mtu_log2),
            srv6: self.srv6,
            transport: transport.of(self.number, plan.seed, plan.planes() as u32),
        }
    }
}

/// Registers shared by the queue pairs of a plan.
pub(crate) enum Transport {
    Mrc {
        plan: MrcPlan,
        nscc: NsccParams,
        paths: Paths,
        coalesce_from: u32,
    },
    Rc {
        paths: Option<Paths>,
    },
}

/// Registers of the path choice, shared by the queue pairs of a plan.
pub(crate) struct Paths {
    policy: Policy,
    number: u8,
    profile: Arc<EntropyProfile>,
    base_rtt: Ticks,
}

impl Paths {
    fn new(plan: &Plan, policy: Policy, number: u8, base_rtt: Ticks) -> Result<Self, WorldError> {
        let profile = plan.entropy.profile(number, plan.addressing)?;
        Ok(Self {
            policy,
            number,
            profile: Arc::new(profile),
            base_rtt,
        })
    }

    /// Registers of one queue pair over this many planes: each has its own path sequence.
    fn of(&self, number: u32, seed: u64, planes: u32) -> SprayConfig {
        let mixed = (seed ^ u64::from(number) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // Explicit values stay with their paths, as with the driver.
        let rotation = match self.profile.as_generated() {
            Some(_) => (number % u32::from(self.profile.slots())) as u8,
            None => 0,
        };
        SprayConfig {
            policy: self.policy,
            paths: self.number,
            planes_up: PlaneMask::BOTH.with(1, planes > 1),
            seed: ((mixed >> 32) as u32).max(1),
            profile: Arc::clone(&self.profile),
            rotation,
            skip: SkipScope::default(),
            probe_interval: Ticks::from_us(10),
            base_rtt: self.base_rtt,
            bend_after: 1,
        }
    }
}

impl Transport {
    /// Registers for a path with this base round trip, in picoseconds.
    pub fn new(plan: &Plan, rtt: Time) -> Result<Self, WorldError> {
        let mtu = 1 << plan.mtu_log2;
        let base_rtt = Ticks::from_ps(rtt);
        let mrc = match plan.transport {
            TransportPlan::Mrc(mrc) => mrc,
            TransportPlan::Rc => return Ok(Self::Rc { paths: None }),
            TransportPlan::RcPaths { policy, paths } => {
                let paths = Some(Paths::new(plan, policy, paths, base_rtt)?);
                return Ok(Self::Rc { paths });
            }
        };
        let gbps = rate_gbps(plan) * plan.usable_planes() as u32;
        let nscc = NsccParams::from_path(base_rtt, gbps, mtu, false)?;
        let base_rtt = Ticks(nscc.registers().base_rtt.into());
        Ok(Self::Mrc {
            plan: mrc,
            nscc,
            paths: Paths::new(plan, mrc.policy, mrc.paths, base_rtt)?,
            coalesce_from: coalesce_from(mrc.mpr, plan.transport.sack_every(mtu), mtu),
        })
    }

    /// Registers of one queue pair over this many planes.
    fn of(&self, number: u32, seed: u64, planes: u32) -> TransportConfig {
        match self {
            Self::Rc { paths } => TransportConfig::Rc(RcConfig {
                udp_sport: (FIRST_ENTROPY + number) as u16,
                plane: (number % planes) as u8,
                paths: paths.as_ref().map(|paths| paths.of(number, seed, planes)),
                ..RcConfig::default()
            }),
            Self::Mrc {
                plan,
                nscc,
                paths,
                coalesce_from,
            } => TransportConfig::Mrc(MrcConfig {
                mpr: plan.mpr,
                rto: plan.rto,
                backoff: plan.backoff,
                retry_budget: plan.retry_budget,
                early_loss: plan.early_loss,
                coalesce_from: *coalesce_from,
                ..MrcConfig::new(*nscc, paths.of(number, seed, planes))
            }),
        }
    }
}

/// Rate of a port of the sender in Gb/s, rounded down, at least 1.
pub fn rate_gbps(plan: &Plan) -> u32 {
    let link = plan.topology.hosts()[plan.sender.0 as usize].ports[0].link;
    let mbps = plan.topology.links()[link.0 as usize].params.rate_mbps;
    (mbps / 1000).max(1) as u32
}

/// Returns the round trip of a single full packet and its SACK, in picoseconds. It is measured through the slower plane of the idle fabric, by
/// sending them. The read of the payload and the delay of NICs of type `N` are added.
///
/// # Errors
/// [`WorldError::Unreachable`] if no SACK arrives.
pub fn base_round_trip<N: NicKind>(plan: &Plan) -> Result<Time, WorldError> {
    let mtu = 1 << plan.mtu_log2;
    Ok(idle_round_trip(plan)? + N::base_delay(mtu, plan.pcie.reads))
}

/// The part of [`base_round_trip`] outside the NICs: the fabric and the read of the payload.
pub(crate) fn idle_round_trip(plan: &Plan) -> Result<Time, WorldError> {
    let mtu = 1usize << plan.mtu_log2;
    let read = plan.pcie.reads.latency + plan.pcie.reads.transfer_time(mtu as u64);
    let mut slowest = 0;
    for plane in 0..plan.planes() {
        // The probes have IPv4 headers. Longer headers are modelled as payload.
        let extra = plan.addressing.extra_bytes() as usize;
        let data = probe(plan, plane, false, mtu + extra);
        let sack = probe(plan, plane, true, extra);
        let round_trip = (0..ATTEMPTS).find_map(|seed| {
            let mut fabric = Fabric::new(Arc::clone(&plan.topology), seed);
            fabric
                .send(plan.sender, plane, 0, Frame::new(data.clone()))
                .ok()?;
            let there = fabric.next_delivery(Time::MAX)?;
            fabric
                .send(there.host, plane, there.time, Frame::new(sack.clone()))
                .ok()?;
            Some(fabric.next_delivery(Time::MAX)?.time)
        });
        slowest = slowest.max(round_trip.ok_or_else(|| WorldError::Unreachable {
            from: plan.host_name(plan.sender),
            to: plan.host_name(plan.receiver),
            plane,
        })?);
    }
    Ok(slowest + read)
}

/// A data packet of the sender, or the receiver's SACK.
fn probe(plan: &Plan, plane: usize, sack: bool, payload: usize) -> Vec<u8> {
    let (from, to) = if sack {
        (plan.receiver, plan.sender)
    } else {
        (plan.sender, plan.receiver)
    };
    let port = |host: HostId| &plan.topology.hosts()[host.0 as usize].ports[plane];
    let ext = if sack {
        ExtHeaders {
            seth: Some(Seth::default()),
            cc_state: Some(CcState::default()),
            ..ExtHeaders::default()
        }
    } else {
        ExtHeaders {
            meth: Some(Meth::default()),
            reth: Some(Reth::default()),
            ..ExtHeaders::default()
        }
    };
    let frame = RoceFrame {
        eth: Ethernet {
            dst: port(to).mac,
            src: port(from).mac,
            ..Ethernet::default()
        },
        ip: Ip::V4(Ipv4 {
            src: port(from).ipv4,
            dst: port(to).ipv4,
            ..Ipv4::default()
        }),
        bth: Bth {
            opcode: if sack {
                Opcode::MrcSack
            } else {
                Opcode::MrcWriteMiddle
            },
            dest_qp: FIRST_QP,
            ..Bth::default()
        },
        ext,
        payload: vec![0; payload],
        ..RoceFrame::default()
    };
    frame.emit().expect("the headers are those of the opcode")
}
