//! MRC: a plane that is dead at the far end, while the own port is up.

use stellar_transport::endpoint::TransportConfig;
use stellar_transport::requester::coalesce_from;
use stellar_transport::responder::default_sack_every;
use stellar_transport::spray::Policy;
use stellar_wire::host::WcStatus;
use stellar_wire::Opcode;

use crate::endpoint::network::{Fate, Seen};
use crate::endpoint::pair::{mrc, perfect, qp, spray, write, Pair};

const QP: u32 = 5;
/// log2 of the path MTU.
const MTU_LOG2: u8 = 12;
const MESSAGE: u32 = 64 << 10;
/// Messages that are posted and have not completed, unless a test says otherwise.
const OUTSTANDING: usize = 8;

/// A pair with the registers of the driver's defaults.
fn pair(policy: Policy) -> Pair {
    let mut pair = Pair::new(perfect);
    pair.connect(|card| {
        let mut config = mrc(MTU_LOG2);
        config.spray = spray(policy, 128, 3);
        config.early_loss = 128;
        let sack_every = default_sack_every(1 << MTU_LOG2);
        config.coalesce_from = coalesce_from(config.mpr, sack_every, 1 << MTU_LOG2);
        let mut qp = qp(card, QP, MTU_LOG2, TransportConfig::Mrc(config));
        qp.sack_every = sack_every;
        qp
    });
    pair
}

/// Sends messages one after the other. Returns the times that they took in ticks, in ascending order, and the time for all.
fn send(pair: &mut Pair, messages: usize) -> (Vec<u64>, u64) {
    send_with(pair, messages, OUTSTANDING)
}

/// Like [`send`], with `outstanding` messages at a time.
fn send_with(pair: &mut Pair, messages: usize, outstanding: usize) -> (Vec<u64>, u64) {
    let began = pair.now;
    let mut posted = Vec::new();
    let mut took = Vec::new();
    while took.len() < messages {
        while posted.len() < messages.min(took.len() + outstanding) {
            let message = write(0, 0, MESSAGE, posted.len() as u64);
            pair.cards[0].post(QP, message).expect("room");
            posted.push(pair.now);
        }
        pair.run_for(100);
        for end in pair.completions(0, QP) {
            assert_eq!(end.status, WcStatus::Success);
            took.push(pair.now - posted[end.wr_id as usize]);
        }
    }
    took.sort_unstable();
    (took, pair.now - began)
}

/// The time that one message in a hundred exceeds.
fn p99(took: &[u64]) -> u64 {
    took[took.len() * 99 / 100]
}

/// Swallows what plane 1 carries, both ways.
fn swallow(seen: &Seen<'_>) -> Fate {
    Fate::lost_if(seen.port == 1)
}

fn packets_on(pair: &Pair, plane: usize) -> u64 {
    let loads = pair.cards[0].path_loads(QP).expect("loads");
    loads.iter().skip(plane).step_by(2).sum()
}

#[test]
fn new_packets_leave_a_plane_that_does_not_answer_and_return_when_it_does() {
    const MESSAGES: usize = 600;
    for policy in [Policy::Obs, Policy::Mixed] {
        let mut alone = pair(policy);
        for card in &mut alone.cards {
            card.set_port(1, false);
        }
        let (took_alone, time_alone) = send(&mut alone, MESSAGES);

        let mut pair = pair(policy);
        send(&mut pair, 20);
        pair.network.set_rule(swallow);
        let (took, time) = send(&mut pair, MESSAGES);
        let share = time_alone as f64 / time as f64;
        println!(
            "{policy:?}: {share:.3} of one plane's goodput, p99 {} ticks, {} with one plane",
            p99(&took),
            p99(&took_alone)
        );
        assert!(
            share >= 0.9,
            "{policy:?}: {share:.3} of one plane's goodput"
        );
        assert!(
            p99(&took) <= p99(&took_alone) * 11 / 10,
            "{policy:?}: {} ticks, {} with one plane",
            p99(&took),
            p99(&took_alone)
        );

        pair.network.set_rule(perfect);
        let before = [0, 1].map(|plane| packets_on(&pair, plane));
        send(&mut pair, 100);
        let [zero, one] = [0, 1].map(|plane| packets_on(&pair, plane) - before[plane]);
        assert!(one * 5 > zero * 4, "{policy:?}: {zero} packets and {one}");
    }
}

#[test]
fn a_plane_returns_although_each_message_is_over_before_a_packet_can_be_late() {
    let mut pair = pair(Policy::Obs);
    send_with(&mut pair, 20, 1);
    pair.network.set_rule(swallow);
    send_with(&mut pair, 60, 1);
    let on_dead = packets_on(&pair, 1);
    send_with(&mut pair, 20, 1);
    assert_eq!(packets_on(&pair, 1), on_dead, "the plane is not silent");
    pair.network.set_rule(perfect);
    let before = [0, 1].map(|plane| packets_on(&pair, plane));
    send_with(&mut pair, 40, 1);
    let [zero, one] = [0, 1].map(|plane| packets_on(&pair, plane) - before[plane]);
    assert!(one * 5 > zero * 4, "{zero} packets and {one}");
}

#[test]
fn losses_here_and_there_silence_no_plane() {
    let mut pair = pair(Policy::Obs);
    let mut n = 0u32;
    pair.network.set_rule(move |_| {
        n += 1;
        Fate::lost_if(n.wrapping_mul(2_654_435_761) >> 16 & 31 == 0)
    });
    send(&mut pair, 200);
    let [zero, one] = [0, 1].map(|plane| packets_on(&pair, plane));
    assert!(
        zero.abs_diff(one) * 20 < zero + one,
        "{zero} packets and {one}"
    );
}

#[test]
fn two_planes_that_do_not_answer_both_come_back() {
    let mut pair = pair(Policy::Obs);
    let heals = pair.now + 60_000;
    pair.network
        .set_rule(move |seen| Fate::lost_if(seen.now < heals && !seen.is(Opcode::MrcProbe)));
    let (took, _) = send(&mut pair, 20);
    assert!(took.last() > Some(&60_000));
    let before = [0, 1].map(|plane| packets_on(&pair, plane));
    send(&mut pair, 100);
    let [zero, one] = [0, 1].map(|plane| packets_on(&pair, plane) - before[plane]);
    assert!(
        one * 5 > zero * 4 && zero * 5 > one * 4,
        "{zero} packets and {one}"
    );
}
