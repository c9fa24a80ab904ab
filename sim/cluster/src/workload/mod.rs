//! What the hosts of a cluster send to each other, and when.

mod generate;

pub use generate::{all_to_all, incast, permutation, ring_all_reduce, GenerateError};

use sim_net::{HostId, Time};

use crate::ClusterError;

/// Index of a trigger of a [`Workload`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TriggerId(pub u32);

/// When a flow starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At this time, in picoseconds.
    At(Time),
    /// When this trigger starts it.
    Trigger(TriggerId),
}

/// Bytes that one host writes to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Number in the file, or from 1; it names the flow in results.
    pub id: u64,
    /// The host that sends.
    pub src: HostId,
    /// The host that receives.
    pub dst: HostId,
    /// Payload, 1 byte to [`Flow::MAX_BYTES`].
    pub bytes: u64,
    /// When it starts.
    pub start: Start,
    /// Activated when the sender has the last acknowledgement.
    pub on_sent: Option<TriggerId>,
    /// Activated when the receiver has the last byte.
    pub on_received: Option<TriggerId>,
}

impl Flow {
    /// Largest message of a flow: 1 GiB. Longer flows are several messages.
    pub const MESSAGE: u64 = 1 << 30;
    /// Longest flow: 64 GiB.
    pub const MAX_BYTES: u64 = Self::MESSAGE << 6;
}

/// What activations of a trigger do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerKind {
    /// The first activation starts all its flows.
    OneShot,
    /// Every activation starts the next one of its flows.
    MultiShot,
    /// This many activations start all its flows.
    Barrier(u32),
}

/// Starts flows after others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// What its activations do.
    pub kind: TriggerKind,
    /// Indices of the flows that it starts.
    pub flows: Vec<usize>,
}

/// Flows between the hosts of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// Every flow.
    pub flows: Vec<Flow>,
    /// What [`Start::Trigger`] refers to.
    pub triggers: Vec<Trigger>,
}

impl Workload {
    /// Adds a trigger that no flow waits for yet.
    pub(crate) fn add_trigger(&mut self, kind: TriggerKind) -> TriggerId {
        let flows = Vec::new();
        self.triggers.push(Trigger { kind, flows });
        TriggerId(self.triggers.len() as u32 - 1)
    }

    /// Adds a flow, and to the trigger that starts it, if one does.
    pub(crate) fn add_flow(&mut self, flow: Flow) {
        if let Start::Trigger(TriggerId(trigger)) = flow.start {
            self.triggers[trigger as usize].flows.push(self.flows.len());
        }
        self.flows.push(flow);
    }
}

impl Workload {
    /// Checks that a topology with so many hosts can run it.
    ///
    /// # Errors
    /// [`ClusterError`], for the first flow that it cannot run.
    pub(crate) fn check(&self, hosts: usize) -> Result<(), ClusterError> {
        if self.flows.is_empty() {
            return Err(ClusterError::NoFlows);
        }
        for flow in &self.flows {
            let missing = [flow.src, flow.dst].into_iter();
            let mut missing = missing.filter(|host| host.0 as usize >= hosts);
            if let Some(host) = missing.next() {
                return Err(ClusterError::NoHost {
                    flow: flow.id,
                    host: host.0,
                    hosts,
                });
            }
            if flow.src == flow.dst {
                return Err(ClusterError::ToItself(flow.id));
            }
            if !(1..=Flow::MAX_BYTES).contains(&flow.bytes) {
                return Err(ClusterError::Bytes {
                    flow: flow.id,
                    bytes: flow.bytes,
                });
            }
        }
        Ok(())
    }
}

/// The triggers of a run.
#[derive(Debug)]
pub(crate) struct Triggers {
    triggers: Vec<Trigger>,
    activations: Vec<u32>,
}

impl Triggers {
    pub(crate) fn new(triggers: Vec<Trigger>) -> Self {
        let activations = vec![0; triggers.len()];
        Self {
            triggers,
            activations,
        }
    }

    /// Activates a trigger; returns the flows that start now.
    pub(crate) fn activate(&mut self, TriggerId(id): TriggerId) -> Vec<usize> {
        let (trigger, count) = (
            &self.triggers[id as usize],
            &mut self.activations[id as usize],
        );
        *count = count.saturating_add(1);
        match trigger.kind {
            TriggerKind::OneShot if *count == 1 => trigger.flows.clone(),
            TriggerKind::Barrier(needed) if *count == needed => trigger.flows.clone(),
            TriggerKind::MultiShot => {
                let next = trigger.flows.get(*count as usize - 1);
                next.copied().into_iter().collect()
            }
            TriggerKind::OneShot | TriggerKind::Barrier(_) => Vec::new(),
        }
    }
}
