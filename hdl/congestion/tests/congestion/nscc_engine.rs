//! `nscc_engine` against the reference, request by request.

use proptest::prelude::*;
use stellar_transport::congestion::{AckSample, NsccParams, NsccRegisters, MAX_WINDOW};
use stellar_transport::time::Ticks;
use stellar_wire::rows::WindowChange;

use hdl_congestion::nscc_engine::max_cycles;

use crate::lockstep::{Lockstep, Op};

/// Registers of real paths, and registers at the ends of their ranges.
fn params() -> impl Strategy<Value = NsccParams> {
    let path = (8..4000_u32, 1..800_u32, 256..8192_u32, any::<bool>())
        .prop_map(|(rtt, gbps, mtu, trims)| NsccParams::from_path(Ticks(rtt), gbps, mtu, trims));
    let registers = (
        (8..=13_107_u16, 1..=13_107_u16, 0..=52_000_u16, 0..=7_u8),
        (
            256..=9_000_u32,
            prop_oneof![256..=MAX_WINDOW, Just(MAX_WINDOW)],
        ),
        (
            1..1_u32 << 28,
            0..1_u32 << 23,
            0..1_u32 << 28,
            any::<u16>(),
            1..=65_536_u32,
        ),
    )
        .prop_map(
            |(
                (base_rtt, target, qa_threshold, qa_gate),
                (min, max),
                (alpha, fi, eta, fi_scale, adjust_bytes),
            )| {
                NsccParams::new(NsccRegisters {
                    base_rtt,
                    target,
                    qa_threshold,
                    qa_gate,
                    min_cwnd: min.min(max),
                    max_cwnd: max,
                    // Proportional gain below 2^23 bytes.
                    alpha: (u64::from(alpha).min(((1_u64 << 39) - 1) / u64::from(target))) as u32,
                    fi,
                    eta,
                    fi_scale,
                    adjust_bytes,
                })
            },
        );
    prop_oneof![2 => path, 1 => registers].prop_filter_map("registers out of range", Result::ok)
}

/// A round trip relative to the base and the target of its queue pair.
#[derive(Clone, Copy, Debug)]
enum Rtt {
    /// Percent of base plus percent of target.
    Near(u32, u32),
    /// A queueing delay at, or next to, one of the limits that it is compared with.
    Edge(Limit, i32),
    Any(u32),
}

impl Rtt {
    /// Returns the round trip for a queue pair with these registers and this smallest round trip.
    fn of(self, registers: &NsccRegisters, base: Ticks) -> Ticks {
        Ticks(match self {
            Self::Near(of_base, of_target) => {
                (u32::from(registers.base_rtt) * of_base + u32::from(registers.target) * of_target)
                    / 100
            }
            Self::Edge(limit, beside) => {
                let rtt = match limit {
                    Limit::Idle => base.0 + 125,
                    Limit::Target => base.0 + u32::from(registers.target),
                    Limit::QuickAdapt => base.0 + u32::from(registers.qa_threshold),
                    Limit::Wrapped => u32::from(registers.base_rtt / 4),
                };
                rtt.saturating_add_signed(beside)
            }
            Self::Any(ticks) => ticks,
        })
    }
}

/// A limit of the queueing delay.
#[derive(Clone, Copy, Debug)]
enum Limit {
    /// 125 ticks: an idle path.
    Idle,
    Target,
    QuickAdapt,
    /// A quarter of the configured base: below it, a time stamp has wrapped.
    Wrapped,
}

/// An operation whose numbers depend on the queue pair's registers.
#[derive(Clone, Debug)]
enum Step {
    Ack {
        bytes: u32,
        rtt: Option<Rtt>,
        ecn: bool,
        in_flight: u32,
        penalty: u8,
    },
    Other(Op),
}

fn bytes() -> impl Strategy<Value = u32> {
    prop_oneof![
        4 => 0..=9_000_u32,
        2 => 0..=300_000_u32,
        1 => 0..=MAX_WINDOW,
        1 => Just(MAX_WINDOW),
    ]
}

