//! What hosts send to each other, and when: flows, and what starts them. Clusters (`sim-cluster`) and worlds of many hosts (`sim-world`) execute it.

mod error;
mod generate;
mod reduce;
mod triggers;

pub use error::{GenerateError, WorkloadError};
pub use generate::{
    all_to_all, hosts_by_leaf, incast, permutation, ring_all_reduce, tree_all_reduce, Pattern,
};
pub use triggers::{Fired, Triggers};

use crate::{HostId, Time};

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
    /// The first activation fires it: all its flows start.
    OneShot,
    /// Every activation starts the next one of its flows.
    MultiShot,
    /// This many activations fire it.
    Barrier(u32),
}

/// Starts flows after others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// What its activations do.
    pub kind: TriggerKind,
    /// Indices of the flows that it starts.
    pub flows: Vec<usize>,
    /// Triggers that it activates when it fires. A [`TriggerKind::MultiShot`] activates none.
    pub then: Vec<TriggerId>,
    /// Time from the activation that fires it until it fires, in picoseconds: a computation.
    pub delay: Time,
}

/// Flows between hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// Every flow.
    pub flows: Vec<Flow>,
    /// What [`Start::Trigger`] refers to.
    pub triggers: Vec<Trigger>,
    /// Triggers that are activated at time 0.
    pub first: Vec<TriggerId>,
}

impl Workload {
    /// Adds a trigger that no flow waits for yet.
    pub fn add_trigger(&mut self, kind: TriggerKind) -> TriggerId {
        self.triggers.push(Trigger {
            kind,
            flows: Vec::new(),
            then: Vec::new(),
            delay: 0,
        });
        TriggerId(self.triggers.len() as u32 - 1)
    }

    /// Adds a flow, and to the trigger that starts it, if one does.
    pub fn add_flow(&mut self, flow: Flow) {
        if let Start::Trigger(TriggerId(trigger)) = flow.start {
            self.triggers[trigger as usize].flows.push(self.flows.len());
        }
        self.flows.push(flow);
    }

    /// Checks that a topology with so many hosts can run it.
    ///
    /// # Errors
    /// [`WorkloadError`], for the first flow that it cannot run.
    pub fn check(&self, hosts: usize) -> Result<(), WorkloadError> {
        if self.flows.is_empty() {
            return Err(WorkloadError::NoFlows);
        }
        for flow in &self.flows {
            let missing = [flow.src, flow.dst].into_iter();
            let mut missing = missing.filter(|host| host.0 as usize >= hosts);
            if let Some(host) = missing.next() {
                return Err(WorkloadError::NoHost {
                    flow: flow.id,
                    host: host.0,
                    hosts,
                });
            }
            if flow.src == flow.dst {
                return Err(WorkloadError::ToItself(flow.id));
            }
            if !(1..=Flow::MAX_BYTES).contains(&flow.bytes) {
                return Err(WorkloadError::Bytes {
                    flow: flow.id,
                    bytes: flow.bytes,
                });
            }
        }
        Ok(())
    }
}
