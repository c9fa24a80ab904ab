//! Operation by operation against the reference.

use proptest::prelude::*;
use stellar_transport::responder::{Responder, MAX_SACK_EVERY};
use stellar_transport::rx::{DropReason, Psn, QpMode, RECEIVE_WINDOW};
use stellar_transport::spray::ReversePaths;
use stellar_wire::config::{SMALLEST_RECEIVE_WINDOW, SMALL_RECEIVE_WINDOW};

use crate::bench::{Bench, Stimulus, MOST, QPS, SLOTS};
use crate::pair::{Pair, Setup};
use crate::scenario::Scenario;

#[derive(Clone, Debug)]
enum Step {
    /// The peer's n-th packet not sent yet.
    Packet(usize),
    /// Sends this number of packets in order.
    Run(usize),
    /// Sends this number of packets, the last one first.
    Backwards(usize),
    /// The n-th packet not sent yet, with a number that is too high by so much.
    Misnumbered(usize, u16),
    /// A packet from before the window, by so much, so many times.
    Again(u32, u32),
    /// MRC: a packet beyond the window. RC: after a gap.
    Beyond(u32),
    /// A WRITE with immediate with any number.
    Immediate(u16),
    Refuse,
    OutOfSequence,
    /// The payload of the last packet may not have reached memory.
    Lose,
    Probe,
    /// So many visits of the pending packets.
    Visit(u32),
    Arm(u32),
    Good(u8),
    Planes(u8),
    /// This number of ticks passes.
    Wait(u32),
    Configure(Setup),
}

fn setup(mode: QpMode) -> impl Strategy<Value = Setup> {
    let psn = prop_oneof![Just(0), 0xff_fc00..=0xff_ffff_u32, 0..=0xff_ffff_u32];
    (
        psn,
        8..=13_u8,
        prop_oneof![3 => 1..=SLOTS, 1 => 1..=MOST],
        any::<bool>(),
        1..=MAX_SACK_EVERY,
        prop_oneof![Just(3_u32), Just(40), Just(400)],
    )
        .prop_map(
            move |(initial_psn, mtu_log2, max_wimm, completions, sack_every, longest)| Setup {
                mode,
                mtu_log2,
                initial_psn,
                max_wimm,
                // Nearly always.
                completions: completions || max_wimm > 2,
                sack_every,
                longest,
            },
        )
}

fn any_setup() -> impl Strategy<Value = Setup> {
    prop_oneof![4 => setup(QpMode::Mrc), 1 => setup(QpMode::Rc)]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        30 => (0..3_usize).prop_map(Step::Packet),
        20 => (0..80_usize).prop_map(Step::Packet),
        5 => (0..1000_usize).prop_map(Step::Packet),
        12 => (1..60_usize).prop_map(Step::Run),
        1 => (500..900_usize).prop_map(Step::Run),
        3 => (0..RECEIVE_WINDOW as usize).prop_map(Step::Packet),
        3 => (0..9_usize, prop_oneof![Just(SLOTS), Just(MOST), Just(2 * MOST), any::<u16>()])
            .prop_map(|(index, more)| Step::Misnumbered(index, more)),
        6 => (1..40_usize).prop_map(Step::Backwards),
        5 => (prop_oneof![1..9000_u32, 32_700..32_840_u32, 0..0x7f_ffff_u32], 1..4_u32)
            .prop_map(|(before, times)| Step::Again(before, times)),
        1 => (1..2 * Responder::REPEATED.0).prop_map(Step::Wait),
        3 => (RECEIVE_WINDOW..0x7f_f000).prop_map(Step::Beyond),
        1 => any::<u16>().prop_map(Step::Immediate),
        1 => Just(Step::Refuse),
        1 => Just(Step::OutOfSequence),
        1 => Just(Step::Lose),
        4 => Just(Step::Probe),
        16 => (1..4_u32).prop_map(Step::Visit),
        18 => prop_oneof![2 => Just(0), 1 => 0..6_u32].prop_map(Step::Arm),
        3 => (0..2_u8).prop_map(Step::Good),
        1 => (1..4_u8).prop_map(Step::Planes),
        2 => (0..3 * ReversePaths::LIFE.0).prop_map(Step::Wait),
        3 => any_setup().prop_map(Step::Configure),
    ]
}

