//! Lost packets.

use rand::Rng;
use sim_net::Fate;
use stellar_transport::time::Ticks;
use stellar_wire::Opcode;

use super::*;

impl<N: NicKind> Scenario<N> {
    pub(super) const LOST_SACKS: Self = Self {
        name: "lost-sacks",
        what: "half of all SACKs are lost, at random",
        run: lost_sacks::<N>,
    };

    pub(super) const LOST_LAST: Self = Self {
        name: "lost-last-packet",
        what: "the last packet of a message is lost: nothing behind it tells, only the answer to a probe",
        run: lost_last::<N>,
    };

    pub(super) const EVERY_PACKET_ONCE: Self = Self {
        name: "every-packet-lost-once",
        what: "the first transmission of every packet is lost",
        run: every_packet_once::<N>,
    };

    pub(super) const GO_BACK_N: Self = Self {
        name: "go-back-n",
        what: "RC on one path with 1 % loss",
        run: go_back_n::<N>,
    };
}

fn lost_sacks<N: NicKind>(setup: &Setup) -> Result<Outcome<N>, WorldError> {
    let plan = mrc_plan(BACK_TO_BACK, setup, |_| {})?;
    let mut world = connect::<N>(&plan)?;
    let mut rng = rng(setup.seed);
    on_packets_of(&mut world, plan.receiver, move |bth, _| {
        if bth.opcode == Opcode::MrcSack && rng.random() {
            Fate::Drop
        } else {
            Fate::Pass
        }
    })?;
    post_in_turn(&mut world, &[setup.bytes(1 << 20), setup.bytes(100_000)])?;
    let mut outcome = all_succeeded(finish(setup, plan, world)?)?;
    let report = outcome.report();
    let (taken, dropped) = (
        report.requester.acknowledgements,
        report.fabric.dropped.total(),
    );
    require(dropped * 9 > taken * 5, || {
        format!("only {dropped} SACKs were lost, {taken} were not")
    })?;
    Ok(outcome)
}

fn lost_last<N: NicKind>(setup: &Setup) -> Result<Outcome<N>, WorldError> {
    let plan = mrc_plan(BACK_TO_BACK, setup, |_| {})?;
    let mut world = connect::<N>(&plan)?;
    on_packets_of(&mut world, plan.sender, |bth, _| {
        if bth.opcode == Opcode::MrcWriteLast && !bth.retransmit {
            Fate::Drop
        } else {
            Fate::Pass
        }
    })?;
    post_in_turn(&mut world, &[setup.bytes(200_000)])?;
    let mut outcome = all_succeeded(finish(setup, plan, world)?)?;
    let sums = outcome.report().requester;
    require((sums.retransmissions, sums.timeouts) == (1, 0), || {
        format!(
            "{} retransmissions and {} timeouts, 1 and none expected",
            sums.retransmissions, sums.timeouts
        )
    })?;
    Ok(outcome)
}

fn every_packet_once<N: NicKind>(setup: &Setup) -> Result<Outcome<N>, WorldError> {
    let plan = mrc_plan(BACK_TO_BACK, setup, |mrc| mrc.rto = Ticks::from_us(50))?;
    let mut world = connect::<N>(&plan)?;
    on_packets_of(&mut world, plan.sender, |bth, _| {
        if bth.retransmit {
            Fate::Pass
        } else {
            Fate::Drop
        }
    })?;
    post_in_turn(&mut world, &[setup.bytes(500_000)])?;
    let mut outcome = all_succeeded(finish(setup, plan, world)?)?;
    let sums = outcome.report().requester;
    require(sums.retransmissions * 2 == sums.packets, || {
        format!(
            "{} of {} packets sent are retransmissions, half expected",
            sums.retransmissions, sums.packets
        )
    })?;
    Ok(outcome)
}

fn go_back_n<N: NicKind>(setup: &Setup) -> Result<Outcome<N>, WorldError> {
    let mut plan = mrc_plan(BACK_TO_BACK, setup, |_| {})?;
    plan.transport = TransportPlan::Rc;
    let mut world = connect::<N>(&plan)?;
    let mut rng = rng(setup.seed);
    on_packets_of(&mut world, plan.sender, move |_, _| {
        if rng.random_bool(0.01) {
            Fate::Drop
        } else {
            Fate::Pass
        }
    })?;
    // This length is not reduced, because 1 % of fewer packets may be no packet at all.
    post_in_turn(&mut world, &[2 << 20, 1, 70_000])?;
    let mut outcome = all_succeeded(finish(setup, plan, world)?)?;
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
