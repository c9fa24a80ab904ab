//! Cycles per operation.

use hdl_responder::immediate_stash::{CHAIN, CYCLES_PER_COMPLETION};
use hdl_responder::responder::{LATENCY, STORE_SPACING};
use stellar_transport::rx::{QpMode, RECEIVE_WINDOW};

use crate::bench::{Bench, Stimulus, SLOTS};
use crate::functional::mrc;
use crate::pair::Setup;
use crate::scenario::Scenario;

/// Applies the scenario; cycles that its stimuli from `from` on took to be taken.
fn clocks_from(scenario: &Scenario, from: usize) -> (u64, Bench) {
    let mut bench = Bench::new(0, 8);
    scenario.stimuli[..from].iter().for_each(|s| bench.apply(s));
    bench.drain();
    let before = bench.clocks;
    scenario.stimuli[from..].iter().for_each(|s| bench.apply(s));
    (bench.clocks - before, bench)
}

/// Packets of messages without immediate.
fn plain(scenario: &mut Scenario, at: usize, packets: u32) {
    scenario.pairs[at].message(packets, 256, None);
}

#[test]
fn packets_of_different_queue_pairs_pass_one_per_clock() {
    let mut scenario = Scenario::new([mrc(1); 4], 1);
    (0..4).for_each(|at| plain(&mut scenario, at, 300));
    let from = scenario.stimuli.len();
    for n in 0..1200 {
        scenario.send(n % 4, 0);
    }
    let (clocks, mut bench) = clocks_from(&scenario, from);
    assert_eq!(clocks, 1200);
    bench.idle(LATENCY as u32);
    assert_eq!(bench.outputs.answers, scenario.expected.answers);
}

#[test]
fn an_answer_leaves_after_the_latency_said() {
    let mut scenario = Scenario::new([mrc(1); 4], 1);
    plain(&mut scenario, 0, 1);
    let from = scenario.stimuli.len();
    scenario.send(0, 0);
    let (_, mut bench) = clocks_from(&scenario, from);
    bench.idle(LATENCY as u32 - 1);
    assert_eq!(bench.outputs.answers.len(), 0);
    bench.idle(1);
    assert_eq!(bench.outputs.answers.len(), 1);
}

#[test]
fn packets_of_one_queue_pair_pass_one_per_clock() {
    [1, 16].into_iter().for_each(pass_one_per_clock);
}

fn pass_one_per_clock(sack_every: u8) {
    let setup = Setup {
        sack_every,
        ..mrc(1)
    };
    let mut scenario = Scenario::new([setup; 4], 1);
    plain(&mut scenario, 2, 500);
    let from = scenario.stimuli.len();
    for n in 0..500 {
        // Packets are in order, or swapped in pairs.
        scenario.send(2, if n < 250 { 0 } else { (n + 1) % 2 });
    }
    let (clocks, mut bench) = clocks_from(&scenario, from);
    assert_eq!(clocks, 500);
    bench.idle(LATENCY as u32);
    assert_eq!(bench.outputs.answers, scenario.expected.answers);
}

#[test]
fn packets_beside_a_write_with_immediate_that_waits_pass_one_per_clock() {
    let mut scenario = Scenario::new([mrc(1); 4], 1);
    // The first immediate is delivered, the second waits for a message whose first packet is missing.
    scenario.pairs[2].message(1, 4, Some(7));
    plain(&mut scenario, 2, 500);
    scenario.pairs[2].message(1, 4, Some(8));
    scenario.send(2, 0);
    scenario.send(2, 500);
    let from = scenario.stimuli.len();
    for _ in 0..490 {
        scenario.send(2, 1);
    }
    let (clocks, _) = clocks_from(&scenario, from);
    assert_eq!(clocks, 490);
}

#[test]
fn writes_with_immediate_of_one_queue_pair_pass_one_per_clock() {
    let mut scenario = Scenario::new([mrc(1); 4], 1);
    let from = scenario.stimuli.len();
    for n in 0..600 {
        scenario.pairs[1].message(1, 256, Some(n));
        scenario.send(1, 0);
    }
    assert_eq!(scenario.expected.completions.len(), 600);
    let (clocks, mut bench) = clocks_from(&scenario, from);
    assert_eq!(clocks, 600);
    bench.drain();
    assert_eq!(bench.outputs.completions, scenario.expected.completions);
}