fn perform(scenario: &mut Scenario, at: usize, step: &Step) {
    let rc = scenario.pairs[at].setup.mode == QpMode::Rc;
    match *step {
        Step::Packet(index) => {
            scenario.send(at, index);
        }
        Step::Run(count) => {
            for _ in 0..count {
                scenario.send(at, 0);
            }
        }
        Step::Backwards(count) => {
            for index in (0..count).rev() {
                scenario.send(at, index);
            }
        }
        Step::Misnumbered(index, more) => scenario.send_misnumbered(at, index, more),
        Step::Again(before, times) => {
            for _ in 0..times {
                scenario.send_other(at, |headers, epsn| {
                    headers.psn = epsn.plus(Psn::MODULUS - 1 - before);
                });
            }
        }
        Step::Beyond(_) if rc => scenario.gap(at),
        Step::Beyond(by) => scenario.send_other(at, |headers, epsn| headers.psn = epsn.plus(by)),
        Step::Immediate(_) if rc => {}
        Step::Immediate(rqmsn) => scenario.send_other(at, |headers, _| {
            headers.immediate = Some(7);
            if let Some(meth) = &mut headers.meth {
                meth.rqmsn = rqmsn;
            }
        }),
        Step::Refuse => scenario.refuse(at, DropReason::BadKey),
        Step::OutOfSequence => scenario.refuse(at, DropReason::BadSequence),
        Step::Lose => scenario.lose(at),
        Step::Visit(times) => (0..times).for_each(|_| scenario.visit(at)),
        Step::Probe => scenario.probe(at),
        Step::Arm(more) => scenario.arm(at, more),
        Step::Good(plane) => scenario.good(at, plane),
        Step::Planes(up) => scenario.planes(up),
        Step::Wait(ticks) => scenario.wait(ticks),
        Step::Configure(setup) => scenario.configure(at, setup),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_streams_agree_with_the_reference(
        setups in (setup(QpMode::Mrc), setup(QpMode::Mrc), any_setup(), setup(QpMode::Rc)),
        steps in prop::collection::vec((0..4_usize, step()), 1..250),
        seed in any::<u64>(),
        eagerness in 2..=8_u32,
        gap in prop_oneof![Just(0_u32), Just(3)],
        spoilt in 0..200_usize,
        window in prop_oneof![3 => Just(RECEIVE_WINDOW), 1 => Just(SMALL_RECEIVE_WINDOW), 1 => Just(SMALLEST_RECEIVE_WINDOW)],
    ) {
        let setups = [setups.0, setups.1, setups.2, setups.3];
        let mut scenario = Scenario::with_window(setups, window, seed);
        for (at, step) in &steps {
            perform(&mut scenario, *at, step);
        }
        scenario.tell_counts();
        scenario.compare(seed, eagerness, gap, spoilt);
    }
}

pub fn mrc(longest: u32) -> Setup {
    Setup {
        mode: QpMode::Mrc,
        mtu_log2: 8,
        initial_psn: 0xff_fe35,
        max_wimm: SLOTS,
        completions: true,
        sack_every: 1,
        longest,
    }
}

/// The random streams reach the cases that they are meant for. Otherwise they would prove nothing.
#[test]
fn a_long_stream_has_everything() {
    let mut scenario = Scenario::new([mrc(40), mrc(400), mrc(3), mrc(40)], 3);
    for round in 0..400 {
        scenario.arm(round % 3, 2);
        perform(&mut scenario, round % 3, &Step::Packet(round * 7 % 90));
        perform(&mut scenario, round % 3, &Step::Backwards(round % 30));
        perform(
            &mut scenario,
            round % 3,
            &Step::Again(32_760 + round as u32 % 16, 1),
        );
    }
    perform(&mut scenario, 0, &Step::Immediate(30_000));
    perform(&mut scenario, 0, &Step::Probe);
    perform(&mut scenario, 1, &Step::Refuse);
    perform(&mut scenario, 2, &Step::Lose);
    let total = &scenario.expected;
    assert!(
        total.answers.len() > 4_000,
        "{} answers",
        total.answers.len()
    );
    assert!(
        total.completions.len() > 400,
        "{} completions",
        total.completions.len()
    );
    assert!(
        total.thresholds.len() > 100,
        "{} events",
        total.thresholds.len()
    );
    assert_eq!(total.failed.len(), 3);
    assert_eq!(total.counters[4..], [1, 1]);
    let too_old = ("seth.sack_offset", u64::from(-63_i16 as u16));
    assert!(total.answers.iter().any(|answer| answer.contains(&too_old)));
    scenario.compare(1, 7, 0, 1);
}

/// Words of the ring of received PSNs may contain bits from the previous pass over the ring, or from before the queue pair was configured again.
#[test]
fn what_was_received_on_the_last_lap_is_missing_on_this_one() {
    for window in [
        RECEIVE_WINDOW,
        SMALL_RECEIVE_WINDOW,
        SMALLEST_RECEIVE_WINDOW,
    ] {
        laps_of(window);
    }
}

fn laps_of(window: u32) {
    let mut scenario = Scenario::with_window([mrc(3); 4], window, 5);
    for lap in 0..3 {
        // A whole lap, the last packet first in every 64.
        scenario.pairs[0].message(2 * window + 64 * lap, 256, None);
        for _ in 0..(2 * window + 64 * lap) / 64 {
            perform(&mut scenario, 0, &Step::Backwards(64));
        }
        let packets = window.min(300) as usize;
        scenario.pairs[0].message(packets as u32, 1, Some(9));
        assert!(scenario.send(0, packets - 1));
        assert!(scenario.send(0, 100));
        // The words between the message's first and last one are as the lap before left them. A count too early would show here.
        perform(&mut scenario, 0, &Step::Run(packets - 100));
        scenario.tell_counts();
        scenario.arm(0, 1);
        let events = scenario.expected.thresholds.len();
        perform(&mut scenario, 0, &Step::Run(98));
        assert_eq!(scenario.expected.thresholds.len(), events + 1);
        if lap == 1 {
            scenario.configure(0, mrc(3));
        }
    }
    scenario.tell_counts();
    scenario.compare(1, 8, 0, 0);
}

/// As many WRITEs with immediate as a card lets wait: every number of the stash is in use, and each leaves once, in order.
#[test]
fn two_hundred_and_fifty_six_immediates_wait_for_one_packet() {
    let full = Setup {
        max_wimm: MOST,
        ..mrc(3)
    };
    let mut scenario = Scenario::new([full; 4], 5);
    // Each number of the stash, and once more around.
    for round in 0..3_u32 {
        scenario.pairs[0].message(1, 4, None);
        for number in 0..u32::from(MOST) {
            scenario.pairs[0].message(1 + number % 3, 4, Some(round << 16 | number));
        }
        let before = scenario.expected.completions.len();
        let waiting = scenario.pairs[0].pending.len() - 1;
        let order = [(1, 0), (7, 3), (0, 0)][round as usize];
        for left in (0..waiting).rev() {
            // In order behind the missing packet, in large steps, and the last one first.
            let index = match order {
                (0, _) => left,
                (step, more) => (left * step + more) % (left + 1),
            };
            scenario.send(0, 1 + index);
        }
        assert_eq!(scenario.expected.completions.len(), before);
        // One more than agreed is not taken; it would be beyond the stash.
        scenario.send(0, 0);
        let arrived = &scenario.expected.completions[before..];
        assert_eq!(arrived.len(), usize::from(MOST));
        for (number, completion) in arrived.iter().enumerate() {
            let immediate = u64::from(round << 16) | number as u64;
            assert!(completion.contains(&("immediate", immediate)));
        }
    }
    assert!(scenario.expected.failed.is_empty());
    // The next one that is too many fails the queue pair, with all others in the stash.
    scenario.pairs[0].message(1, 4, None);
    for number in 0..=u32::from(MOST) {
        scenario.pairs[0].message(1, 4, Some(number));
    }
    for _ in 0..=MOST {
        scenario.send(0, 1);
    }
    assert_eq!(scenario.expected.failed, [u64::from(QPS[0])]);
    // Started anew, it has none of them.
    scenario.configure(0, full);
    scenario.pairs[0].message(1, 4, None);
    scenario.pairs[0].message(1, 4, Some(1));
    scenario.send(0, 1);
    scenario.send(0, 0);
    scenario.compare(1, 7, 0, 1);
}

/// A message number beyond the stash maps to a used slot of the stash. The packet does not belong to the message in that slot.
#[test]
fn a_packet_with_a_number_beyond_the_stash_counts_nowhere() {
    let mut scenario = Scenario::new([mrc(3); 4], 5);
    scenario.pairs[0].message(3, 1, Some(9));
    assert!(scenario.send(0, 2));
    scenario.send_misnumbered(0, 0, MOST);
    scenario.send(0, 0);
    assert_eq!(scenario.expected.completions.len(), 1);
    scenario.tell_counts();
    assert_eq!(scenario.expected.thresholds[0], (u64::from(QPS[0]), 0));
    scenario.compare(1, 8, 0, 0);
}

#[test]
fn a_queue_pair_started_anew_forgets_its_paths_while_another_learns() {
    let mut scenario = Scenario::new([mrc(3); 4], 5);
    scenario.good(0, 0);
    scenario.good(0, 1);
    let mut bench = Bench::new(1, 8);
    scenario.stimuli.iter().for_each(|s| bench.apply(s));
    let before = scenario.stimuli.len();
    // The configuration waits while the requester reports a value in every cycle.
    bench.set_good(Some((QPS[1], 1, 0xabcd)));
    bench.apply(&Stimulus::Configure {
        qp: QPS[0],
        settings: mrc(3).to_hw(0),
    });
    bench.idle(20);
    bench.set_good(None);
    scenario.pairs[0] = Pair::new(QPS[0], mrc(3), RECEIVE_WINDOW);
    for plane in [1, 2, 3] {
        scenario.planes(plane);
        (0..2).for_each(|at| {
            scenario.send(at, 0);
        });
    }
    scenario.stimuli[before..]
        .iter()
        .for_each(|s| bench.apply(s));
    bench.drain();
    let entropies = |at: usize| -> Vec<(u64, u64, u64)> {
        let field =
            |answer: &[(&str, u64)], name| answer.iter().find(|f| f.0 == name).map_or(0, |f| f.1);
        bench
            .outputs
            .answers
            .iter()
            .filter(|a| field(a, "qp") == u64::from(QPS[at]))
            .map(|a| (field(a, "port"), field(a, "entropy"), field(a, "reflected")))
            .collect()
    };
    assert_eq!(entropies(0).len(), 3);
    assert!(entropies(0)
        .iter()
        .all(|&(_, own, reflected)| own == reflected));
    assert!(entropies(1)
        .iter()
        .all(|&(port, own, reflected)| own == if port == 1 { 0xabcd } else { reflected }));
    assert!(entropies(1).iter().any(|&(port, ..)| port == 1));
}

#[test]
fn configuration_comes_before_arming_and_that_before_packets() {
    let mut scenario = Scenario::new([mrc(3); 4], 5);
    scenario.pairs[0].message(1, 4, Some(1));
    scenario.send(0, 0);
    let together = scenario.stimuli.len();
    scenario.configure(0, mrc(3));
    // The count was 1 and is 0 again: the event is due at once. Armed before that, it would have been forgotten; after the packet, it would have
    // come too late.
    scenario.arm(0, 0);
    scenario.pairs[0].message(1, 4, Some(2));
    scenario.send(0, 0);
    let mut bench = Bench::new(1, 8);
    scenario.stimuli[..together]
        .iter()
        .for_each(|s| bench.apply(s));
    bench.offer(&scenario.stimuli[together..]);
    bench.drain();
    assert_eq!(bench.outputs.thresholds, [(u64::from(QPS[0]), 0)]);
    assert_eq!(bench.outputs, scenario.expected);
}

#[test]
#[should_panic(
    expected = "Responder<2, 8, 7, 9>: give Q of 1 to 16, I of 1 to 8, A of I to 16 and R of Q + 3 to Q + 7"
)]
fn widths_that_do_not_fit_are_refused() {
    let _ = hdl_responder::Responder::<2, 8, 7, 9>::default();
}

