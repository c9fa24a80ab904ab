//! Named scenarios between two NICs of any kind. Each does one thing to a transfer, which must not be affected, or in one way only. Each ends with
//! [`verify`]: exact memory, completions in order, and no other bytes written.

mod failure;
mod losses;
mod ordering;
mod sizes;
mod tests_of_each;
mod windows;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sim_net::{Fate, Frame, HostId, Time};
use stellar_transport::rx::{Owner, PageSize};
use stellar_wire::Bth;

use crate::config::{HostPorts, MrcPlan, TransportPlan};
use crate::names::closest;
use crate::pair::{connect, PairWorld, FIRST_QP, RECEIVER, SENDER};
use crate::report::Report;
use crate::transfer::LEAF_SPINE;
use crate::{
    packet, verify, CheckError, NicKind, Plan, ReferenceNic, RegionId, RegionSpec, Verified,
    WorldError, Write,
};

/// A microsecond in picoseconds.
const US: Time = 1_000_000;
/// Time limit of a scenario with messages of full length: 100 ms.
const LIMIT: Time = 100_000 * US;

/// Two hosts with a cable per plane.
const BACK_TO_BACK: &str = include_str!("../../../net/topologies/back_to_back.toml");
/// Two hosts 4 km apart, so that a window of 1,024 packets is in flight.
const LONG_CABLES: &str =
    "[defaults]\nrate_gbps = 200\ndelay_ns = 20000\n[back_to_back]\nplanes = 2\n";

/// Parameters of a scenario.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Seed of everything random.
    pub seed: u64,
    /// Messages are shorter by this factor (1 or more), in scenarios that do not depend on the length of messages.
    pub shrink: u32,
    /// The clock that shows the world's time while it runs ([`Plan::clock`]).
    pub clock: Option<Arc<AtomicU64>>,
    /// Ports of both NICs.
    pub ports: HostPorts,
}

impl Setup {
    /// Messages of full length.
    pub const fn full(seed: u64) -> Self {
        Self::shrunk(seed, 1)
    }

    /// Makes a scenario whose messages are shorter by the factor `shrink`, for NICs with a slow simulation.
    pub const fn shrunk(seed: u64, shrink: u32) -> Self {
        Self {
            seed,
            shrink,
            clock: None,
            ports: HostPorts {
                count: 2,
                rate_gbps: 200,
            },
        }
    }

    /// Length of a message whose full length is `full` bytes.
    const fn bytes(&self, full: u32) -> u32 {
        full / self.shrink
    }
}

/// A scenario between two NICs of one kind.
pub struct Scenario<N> {
    /// The scenario's name on the command line.
    pub name: &'static str,
    /// The scenario's description.
    pub what: &'static str,
    run: fn(&Setup) -> Result<Outcome<N>, WorldError>,
}

/// A scenario that succeeded.
pub struct Outcome<N = ReferenceNic> {
    /// The scenario's plan.
    pub plan: Plan,
    /// The world at its end.
    pub world: PairWorld<N>,
    /// Results of the checks.
    pub verified: Verified,
}

impl<N: NicKind> Outcome<N> {
    /// The scenario's numbers.
    pub fn report(&mut self) -> Report {
        Report::of(&self.plan, &mut self.world, self.verified)
    }
}

impl<N: NicKind> Scenario<N> {
    /// Every scenario.
    pub const ALL: [Self; 17] = [
        Self::PERMUTATION,
        Self::DUPLICATES,
        Self::LOST_SACKS,
        Self::LOST_LAST,
        Self::EVERY_PACKET_ONCE,
        Self::GO_BACK_N,
        Self::PSN_WRAP,
        Self::WINDOW_FULL,
        Self::ECN_EVERYWHERE,
        Self::PLANE_DEAD,
        Self::RETRY_EXHAUSTED,
        Self::DEREGISTRATION,
        Self::FOREIGN_DOORBELL,
        Self::ALL_QPS,
        Self::TINY,
        Self::GIBIBYTE,
        Self::UNALIGNED,
    ];

    /// The scenario of this name.
    ///
    /// # Errors
    /// [`WorldError::UnknownScenario`], with similar names.
    pub fn find(name: &str) -> Result<Self, WorldError> {
        let mut all = Self::ALL.into_iter();
        let found = all.find(|scenario| scenario.name == name);
        found.ok_or_else(|| WorldError::UnknownScenario {
            name: name.into(),
            closest: closest(name, Self::ALL.iter().map(|scenario| scenario.name)),
        })
    }

