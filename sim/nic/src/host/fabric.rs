//! Two hosts with a card each at two hosts of a fabric.

use std::ops::Deref;
use std::sync::Arc;

use sim_net::{Fabric, Time};
use sim_verilated::Library;
use sim_world::report::{Observed, Report};
use sim_world::{Plan, Recorder, Verified};
use stellar_wire::host::QpCounters;

use super::sim_hosts::SimHosts;
use super::watch::Watch;
use super::wire::Wire;
use crate::model::NicModel;
use crate::pcie::PcieSettings;
use crate::NicError;

/// Two hosts with a Verilated card each, 0 at the sender and 1 at the receiver of a [`Plan`]'s fabric.
#[derive(Clone)]
pub struct FabricPair {
    hosts: SimHosts,
    plan: Arc<Plan>,
}

impl FabricPair {
    /// Builds the model if the cache does not have it, and powers up both cards. This function uses the plan's topology, seed, hosts and captures. The
    /// other fields are for the creation of queue pairs and for the report.
    ///
    /// # Errors
    /// [`NicError`].
    pub fn new(plan: &Plan) -> Result<Self, NicError> {
        Self::with_library(plan, NicModel::shared()?)
    }

    /// Does what [`Self::new`] does, with such a PCIe fabric in each host instead of the plan's.
    ///
    /// # Errors
    /// [`NicError`].
    pub fn with_pcie(plan: &Plan, pcie: &PcieSettings) -> Result<Self, NicError> {
        Self::build(plan, NicModel::shared()?, pcie)
    }

    /// Does what [`Self::new`] does with the model in `library`, such as one with waves ([`NicModel::spec`]).
    ///
    /// # Errors
    /// [`NicError`].
    pub fn with_library(plan: &Plan, library: &Library) -> Result<Self, NicError> {
        Self::build(plan, library, &plan.pcie)
    }

    fn build(plan: &Plan, library: &Library, pcie: &PcieSettings) -> Result<Self, NicError> {
        let fabric = Fabric::new(Arc::clone(&plan.topology), plan.seed);
        let wire = Wire::fabric(fabric, vec![plan.sender, plan.receiver], plan.capture)?;
        Ok(Self {
            hosts: SimHosts::with_library(2, wire, library, pcie)?,
            plan: Arc::new(plan.clone()),
        })
    }

    /// Begins to record: the present is time 0 of the report. Paths are identified by their UDP source ports, from `first_entropy` on
    /// ([`stellar_driver::Device::first_entropy`]).
    pub fn watch(&self, first_entropy: u16) {
        let mut hosts = self.hosts.lock();
        let placed = (0..2).map(|host| hosts.card(host).placed).collect();
        let now = hosts.now();
        let plugged = hosts.wire().plugged().expect("both cards are on a fabric");
        plugged.watch = Some(Watch::new(now, &plugged.fabric, placed, first_entropy));
    }

    /// Access to the record of every frame, if the plan has captures.
    pub fn captures<T>(&self, look: impl FnOnce(Option<&Recorder>) -> T) -> T {
        look(self.hosts.lock().wire().recorder())
    }

    /// The report since [`Self::watch`]. `counters` are those of the sender's queue pairs, from its driver ([`stellar_driver::QueuePair::counters`]).
    /// `latencies` are those of the work requests that succeeded, and `duration` is from the first post to the last completion, in picoseconds.
    ///
    /// # Panics
    /// If [`Self::watch`] was not called.
    pub fn report(
        &self,
        counters: &[QpCounters],
        verified: Verified,
        latencies: Vec<Time>,
        duration: Time,
    ) -> Report {
        let mut hosts = self.hosts.lock();
        let plugged = hosts.wire().plugged().expect("both cards are on a fabric");
        let watch = plugged.watch.as_ref().expect("watch comes before report");
        let seen = Observed {
            nics: "Verilated RTL under its driver",
            verified,
            duration,
            latencies,
            counters,
            path_loads: watch.path_loads.clone(),
            record: &watch.record,
            fabric: &plugged.fabric,
        };
        Report::new(&self.plan, seen)
    }
}

impl Deref for FabricPair {
    type Target = SimHosts;

    fn deref(&self) -> &SimHosts {
        &self.hosts
    }
}
