//! The sweep shows that many paths with selective retransmission tolerate loss, and that go-back-N does not.

use sim_world::sweep::{sweep, Row, LOSSES, TRANSPORTS};

const LEAF_SPINE: &str = include_str!("../../net/topologies/leaf_spine.toml");

#[test]
fn loss_costs_go_back_n_more_than_many_paths() {
    let rows = sweep("leaf_spine.toml", LEAF_SPINE, 1).expect("every run is good");
    assert_eq!(rows.len(), LOSSES.len() * TRANSPORTS.len());
    let of = |mode: &str, paths: u8, loss: f64| -> &Row {
        let found = rows
            .iter()
            .find(|row| (row.mode, row.paths, row.loss) == (mode, paths, loss));
        found.expect("it is in the sweep")
    };
    for row in rows.iter().filter(|row| row.loss == 0.0) {
        assert_eq!(row.retransmissions, 0, "{row:?}");
        assert!((0.98..1.0).contains(&row.ratio), "{row:?}");
        assert!(row.p50_ns > 0 && row.p50_ns <= row.p99_ns, "{row:?}");
    }
    let (many, rc) = (of("mrc", 128, 0.01), of("rc", 1, 0.01));
    assert!(many.ratio > 0.95 && many.retransmissions > 0, "{many:?}");
    assert!(rc.ratio < 0.8, "{rc:?}");
    assert!(
        rc.retransmissions > 10 * many.retransmissions,
        "{rc:?} {many:?}"
    );
}
