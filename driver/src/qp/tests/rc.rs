//! Queue pairs of RC.

use std::time::Duration;

use stellar_wire::config::{ConfigError, GeneratedEntropy, RequesterConfigError, SprayError};
use stellar_wire::host::registers::{DataPath, DATA_PATH};
use stellar_wire::rows::{PeerRow, SprayRow};
use stellar_wire::Psn;

use super::*;
use crate::ProfileUseError;

fn rc_pair(bench: &Bench) -> QueuePair {
    let config = QueuePairConfig {
        transport: Transport::Rc,
        ..config(2)
    };
    let qp = bench.pd.create_qp(&bench.cq, config).unwrap();
    qp.modify(step(QpState::Init)).unwrap();
    qp
}

#[test]
fn attributes_reach_the_rows_of_the_card() {
    let bench = bench();
    let qp = rc_pair(&bench);
    qp.modify(Modify::RcRtr(RcRtrAttributes {
        mtu_log2: 10,
        port: 1,
        udp_sport: 0xd00d,
        ..RcRtrAttributes::new(peer(Transport::Rc))
    }))
    .unwrap();
    qp.modify(Modify::RcRts(RcRtsAttributes {
        psn: 0xab_cdef,
        timeout: Duration::from_micros(4),
        retry_cnt: 3,
        rnr_retry: 5,
        window: 99,
        ack_every: 5,
    }))
    .unwrap();
    let row: RequesterRow = bench.row(ConfigSelect::Requester, qp.number());
    let expected = RequesterRow {
        valid: true,
        rc: true,
        plane: true,
        mtu_log2: 10,
        udp_sport: 0xd00d,
        first_psn: Psn::new(0xab_cdef),
        rto: 500,
        retry_budget: 3,
        rnr_retry: 5,
        mpr: 99,
        ack_every: 5,
        // Values that the bench's queue pair has in any case.
        pd: row.pd,
        page: row.page,
        ..RequesterRow::default()
    };
    assert_eq!(row, expected);
    let told = qp.connection(9);
    assert_eq!((told.transport, told.psn), (Transport::Rc, 9));
    assert_eq!(qp.transport(), Transport::Rc);
}

#[test]
fn attributes_that_do_not_fit_are_named_and_leave_the_state_as_it_was() {
    let bench = bench();
    let qp = rc_pair(&bench);
    let good = RcRtrAttributes::new(peer(Transport::Rc));
    for (attributes, named) in [
        (
            RcRtrAttributes {
                mtu_log2: 7,
                ..good
            },
            "mtu_log2 is 7; the card takes 8 to 13",
        ),
        (
            RcRtrAttributes {
                mtu_log2: 0,
                ..good
            },
            "mtu_log2 is 0; the card takes 8 to 13",
        ),
        (
            RcRtrAttributes {
                mtu_log2: 14,
                ..good
            },
            "mtu_log2 is 14; the card takes 8 to 13",
        ),
        (
            RcRtrAttributes { port: 2, ..good },
            "port is 2; the card takes 0 to 1",
        ),
        (
            RcRtrAttributes::new(Connection {
                psn: 1 << 24,
                ..good.peer
            }),
            "peer.psn is 16777216",
        ),
        (
            RcRtrAttributes::new(peer(Transport::Mrc)),
            "is of RC, and its peer is of MRC",
        ),
    ] {
        let error = qp.modify(Modify::RcRtr(attributes)).unwrap_err();
        assert!(error.to_string().contains(named), "{error}");
        assert_eq!(qp.state(), QpState::Init);
        assert!(!bench.on_card(qp.number(), Transport::Rc).1);
    }
    qp.modify(Modify::RcRtr(good)).unwrap();
    let good = RcRtsAttributes::new(0);
    for attributes in [
        RcRtsAttributes {
            psn: 1 << 24,
            ..good
        },
        RcRtsAttributes {
            timeout: Duration::from_millis(9),
            ..good
        },
        RcRtsAttributes { window: 0, ..good },
        RcRtsAttributes {
            ack_every: 0,
            ..good
        },
        RcRtsAttributes {
            rnr_retry: 8,
            ..good
        },
    ] {
        let error = qp.modify(Modify::RcRts(attributes)).unwrap_err();
        let expected = match attributes {
            RcRtsAttributes { window: 0, .. } => {
                matches!(
                    error,
                    Error::Config(ConfigError::Requester(RequesterConfigError::RcWindow(0)))
                )
            }
            RcRtsAttributes { ack_every: 0, .. } => {
                matches!(
                    error,
                    Error::Config(ConfigError::Requester(RequesterConfigError::AckEvery(0)))
                )
            }
            RcRtsAttributes { rnr_retry: 8, .. } => {
                matches!(
                    error,
                    Error::Config(ConfigError::Requester(RequesterConfigError::RnrRetry(8)))
                )
            }
            RcRtsAttributes { psn: 0, .. } => matches!(
                error,
                Error::Config(ConfigError::Requester(RequesterConfigError::Timeout(_)))
            ),
            _ => matches!(error, Error::Attribute { field: "psn", .. }),
        };
        assert!(expected, "{attributes:?}: {error}");
        assert_eq!(qp.state(), QpState::Rtr);
    }
    qp.modify(Modify::RcRts(good)).unwrap();
}

