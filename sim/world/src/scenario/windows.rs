//! PSN wrap, a full window, marks.

use rand::Rng;
use sim_net::Fate;

use super::*;

pub(super) const PSN_WRAP: Scenario = Scenario {
    name: "psn-wrap",
    what: "PSNs pass 2^24 in the middle of a message, with 2 % loss",
    run: psn_wrap,
};

pub(super) const WINDOW_FULL: Scenario = Scenario {
    name: "window-full",
    what: "the receiver allows 16 packets on a long way",
    run: window_full,
};

pub(super) const ECN_EVERYWHERE: Scenario = Scenario {
    name: "ecn-on-every-packet",
    what: "every data packet arrives with CE set",
    run: ecn_everywhere,
};

/// Packets the receiver allows in [`WINDOW_FULL`].
const MPR: u16 = 16;

fn psn_wrap(seed: u64) -> Result<Outcome, WorldError> {
    let mut plan = mrc_plan(BACK_TO_BACK, seed, |_| {})?;
    plan.first_psn = (1 << 24) - 100;
    plan.mtu_log2 = 10;
    let mut world = connect(&plan)?;
    let mut rng = rng(seed);
    on_packets_of(&mut world, plan.sender, move |_, _| {
        if rng.random_bool(0.02) {
            Fate::Drop
        } else {
            Fate::Pass
        }
    })?;
    post_in_turn(&mut world, &[50_000, 300_000, 5])?;
    let outcome = all_succeeded(finish(plan, world)?)?;
    let again = outcome.report().requester.retransmissions;
    require(again > 0, || "nothing was lost".into())?;
    Ok(outcome)
}

fn window_full(seed: u64) -> Result<Outcome, WorldError> {
    let plan = mrc_plan(LONG_CABLES, seed, |mrc| mrc.mpr = MPR)?;
    let mut world = connect(&plan)?;
    post_in_turn(&mut world, &[1 << 20])?;
    let outcome = all_succeeded(finish(plan, world)?)?;
    let full = u32::from(MPR) << outcome.plan.mtu_log2;
    let moments = outcome.world.record().moments();
    let most = moments.iter().map(|moment| moment.in_flight).max();
    require(most == Some(full), || {
        format!("at most {most:?} bytes were in flight, {full} expected")
    })?;
    Ok(outcome)
}

fn ecn_everywhere(seed: u64) -> Result<Outcome, WorldError> {
    let plan = mrc_plan(LEAF_SPINE, seed, |_| {})?;
    let mut world = connect(&plan)?;
    on_packets_of(&mut world, plan.sender, |_, _| Fate::MarkCe)?;
    post_in_turn(&mut world, &[1 << 20, 1 << 20])?;
    let outcome = all_succeeded(finish(plan, world)?)?;
    let sums = outcome.report().requester;
    require(sums.ecn_marks == sums.packets, || {
        format!("{} packets and {} marks", sums.packets, sums.ecn_marks)
    })?;
    require(sums.retransmissions == 0, || {
        format!("{} retransmissions without loss", sums.retransmissions)
    })?;
    Ok(outcome)
}
