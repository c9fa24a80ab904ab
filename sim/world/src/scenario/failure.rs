//! Failures of parts, and errors of software.

use sim_net::Fate;
use stellar_transport::endpoint::DoorbellError;
use stellar_transport::time::Ticks;
use stellar_wire::host::{Doorbell, EventKind, WcStatus};

use super::*;

impl<N: NicKind> Scenario<N> {
    pub(super) const PLANE_DEAD: Self = Self {
        name: "plane-dead-and-back",
        what: "the hosts' links of one plane go down in the middle of a transfer and come back",
        run: plane_dead::<N>,
    };

    pub(super) const RETRY_EXHAUSTED: Self = Self {
        name: "retry-budget-exhausted",
        what: "one of four queue pairs gets nothing through and fails; the others do not notice",
        run: retry_exhausted::<N>,
    };

    pub(super) const DEREGISTRATION: Self = Self {
        name: "deregistration",
        what: "the receiver takes its memory away while packets are on their way",
        run: deregistration::<N>,
    };

    pub(super) const FOREIGN_DOORBELL: Self = Self {
        name: "foreign-doorbell",
        what: "a virtual device rings for a queue pair of another one",
        run: foreign_doorbell::<N>,
    };
}

/// Times at which plane 1 fails and returns.
const DIES: Time = 60 * US;
const BACK: Time = 160 * US;

fn plane_dead<N: NicKind>(setup: &Setup) -> Result<Outcome<N>, WorldError> {
    let plan = mrc_plan(LEAF_SPINE, setup, |_| {})?;
    let mut world = connect::<N>(&plan)?;
    for host in [plan.sender, plan.receiver] {
        let link = plan.topology.hosts()[host.0 as usize].ports[1].link;
        world.fabric_mut().schedule_link(link, DIES, false)?;
        world.fabric_mut().schedule_link(link, BACK, true)?;
    }
    for (time, up) in [(DIES, false), (BACK, true)] {
        world.at(time, move |world| {
            world.set_port(SENDER, 1, up);
            world.set_port(RECEIVER, 1, up);
            Ok(())
        });
    }
    let link = plan.topology.hosts()[plan.sender.0 as usize].ports[1].link;
    let sent = |world: &PairWorld<N>| {
        let stats = link.channels().map(|channel| world.fabric().stats(channel));
        stats
            .into_iter()
            .flatten()
            .map(|stats| stats.sent_frames)
            .max()
    };
    post_in_turn(&mut world, &[6 << 20, 6 << 20])?;
    world.run_until(BACK - 1)?;
    let while_dead = sent(&world);
    let mut outcome = all_succeeded(finish(setup, plan, world)?)?;
    let in_all = sent(&outcome.world);
    require(while_dead < in_all, || {
        "the plane that came back was not used again".into()
    })?;
    let report = outcome.report();
    require(report.requester.retransmissions > 0, || {
        "nothing was lost with the plane".into()
    })?;
    Ok(outcome)
}

fn retry_exhausted<N: NicKind>(setup: &Setup) -> Result<Outcome<N>, WorldError> {
    const FAILING: u32 = FIRST_QP + 1;
    let mut plan = mrc_plan(BACK_TO_BACK, setup, |mrc| {
        mrc.rto = Ticks::from_us(50);
        mrc.retry_budget = 2;
    })?;
    plan.qps = 4;
    let mut world = connect::<N>(&plan)?;
    on_packets_of(&mut world, plan.sender, |bth, _| {
        if bth.dest_qp == FAILING {
            Fate::Drop
        } else {
            Fate::Pass
        }
    })?;
    let buffers = buffers(&mut world, 1 << 20)?;
    let qps = FIRST_QP..FIRST_QP + plan.qps;
    for (index, qp) in (0..).zip(qps.clone().chain(qps)) {
        world.post(write(buffers, qp, index * 100_000, setup.bytes(100_000)))?;
    }
    let outcome = finish(setup, plan, world)?;
    let done = (outcome.verified.succeeded, outcome.verified.failed);
    require(done == (6, 2), || {
        format!("{done:?} work requests succeeded and failed, (6, 2) expected")
    })?;
    let failed = statuses(&outcome.world, FAILING);
    require(
        failed == [WcStatus::RetryExcErr, WcStatus::WrFlushErr],
        || format!("the queue pair's completions are {failed:?}"),
    )?;
    require_event(&outcome.world, EventKind::QpError, FAILING)?;
    Ok(outcome)
}

fn deregistration<N: NicKind>(setup: &Setup) -> Result<Outcome<N>, WorldError> {
    let plan = mrc_plan(BACK_TO_BACK, setup, |_| {})?;
    let mut world = connect::<N>(&plan)?;
    let buffers = buffers(&mut world, 2 << 20)?;
    for offset in [0, 1 << 20] {
        world.post(write(buffers, FIRST_QP, offset, 1 << 20))?;
    }
    world.at(10 * US, move |world| world.deregister(RECEIVER, buffers.1));
    let outcome = finish(setup, plan, world)?;
    let written = outcome.verified.bytes;
    require(written > 0 && written < 1 << 20, || {
        format!("{written} bytes were written: the memory did not go in the middle of a message")
    })?;
    let found = statuses(&outcome.world, FIRST_QP);
    require(found == [WcStatus::RemOpErr, WcStatus::WrFlushErr], || {
        format!("the completions are {found:?}")
    })?;
    Ok(outcome)
}

fn foreign_doorbell<N: NicKind>(setup: &Setup) -> Result<Outcome<N>, WorldError> {
    let mut plan = mrc_plan(BACK_TO_BACK, setup, |_| {})?;
    plan.qps = 2;
    let mut world = connect::<N>(&plan)?;
    let buffers = buffers(&mut world, 1 << 20)?;
    let (mine, other) = (FIRST_QP, FIRST_QP + 1);
    let length = setup.bytes(100_000);
    // The owner has an outstanding work request; the other device rings as if it had posted another one.
    world.post(write(buffers, other, 0, length))?;
    let doorbell = Doorbell {
        qp: other,
        producer: 2,
    };
    let refused = world.ring(SENDER, mine, doorbell);
    require(
        matches!(&refused, Err(WorldError::Doorbell(DoorbellError::NotOwner { page, qp })) if (*page, *qp) == (mine, other)),
        || format!("the NIC answered {refused:?}"),
    )?;
    world.post(write(buffers, mine, 100_000, length))?;
    world.post(write(buffers, other, 200_000, length))?;
    let outcome = all_succeeded(finish(setup, plan, world)?)?;
    require_event(&outcome.world, EventKind::DoorbellRefused, mine)?;
    Ok(outcome)
}

/// Statuses of a queue pair's completions at the sender, in order.
fn statuses<N: NicKind>(world: &PairWorld<N>, qp: u32) -> Vec<WcStatus> {
    let completions = world.host(SENDER).completions().iter();
    let of_qp = completions.filter(|done| done.cqe.qp == qp);
    of_qp.map(|done| done.cqe.status).collect()
}

fn require_event<N: NicKind>(
    world: &PairWorld<N>,
    kind: EventKind,
    source: u32,
) -> Result<(), WorldError> {
    let events = world.host(SENDER).events();
    let found = events
        .iter()
        .any(|(_, event)| (event.kind, event.source) == (kind, source));
    require(found, || {
        format!("there is no event {kind:?} of {source} among {events:?}")
    })
}
