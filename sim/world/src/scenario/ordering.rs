//! Packets that arrive in another order, or more than once.

use rand::seq::SliceRandom;
use sim_net::{Fate, Time};
use stellar_transport::rx::DropReason;

use super::*;

impl<N: NicKind> Scenario<N> {
    pub(super) const PERMUTATION: Self = Self {
        name: "permutation",
        what: "every block of 1,024 packets arrives in a random order",
        run: permutation::<N>,
    };

    pub(super) const DUPLICATES: Self = Self {
        name: "duplicates",
        what: "every packet arrives twice, data and acknowledgements",
        run: duplicates::<N>,
    };
}

/// log2 of the bytes of a packet.
const MTU_LOG2: u8 = 10;
/// Packets in a block: the receive window.
const BLOCK: usize = 1024;
/// Time between two arrivals. It decides the order, because a NIC sends packets faster and the line carries one in an eighth of this time.
const SLOT: Time = 200_000;

fn permutation<N: NicKind>(setup: &Setup) -> Result<Outcome<N>, WorldError> {
    let mut plan = mrc_plan(LONG_CABLES, setup, |mrc| {
        mrc.early_loss = 0;
        mrc.rto = stellar_transport::time::Ticks::from_us(1_000);
    })?;
    plan.mtu_log2 = MTU_LOG2;
    let mut world = connect::<N>(&plan)?;
    let mut order: Vec<usize> = (0..BLOCK).collect();
    order.shuffle(&mut rng(setup.seed));
    on_packets_of(&mut world, plan.sender, move |_, number| {
        Fate::Delay(order[number as usize % BLOCK] as Time * SLOT)
    })?;
    post_in_turn(
        &mut world,
        &[setup.bytes(4 << 20).max((BLOCK << MTU_LOG2) as u32)],
    )?;
    let mut outcome = all_succeeded(finish(setup, plan, world)?)?;
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

fn duplicates<N: NicKind>(setup: &Setup) -> Result<Outcome<N>, WorldError> {
    let plan = mrc_plan(BACK_TO_BACK, setup, |_| {})?;
    let mut world = connect::<N>(&plan)?;
    for host in [plan.sender, plan.receiver] {
        on_packets_of(&mut world, host, |_, _| Fate::Duplicate)?;
    }
    post_in_turn(&mut world, &[setup.bytes(1 << 20), 4096, 1])?;
    let mut outcome = all_succeeded(finish(setup, plan, world)?)?;
    let sent = outcome.report().requester.packets;
    let counters = outcome.world.host(RECEIVER).nic().rx_counters();
    let twice = counters.reason(DropReason::Duplicate);
    require(twice == sent, || {
        format!("{sent} packets sent, {twice} seen a second time")
    })?;
    Ok(outcome)
}