/// Two of them come in the wrong order, always: the first is stored, and the second delivers it.
#[test]
fn writes_with_immediate_of_one_queue_pair_out_of_order_take_the_clocks_said() {
    let mut scenario = Scenario::new([mrc(1); 4], 1);
    let from = scenario.stimuli.len();
    for n in 0..300 {
        scenario.pairs[1].message(1, 256, Some(2 * n));
        scenario.pairs[1].message(1, 256, Some(2 * n + 1));
        scenario.send(1, 1);
        scenario.send(1, 0);
    }
    let (clocks, mut bench) = clocks_from(&scenario, from);
    let each = STORE_SPACING + 1 + CHAIN + CYCLES_PER_COMPLETION;
    assert!(clocks <= 300 * each as u64, "{clocks} clocks");
    bench.drain();
    assert_eq!(bench.outputs.completions, scenario.expected.completions);
}

/// Two ports, one of which is some messages ahead of the other: its messages are stored, and those of the other deliver one of them each. With a lead of one message,
/// what is stored is read at once, as in the test above.
#[test]
fn writes_with_immediate_of_one_queue_pair_from_two_ports_take_two_clocks_each() {
    for lead in 2..usize::from(SLOTS) / 2 {
        let mut scenario = Scenario::new([mrc(1); 4], 1);
        let from = scenario.stimuli.len();
        // Pending: the other port's messages that are late, and behind them a pair of both ports.
        for n in 0..300 + lead {
            scenario.pairs[1].message(1, 256, Some(2 * n as u32));
            scenario.pairs[1].message(1, 256, Some(2 * n as u32 + 1));
            scenario.send(1, n.min(lead));
            if n >= lead {
                scenario.send(1, 0);
            }
        }
        let packets = scenario.stimuli.len() - from;
        let (clocks, mut bench) = clocks_from(&scenario, from);
        assert!(
            clocks <= 2 * packets as u64,
            "lead {lead}: {clocks} clocks for {packets} packets"
        );
        bench.drain();
        assert_eq!(bench.outputs.completions, scenario.expected.completions);
    }
}

/// Cycles from an operation that stands at an idle block until its answer is out.
fn clocks_until_answered(scenario: &Scenario) -> u32 {
    let last = scenario.stimuli.len() - 1;
    assert!(matches!(scenario.stimuli[last], Stimulus::Outcome(_)));
    let (_, mut bench) = clocks_from(scenario, last);
    let answered = scenario.expected.answers.len();
    let mut clocks = 1;
    while bench.outputs.answers.len() < answered {
        bench.idle(1);
        clocks += 1;
        assert!(clocks < 1000, "no answer");
    }
    clocks
}

#[test]
fn a_write_with_immediate_in_order_is_not_held_up() {
    let mut scenario = Scenario::new([mrc(1); 4], 1);
    scenario.pairs[0].message(1, 4, Some(9));
    scenario.send(0, 0);
    assert_eq!(scenario.expected.completions.len(), 1);
    assert_eq!(clocks_until_answered(&scenario) as usize, LATENCY + 1);
}

#[test]
fn writes_with_immediate_of_different_queue_pairs_pass_one_per_clock() {
    let mut scenario = Scenario::new([mrc(1); 4], 1);
    let from = scenario.stimuli.len();
    for n in 0..1200 {
        scenario.pairs[n % 4].message(1, 256, Some(n as u32));
        scenario.send(n % 4, 0);
    }
    assert_eq!(scenario.expected.completions.len(), 1200);
    let (clocks, _) = clocks_from(&scenario, from);
    // A completion leaves in every cycle too.
    assert_eq!(clocks, 1200);
}

