//! The paths of a guest's queue pairs.

use std::collections::BTreeMap;

use stellar_driver::paths::{PathAccess, PathCounts};
use stellar_wire::vstellar::{GuestPathCounts, Request};

use super::control::{CallError, GuestDriver};

/// Queue pairs of a virtual device, by their numbers, as a [`stellar_driver::paths::PathManager`] in its guest sees them.
pub struct GuestPathAccess<'a, N> {
    driver: &'a mut GuestDriver,
    notify: N,
    /// The card's indices of the paths, by their places.
    indices: BTreeMap<u32, Vec<u8>>,
}

impl<'a, N: FnMut()> GuestPathAccess<'a, N> {
    /// The access by a device's driver, which notifies the host by `notify`. Queue pairs have to be in RTS when a sample is taken.
    pub const fn new(driver: &'a mut GuestDriver, notify: N) -> Self {
        Self {
            driver,
            notify,
            indices: BTreeMap::new(),
        }
    }

    fn use_path(&mut self, qp: u32, place: u8, denied: bool) -> Result<(), CallError> {
        if !self.indices.contains_key(&qp) {
            self.counts(qp)?;
        }
        let index = self.indices[&qp][usize::from(place)];
        let request = Request::UsePath { qp, index, denied };
        self.driver.call(&request, &mut self.notify)?;
        Ok(())
    }
}

impl<N: FnMut()> PathAccess for GuestPathAccess<'_, N> {
    type Pair = u32;
    type Error = CallError;

    fn counts(&mut self, qp: u32) -> Result<Vec<PathCounts>, CallError> {
        let paths = self.driver.path_counts(qp, &mut self.notify)?;
        let indices = paths.iter().map(|path| path.index).collect();
        self.indices.insert(qp, indices);
        let counts = |path: GuestPathCounts| PathCounts {
            sent: path.sent,
            marked: path.marked,
            lost: path.lost,
        };
        Ok(paths.into_iter().map(counts).collect())
    }

    fn deny(&mut self, qp: u32, path: u8) -> Result<(), CallError> {
        self.use_path(qp, path, true)
    }

    fn allow(&mut self, qp: u32, path: u8) -> Result<(), CallError> {
        self.use_path(qp, path, false)
    }
}
