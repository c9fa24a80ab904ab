//! No value overflows or leaves its limits, whatever the registers and samples are. The code under test asserts the widths, and arithmetic overflow
//! panics in this build.

use proptest::prelude::*;
use stellar_transport::congestion::{AckSample, Nscc, NsccParams, NsccRegisters, MAX_WINDOW};
use stellar_transport::time::Ticks;

/// Small, large and anything between.
fn extreme(min: u32, max: u32) -> impl Strategy<Value = u32> {
    prop_oneof![Just(min), Just(max), min..=max]
}

fn registers() -> impl Strategy<Value = NsccRegisters> {
    let times = (
        extreme(8, 13_107),
        extreme(1, 13_107),
        extreme(0, 65_535),
        0_u8..=7,
    );
    let windows = (
        extreme(256, MAX_WINDOW),
        extreme(256, MAX_WINDOW),
        extreme(1, 1 << 16),
    );
    let gains = (
        extreme(1, (1 << 28) - 1),
        extreme(0, (1 << 23) - 1),
        extreme(0, (1 << 28) - 1),
        extreme(0, 65_535),
    );
    (times, windows, gains).prop_map(
        |((base_rtt, target, qa, qa_gate), (a, b, adjust_bytes), (alpha, fi, eta, scale))| {
            NsccRegisters {
                base_rtt: base_rtt as u16,
                target: target as u16,
                qa_threshold: qa.min(65_535 - base_rtt) as u16,
                qa_gate,
                min_cwnd: a.min(b),
                max_cwnd: a.max(b),
                // As large as the target permits.
                alpha: alpha.min((((1_u64 << 39) - 1) / u64::from(target)) as u32),
                fi,
                eta,
                fi_scale: scale as u16,
                adjust_bytes,
            }
        },
    )
}

#[derive(Clone, Debug)]
enum Event {
    Ack(AckSample),
    Loss(u32),
    Penalty(u8),
}

fn event() -> impl Strategy<Value = Event> {
    let rtt = prop_oneof![
        Just(None),
        Just(Some(Ticks(65_535))),
        Just(Some(Ticks(u32::MAX))),
        (0_u32..70_000).prop_map(|rtt| Some(Ticks(rtt))),
    ];
    let ack = (
        extreme(0, u32::MAX),
        rtt,
        any::<bool>(),
        extreme(0, u32::MAX),
    )
        .prop_map(|(acked_bytes, rtt, ecn, in_flight)| {
            Event::Ack(AckSample {
                acked_bytes,
                rtt,
                ecn,
                in_flight,
            })
        });
    prop_oneof![
        8 => ack,
        1 => extreme(0, u32::MAX).prop_map(Event::Loss),
        1 => any::<u8>().prop_map(Event::Penalty),
    ]
}

proptest! {
    #[test]
    fn windows_stay_within_their_limits(
        registers in registers(),
        start in any::<u32>(),
        events in prop::collection::vec((event(), extreme(0, u32::MAX), extreme(0, 20_000)), 1..200),
    ) {
        let params = NsccParams::new(registers).expect("registers within their limits");
        let mut now = Ticks(start);
        let mut nscc = Nscc::new(&params, now);
        for (event, jump, step) in events {
            now = now.plus(Ticks(if jump % 8 == 0 { jump } else { step }));
            match event {
                Event::Ack(sample) => nscc.on_ack(sample, now),
                Event::Loss(bytes) => nscc.on_loss(bytes),
                Event::Penalty(penalty) => nscc.on_receiver_penalty(penalty),
            }
            prop_assert!((registers.min_cwnd..=registers.max_cwnd).contains(&nscc.cwnd()));
            prop_assert!(nscc.base_rtt().0 <= registers.base_rtt.into());
            prop_assert!(nscc.average_delay().0 <= 65_535);
        }
    }
}

#[test]
fn an_average_at_full_scale_does_not_overflow() {
    let params = NsccParams::from_path(Ticks(8), 800, 8192, false).expect("a short path");
    let mut nscc = Nscc::new(&params, Ticks(0));
    let sample = AckSample {
        acked_bytes: u32::MAX,
        rtt: Some(Ticks(65_535)),
        ecn: true,
        in_flight: u32::MAX,
    };
    for _ in 0..5_000 {
        nscc.on_ack(sample, Ticks(0));
    }
    assert_eq!(nscc.average_delay(), Ticks(65_535 - 8));
}
