//! Runs the flows of a group: starts each when its time or its trigger says so, follows completions, and looks at windows.

use std::collections::BTreeMap;

use sim_net::workload::{Fired, Start, TriggerId, Triggers, Workload};
use sim_net::Time;
use stellar_wire::host::WcStatus;

use super::connect::{connect, workloads, Connected};
use super::report::{GroupReport, Observed};
use super::{GroupNic, GroupPlan};
use crate::samples::Samples;
use crate::{verify, CheckError, TransportPlan, World, WorldError, Write};

/// A run that succeeded.
pub struct GroupRun<N> {
    /// The world at its end.
    pub world: World<N>,
    /// Numbers of the run.
    pub report: GroupReport,
}

/// Runs a plan, and checks every byte and every completion.
///
/// # Errors
/// [`GroupPlan::check`]; [`WorldError::Stalled`]; [`WorldError::Check`] if a flow failed or the outcome is wrong.
pub fn run<N: GroupNic>(plan: &GroupPlan) -> Result<GroupRun<N>, WorldError> {
    plan.check()?;
    let workloads = workloads(plan)?;
    let Connected { world, writes } = connect(plan, &workloads)?;
    let mut group = Group::new(plan, world, workloads, writes);
    while group.is_open() {
        if !group.world.step(plan.limit)? {
            return Err(WorldError::Stalled {
                missing: group.world.pending(),
                time_us: plan.limit / 1_000_000,
            });
        }
        group.follow()?;
    }
    while group.world.fabric.next_event().is_some() && group.world.step(plan.limit)? {}
    let verified = verify(&group.world)?;
    let seen = Observed {
        verified,
        tenants: group.tenants,
        samples: group.samples,
    };
    let report = GroupReport::new(plan, &mut group.world, seen);
    let world = group.world;
    Ok(GroupRun { world, report })
}

/// What became of a flow of a round.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlowTimes {
    pub started: Option<Time>,
    /// The sender has the last acknowledgement.
    pub sent: Option<Time>,
    /// The receiver has the last byte.
    pub received: Option<Time>,
}

/// A tenant while it runs.
pub(super) struct RunningTenant {
    pub workload: Workload,
    triggers: Triggers,
    /// Of all rounds, round after round.
    pub writes: Vec<Write>,
    pub times: Vec<FlowTimes>,
    round: usize,
    /// Flows of this round of which either end is not done.
    open: usize,
    /// Bytes of each flow of the first round at the receiver when the first one was complete; empty before.
    pub shares: Vec<u64>,
    /// Time of [`Self::shares`].
    pub shared_until: Option<Time>,
}

/// The windows of all flows at one time; 0 for a flow that is not under way.
pub(super) struct WindowSample {
    pub time: Time,
    /// By tenant and flow of the first round.
    pub windows: Vec<Vec<u32>>,
}

/// What starts at some time.
enum Due {
    Flow(usize, usize),
    Trigger(usize, TriggerId),
    Round(usize),
}

struct Group<N> {
    world: World<N>,
    /// Receivers tell of each WRITE, by its immediate. Over RC they do not, so the sender's completion stands for both.
    receivers_tell: bool,
    tenants: Vec<RunningTenant>,
    /// Tenant and number of each WRITE, by `wr_id`, which is also its immediate.
    posted: Vec<(usize, usize)>,
    due: BTreeMap<(Time, u64), Due>,
    next_due: u64,
    /// Completions of each host that were followed.
    followed: Vec<usize>,
    samples: Samples<WindowSample>,
}

impl<N: GroupNic> Group<N> {
    fn new(
        plan: &GroupPlan,
        world: World<N>,
        workloads: Vec<Workload>,
        writes: Vec<Vec<Write>>,
    ) -> Self {
        let tenants = workloads.into_iter().zip(writes);
        let tenants: Vec<RunningTenant> = tenants
            .map(|(workload, writes)| RunningTenant {
                triggers: Triggers::new(workload.triggers.clone()),
                times: vec![FlowTimes::default(); writes.len()],
                open: workload.flows.len(),
                workload,
                writes,
                round: 0,
                shares: Vec::new(),
                shared_until: None,
            })
            .collect();
        let mut group = Self {
            followed: vec![0; world.hosts().len()],
            receivers_tell: matches!(plan.base.transport, TransportPlan::Mrc(_)),
            world,
            tenants,
            posted: Vec::new(),
            due: BTreeMap::new(),
            next_due: 0,
            samples: Samples::new(),
        };
        for (index, tenant) in plan.tenants.iter().enumerate() {
            group.at(tenant.start, Due::Round(index));
        }
        group
    }

    fn is_open(&self) -> bool {
        !self.due.is_empty() || self.tenants.iter().any(|tenant| tenant.open > 0)
    }

    /// Lets the world stop at `time`, and notes what starts then.
    fn at(&mut self, time: Time, due: Due) {
        self.due.insert((time, self.next_due), due);
        self.next_due += 1;
        self.world.at(time, |_| Ok(()));
    }

    /// Does what follows from the moment that the world has just executed.
    fn follow(&mut self) -> Result<(), WorldError> {
        self.complete()?;
        while let Some(entry) = self.due.first_entry() {
            if entry.key().0 > self.world.now() {
                break;
            }
            match entry.remove() {
                Due::Flow(tenant, flow) => self.start(tenant, flow)?,
                Due::Trigger(tenant, trigger) => {
                    let fired = self.tenants[tenant].triggers.fire(trigger);
                    self.fired(tenant, fired)?;
                }
                Due::Round(tenant) => self.begin(tenant)?,
            }
        }
        self.sample();
        Ok(())
    }

