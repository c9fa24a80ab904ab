//! A fabric, cards at its ports, and flows between them.

use std::collections::HashMap;
use std::sync::Arc;

use sim_net::{Delivery, Fabric, HostId, LinkId, Node, Occurrence, Time, Topology};
use stellar_transport::time::Ticks;
use stellar_wire::host::{Cqe, EventKind, WcStatus, Wqe, WqeOpcode};

use crate::ahead::look_ahead;
use crate::carrier::CardOf;
use crate::connect::Connector;
use crate::host::Host;
use crate::topology::uplinks;
use crate::workload::{Fired, Flow, Start, TriggerId, Triggers, Workload};
use crate::{Carrier, ClusterError, QueuePairs, Record, RunHash, Settings};

/// Occurrences between two reports of progress.
const WATCH_EVERY: u64 = 1 << 16;
/// Alarms of hosts have this bit, and those of triggers the other one; those of flows have neither.
const HOST_ALARM: u64 = 1 << 63;
const TRIGGER_ALARM: u64 = 1 << 62;

/// What became of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlowState {
    pub started: Option<Time>,
    /// The sender has the last acknowledgement.
    pub sent: Option<Time>,
    /// The receiver has the last byte.
    pub received: Option<Time>,
    pub failed: Option<WcStatus>,
    /// Queue pair at the sender.
    pub qp: u32,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Simulated time in picoseconds.
    pub now: Time,
    /// Flows that are done or have failed.
    pub flows: usize,
}

/// A cluster: every host has the card of the transport's reference. `C` says whether packets are records or bytes; everything else is the same.
pub struct Cluster<C: Carrier = Record> {
    pub(crate) fabric: Fabric<C>,
    pub(crate) hosts: Vec<Host>,
    pub(crate) settings: Settings,
    connector: Connector,
    /// Queue pairs by lower and higher host, if flows share them.
    pairs: HashMap<(HostId, HostId), [u32; 2]>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) states: Vec<FlowState>,
    /// Flows that are neither done nor failed.
    pub(crate) open: usize,
    triggers: Triggers,
    pub(crate) hash: RunHash,
    /// Records with a changed byte that arrived.
    pub(crate) damaged: u64,
    pub(crate) occurrences: u64,
}

impl<C: Carrier> Cluster<C> {
    /// A cluster on `topology` whose flows have not started.
    ///
    /// # Errors
    /// [`ClusterError`].
    pub fn new(
        topology: impl Into<Arc<Topology>>,
        workload: Workload,
        settings: Settings,
    ) -> Result<Self, ClusterError> {
        let topology = topology.into();
        workload.check(topology.hosts().len())?;
        let connector = Connector::new(&topology, &settings)?;
        let hosts = (0..topology.hosts().len() as u32).map(HostId);
        let hosts =
            hosts.map(|id| Host::new(&topology, id, settings.path_loads, settings.addressing));
        let hosts = hosts.collect::<Result<Vec<_>, _>>()?;
        let mut fabric = Fabric::carrying(Arc::clone(&topology), settings.seed);
        for (index, flow) in (0..).zip(&workload.flows) {
            if let Start::At(time) = flow.start {
                fabric.set_alarm(time, index)?;
            }
        }
        if let Some(sampling) = settings.sampling {
            let (period, from, to) = (sampling.period, sampling.from, sampling.to);
            if period == 0 || to < from {
                return Err(ClusterError::Sampling { period, from, to });
            }
            fabric.sample_every(period, uplinks(&topology))?;
        }
        let mut cluster = Self {
            fabric,
            hosts,
            connector,
            pairs: HashMap::new(),
            states: vec![FlowState::default(); workload.flows.len()],
            open: workload.flows.len(),
            flows: workload.flows,
            triggers: Triggers::new(workload.triggers),
            settings,
            hash: RunHash::default(),
            damaged: 0,
            occurrences: 0,
        };
        for trigger in workload.first {
            let fired = cluster.triggers.activate(trigger);
            cluster.set_alarms(fired)?;
        }
        Ok(cluster)
    }

    /// The fabric, to interfere with it or to observe it.
    pub fn fabric_mut(&mut self) -> &mut Fabric<C> {
        &mut self.fabric
    }