/// To RTR for the peer of the tests, with these paths.
fn with(paths: RcPaths) -> Modify {
    Modify::RcRtr(RcRtrAttributes {
        paths: Some(paths),
        ..RcRtrAttributes::new(peer(Transport::Rc))
    })
}

#[test]
fn paths_reach_the_rows_of_the_card_and_go_with_the_next_connection() {
    let bench = bench();
    let qp = rc_pair(&bench);
    let number = qp.number();
    let few = GeneratedEntropy {
        base: 0xd000,
        stride_log2: 0,
        active: 6,
        backups: 0,
    };
    let device = bench.context.device();
    device.set_generated_profile(2, few).unwrap();
    qp.modify(with(RcPaths {
        paths: 6,
        profile: 2,
        base_rtt: Duration::from_micros(8),
        ..RcPaths::new(Policy::Hp3)
    }))
    .unwrap();
    let rows = || {
        let requester: RequesterRow = bench.row(ConfigSelect::Requester, number);
        let spray: SprayRow = bench.row(ConfigSelect::Spray, number);
        let from: PeerRow = bench.row(ConfigSelect::Peer, number);
        (requester, spray, from)
    };
    for enters_rts in [false, true] {
        if enters_rts {
            qp.modify(Modify::RcRts(RcRtsAttributes::new(4))).unwrap();
        }
        let (requester, spray, from) = rows();
        // 2.5 round trips of 1,000 ticks.
        assert_eq!((requester.rc, requester.slow_rtt), (true, 2500));
        assert_eq!((from.mrc, from.probes), (false, true));
        assert_eq!(
            (spray.policy, spray.paths, spray.profile, spray.base_rtt),
            (Policy::Hp3, 6, 2, 1000)
        );
        assert_ne!(spray.seed, 0);
    }
    let in_use = device.set_generated_profile(2, few).unwrap_err();
    assert!(
        matches!(in_use, Error::ProfileUse(ProfileUseError::InUse(2))),
        "{in_use}"
    );
    let denied = qp.deny_path(0).unwrap_err().to_string();
    assert!(denied.contains("counts or denies are of MRC"), "{denied}");

    qp.modify(Modify::Reset).unwrap();
    qp.modify(step(QpState::Init)).unwrap();
    let one_path = RcRtrAttributes::new(peer(Transport::Rc));
    qp.modify(Modify::RcRtr(one_path)).unwrap();
    let (requester, _, from) = rows();
    assert_eq!((requester.slow_rtt, from.probes), (0, false));
    device.set_generated_profile(2, few).unwrap();
}