    /// Begins a round of a tenant.
    fn begin(&mut self, index: usize) -> Result<(), WorldError> {
        let tenant = &self.tenants[index];
        let starts = tenant.workload.flows.iter().map(|flow| flow.start);
        let starts: Vec<Start> = starts.collect();
        let now = self.world.now();
        for (flow, start) in starts.into_iter().enumerate() {
            match start {
                Start::At(0) => self.start(index, flow)?,
                Start::At(time) => self.at(now + time, Due::Flow(index, flow)),
                Start::Trigger(_) => {}
            }
        }
        for trigger in self.tenants[index].workload.first.clone() {
            let fired = self.tenants[index].triggers.activate(trigger);
            self.fired(index, fired)?;
        }
        Ok(())
    }

    fn fired(&mut self, tenant: usize, fired: Fired) -> Result<(), WorldError> {
        for flow in fired.flows {
            self.start(tenant, flow)?;
        }
        for (delay, trigger) in fired.later {
            self.at(self.world.now() + delay, Due::Trigger(tenant, trigger));
        }
        Ok(())
    }

    /// Posts a flow of the present round.
    fn start(&mut self, tenant: usize, flow: usize) -> Result<(), WorldError> {
        let now = self.world.now();
        let state = &mut self.tenants[tenant];
        let number = state.round * state.workload.flows.len() + flow;
        state.times[number].started = Some(now);
        let immediate = self.receivers_tell.then_some(self.posted.len() as u32);
        let write = Write {
            immediate,
            ..state.writes[number]
        };
        self.posted.push((tenant, number));
        self.world.post(write)?;
        Ok(())
    }

    /// Follows the completions since the last call.
    fn complete(&mut self) -> Result<(), WorldError> {
        for host in 0..self.followed.len() {
            while let Some(done) = self.world.host(host).completions().get(self.followed[host]) {
                self.followed[host] += 1;
                let (time, cqe) = (done.time, done.cqe);
                let is_receive = cqe.opcode.is_receive();
                let wr_id = if is_receive {
                    cqe.immediate.into()
                } else {
                    cqe.wr_id
                };
                if cqe.status != WcStatus::Success {
                    return Err(WorldError::Check(CheckError::Status {
                        wr_id,
                        found: format!("{:?}", cqe.status),
                        expected: format!("{:?}", WcStatus::Success),
                    }));
                }
                let (tenant, number) = self.posted[wr_id as usize];
                self.completed(tenant, number, is_receive, time)?;
                if !self.receivers_tell {
                    self.completed(tenant, number, true, time)?;
                }
            }
        }
        Ok(())
    }

    fn completed(
        &mut self,
        index: usize,
        number: usize,
        is_receive: bool,
        time: Time,
    ) -> Result<(), WorldError> {
        let tenant = &mut self.tenants[index];
        let flow = tenant.workload.flows[number % tenant.workload.flows.len()];
        let times = &mut tenant.times[number];
        let (mine, other) = if is_receive {
            (&mut times.received, times.sent)
        } else {
            (&mut times.sent, times.received)
        };
        *mine = Some(time);
        if other.is_some() {
            tenant.open -= 1;
        }
        if is_receive && tenant.shared_until.is_none() {
            tenant.shared_until = Some(time);
            self.share(index);
        }
        let trigger = if is_receive {
            flow.on_received
        } else {
            flow.on_sent
        };
        if let Some(trigger) = trigger {
            let fired = self.tenants[index].triggers.activate(trigger);
            self.fired(index, fired)?;
        }
        self.next_round(index);
        Ok(())
    }

    /// Begins the next round if this one is complete.
    fn next_round(&mut self, index: usize) {
        let tenant = &mut self.tenants[index];
        let flows = tenant.workload.flows.len();
        if tenant.open > 0 || (tenant.round + 1) * flows == tenant.writes.len() {
            return;
        }
        tenant.round += 1;
        tenant.open = flows;
        tenant.triggers = Triggers::new(tenant.workload.triggers.clone());
        self.at(self.world.now(), Due::Round(index));
    }

    /// Notes how many bytes of each flow have arrived.
    fn share(&mut self, index: usize) {
        let tenant = &self.tenants[index];
        let first = tenant.writes.iter().take(tenant.workload.flows.len());
        let shares = first.map(|write| arrived(&self.world, write)).collect();
        self.tenants[index].shares = shares;
    }

    fn sample(&mut self) {
        while self.samples.next_time() <= self.world.now() {
            let windows = self.tenants.iter().map(|tenant| self.windows(tenant));
            let windows = windows.collect();
            let time = self.samples.next_time();
            self.samples.push(WindowSample { time, windows });
        }
    }

    fn windows(&self, tenant: &RunningTenant) -> Vec<u32> {
        let first = tenant.writes.iter().zip(&tenant.times);
        let window = |(write, times): (&Write, &FlowTimes)| {
            let under_way = times.started.is_some() && times.sent.is_none();
            let state = under_way.then(|| self.world.host(write.from).nic().congestion(write.qp));
            state.flatten().unwrap_or_default().cwnd
        };
        first
            .take(tenant.workload.flows.len())
            .map(window)
            .collect()
    }
}

/// Bytes of a WRITE that the receiver's NIC has written.
fn arrived<N: GroupNic>(world: &World<N>, write: &Write) -> u64 {
    let host = world.host(write.to);
    let region = host.region(write.remote.0);
    let written = |(address, count)| (host.nic().memory()).written_in(region.owner, address, count);
    let parts = region.parts(write.remote.1, write.length.into());
    parts.map(written).sum()
}
