//! Paths that are denied and allowed.

use stellar_wire::config::PathUseError;
use stellar_wire::rows::PathUseRow;

use super::*;

/// A queue pair over MRC with four paths, in RTS.
pub fn sending(bench: &Bench) -> QueuePair {
    let qp = bench.pd.create_qp(&bench.cq, config(4)).unwrap();
    let mut ready = RtrAttributes::new(peer(Transport::Mrc));
    ready.path.paths = 4;
    for step in [step(QpState::Init), Modify::Rtr(ready), step(QpState::Rts)] {
        qp.modify(step).unwrap();
    }
    qp
}

fn reason(result: Result<(), Error>) -> PathUseError {
    match result {
        Err(Error::PathUse { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn denials_reach_the_card_and_end_with_the_connection() {
    let bench = bench();
    let qp = sending(&bench);
    let row = || bench.row::<PathUseRow>(ConfigSelect::PathUse, qp.number());
    for (index, denied) in [(3, true), (0, true), (3, false), (3, false), (1, true)] {
        match denied {
            true => qp.deny_path(index).unwrap(),
            false => qp.allow_path(index).unwrap(),
        }
        assert_eq!(row(), PathUseRow { index, denied });
    }
    assert_eq!(qp.denied_paths(), [0, 1]);
    qp.modify(Modify::Reset).unwrap();
    assert!(qp.denied_paths().is_empty());
    to_rts(&qp);
    assert!(qp.denied_paths().is_empty());
    qp.deny_path(127).unwrap();
}

#[test]
fn what_cannot_be_denied_is_refused_and_changes_nothing() {
    let bench = bench();
    let qp = sending(&bench);
    // Its last path is a backup.
    let all = [0, 1, 2, 3].into_iter().chain(128..135);
    for index in all.clone() {
        qp.deny_path(index).unwrap();
    }
    let rows = bench.function.rows_written();
    assert_eq!(reason(qp.deny_path(135)), PathUseError::Last { index: 135 });
    for index in [4, 127, 136, 255] {
        for result in [qp.deny_path(index), qp.allow_path(index)] {
            let unknown = PathUseError::Unknown {
                index,
                paths: 4,
                backups: 8,
            };
            assert_eq!(reason(result), unknown);
        }
    }
    let said = qp.deny_path(135).unwrap_err().to_string();
    assert_eq!(said, format!("queue pair {}: path 135 is the last one that the queue pair may use: allow another one first", qp.number()));
    assert_eq!(qp.denied_paths(), all.collect::<Vec<_>>());
    assert_eq!(bench.function.rows_written(), rows);
    qp.modify(Modify::Error).unwrap();
    let state = qp.deny_path(3).unwrap_err();
    assert!(
        matches!(
            state,
            Error::NoPaths {
                state: QpState::Error,
                ..
            }
        ),
        "{state}"
    );

    let new = bench.pd.create_qp(&bench.cq, config(4)).unwrap();
    assert!(matches!(new.allow_path(0), Err(Error::NoPaths { .. })));
    let over_rc = QueuePairConfig {
        transport: Transport::Rc,
        ..config(4)
    };
    let rc = bench.pd.create_qp(&bench.cq, over_rc).unwrap();
    assert!(matches!(rc.deny_path(0), Err(Error::Transport { .. })));
}
