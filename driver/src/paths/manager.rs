//! The manager: one decision for each queue pair in each sample.

use std::collections::BTreeMap;

use super::path::{PathState, Recent, Use};
use super::PathAccess;

/// One path in this many may be on trial at a time, and one at least.
const TRIALS_ONE_IN: usize = 16;

/// A change that the manager made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathChange<P> {
    /// The queue pair.
    pub pair: P,
    /// The path, by its place in [`PathAccess::counts`].
    pub path: u8,
    /// It was denied; otherwise it was allowed again.
    pub denied: bool,
}

/// Watches queue pairs, and moves them off degraded paths.
///
/// A path is degraded if a fifth of its packets were marked, or a twentieth lost, and if that is four times what packets of the best quarter of the paths in use
/// suffer. At least half of the paths stay in use, and the last one always does. A denied path rests for 16 samples, and then is tried.
#[derive(Clone, Debug, Default)]
pub struct PathManager<P> {
    pairs: BTreeMap<P, Vec<PathState>>,
}

impl<P: Copy + Ord> PathManager<P> {
    /// A manager that watches nothing.
    pub const fn new() -> Self {
        Self {
            pairs: BTreeMap::new(),
        }
    }

    /// Watches a queue pair from the next sample on. All of its paths are allowed.
    pub fn watch(&mut self, pair: P) {
        self.pairs.insert(pair, Vec::new());
    }

    /// Watches a queue pair no longer. Its paths stay as they are.
    pub fn forget(&mut self, pair: P) {
        self.pairs.remove(&pair);
    }

    /// Whether it keeps a path out of use.
    pub fn denies(&self, pair: P, path: u8) -> bool {
        let state = self
            .pairs
            .get(&pair)
            .and_then(|paths| paths.get(usize::from(path)));
        state.is_some_and(|state| !state.in_use())
    }

    /// Takes a sample of all queue pairs: reads their counters, and changes their paths. Call it once in a period in which a path carries some packets, and that is several round
    /// trips long.
    ///
    /// # Errors
    /// The first one of the card. What was changed before it is remembered; a change that failed is tried again in the next sample.
    pub fn sample<A>(&mut self, access: &mut A) -> Result<Vec<PathChange<P>>, A::Error>
    where
        A: PathAccess<Pair = P>,
    {
        let mut changes = Vec::new();
        for (&pair, paths) in &mut self.pairs {
            let counts = access.counts(pair)?;
            paths.resize(counts.len(), PathState::new());
            for (path, counts) in paths.iter_mut().zip(counts) {
                path.sample(counts);
            }
            let change = |path: usize, denied| PathChange {
                pair,
                path: path as u8,
                denied,
            };
            for path in degraded(paths) {
                access.deny(pair, path as u8)?;
                paths[path].deny();
                changes.push(change(path, true));
            }
            for path in to_try(paths) {
                access.allow(pair, path as u8)?;
                paths[path].try_again();
                changes.push(change(path, false));
            }
        }
        Ok(changes)
    }
}

/// Paths to deny now, the worst first.
fn degraded(paths: &[PathState]) -> Vec<usize> {
    let mut used: Vec<usize> = (0..paths.len()).filter(|&i| paths[i].in_use()).collect();
    used.sort_by(|&a, &b| paths[a].recent.worse_first(paths[b].recent));
    let compared: Vec<_> = used
        .iter()
        .map(|&i| paths[i].recent)
        .filter(|recent| recent.comparable())
        .collect();
    // The worst path of the best quarter. A queue pair with one path at a time has nothing to compare with.
    let good = match compared.len() {
        0 | 1 => Recent::default(),
        more => compared[more - more.div_ceil(4)],
    };
    let spare = used.len().saturating_sub(paths.len().div_ceil(2));
    used.retain(|&i| paths[i].recent.degraded_beside(good));
    used.truncate(spare);
    used
}

/// Denied paths to try now.
fn to_try(paths: &[PathState]) -> Vec<usize> {
    let on_trial = |path: &&PathState| matches!(path.usage, Use::Trial(_));
    let most = (paths.len() / TRIALS_ONE_IN).max(1);
    let room = most.saturating_sub(paths.iter().filter(on_trial).count());
    (0..paths.len())
        .filter(|&i| paths[i].rested())
        .take(room)
        .collect()
}