/// Cycles between two packets of 256 bytes with immediate, if both ports of 200 Gb/s are full of them. On the wire a packet has beside its payload: preamble
/// and gap, 20 bytes; Ethernet, IPv6, UDP, BTH, RETH, immediate and iCRC, 14 + 40 + 8 + 12 + 16 + 4 + 4; METH, 4; FCS, 4.
fn clocks_of_packets(packets: usize) -> f64 {
    let bits = packets as f64 * 8.0 * (256.0 + 20.0 + 98.0 + 4.0 + 4.0);
    bits / 400.0 * 0.25
}

/// An incast of WRITEs with immediate in any order. The queue of outcomes before the responder, which all queue pairs share, must not fill up: the lanes would drop packets
/// of every queue pair.
#[test]
fn writes_with_immediate_out_of_order_pass_at_the_rate_of_both_ports() {
    for reach in [2, 3, usize::from(SLOTS)] {
        let mut scenario = Scenario::new([mrc(1); 4], 1);
        plain(&mut scenario, 3, 200);
        let from = scenario.stimuli.len();
        for round in 0..200 {
            for at in 0..3 {
                while scenario.pairs[at].pending.len() < reach {
                    scenario.pairs[at].message(1, 256, Some(round));
                }
                // The last of a group comes first.
                let group = round as usize % reach;
                scenario.send(at, reach - 1 - group);
            }
            // A bystander.
            scenario.send(3, 0);
        }
        let packets = scenario.stimuli.len() - from;
        let (clocks, bench) = clocks_from(&scenario, from);
        assert!(bench.outputs.completions.len() > 500);
        let arrive = clocks_of_packets(packets);
        println!("reach {reach}: {clocks} cycles, arrive in {arrive:.0}");
        assert!(
            clocks as f64 <= arrive,
            "reach {reach}: {clocks} clocks for the packets of {arrive}"
        );
    }
}

/// In which order the packets of a message arrive.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// The last one first.
    LastFirst,
    /// From the last one to the first.
    Backwards,
    /// By two ports in turn, one of which is so many packets behind.
    TwoPorts(usize),
}

/// Which packet that has not been sent comes next, if `gone` of `packets` have.
fn next_of(order: Order, packets: usize, gone: usize) -> usize {
    match order {
        Order::LastFirst if gone > 0 => 0,
        Order::LastFirst | Order::Backwards => packets - 1 - gone,
        // Not more messages than may be under way.
        Order::TwoPorts(behind) => gone % 2 * behind.min(3 * packets),
    }
}

/// Cycles of WRITEs with immediate of `packets` packets each from `senders` queue pairs, with a bystander's packets between them, and cycles in which these packets arrive.
fn clocks_of_incast(senders: usize, packets: usize, order: Order) -> (u64, f64) {
    let mut scenario = Scenario::new([mrc(1); 4], 1);
    let rounds = 600 / packets * packets;
    plain(&mut scenario, 3, rounds as u32);
    let from = scenario.stimuli.len();
    for round in 0..rounds {
        for at in 0..senders {
            while scenario.pairs[at].pending.len() < packets + 30 {
                scenario.pairs[at].message(packets as u32, 256, Some(round as u32));
            }
            assert!(scenario.send(at, next_of(order, packets, round % packets)));
        }
        scenario.send(3, 0);
    }
    let last = scenario.stimuli.len();
    scenario.tell_counts();
    let mut bench = Bench::new(0, 8);
    scenario.stimuli[..from].iter().for_each(|s| bench.apply(s));
    bench.drain();
    let before = bench.clocks;
    scenario.stimuli[from..last]
        .iter()
        .for_each(|s| bench.apply(s));
    let clocks = bench.clocks - before;
    scenario.stimuli[last..].iter().for_each(|s| bench.apply(s));
    bench.drain();
    let delivered = scenario.expected.completions.len();
    assert!(delivered + senders * usize::from(SLOTS) >= senders * rounds / packets);
    assert_eq!(bench.outputs, scenario.expected);
    (clocks, clocks_of_packets(last - from))
}

