//! Packets in another order, or more than once.

use rand::seq::SliceRandom;
use sim_net::{Fate, Time};
use stellar_transport::rx::DropReason;

use super::*;
use crate::Nic;

pub(super) const PERMUTATION: Scenario = Scenario {
    name: "permutation",
    what: "every block of 1,024 packets arrives in a random order",
    run: permutation,
};

pub(super) const DUPLICATES: Scenario = Scenario {
    name: "duplicates",
    what: "every packet arrives twice, data and acknowledgements",
    run: duplicates,
};

/// Packets in a block: the receive window.
const BLOCK: usize = 1024;
/// Time a packet of 1 KiB takes on a 200G line, less than which two of them cannot swap places.
const SLOT: Time = 50_000;

fn permutation(seed: u64) -> Result<Outcome, WorldError> {
    let mut plan = mrc_plan(LONG_CABLES, seed, |mrc| {
        mrc.early_loss = 0;
        mrc.rto = stellar_transport::time::Ticks::from_us(1_000);
    })?;
    plan.mtu_log2 = 10;
    let mut world = connect(&plan)?;
    let mut order: Vec<usize> = (0..BLOCK).collect();
    order.shuffle(&mut rng(seed));
    on_packets_of(&mut world, plan.sender, move |_, number| {
        // Both planes send in step, so packet n leaves n / 2 slots after the first.
        let place = number as usize % BLOCK;
        Fate::Delay((BLOCK + order[place] - place) as Time * SLOT / 2)
    })?;
    post_in_turn(&mut world, &[4 << 20])?;
    let outcome = all_succeeded(finish(plan, world)?)?;
    let report = outcome.report();
    require(report.requester.retransmissions == 0, || {
        format!(
            "{} retransmissions without loss",
            report.requester.retransmissions
        )
    })?;
    require(report.out_of_order.max > BLOCK as u32 * 3 / 4, || {
        format!("packets came only {} out of order", report.out_of_order.max)
    })?;
    Ok(outcome)
}

fn duplicates(seed: u64) -> Result<Outcome, WorldError> {
    let plan = mrc_plan(BACK_TO_BACK, seed, |_| {})?;
    let mut world = connect(&plan)?;
    for host in [plan.sender, plan.receiver] {
        on_packets_of(&mut world, host, |_, _| Fate::Duplicate)?;
    }
    post_in_turn(&mut world, &[1 << 20, 4096, 1])?;
    let outcome = all_succeeded(finish(plan, world)?)?;
    let sent = outcome.report().requester.packets;
    let counters = outcome.world.host(RECEIVER).nic().rx_counters();
    let twice = counters.reason(DropReason::Duplicate);
    require(twice == sent, || {
        format!("{sent} packets sent, {twice} seen a second time")
    })?;
    Ok(outcome)
}
