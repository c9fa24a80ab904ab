//! PSN wrap, a full window, marks.

use std::sync::atomic::Ordering;
use std::sync::OnceLock;

use rand::Rng;
use sim_net::Fate;

use super::*;

impl<N: NicKind> Scenario<N> {
    pub(super) const PSN_WRAP: Self = Self {
        name: "psn-wrap",
        what: "PSNs pass 2^24 in the middle of a message, with 2 % loss",
        run: psn_wrap::<N>,
    };

    pub(super) const WINDOW_FULL: Self = Self {
        name: "window-full",
        what: "the receiver allows 16 packets on a long way",
        run: window_full::<N>,
    };

    pub(super) const ECN_EVERYWHERE: Self = Self {
        name: "ecn-on-every-packet",
        what: "every data packet arrives with CE set",
        run: ecn_everywhere::<N>,
    };
}

/// Number of packets that the receiver allows in [`WINDOW_FULL`].
const MPR: u16 = 16;

fn psn_wrap<N: NicKind>(setup: &Setup) -> Result<Outcome<N>, WorldError> {
    let mut plan = mrc_plan(BACK_TO_BACK, setup, |_| {})?;
    plan.first_psn = (1 << 24) - 100;
    plan.mtu_log2 = 10;
    let mut world = connect::<N>(&plan)?;
    let mut rng = rng(setup.seed);
    on_packets_of(&mut world, plan.sender, move |_, _| {
        if rng.random_bool(0.02) {
            Fate::Drop
        } else {
            Fate::Pass
        }
    })?;
    post_in_turn(&mut world, &[50_000, setup.bytes(300_000).max(100_000), 5])?;
    let mut outcome = all_succeeded(finish(setup, plan, world)?)?;
    let again = outcome.report().requester.retransmissions;
    require(again > 0, || "nothing was lost".into())?;
    Ok(outcome)
}

fn window_full<N: NicKind>(setup: &Setup) -> Result<Outcome<N>, WorldError> {
    let plan = mrc_plan(LONG_CABLES, setup, |mrc| mrc.mpr = MPR)?;
    let mut world = connect::<N>(&plan)?;
    let unanswered = count_unanswered(&mut world, &plan)?;
    post_in_turn(&mut world, &[setup.bytes(1 << 20)])?;
    let outcome = all_succeeded(finish(setup, plan, world)?)?;
    let count = unanswered.get().copied();
    require(count == Some(MPR.into()), || {
        format!("{count:?} packets were sent before the first answer, {MPR} expected")
    })?;
    require_full_flight(&outcome)?;
    Ok(outcome)
}

/// Data packets that have left the sender when the first acknowledgement leaves the receiver. On this long link that is a whole window.
fn count_unanswered<N: NicKind>(
    world: &mut PairWorld<N>,
    plan: &Plan,
) -> Result<Arc<OnceLock<u64>>, WorldError> {
    let (sent, unanswered) = (Arc::new(AtomicU64::new(0)), Arc::new(OnceLock::new()));
    let so_far = Arc::clone(&sent);
    on_packets_of(world, plan.sender, move |bth, _| {
        sent.fetch_add(bth.opcode.is_write().into(), Ordering::Relaxed);
        Fate::Pass
    })?;
    let first = Arc::clone(&unanswered);
    on_packets_of(world, plan.receiver, move |_, _| {
        first.get_or_init(|| so_far.load(Ordering::Relaxed));
        Fate::Pass
    })?;
    Ok(unanswered)
}

/// The window was full and never exceeded. Only a NIC that reports its bytes in flight can prove this.
fn require_full_flight<N: NicKind>(outcome: &Outcome<N>) -> Result<(), WorldError> {
    if !N::SHOWS_EVERY_PACKET {
        return Ok(());
    }
    let full = u32::from(MPR) << outcome.plan.mtu_log2;
    let samples = outcome.world.record().samples();
    let most = samples.iter().map(|sample| sample.in_flight).max();
    require(most == Some(full), || {
        format!("at most {most:?} bytes were in flight, {full} expected")
    })
}

fn ecn_everywhere<N: NicKind>(setup: &Setup) -> Result<Outcome<N>, WorldError> {
    let plan = mrc_plan(LEAF_SPINE, setup, |_| {})?;
    let mut world = connect::<N>(&plan)?;
    on_packets_of(&mut world, plan.sender, |_, _| Fate::MarkCe)?;
    post_in_turn(&mut world, &[setup.bytes(1 << 20); 2])?;
    let mut outcome = all_succeeded(finish(setup, plan, world)?)?;
    let sums = outcome.report().requester;
    require(sums.ecn_marks == sums.packets, || {
        format!("{} packets and {} marks", sums.packets, sums.ecn_marks)
    })?;
    require(sums.retransmissions == 0, || {
        format!("{} retransmissions without loss", sums.retransmissions)
    })?;
    Ok(outcome)
}
