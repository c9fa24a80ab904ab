//! Paths that software denies and allows while the queue pair sends.

use hdl_requester::ConfigureKind;
use stellar_transport::requester::Requester;
use stellar_wire::rows::{PathUseRow, Row as _};

use crate::core::lockstep::Bench;
use crate::core::path_feedback::{deliver, post, with_probe_for_port_0, QP};
use crate::core::silent_plane::{counters, silenced, OBLIVIOUS};

/// Indices of the values of a plane: 8 active ones and 2 backups.
fn plane(plane: u8) -> impl Iterator<Item = u8> {
    let active = (0..8).map(move |slot| slot << 1 | plane);
    active.chain([128 | plane, 130 | plane])
}

impl Bench {
    /// Denies or allows a path of an MRC queue pair.
    fn use_path(&mut self, qp: usize, change: PathUseRow) {
        let was_failed = self.pairs[qp].reference.error().is_some();
        let Requester::Mrc(mrc) = &mut self.pairs[qp].reference else {
            return;
        };
        mrc.use_path(change);
        let (kind, port) = (ConfigureKind::PathUse, "settings_path_use");
        let mut observed = self.rig.configure(kind, qp as u32, port, &change.pack());
        self.compare(qp, &mut observed, was_failed);
    }

    fn use_plane(&mut self, qp: usize, index: u8, denied: bool) {
        for index in plane(index) {
            self.use_path(qp, PathUseRow { index, denied });
        }
    }

    /// Denies or allows a path that `dice` decides, or all of a plane. The queue pair may not have it.
    pub fn use_paths(&mut self, qp: usize, dice: u64) {
        let denied = dice & 1 == 1;
        if dice >> 1 & 7 == 0 {
            self.use_plane(qp, (dice >> 4 & 1) as u8, denied);
        } else {
            let index = match dice >> 4 & 7 {
                0 => 128 + (dice >> 8 & 7) as u8,
                1 => (dice >> 8) as u8,
                _ => (dice >> 8 & 15) as u8,
            };
            self.use_path(qp, PathUseRow { index, denied });
        }
    }
}

/// A burst of a policy that keeps all paths takes it that its plane has one, unless a path is denied. Otherwise it would wait for ever.
#[test]
fn a_plane_whose_paths_are_all_denied_sends_nothing_until_one_is_allowed() {
    let mut bench = Bench::new(OBLIVIOUS);
    bench.use_plane(QP, 1, true);
    post(&mut bench, 32);
    assert!(!bench.transmit(QP, 1));
    assert!(bench.transmit(QP, 0));
    assert!(!bench.transmit(QP, 1));
    deliver(&mut bench);
    let allowed = PathUseRow {
        index: 5,
        denied: false,
    };
    bench.use_path(QP, allowed);
    post(&mut bench, 7);
    assert!(bench.transmit(QP, 1));
    let flying = &bench.pairs[QP].flying;
    assert!(flying.len() == 7 && flying.iter().all(|sent| sent.entropy == flying[0].entropy));
    deliver(&mut bench);
    bench.use_plane(QP, 1, false);
    post(&mut bench, 7);
    assert!(bench.transmit(QP, 1));
    bench.compare_counters();
}

/// New packets and lost ones leave a silent plane, but not if the other one has no path.
#[test]
fn a_silent_plane_is_used_if_all_paths_of_the_other_one_are_denied() {
    let mut bench = silenced();
    assert!(!bench.transmit(QP, 1));
    bench.use_plane(QP, 0, true);
    assert!(!bench.transmit(QP, 0));
    assert!(bench.transmit(QP, 1));
    bench.use_plane(QP, 0, false);
    deliver(&mut bench);
    bench.compare_counters();
}

#[test]
fn a_probe_that_waits_for_its_port_does_not_leave_on_a_path_that_is_denied() {
    let mut bench = with_probe_for_port_0();
    bench.use_plane(QP, 0, true);
    assert!(!bench.transmit(QP, 0));
    assert_eq!(counters(&bench).probes, 0);
    bench.compare_counters();
}
