//! Cycles from the acceptance of a request to its last response.
//!
//! | operation | cycles |
//! |---|---|
//! | `Choose` of n paths, permuted order | 9 + n; 4 more for each rotation that begins |
//! | `Choose` of n paths, round robin | 5 + n; 2 more for each rotation that begins |
//! | `Choose` of n paths, one path at a time | 6 + n; 5 if the path belongs to the other port; 2 more past the last index |
//! | `Choose` of n paths that are taken again | 6 + n; 1 more for each remembered path that is no candidate |
//! | `Choose` of n paths, of which some are taken again | 11 + n; more as above, and for each rotation that begins |
//! | `Choose` without a path | 3 |
//! | `Choose` that avoids a backup | 1 more |
//! | With Hopper and HP3: `Feedback` and `Ack` | 2 more; `Query` 3 more; `Probe` 6 if none is due, otherwise 3 more |
//! | `Feedback`, `Deny`, `Allow` | 4 if no value is withdrawn or returns; otherwise 6, or 7 with a slot that no value serves; 5 if another path is drawn; 1 more if they name the path in use |
//! | `Ack` | 3 more than `Feedback`; 19 more if the path changes after a delay |
//! | `Probe` | 8; 10 past the last value; 2 less if none is due; 3 if the policy never probes |
//! | `Query` | 3 |
//! | `Configure` | 6 |
//!
//! The responses of a burst come in consecutive cycles, except for the cycles in which a rotation begins. The next request is accepted in the cycle after the
//! last response.

/// Cycles of a `Choose` of `paths` paths in permuted order, with `rotations` that begin before the last path. Round robin and single path are faster.
#[must_use]
pub const fn choose(paths: usize, rotations: usize) -> usize {
    9 + paths + NEW_ROTATION * rotations
}

/// Cycles that it costs to avoid a backup.
pub const AVOID_BACKUP: usize = 1;

/// Cycles that a new rotation costs in permuted order.
pub const NEW_ROTATION: usize = 4;

/// Cycles that remembered paths add to a `Choose` that also has paths of the order: to compare their slots with the candidates, and to find that none is left.
pub const RECALL: usize = 2;

/// Cycles of a `Choose` of `paths` paths that are taken again. Each remembered path that is no candidate costs one more.
#[must_use]
pub const fn choose_recycled(paths: usize) -> usize {
    6 + paths
}

/// Cycles between the last path that is taken again and the next one, which comes from the order.
pub const FROM_RECYCLED: usize = 7;

/// Cycles of `Query`, and of `Probe` if the policy is not EV-state.
pub const QUERY: usize = 3;

/// Maximum number of cycles of all operations but `Choose`, and `Ack` if the path changes after a delay ([`HOP`]).
pub const OTHER: usize = 14;

/// Cycles of an `Ack` after which the path changes after a delay.
pub const HOP: usize = 28;
