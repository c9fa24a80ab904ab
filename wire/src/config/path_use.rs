//! Paths that software denies a queue pair.

use std::collections::BTreeSet;

use thiserror::Error;

use super::{EvIndex, SprayConfig};
use crate::rows::PathUseRow;

/// A path that cannot be denied or allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PathUseError {
    /// The queue pair does not have it.
    #[error("no path {index}: the queue pair has {paths} paths, from 0 on, and {backups} backups, from {} on", EvIndex::ACTIVE)]
    Unknown {
        /// The index that was named.
        index: u8,
        /// Active values of the queue pair.
        paths: u8,
        /// Its backups.
        backups: u8,
    },
    /// Without it, no packet could leave.
    #[error("path {index} is the last one that the queue pair may use: allow another one first")]
    Last {
        /// The index that was named.
        index: u8,
    },
}

/// Which of its entropy values an MRC queue pair may use. At the start it may use all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedPaths {
    paths: u8,
    backups: u8,
    denied: BTreeSet<EvIndex>,
}

impl AllowedPaths {
    /// All paths of a queue pair.
    pub fn new(config: &SprayConfig) -> Self {
        Self {
            paths: config.paths,
            backups: config.profile.backups(),
            denied: BTreeSet::new(),
        }
    }

    /// The paths after a change. Denying a denied path, or allowing an allowed one, changes nothing.
    ///
    /// # Errors
    /// [`PathUseError`] if the queue pair does not have the path, or would have none left.
    pub fn after(&self, change: PathUseRow) -> Result<Self, PathUseError> {
        let PathUseRow { index, denied } = change;
        let path = EvIndex::new(index).filter(|&path| self.has(path));
        let path = path.ok_or(PathUseError::Unknown {
            index,
            paths: self.paths,
            backups: self.backups,
        })?;
        let mut after = self.clone();
        if denied {
            after.denied.insert(path);
        } else {
            after.denied.remove(&path);
        }
        if after.all().any(|path| after.serves(path)) {
            Ok(after)
        } else {
            Err(PathUseError::Last { index })
        }
    }

    /// Indices of the denied paths, ascending.
    pub fn denied(&self) -> impl Iterator<Item = u8> + '_ {
        self.denied.iter().map(|path| path.value())
    }

    /// Indices of all paths, denied ones and backups included, ascending.
    pub fn indices(&self) -> impl Iterator<Item = u8> + '_ {
        self.all().map(EvIndex::value)
    }

    fn all(&self) -> impl Iterator<Item = EvIndex> + '_ {
        EvIndex::all().filter(|&path| self.has(path))
    }

    fn has(&self, path: EvIndex) -> bool {
        match path.value().checked_sub(EvIndex::ACTIVE as u8) {
            None => path.value() < self.paths,
            Some(backup) => backup < self.backups,
        }
    }

    /// Whether packets can take the path. A backup serves a slot of its own plane, and with one path plane 1 has none.
    fn serves(&self, path: EvIndex) -> bool {
        !self.denied.contains(&path) && path.plane() < self.paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(paths: u8, backups: u8) -> AllowedPaths {
        AllowedPaths {
            paths,
            backups,
            denied: BTreeSet::new(),
        }
    }

    fn row(index: u8, denied: bool) -> PathUseRow {
        PathUseRow { index, denied }
    }

    #[test]
    fn all_but_one_path_can_be_denied() {
        let mut left = allowed(4, 2);
        for index in [0, 3, 128, 1, 129, 3] {
            left = left.after(row(index, true)).unwrap();
        }
        assert_eq!(left.denied().collect::<Vec<_>>(), [0, 1, 3, 128, 129]);
        let last = left.after(row(2, true)).unwrap_err();
        assert_eq!(last, PathUseError::Last { index: 2 });
        left = left.after(row(129, false)).unwrap();
        left = left.after(row(2, true)).unwrap();
        assert_eq!(left.denied().collect::<Vec<_>>(), [0, 1, 2, 3, 128]);
    }

    #[test]
    fn a_path_that_the_queue_pair_does_not_have_is_refused() {
        for index in [4, 127, 130, 143, 144, 255] {
            for denied in [false, true] {
                let error = allowed(4, 2).after(row(index, denied)).unwrap_err();
                let said = error.to_string();
                let expected =
                    format!("no path {index}: the queue pair has 4 paths, from 0 on, and 2 backups, from 128 on");
                assert_eq!(said, expected);
            }
        }
    }

    #[test]
    fn a_backup_of_a_plane_without_a_path_does_not_count() {
        let one = allowed(1, 2);
        assert!(one.after(row(0, true)).is_ok(), "backup 0 serves it");
        let left = one.after(row(128, true)).unwrap();
        let last = left.after(row(0, true)).unwrap_err();
        assert_eq!(last, PathUseError::Last { index: 0 });
    }
}
