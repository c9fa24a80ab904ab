//! The paths of queue pairs of cards.

use std::collections::BTreeMap;

use super::{PathAccess, PathCounts};
use crate::error::Error;
use crate::qp::QueuePair;

/// Queue pairs of one card, by their numbers, as a [`super::PathManager`] sees them.
pub struct CardPaths<'a> {
    pairs: BTreeMap<u32, &'a QueuePair>,
}

impl<'a> CardPaths<'a> {
    /// The access to these queue pairs, which have to be in RTS over MRC when a sample is taken. A manager that watches another number panics.
    pub fn new(pairs: impl IntoIterator<Item = &'a QueuePair>) -> Self {
        let pairs = pairs.into_iter().map(|qp| (qp.number(), qp));
        Self {
            pairs: pairs.collect(),
        }
    }

    /// A queue pair, and the card's index of its path at this place.
    fn path(&self, qp: u32, place: u8) -> Result<(&'a QueuePair, u8), Error> {
        let pair = self.pairs[&qp];
        let indices = pair.path_indices()?;
        Ok((pair, indices[usize::from(place)]))
    }
}

impl PathAccess for CardPaths<'_> {
    type Pair = u32;
    type Error = Error;

    fn counts(&mut self, pair: u32) -> Result<Vec<PathCounts>, Error> {
        let paths = self.pairs[&pair].path_counts()?;
        Ok(paths.into_iter().map(|path| path.counts).collect())
    }

    fn deny(&mut self, pair: u32, path: u8) -> Result<(), Error> {
        let (pair, index) = self.path(pair, path)?;
        pair.deny_path(index)
    }

    fn allow(&mut self, pair: u32, path: u8) -> Result<(), Error> {
        let (pair, index) = self.path(pair, path)?;
        pair.allow_path(index)
    }
}
