//! Set-up: register values of a path, and each path or value that is refused.

use proptest::prelude::*;
use stellar_transport::congestion::{NsccParams, NsccRegisters, ParamError};
use stellar_transport::time::Ticks;

fn usual() -> NsccRegisters {
    *NsccParams::from_path(Ticks(1_000), 200, 4096, false)
        .expect("a usual path")
        .registers()
}

#[test]
fn registers_of_a_path_are_the_published_constants() {
    // 200 Gb/s for 8 us is 200,000 bytes, 4/3 of the reference.
    let registers = usual();
    assert_eq!(
        (registers.base_rtt, registers.target, registers.qa_threshold),
        (1_000, 1_000, 4_000)
    );
    assert_eq!(
        (
            registers.min_cwnd,
            registers.max_cwnd,
            registers.adjust_bytes
        ),
        (4_096, 300_000, 32_768)
    );
    let near = |register: f64, value: f64| {
        assert!(
            (register / value - 1.0).abs() < 0.001,
            "{register} for {value}"
        )
    };
    near(
        f64::from(registers.alpha) / 65_536.0,
        4.0 * 4096.0 * 4.0 / 3.0 / 1_500.0,
    );
    near(f64::from(registers.fi), 5.0 * 4096.0 * 4.0 / 3.0);
    near(f64::from(registers.eta) / 256.0, 0.15 * 4096.0 * 4.0 / 3.0);
    near(f64::from(registers.fi_scale) / 2048.0, 1.0 / 3.0);
}

#[test]
fn trimming_lowers_the_target_to_three_quarters() {
    let params = NsccParams::from_path(Ticks(1_000), 200, 4096, true).expect("a usual path");
    assert_eq!(
        (params.registers().target, params.registers().qa_threshold),
        (750, 3_000)
    );
}

#[test]
fn a_short_slow_path_still_has_a_window_of_two_packets() {
    let params = NsccParams::from_path(Ticks(250), 10, 4096, false).expect("a short path");
    assert_eq!(params.registers().max_cwnd, 8_192);
}

#[test]
fn a_path_is_refused_with_what_is_wrong() {
    let refused = |rtt, gbps, mtu| {
        NsccParams::from_path(Ticks(rtt), gbps, mtu, false).expect_err("should be refused")
    };
    let register = |error| match error {
        ParamError::OutOfRange { register, .. } => register,
        other => panic!("{other}"),
    };
    assert_eq!(refused(1_000, 200, 128), ParamError::Mtu(128));
    assert_eq!(refused(1_000, 200, 9_000), ParamError::Mtu(9_000));
    assert_eq!(register(refused(7, 200, 4096)), "base_rtt");
    assert_eq!(register(refused(13_108, 200, 4096)), "base_rtt");
    assert_eq!(register(refused(1_000_000, 200, 4096)), "base_rtt");
    assert_eq!(register(refused(1_000, 20_000, 4096)), "max_cwnd");
    assert_eq!(register(refused(1_000, u32::MAX, 4096)), "max_cwnd");
    assert_eq!(register(refused(1_000, 0, 4096)), "alpha");
    assert!(matches!(
        refused(13_000, 800, 8192),
        ParamError::ProportionalGain { target: 13_000, .. }
    ));
}

#[test]
fn a_register_is_refused_by_its_name() {
    type Change = fn(&mut NsccRegisters);
    let cases: [(&str, Change); 12] = [
        ("base_rtt", |r| r.base_rtt = 7),
        ("target", |r| r.target = 0),
        ("target", |r| r.target = 13_108),
        ("qa_gate", |r| r.qa_gate = 8),
        ("max_cwnd", |r| r.max_cwnd = 1 << 24),
        ("min_cwnd", |r| r.min_cwnd = 255),
        ("min_cwnd", |r| r.min_cwnd = r.max_cwnd + 1),
        ("alpha", |r| r.alpha = 0),
        ("fi", |r| r.fi = 1 << 23),
        ("eta", |r| r.eta = 1 << 28),
        ("adjust_bytes", |r| r.adjust_bytes = 0),
        ("adjust_bytes", |r| r.adjust_bytes = (1 << 16) + 1),
    ];
    for (name, change) in cases {
        let mut registers = usual();
        change(&mut registers);
        let error = NsccParams::new(registers).expect_err(name);
        assert!(
            matches!(error, ParamError::OutOfRange { register, .. } if register == name),
            "{name}: {error}"
        );
        assert!(error.to_string().contains(name), "{error}");
    }
    let long = NsccRegisters {
        qa_threshold: 65_000,
        ..usual()
    };
    let expected = ParamError::ThresholdBeyondSample {
        base_rtt: 1_000,
        qa_threshold: 65_000,
    };
    assert_eq!(NsccParams::new(long), Err(expected));
    let steep = NsccRegisters {
        alpha: (1 << 28) - 1,
        target: 13_107,
        ..usual()
    };
    assert!(matches!(
        NsccParams::new(steep),
        Err(ParamError::ProportionalGain { target: 13_107, .. })
    ));
}

proptest! {
    #[test]
    fn any_path_gives_parameters_or_a_reason(rtt in any::<u32>(), gbps in any::<u32>(), mtu in any::<u32>(), trimming in any::<bool>()) {
        if let Ok(params) = NsccParams::from_path(Ticks(rtt), gbps, mtu, trimming) {
            prop_assert!(params.registers().min_cwnd <= params.registers().max_cwnd);
        }
    }

    #[test]
    fn every_usual_path_is_accepted(rtt in 125_u32..=2_500, gbps in 10_u32..=800, mtu_log2 in 8_u32..=13, trimming in any::<bool>()) {
        let params = NsccParams::from_path(Ticks(rtt), gbps, 1 << mtu_log2, trimming);
        prop_assert!(params.is_ok(), "{params:?}");
    }
}