fn rtt() -> impl Strategy<Value = Rtt> {
    prop_oneof![
        6 => (90..130_u32, 0..300_u32).prop_map(|(base, target)| Rtt::Near(base, target)),
        2 => (98..103_u32).prop_map(|base| Rtt::Near(base, 0)),
        1 => (20..110_u32).prop_map(|base| Rtt::Near(base, 0)),
        4 => (
            prop_oneof![Just(Limit::Idle), Just(Limit::Target), Just(Limit::QuickAdapt), Just(Limit::Wrapped)],
            -1..=1_i32,
        ).prop_map(|(limit, beside)| Rtt::Edge(limit, beside)),
        1 => any::<u32>().prop_map(Rtt::Any),
        1 => (0..=70_000_u32).prop_map(Rtt::Any),
    ]
}

fn penalty() -> impl Strategy<Value = u8> {
    prop_oneof![2 => Just(0), 1 => 0..=127_u8, 1 => 126..=127_u8]
}

fn step() -> impl Strategy<Value = Step> {
    let ack = (
        bytes(),
        prop::option::weighted(0.9, rtt()),
        prop::bool::weighted(0.4),
        bytes(),
        penalty(),
    )
        .prop_map(|(bytes, rtt, ecn, in_flight, penalty)| Step::Ack {
            bytes,
            rtt,
            ecn,
            in_flight,
            penalty,
        });
    let other = prop_oneof![
        2 => Just(Op::Query),
        2 => penalty().prop_map(|penalty| Op::Ack { sample: None, penalty }),
        3 => bytes().prop_map(Op::Loss),
        3 => (0..WindowChange::COUNT).prop_map(|n| Op::Change(WindowChange::ALL[n])),
        1 => params().prop_map(Op::Configure),
    ];
    prop_oneof![12 => ack, 4 => other.prop_map(Step::Other)]
}

/// Generates the time between two operations: within a round trip, about one, or a long pause up to a wrap.
fn pause() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0..50_u32, 3 => 0..5_000_u32, 1 => any::<u32>()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_operations_agree_with_the_reference(
        params in prop::array::uniform4(params()),
        start in prop_oneof![any::<u32>(), 0xffff_f000..=0xffff_ffff_u32],
        steps in prop::collection::vec((0..4_usize, pause(), 0..3_u32, step()), 1..500),
    ) {
        let mut now = Ticks(start);
        let mut registers = params.map(|p| *p.registers());
        let mut lockstep = Lockstep::new(&params, now);
        for (qp, pause, gap, step) in steps {
            now = now.plus(Ticks(pause));
            let own = registers[qp];
            let op = match step {
                Step::Ack { bytes, rtt, ecn, in_flight, penalty } => Op::Ack {
                    sample: Some(AckSample {
                        acked_bytes: bytes,
                        rtt: rtt.map(|rtt| rtt.of(&own, lockstep.pairs[qp].base_rtt())),
                        ecn,
                        in_flight,
                    }),
                    penalty,
                },
                Step::Other(op) => op,
            };
            if let Op::Configure(params) = &op {
                registers[qp] = *params.registers();
            }
            lockstep.idle(gap);
            lockstep.step(qp, now, &op);
        }
    }
}

/// 400 Gb/s, 8 us, 4 KiB.
fn path() -> NsccParams {
    NsccParams::from_path(Ticks::from_us(8), 400, 4096, false).expect("a path")
}

fn ack(bytes: u32, rtt: u32, ecn: bool) -> Op {
    Op::Ack {
        sample: Some(AckSample {
            acked_bytes: bytes,
            rtt: Some(Ticks(rtt)),
            ecn,
            in_flight: 100_000,
        }),
        penalty: 0,
    }
}