/// The last packets of the messages overtake others. The queue of outcomes before the responder must not fill up, and every immediate counts and is completed in order.
#[test]
fn messages_of_several_packets_out_of_order_pass_at_the_rate_of_both_ports() {
    let mut late = vec![];
    for packets in [2, 3, 4, 16, 65, 200] {
        for order in [
            Order::LastFirst,
            Order::Backwards,
            Order::TwoPorts(1),
            Order::TwoPorts(7),
            Order::TwoPorts(30),
        ] {
            for senders in 1..4 {
                let (clocks, arrive) = clocks_of_incast(senders, packets, order);
                println!("{senders} queue pairs, {packets} packets, {order:?}: {clocks} cycles, arrive in {arrive:.0}");
                if clocks as f64 > arrive {
                    late.push((senders, packets, order, clocks, arrive));
                }
            }
        }
    }
    assert!(late.is_empty(), "{late:#?}");
}

/// The last packet of a message that fills the window, which starts in the last bit of a word, comes first. Its missing packets are counted in 65 words, while other packets pass.
#[test]
fn the_longest_count_stops_nobody() {
    let mut scenario = Scenario::new([mrc(1); 4], 1);
    let to_word_end = 63 - (mrc(1).initial_psn & 63);
    plain(&mut scenario, 0, to_word_end);
    for _ in 0..to_word_end {
        scenario.send(0, 0);
    }
    scenario.pairs[0].message(RECEIVE_WINDOW, 256, Some(9));
    plain(&mut scenario, 3, 40);
    let from = scenario.stimuli.len();
    assert!(scenario.send(0, RECEIVE_WINDOW as usize - 1));
    for _ in 0..31 {
        scenario.send(3, 0);
    }
    scenario.tell_counts();
    let (clocks, mut bench) = clocks_from(&scenario, from);
    assert_eq!(clocks, 32 + 4);
    bench.drain();
    assert_eq!(bench.outputs.thresholds, scenario.expected.thresholds);
}

/// Cycles until the answer to a packet before `waiting` WRITEs with immediate. The packet is one of them itself, or a plain WRITE.
fn clocks_of_chain(waiting: u32, own: Option<u32>) -> usize {
    let mut scenario = Scenario::new([mrc(1); 4], 1);
    // Packets of other messages have the number of the first one, so it is not to wait in the stash.
    scenario.pairs[0].message(1, 4, Some(7));
    scenario.send(0, 0);
    scenario.pairs[0].message(1, 4, own);
    (0..waiting).for_each(|n| scenario.pairs[0].message(1, 4, Some(n)));
    (0..waiting).for_each(|_| {
        scenario.send(0, 1);
    });
    assert_eq!(scenario.expected.completions.len(), 1);
    scenario.send(0, 0);
    let delivered = 1 + waiting as usize + usize::from(own.is_some());
    assert_eq!(scenario.expected.completions.len(), delivered);
    clocks_until_answered(&scenario) as usize
}

#[test]
fn completions_that_were_held_up_leave_one_per_clock() {
    for waiting in 1..u32::from(SLOTS) {
        let stalled = CHAIN + waiting as usize * CYCLES_PER_COMPLETION;
        assert_eq!(clocks_of_chain(waiting, Some(9)), LATENCY + 1 + stalled);
        assert_eq!(clocks_of_chain(waiting, None), LATENCY + 1 + stalled);
    }
}

/// Someone replays an old packet at the rate of the responder.
#[test]
fn a_replayed_packet_is_answered_once_in_an_epoch() {
    for mode in [QpMode::Mrc, QpMode::Rc] {
        let mut scenario = Scenario::new([Setup { mode, ..mrc(1) }; 4], 1);
        plain(&mut scenario, 0, 1);
        scenario.send(0, 0);
        let from = scenario.stimuli.len();
        for _ in 0..500 {
            scenario.send_other(0, |headers, epsn| headers.psn = epsn.previous());
        }
        let (clocks, mut bench) = clocks_from(&scenario, from);
        bench.drain();
        assert_eq!(bench.outputs.answers, scenario.expected.answers);
        // Packets of one RC queue pair pass every third cycle.
        assert!(clocks <= 1500, "{clocks} clocks");
        assert_eq!(bench.outputs.answers.len(), 2);
    }
}
