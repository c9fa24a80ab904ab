//! What the card counts by path.

use stellar_wire::host::{PathCount, PathCountSelect};

use super::path_use::sending;
use super::*;
use crate::paths::{CardPaths, PathAccess, PathCounts, PathTraffic};

fn counts(sent: u64, marked: u64, lost: u64) -> PathCounts {
    PathCounts { sent, marked, lost }
}

/// Counts on a path of the card.
fn set(bench: &Bench, qp: &QueuePair, index: u8, [sent, marked, lost]: [u16; 3]) {
    let select = PathCountSelect {
        qp: qp.number(),
        index,
    };
    let count = PathCount { sent, marked, lost };
    bench.function.set_path_count(select, count);
}

/// The paths on which something was counted.
fn counted(paths: &[PathTraffic]) -> Vec<(u8, PathCounts)> {
    let some = |path: &&PathTraffic| path.counts != PathCounts::default();
    let each = paths.iter().filter(some);
    each.map(|path| (path.index, path.counts)).collect()
}

#[test]
fn counts_of_paths_are_summed_from_the_first_call_on() {
    let bench = bench();
    let qp = sending(&bench);
    set(&bench, &qp, 2, [4095, 7, 1]);
    let first = qp.path_counts().unwrap();
    let indices: Vec<_> = first.iter().map(|path| path.index).collect();
    assert_eq!(
        indices,
        [0, 1, 2, 3].into_iter().chain(128..136).collect::<Vec<_>>()
    );
    assert_eq!(counted(&first), []);
    qp.deny_path(129).unwrap();
    set(&bench, &qp, 2, [4095, 1, 2]);
    set(&bench, &qp, 129, [3, 0, 1]);
    qp.path_counts().unwrap();
    set(&bench, &qp, 2, [1, 0, 0]);
    let sums = [(2, counts(4096, 1, 2)), (129, counts(3, 0, 1))];
    assert_eq!(counted(&qp.path_counts().unwrap()), sums);

    // By their places, as the manager has them.
    let mut paths = CardPaths::new([&qp]);
    let seen = paths.counts(qp.number()).unwrap();
    assert_eq!((seen[2], seen[5]), (sums[0].1, sums[1].1));
    paths.allow(qp.number(), 5).unwrap();
    paths.deny(qp.number(), 4).unwrap();
    assert_eq!(qp.denied_paths(), [128]);

    qp.modify(Modify::Reset).unwrap();
    assert!(matches!(qp.path_counts(), Err(Error::NoPaths { .. })));
    to_rts(&qp);
    set(&bench, &qp, 0, [9, 9, 9]);
    assert_eq!(counted(&qp.path_counts().unwrap()), []);
    let over_rc = QueuePairConfig {
        transport: Transport::Rc,
        ..config(4)
    };
    let rc = bench.pd.create_qp(&bench.cq, over_rc).unwrap();
    assert!(matches!(rc.path_counts(), Err(Error::Transport { .. })));
}

#[test]
fn what_was_counted_for_another_queue_pair_is_in_no_sum() {
    let bench = bench();
    let qp = sending(&bench);
    qp.path_counts().unwrap();
    set(&bench, &qp, 2, [5, 1, 0]);
    let sum = (2, counts(5, 1, 0));
    assert_eq!(counted(&qp.path_counts().unwrap()), [sum]);

    // The first path that is read tells it; what is on the others is of the other queue pair, too.
    let select = PathCountSelect {
        qp: qp.number(),
        index: 0,
    };
    let foreign = PathCount {
        sent: 40,
        marked: 30,
        lost: 20,
    };
    bench.function.set_path_count_of_another(select, foreign);
    for index in [2, 3, 130] {
        set(&bench, &qp, index, [100, 10, 1]);
    }
    assert_eq!(counted(&qp.path_counts().unwrap()), [sum]);
    set(&bench, &qp, 0, [1, 1, 1]);
    set(&bench, &qp, 2, [1, 0, 1]);
    let sums = [(0, counts(1, 1, 1)), (2, counts(6, 1, 1))];
    assert_eq!(counted(&qp.path_counts().unwrap()), sums);
}