#[test]
fn no_operation_takes_longer_than_it_says_and_the_longest_takes_that() {
    let mut lockstep = Lockstep::new(&[path()], Ticks(0));
    assert_eq!(lockstep.step(0, Ticks(1), &Op::Query), max_cycles::QUERY);
    assert_eq!(
        lockstep.step(0, Ticks(2), &Op::Loss(10_000)),
        max_cycles::LOSS - max_cycles::PENALTY
    );
    for change in WindowChange::ALL {
        let resumes = matches!(change, WindowChange::Restore | WindowChange::Raise);
        let expected = if resumes {
            max_cycles::CHANGE - max_cycles::PENALTY
        } else {
            max_cycles::QUERY
        };
        assert_eq!(
            lockstep.step(0, Ticks(3), &Op::Change(change)),
            expected,
            "{change:?}"
        );
    }
    assert_eq!(
        lockstep.step(0, Ticks(3), &Op::Configure(path())),
        max_cycles::CONFIGURE
    );
    let longest = longest_ack(&mut lockstep, 0);
    assert_eq!(longest, max_cycles::ACK - max_cycles::PENALTY);
    let mut lockstep = Lockstep::new(&[path()], Ticks(0));
    assert_eq!(longest_ack(&mut lockstep, 1), max_cycles::ACK);
    assert_eq!(
        lockstep.step(0, Ticks(1 << 20), &Op::Loss(10_000)),
        max_cycles::LOSS
    );
}

/// Returns the cycles of the longest of many `Ack`s: marked and far above the target until the average is too, then a decrease followed by an adjustment.
fn longest_ack(lockstep: &mut Lockstep, penalty: u8) -> u32 {
    let (mut longest, mut of_decreases) = (0, None);
    for n in 0..100 {
        let before = lockstep.pairs[0].cwnd();
        let Op::Ack { sample, .. } = ack(40_000, 4_500, true) else {
            unreachable!("an acknowledgement");
        };
        let cycles = lockstep.step(0, Ticks(3 + n * 1_200), &Op::Ack { sample, penalty });
        // The first one also applies the penalty to the window.
        if n > 0 && lockstep.pairs[0].cwnd() < before {
            assert_eq!(*of_decreases.get_or_insert(cycles), cycles);
        }
        longest = longest.max(cycles);
    }
    assert_eq!(of_decreases, Some(longest), "no decrease");
    longest
}

#[test]
fn windows_of_queue_pairs_do_not_mix() {
    let mut lockstep = Lockstep::new(&[path(); 8], Ticks(0));
    for n in 0..8_u32 {
        lockstep.step(n as usize, Ticks(n), &Op::Loss(20_000 * n));
    }
    let windows: Vec<u32> = lockstep.pairs.iter().map(|pair| pair.cwnd()).collect();
    for n in 0..8 {
        lockstep.step(n, Ticks(100), &Op::Query);
    }
    assert!(windows.windows(2).all(|w| w[0] > w[1]), "{windows:?}");
}

/// A closed loop, in which delay and marks of the path follow the window, shows every kind of reaction.
#[test]
fn a_closed_loop_agrees_over_ten_thousand_sacks() {
    let mut lockstep = Lockstep::new(&[path()], Ticks(0xffff_0000));
    let mut now = Ticks(0xffff_0000);
    let (mut rises, mut falls) = (0, 0);
    for n in 0..10_000_u32 {
        let before = lockstep.pairs[0].cwnd();
        // The queue pair's share of the path changes every 1,000 SACKs. The bytes of the window that exceed the share form a queue, which adds delay.
        let share = 400_000 >> (n / 1_000 % 3);
        let queue = before.saturating_sub(share) / 400;
        now = now.plus(Ticks(10));
        lockstep.step(0, now, &ack(4_096, 1_000 + queue, queue > 300));
        if n % 777 == 776 {
            lockstep.step(0, now, &Op::Loss(4_096));
        }
        let after = lockstep.pairs[0].cwnd();
        rises += u32::from(after > before);
        falls += u32::from(after < before);
    }
    assert!(rises > 100 && falls > 10, "{rises} rises, {falls} falls");
}