    /// Runs until every flow is done or has failed, until nothing more can happen, or to the limit of the settings. Calls `watch` now and then.
    ///
    /// # Errors
    /// [`ClusterError`] if a queue pair cannot be made.
    pub fn run(&mut self, mut watch: impl FnMut(Progress)) -> Result<(), ClusterError> {
        C::run(self, &mut watch)
    }

    /// As [`Self::run`].
    pub(crate) fn run_watched(
        &mut self,
        watch: &mut dyn FnMut(Progress),
    ) -> Result<(), ClusterError> {
        while self.open > 0 {
            let Some(occurrence) = self.fabric.next_occurrence(self.settings.limit) else {
                break;
            };
            self.occurrences += 1;
            if self.fabric.has_looked_ahead() {
                look_ahead(&self.fabric, &self.hosts);
            }
            match occurrence {
                Occurrence::Delivery(delivery) => self.deliver(delivery)?,
                Occurrence::PortFree(host, line) => {
                    self.hosts[host.0 as usize].is_busy[line] = false;
                    self.transmit(host, line)?;
                    self.set_alarm(host)?;
                }
                Occurrence::Alarm(token) if token & HOST_ALARM != 0 => {
                    self.expire(HostId((token ^ HOST_ALARM) as u32))?;
                }
                Occurrence::Alarm(token) if token & TRIGGER_ALARM != 0 => {
                    let fired = self
                        .triggers
                        .fire(TriggerId((token ^ TRIGGER_ALARM) as u32));
                    self.set_alarms(fired)?;
                }
                Occurrence::Alarm(flow) => self.start(flow as usize)?,
                Occurrence::Link(link, up) => self.change_link(link, up)?,
            }
            if self.occurrences.is_multiple_of(WATCH_EVERY) {
                watch(self.progress());
            }
        }
        watch(self.progress());
        Ok(())
    }

    fn progress(&self) -> Progress {
        Progress {
            now: self.fabric.now(),
            flows: self.flows.len() - self.open,
        }
    }

    fn ticks(&self) -> Ticks {
        Ticks::from_ps(self.fabric.now())
    }

    /// Starts a flow: its work requests are posted.
    fn start(&mut self, index: usize) -> Result<(), ClusterError> {
        let flow = self.flows[index];
        let qp = self.queue_pair(&flow)?;
        let state = &mut self.states[index];
        state.started = Some(self.fabric.now());
        state.qp = qp;
        let messages = flow.bytes.div_ceil(Flow::MESSAGE);
        for message in 1..=messages {
            let is_last = message == messages;
            let rest = flow.bytes - (message - 1) * Flow::MESSAGE;
            let wqe = Wqe {
                opcode: if is_last {
                    WqeOpcode::WriteImm
                } else {
                    WqeOpcode::Write
                },
                signaled: is_last,
                length: rest.min(Flow::MESSAGE) as u32,
                immediate: index as u32,
                wr_id: index as u64,
                ..Wqe::default()
            };
            self.hosts[flow.src.0 as usize].endpoint.post(qp, wqe)?;
        }
        // A queue pair in error fails the flow at once.
        self.complete(flow.src, qp)?;
        self.act(flow.src)
    }

    /// The queue pair of a flow at its sender.
    fn queue_pair(&mut self, flow: &Flow) -> Result<u32, ClusterError> {
        let now = self.ticks();
        if self.settings.queue_pairs == QueuePairs::PerFlow {
            let ends = [flow.src, flow.dst];
            return Ok(self.connector.connect(&mut self.hosts, ends, 0, now)?[0]);
        }
        let ends = [flow.src.min(flow.dst), flow.src.max(flow.dst)];
        let numbers = match self.pairs.get(&(ends[0], ends[1])) {
            Some(&numbers) => numbers,
            None => {
                let first = usize::from(flow.src != ends[0]);
                let numbers = self.connector.connect(&mut self.hosts, ends, first, now)?;
                self.pairs.insert((ends[0], ends[1]), numbers);
                numbers
            }
        };
        Ok(numbers[usize::from(flow.src != ends[0])])
    }

