//! Backups take the place of withdrawn values of their plane.

use stellar_transport::spray::{EvState, Feedback, PlaneMask};
use stellar_transport::time::Ticks;

use crate::spray::common::{ev, used, with_backups, NOW};

#[test]
fn a_backup_of_the_same_plane_takes_the_place() {
    let mut spray = with_backups(8, 4);
    spray.on_feedback(ev(3), Feedback::Timeout, NOW);
    assert_eq!(used(&mut spray, 100), [0, 1, 2, 4, 5, 6, 7, 129]);
    spray.on_feedback(ev(5), Feedback::AlwaysSkip, NOW);
    assert_eq!(used(&mut spray, 100), [0, 1, 2, 4, 6, 7, 129, 131]);
    // No backup is left in plane 1; those of plane 0 stay where they are.
    spray.on_feedback(ev(7), Feedback::Timeout, NOW);
    assert_eq!(used(&mut spray, 100), [0, 1, 2, 4, 6, 129, 131]);
    // One value returns. Its backup moves to the slot that still has none.
    spray.on_feedback(ev(3), Feedback::ProbeAnswered, NOW);
    assert_eq!(used(&mut spray, 100), [0, 1, 2, 3, 4, 6, 129, 131]);
    spray.on_feedback(ev(5), Feedback::ProbeAnswered, NOW);
    spray.on_feedback(ev(7), Feedback::ProbeAnswered, NOW);
    assert_eq!(
        used(&mut spray, 100),
        [0, 1, 2, 3, 4, 5, 6, 7],
        "backups are in reserve again"
    );
}

#[test]
fn a_backup_that_fails_is_replaced_and_probed() {
    let mut spray = with_backups(8, 4);
    spray.deny(ev(0));
    assert!(used(&mut spray, 100).contains(&128));
    spray.on_feedback(ev(128), Feedback::Timeout, NOW);
    let in_use = used(&mut spray, 100);
    assert!(
        in_use.contains(&130) && !in_use.contains(&128),
        "{in_use:?}"
    );
    assert_eq!(spray.probe_due(Ticks(0)), Some(ev(128)));
    spray.allow(ev(0));
    assert_eq!(used(&mut spray, 100), [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_denied_backup_is_no_backup() {
    let mut spray = with_backups(8, 4);
    spray.deny(ev(129));
    spray.deny(ev(131));
    spray.on_feedback(ev(3), Feedback::Timeout, NOW);
    assert_eq!(used(&mut spray, 100), [0, 1, 2, 4, 5, 6, 7]);
    spray.allow(ev(131));
    assert_eq!(used(&mut spray, 100), [0, 1, 2, 4, 5, 6, 7, 131]);
}

#[test]
fn a_slot_that_changes_hands_is_not_bypassed() {
    for withdraw in [Feedback::Timeout, Feedback::AlwaysSkip] {
        let mut spray = with_backups(128, 4);
        // Marked, then withdrawn: the mark was the old value's.
        spray.on_feedback(ev(3), Feedback::Skip, NOW);
        spray.on_feedback(ev(3), withdraw, NOW);
        assert_eq!(spray.state(ev(129)), Some(EvState::Good));
        assert!(used(&mut spray, 128).contains(&129));
        // The mark of the backup does not pass to the returning value.
        spray.on_feedback(ev(129), Feedback::Skip, NOW);
        assert_eq!(spray.state(ev(129)), Some(EvState::Skip));
        spray.on_feedback(ev(3), Feedback::ProbeAnswered, NOW);
        assert_eq!(spray.state(ev(3)), Some(EvState::Good));
    }
}

#[test]
fn an_avoided_backup_gives_way_to_doubtful_values() {
    let mut spray = with_backups(4, 2);
    spray.set_plane(1, false);
    spray.on_feedback(ev(0), Feedback::Timeout, NOW);
    spray.on_feedback(ev(2), Feedback::Timeout, NOW);
    assert_eq!(
        used(&mut spray, 20),
        [128],
        "the one backup carries the plane"
    );
    let other = spray
        .choose(Some(ev(128)), PlaneMask::BOTH)
        .map(|path| path.index);
    assert_eq!(other, Some(ev(2)), "slot 0 is the backup's");
}
