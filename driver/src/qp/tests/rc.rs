//! Queue pairs of RC.

use std::time::Duration;

use stellar_wire::config::{ConfigError, RequesterConfigError};
use stellar_wire::Psn;

use super::*;

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
