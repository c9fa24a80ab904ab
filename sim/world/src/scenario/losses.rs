//! Packets that do not arrive.

use rand::Rng;
use sim_net::Fate;
use stellar_wire::Opcode;

use super::*;

pub(super) const LOST_SACKS: Scenario = Scenario {
    name: "lost-sacks",
    what: "half of all SACKs are lost, at random",
    run: lost_sacks,
};

pub(super) const LOST_LAST: Scenario = Scenario {
    name: "lost-last-packet",
    what: "the last packet of a message is lost: nothing behind it tells, only the timer",
    run: lost_last,
};

pub(super) const EVERY_PACKET_ONCE: Scenario = Scenario {
    name: "every-packet-lost-once",
    what: "the first transmission of every packet is lost",
    run: every_packet_once,
};

pub(super) const GO_BACK_N: Scenario = Scenario {
    name: "go-back-n",
    what: "RC on one path with 1 % loss",
    run: go_back_n,
};

fn lost_sacks(seed: u64) -> Result<Outcome, WorldError> {
    let plan = mrc_plan(BACK_TO_BACK, seed, |_| {})?;
    let mut world = connect(&plan)?;
    let mut rng = rng(seed);
    on_packets_of(&mut world, plan.receiver, move |bth, _| {
        if bth.opcode == Opcode::MrcSack && rng.random() {
            Fate::Drop
        } else {
            Fate::Pass
        }
    })?;
    post_in_turn(&mut world, &[1 << 20, 100_000])?;
    let outcome = all_succeeded(finish(plan, world)?)?;
    let dropped = outcome.report().fabric.dropped.total();
    require(dropped > 100, || format!("only {dropped} SACKs were lost"))?;
    Ok(outcome)
}

fn lost_last(seed: u64) -> Result<Outcome, WorldError> {
    let plan = mrc_plan(BACK_TO_BACK, seed, |_| {})?;
    let mut world = connect(&plan)?;
    on_packets_of(&mut world, plan.sender, |bth, _| {
        if bth.opcode == Opcode::MrcWriteLast && !bth.retransmit {
            Fate::Drop
        } else {
            Fate::Pass
        }
    })?;
    post_in_turn(&mut world, &[200_000])?;
    let outcome = all_succeeded(finish(plan, world)?)?;
    let sums = outcome.report().requester;
    require((sums.retransmissions, sums.timeouts) == (1, 1), || {
        format!(
            "{} retransmissions and {} timeouts, 1 each expected",
            sums.retransmissions, sums.timeouts
        )
    })?;
    Ok(outcome)
}

fn every_packet_once(seed: u64) -> Result<Outcome, WorldError> {
    let plan = mrc_plan(BACK_TO_BACK, seed, |_| {})?;
    let mut world = connect(&plan)?;
    on_packets_of(&mut world, plan.sender, |bth, _| {
        if bth.retransmit {
            Fate::Pass
        } else {
            Fate::Drop
        }
    })?;
    post_in_turn(&mut world, &[500_000])?;
    let outcome = all_succeeded(finish(plan, world)?)?;
    let sums = outcome.report().requester;
    require(sums.retransmissions * 2 == sums.packets, || {
        format!(
            "{} of {} packets sent are retransmissions, half expected",
            sums.retransmissions, sums.packets
        )
    })?;
    Ok(outcome)
}

fn go_back_n(seed: u64) -> Result<Outcome, WorldError> {
    let mut plan = mrc_plan(BACK_TO_BACK, seed, |_| {})?;
    plan.transport = TransportPlan::Rc;
    let mut world = connect(&plan)?;
    let mut rng = rng(seed);
    on_packets_of(&mut world, plan.sender, move |_, _| {
        if rng.random_bool(0.01) {
            Fate::Drop
        } else {
            Fate::Pass
        }
    })?;
    post_in_turn(&mut world, &[2 << 20, 1, 70_000])?;
    let outcome = all_succeeded(finish(plan, world)?)?;
    let report = outcome.report();
    let (lost, again) = (
        report.fabric.dropped.total(),
        report.requester.retransmissions,
    );
    require(lost > 0 && again > lost, || {
        format!("{lost} packets lost and {again} sent again; going back costs more than was lost")
    })?;
    Ok(outcome)
}
