//! Planes that do not answer (hardware: `silent_plane.rs` of `hdl/requester`).

use super::{MrcRequester, Probe};
use crate::spray::PlaneMask;

/// A plane is silent when so many of its packets were lost and nothing was heard of it since.
const SILENT_FROM: u8 = 16;

/// Losses of each plane since an answer to one of its packets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlaneLosses([u8; 2]);

impl PlaneLosses {
    /// A packet of `plane` was late, or is known to be lost. If the own port is down, that is the reason.
    pub fn lost(&mut self, plane: u8, up: PlaneMask) {
        let losses = &mut self.0[usize::from(plane)];
        *losses = if up.contains(plane) {
            (*losses + 1).min(SILENT_FROM)
        } else {
            0
        };
    }

    /// A SACK answers the last transmission of a packet on `plane`, or a probe of it.
    pub fn heard(&mut self, plane: u8) {
        self.0[usize::from(plane)] = 0;
    }

    fn silent(self, plane: u8) -> bool {
        self.0[usize::from(plane)] == SILENT_FROM
    }

    /// Whether a plane is silent.
    pub fn any_silent(self) -> bool {
        self.0.contains(&SILENT_FROM)
    }
}

impl MrcRequester {
    /// Whether the policy has more than one path at a time, and takes none out of use by itself.
    pub(super) fn spreads(&self) -> bool {
        let traits = self.config.policy.traits();
        !traits.one_path && !traits.states
    }

    /// Whether every plane that is up has a path: the policy spreads, and software denies none.
    pub(super) fn keeps_all_paths(&self) -> bool {
        self.spreads() && !self.spray.denies()
    }

    /// Whether data packets keep away from a plane: it is silent, and the other one is up and is not. Its port may be up all the same, as the plane may be dead at
    /// the far end. With policies that take paths out of use, with those of one path, and while software denies a path, no plane is avoided.
    pub(super) fn avoids(&self, plane: u8) -> bool {
        let other = 1 - plane;
        // Hardly any plane is ever silent, so this is asked first.
        self.losses.silent(plane)
            && self.keeps_all_paths()
            && !self.losses.silent(other)
            && self.spray.planes_up().contains(other)
    }

    /// Asks a plane that is avoided for a sign of life: a probe of it waits for its port. Its answer ends the silence.
    pub(super) fn ask_silent_plane(&mut self) {
        let up = self.spray.planes_up();
        let silent = (0..2).find(|&plane| self.avoids(plane) && up.contains(plane));
        let Some(plane) = silent.filter(|_| self.probe_waiting.is_none()) else {
            return;
        };
        let path = self.spray.choose(None, PlaneMask::only(plane));
        self.probe_waiting = path.map(|path| Probe {
            index: path.index,
            is_tail: false,
        });
    }
}