#[test]
fn one_path_is_enough_for_a_policy() {
    let bench = bench();
    let qp = rc_pair(&bench);
    let one = RcPaths {
        paths: 1,
        ..RcPaths::new(Policy::Hopper)
    };
    qp.modify(with(one)).unwrap();
    let spray: SprayRow = bench.row(ConfigSelect::Spray, qp.number());
    assert_eq!((spray.policy, spray.paths), (Policy::Hopper, 1));
}

#[test]
fn paths_that_rc_cannot_have_are_named_and_leave_the_state_as_it_was() {
    let bench = bench();
    let qp = rc_pair(&bench);
    let refused = |paths: RcPaths| {
        let rows = bench.function.rows_written();
        let error = qp.modify(with(paths)).unwrap_err();
        assert_eq!(qp.state(), QpState::Init);
        assert_eq!(bench.function.rows_written(), rows, "{error}");
        error
    };
    let good = RcPaths::new(Policy::Hp3);
    for policy in Policy::ALL {
        if policy.traits().serves_rc() {
            continue;
        }
        let error = refused(RcPaths { policy, ..good });
        let expected = ConfigError::Requester(RequesterConfigError::RcPolicy(policy.name()));
        assert!(
            matches!(&error, Error::Config(found) if *found == expected),
            "{error}"
        );
    }
    // None, an odd number, and more than the profile has.
    for paths in [0, 3, 130] {
        let error = refused(RcPaths { paths, ..good });
        let expected = ConfigError::Spray(SprayError::Paths { paths, active: 128 });
        assert!(
            matches!(&error, Error::Config(found) if *found == expected),
            "{error}"
        );
    }
    let ticks = |ticks: u64| Duration::from_nanos(8 * ticks);
    let error = refused(RcPaths {
        base_rtt: ticks(0),
        ..good
    });
    let field = "paths.base_rtt (8 ns)";
    assert!(matches!(error, Error::Attribute { field: found, .. } if found == field));
    let error = refused(RcPaths {
        base_rtt: ticks(1 << 14),
        ..good
    });
    let expected = ConfigError::Spray(SprayError::BaseRtt(1 << 14));
    assert!(
        matches!(&error, Error::Config(found) if *found == expected),
        "{error}"
    );
    for (profile, expected) in [
        (1, ProfileUseError::Unwritten(1)),
        (
            8,
            ProfileUseError::Number {
                number: 8,
                profiles: 8,
            },
        ),
    ] {
        let error = refused(RcPaths { profile, ..good });
        assert!(
            matches!(error, Error::ProfileUse(found) if found == expected),
            "{error}"
        );
    }
    qp.modify(with(good)).unwrap();
}

#[test]
fn a_card_without_paths_over_rc_is_told_apart_and_named() {
    let function = FakeCard::new();
    let without = DataPath {
        rc_paths: false,
        ..FakeCard::DATA_PATH
    };
    function.set_register(DATA_PATH, without.to_word());
    let bench = bench_of(function);
    assert!(!bench.context.device().limits().rc_paths);
    let qp = rc_pair(&bench);
    let error = qp.modify(with(RcPaths::new(Policy::Hp3))).unwrap_err();
    assert!(matches!(error, Error::NoRcPaths), "{error}");
    assert!(error.to_string().contains("bit 40 of DATA_PATH"), "{error}");
    assert_eq!(qp.state(), QpState::Init);
    let one_path = RcRtrAttributes::new(peer(Transport::Rc));
    qp.modify(Modify::RcRtr(one_path)).unwrap();
}

#[test]
fn receive_work_requests_are_refused_with_what_the_card_has_instead() {
    let bench = bench();
    let qp = rc_pair(&bench);
    let error = qp.post_recv(7).unwrap_err();
    let number = qp.number();
    assert!(matches!(error, PostError::NoReceiveQueue { qp, wr_id: 7 } if qp == number));
    let error = error.to_string();
    assert!(error.contains("with immediate to be told"), "{error}");
}
