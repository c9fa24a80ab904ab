//! Clocks from taking a request to its last response.
//!
//! | operation | clocks |
//! |---|---|
//! | `Choose` of n paths, permuted order | 9 + n; 4 more for each rotation that begins |
//! | `Choose` of n paths, round robin | 5 + n; 2 more for each rotation that begins |
//! | `Choose` of n paths, single path | 6 + n; 5 if the path is the other port's; 2 more past the last index |
//! | `Choose` without a path | 3 |
//! | `Feedback`, `Deny`, `Allow` | 4 if no value is withdrawn or returns; else 6, or 7 with a slot that nothing serves |
//! | `Reflect` | 3 more than `Feedback` |
//! | `Probe` | 7; 9 past the last value; 2 less if none is due; 3 if the policy never probes |
//! | `Query` | 3 |
//! | `Configure` | 6 |
//!
//! Answers of a burst come in successive clocks, but for the clocks in which a rotation begins. The next request is taken in the clock after
//! the last response.

/// `Choose` of `paths` paths, with `rotations` that begin before the last of them, in permuted order; round robin and a single path are faster.
#[must_use]
pub const fn choose(paths: usize, rotations: usize) -> usize {
    9 + paths + NEW_ROTATION * rotations
}

/// What a rotation that begins costs, in permuted order.
pub const NEW_ROTATION: usize = 4;

/// `Query`, and `Probe` of a queue pair whose policy is not EV-state.
pub const QUERY: usize = 3;

/// Most of any operation but `Choose`.
pub const OTHER: usize = 10;
