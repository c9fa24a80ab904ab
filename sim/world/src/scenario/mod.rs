//! Named scenarios: each does one thing to a transfer that must not hurt it, or must hurt it in one way only. Each ends
//! with [`verify`], so in exact memory, completions in order, and nothing else written.

mod failure;
mod losses;
mod ordering;
mod sizes;
mod windows;

use std::sync::{Arc, Mutex, PoisonError};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sim_net::{Fate, Frame, HostId, Time, Topology};
use stellar_transport::rx::{Owner, PageSize};
use stellar_wire::Bth;

use crate::config::{MrcPlan, TransportPlan};
use crate::names::closest;
use crate::pair::{connect, PairWorld, FIRST_QP, RECEIVER, SENDER};
use crate::report::Report;
use crate::transfer::LEAF_SPINE;
use crate::{packet, verify, CheckError, Plan, RegionId, RegionSpec, Verified, WorldError, Write};

/// A microsecond in picoseconds.
const US: Time = 1_000_000;
/// When a scenario is given up: 100 ms.
const LIMIT: Time = 100_000 * US;

/// Two hosts, a cable per plane.
const BACK_TO_BACK: &str = include_str!("../../../net/topologies/back_to_back.toml");
/// Two hosts 4 km apart, so that a window of 1,024 packets fits on the way.
const LONG_CABLES: &str =
    "[defaults]\nrate_gbps = 200\ndelay_ns = 20000\n[back_to_back]\nplanes = 2\n";

/// A scenario.
#[derive(Clone, Copy)]
pub struct Scenario {
    /// Its name on the command line.
    pub name: &'static str,
    /// What happens in it.
    pub what: &'static str,
    run: fn(u64) -> Result<Outcome, WorldError>,
}

/// A scenario that ended as it must.
pub struct Outcome {
    /// The plan it built.
    pub plan: Plan,
    /// The world at its end.
    pub world: PairWorld,
    /// What was compared.
    pub verified: Verified,
}

impl Outcome {
    /// Its numbers.
    pub fn report(&self) -> Report {
        Report::of(&self.plan, &self.world, self.verified)
    }
}

/// Every scenario.
pub const SCENARIOS: &[Scenario] = &[
    ordering::PERMUTATION,
    ordering::DUPLICATES,
    losses::LOST_SACKS,
    losses::LOST_LAST,
    losses::EVERY_PACKET_ONCE,
    losses::GO_BACK_N,
    windows::PSN_WRAP,
    windows::WINDOW_FULL,
    windows::ECN_EVERYWHERE,
    failure::PLANE_DEAD,
    failure::RETRY_EXHAUSTED,
    failure::DEREGISTRATION,
    failure::FOREIGN_DOORBELL,
    sizes::ALL_QPS,
    sizes::TINY,
    sizes::GIBIBYTE,
    sizes::UNALIGNED,
];

/// The scenario of this name.
///
/// # Errors
/// [`WorldError::UnknownScenario`], with the names that come closest.
pub fn find(name: &str) -> Result<&'static Scenario, WorldError> {
    let found = SCENARIOS.iter().find(|scenario| scenario.name == name);
    found.ok_or_else(|| WorldError::UnknownScenario {
        name: name.into(),
        closest: closest(name, SCENARIOS.iter().map(|scenario| scenario.name)),
    })
}

impl Scenario {
    /// Runs it and checks that it ended as it must.
    ///
    /// # Errors
    /// [`WorldError::Check`] if it did not; others if it could not be built.
    pub fn run(&self, seed: u64) -> Result<Outcome, WorldError> {
        (self.run)(seed)
    }
}

/// A plan over the text of a topology, with `change` made to its MRC registers.
fn mrc_plan(
    topology: &str,
    seed: u64,
    change: impl FnOnce(&mut MrcPlan),
) -> Result<Plan, WorldError> {
    let mut plan = Plan::new(Topology::from_toml("scenario", topology)?, seed)?;
    let mut mrc = MrcPlan::default();
    change(&mut mrc);
    plan.transport = TransportPlan::Mrc(mrc);
    plan.capture = true;
    Ok(plan)
}

/// GPU memory at both hosts, in pages of 4 KiB, at an odd place in them.
fn buffers(world: &mut PairWorld, length: u64) -> Result<(RegionId, RegionId), WorldError> {
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

/// Buffers, and a WRITE of each length in turn on the first queue pair, every one behind the one before it.
fn post_in_turn(world: &mut PairWorld, lengths: &[u32]) -> Result<(), WorldError> {
    let total = lengths.iter().map(|&length| u64::from(length)).sum();
    let buffers = buffers(world, total)?;
    let mut offset = 0;
    for &length in lengths {
        world.post(write(buffers, FIRST_QP, offset, length))?;
        offset += u64::from(length);
    }
    Ok(())
}

/// Decides the fate of every packet that `host` sends, on all its ports, by its transport header. Packets are numbered
/// over all ports in the order they are sent.
fn on_packets_of(
    world: &mut PairWorld,
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
fn finish(plan: Plan, mut world: PairWorld) -> Result<Outcome, WorldError> {
    world.run(LIMIT)?;
    let verified = verify(&world)?;
    Ok(Outcome {
        plan,
        world,
        verified,
    })
}

/// A condition a scenario must have met.
fn require(met: bool, otherwise: impl FnOnce() -> String) -> Result<(), WorldError> {
    if met {
        Ok(())
    } else {
        Err(CheckError::Condition(otherwise()).into())
    }
}

/// Every work request completed with success.
fn all_succeeded(outcome: Outcome) -> Result<Outcome, WorldError> {
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