/// The answer to a duplicate that has no news is left out, in the same epoch.
#[test]
fn a_duplicate_is_answered_again_in_another_epoch_or_with_news() {
    let rc = Setup {
        mode: QpMode::Rc,
        ..mrc(3)
    };
    let mut scenario = Scenario::new([mrc(3), rc, mrc(3), rc], 5);
    for at in 0..2 {
        let mut answers_of = |step: Step| {
            let before = scenario.expected.answers.len();
            perform(&mut scenario, at, &step);
            scenario.expected.answers.len() - before
        };
        answers_of(Step::Run(3));
        assert_eq!(answers_of(Step::Again(1, 5)), 1);
        assert_eq!(answers_of(Step::Again(1, 5)), 0);
        // The last tick of the epoch, and the first one of the next.
        answers_of(Step::Wait(Responder::REPEATED.0 - 1));
        assert_eq!(answers_of(Step::Again(1, 5)), 0);
        answers_of(Step::Wait(1));
        assert_eq!(answers_of(Step::Again(1, 5)), 1);
        // The cumulative PSN of RC is what the lane says it is.
        answers_of(Step::Packet(0));
        assert_eq!(answers_of(Step::Again(1 + at as u32, 5)), 1);
    }
    scenario.compare(1, 7, 0, 1);
}

/// Random streams hardly let exactly this much time pass.
#[test]
fn a_good_path_is_forgotten_after_an_epoch_without_news() {
    let mut scenario = Scenario::new([mrc(3); 4], 5);
    let life = ReversePaths::LIFE.0;
    scenario.wait(life - 1);
    scenario.good(0, 0);
    scenario.good(0, 1);
    // Still the same epoch; the next one; its last tick; the one after.
    for ticks in [0, 1, life - 1, 1] {
        scenario.wait(ticks);
        (0..4).for_each(|_| {
            scenario.send(0, 0);
        });
    }
    scenario.compare(1, 8, 0, 0);
}