    /// Whether it needs a NIC with two ports.
    pub fn needs_two_ports(&self) -> bool {
        self.name == Self::PLANE_DEAD.name
    }

    /// Runs it and checks the outcome.
    ///
    /// # Errors
    /// [`WorldError::Check`] if the outcome is wrong; others if the scenario cannot be built.
    pub fn run(&self, setup: &Setup) -> Result<Outcome<N>, WorldError> {
        if self.needs_two_ports() && setup.ports.count < 2 {
            return Err(WorldError::OnePort(self.name));
        }
        (self.run)(setup)
    }
}

/// A plan with the topology in a text, after `change` has changed its MRC registers.
fn mrc_plan(
    topology: &str,
    setup: &Setup,
    change: impl FnOnce(&mut MrcPlan),
) -> Result<Plan, WorldError> {
    let mut plan = Plan::new(setup.ports.topology("scenario", topology)?, setup.seed)?;
    plan.clock = setup.clock.clone();
    let mut mrc = MrcPlan::default();
    change(&mut mrc);
    plan.transport = TransportPlan::Mrc(mrc);
    plan.capture = true;
    Ok(plan)
}

/// GPU memory at both hosts, in pages of 4 KiB, at an odd offset.
fn buffers<N: NicKind>(
    world: &mut PairWorld<N>,
    length: u64,
) -> Result<(RegionId, RegionId), WorldError> {
    let spec = |skew| RegionSpec {
        owner: Owner::Gpu,
        length,
        page_size: PageSize::Size4K,
        skew,
    };
    let local = world.register(SENDER, spec(77))?;
    Ok((local, world.register(RECEIVER, spec(2_051))?))
}

/// A WRITE from sender to receiver at one offset of both buffers.
fn write((local, remote): (RegionId, RegionId), qp: u32, offset: u64, length: u32) -> Write {
    Write {
        from: SENDER,
        to: RECEIVER,
        qp,
        local: (local, offset),
        remote: (remote, offset),
        length,
        immediate: None,
    }
}

/// Makes the buffers and posts a WRITE of each length on the first queue pair, each behind the previous one.
fn post_in_turn<N: NicKind>(world: &mut PairWorld<N>, lengths: &[u32]) -> Result<(), WorldError> {
    let total = lengths.iter().map(|&length| u64::from(length)).sum();
    let buffers = buffers(world, total)?;
    let mut offset = 0;
    for &length in lengths {
        world.post(write(buffers, FIRST_QP, offset, length))?;
        offset += u64::from(length);
    }
    Ok(())
}

/// Installs a filter for every packet that `host` sends, on all of its ports, by its transport header. Packets are numbered over all ports in the
/// order in which they are sent.
fn on_packets_of<N: NicKind>(
    world: &mut PairWorld<N>,
    host: HostId,
    decide: impl FnMut(&Bth, u64) -> Fate + Send + 'static,
) -> Result<(), WorldError> {
    let decide = Arc::new(Mutex::new((decide, 0)));
    for port in 0..2 {
        let Some(channel) = world.fabric().topology().uplink(host, port) else {
            continue;
        };
        let decide = Arc::clone(&decide);
        let filter = move |frame: &Frame, _: u64| {
            let Some(bth) = packet::bth(frame.bytes()) else {
                return Fate::Pass;
            };
            let mut decide = decide.lock().unwrap_or_else(PoisonError::into_inner);
            let number = decide.1;
            decide.1 += 1;
            (decide.0)(&bth, number)
        };
        world
            .fabric_mut()
            .set_filter(channel, Some(Box::new(filter)))?;
    }
    Ok(())
}

/// Runs to the end and checks everything.
fn finish<N: NicKind>(
    setup: &Setup,
    plan: Plan,
    mut world: PairWorld<N>,
) -> Result<Outcome<N>, WorldError> {
    world.run(LIMIT / Time::from(setup.shrink))?;
    let verified = verify(&world)?;
    Ok(Outcome {
        plan,
        world,
        verified,
    })
}

/// A condition of the scenario.
fn require(met: bool, otherwise: impl FnOnce() -> String) -> Result<(), WorldError> {
    if met {
        Ok(())
    } else {
        Err(CheckError::Condition(otherwise()).into())
    }
}

/// Checks that every work request completed with success.
fn all_succeeded<N: NicKind>(outcome: Outcome<N>) -> Result<Outcome<N>, WorldError> {
    let (posted, done) = (
        outcome.world.posted().len() as u64,
        outcome.verified.succeeded,
    );
    require(done == posted, || {
        format!("{done} of {posted} work requests succeeded")
    })?;
    Ok(outcome)
}

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}