    /// A packet reached a host.
    fn deliver(&mut self, delivery: Delivery<C>) -> Result<(), ClusterError> {
        let now = self.ticks();
        let Delivery {
            host: id,
            port,
            time,
            frame,
        } = delivery;
        self.hash.arrival(time, id, port, frame.length());
        let host = &mut self.hosts[id.0 as usize];
        let qp = frame.receive(&mut CardOf { host, port, now });
        match qp {
            Some(qp) => self.complete(id, qp)?,
            None => self.damaged += 1,
        }
        self.act(id)
    }

    /// The timers of a host may be due.
    fn expire(&mut self, id: HostId) -> Result<(), ClusterError> {
        let now = self.fabric.now();
        if !self.hosts[id.0 as usize].on_alarm(now) {
            return Ok(());
        }
        self.act(id)
    }

    fn change_link(&mut self, link: LinkId, up: bool) -> Result<(), ClusterError> {
        let ends = self.fabric.topology().links()[link.0 as usize].ends;
        for end in ends {
            if let Node::Host { host, port } = end {
                self.hosts[host.0 as usize].set_line(port, up);
                self.act(host)?;
            }
        }
        Ok(())
    }

    /// Does what follows a change at a host: errors are reported, lines that are free send, and the next alarm is set.
    pub(crate) fn act(&mut self, id: HostId) -> Result<(), ClusterError> {
        while let Some(event) = self.hosts[id.0 as usize].endpoint.poll_event() {
            if event.kind == EventKind::QpError {
                self.complete(id, event.source)?;
            }
        }
        for line in 0..self.hosts[id.0 as usize].lines {
            if !self.hosts[id.0 as usize].is_busy[line] {
                self.transmit(id, line)?;
            }
        }
        self.set_alarm(id)
    }

    fn set_alarm(&mut self, id: HostId) -> Result<(), ClusterError> {
        let now = self.fabric.now();
        if let Some(time) = self.hosts[id.0 as usize].alarm_to_set(now) {
            self.fabric.set_alarm(time, HOST_ALARM | u64::from(id.0))?;
        }
        Ok(())
    }

    /// A line that is free sends a packet if the card has one.
    fn transmit(&mut self, id: HostId, line: usize) -> Result<(), ClusterError> {
        let now = self.ticks();
        let host = &mut self.hosts[id.0 as usize];
        let parcel = host.poll(line, |host, port| C::poll(&mut CardOf { host, port, now }));
        let Some(parcel) = parcel else {
            return Ok(());
        };
        host.is_busy[line] = true;
        self.hash
            .departure(self.fabric.now(), id, line, parcel.length());
        Ok(self.fabric.transmit(id, line, parcel)?)
    }

    /// Takes the completions of a queue pair.
    fn complete(&mut self, id: HostId, qp: u32) -> Result<(), ClusterError> {
        while let Some(cqe) = self.hosts[id.0 as usize].endpoint.poll_cq(qp) {
            if let Some(trigger) = self.note(&cqe) {
                let fired = self.triggers.activate(trigger);
                self.set_alarms(fired)?;
            }
        }
        Ok(())
    }

    /// Sets the alarms of what triggers start. They are occurrences of their own: the calls that led here are not done with their host yet.
    fn set_alarms(&mut self, fired: Fired) -> Result<(), ClusterError> {
        let now = self.fabric.now();
        for flow in fired.flows {
            self.fabric.set_alarm(now, flow as u64)?;
        }
        for (delay, TriggerId(trigger)) in fired.later {
            let token = TRIGGER_ALARM | u64::from(trigger);
            self.fabric.set_alarm(now.saturating_add(delay), token)?;
        }
        Ok(())
    }

    /// Notes a completion; returns the trigger that it activates.
    fn note(&mut self, cqe: &Cqe) -> Option<TriggerId> {
        let now = Some(self.fabric.now());
        if cqe.opcode.is_receive() {
            let index = cqe.immediate as usize;
            self.states[index].received = now;
            return self.flows[index].on_received;
        }
        let index = cqe.wr_id as usize;
        let state = &mut self.states[index];
        if state.sent.is_some() || state.failed.is_some() {
            return None;
        }
        self.open -= 1;
        if cqe.status != WcStatus::Success {
            state.failed = Some(cqe.status);
            return None;
        }
        state.sent = now;
        self.flows[index].on_sent
    }
}
