//! The path choice of one queue pair.

use std::sync::Arc;

use stellar_wire::mrc::Entropy;

use super::ev_table::EvTable;
use super::rotation::Rotation;
use super::{
    EntropyProfile, EvIndex, EvState, Feedback, Lfsr32, Path, PlaneMask, Policy, SkipScope,
    SprayConfig, SprayError,
};
use crate::time::Ticks;

/// Chooses the path of every packet of a queue pair and keeps the states of its entropy values.
#[derive(Clone, Debug)]
pub struct Spray {
    policy: Policy,
    skip_scope: SkipScope,
    profile: Arc<EntropyProfile>,
    profile_rotation: u8,
    planes_up: PlaneMask,
    /// Plane of the next packet, unless it is not allowed.
    next_plane: u8,
    tables: [EvTable; 2],
    rotations: [Rotation; 2],
    lfsr: Lfsr32,
    /// Single path: plane and slot in use.
    home: (u8, u8),
    probe_interval: Ticks,
    last_probe: Option<Ticks>,
    /// Where the search for the next value to probe starts.
    probe_from: EvIndex,
}

impl Spray {
    /// A path choice at the start of its sequence, with every value good.
    ///
    /// # Errors
    /// [`SprayError`] naming what cannot work.
    pub fn new(config: SprayConfig) -> Result<Self, SprayError> {
        config.check()?;
        let mut lfsr = Lfsr32::new(config.seed).ok_or(SprayError::ZeroSeed)?;
        let slots = [config.paths.div_ceil(2), config.paths / 2];
        let backups = config.profile.backups() / 2;
        let start = draw(&mut lfsr, config.paths);
        let rotations = [(); 2].map(|()| match config.policy {
            Policy::RoundRobin => Rotation::ascending(start >> 1),
            _ => Rotation::permuted(lfsr.next_word()),
        });
        Ok(Self {
            policy: config.policy,
            skip_scope: config.skip,
            profile_rotation: config.rotation,
            planes_up: config.planes_up,
            next_plane: start & 1,
            tables: [0, 1].map(|plane| EvTable::new(plane, slots[usize::from(plane)], backups)),
            rotations,
            lfsr,
            home: (start & 1, start >> 1),
            probe_interval: config.probe_interval,
            last_probe: None,
            probe_from: EvIndex::active(0, 0),
            profile: config.profile,
        })
    }

    /// Chooses the path of the next packet from `planes`, the planes whose ports can send it now. The planes take turns.
    ///
    /// `avoid` is the value on which a retransmitted packet was lost. It is not chosen again as long as any plane that is up has another usable
    /// value. A single path has no alternative and ignores `avoid`.
    ///
    /// Returns `None` if the queue pair has no usable path in `planes`; it may have one in the other plane. Values that are assumed bad are used only
    /// when no plane that is up has a better one, because a packet on a doubtful path is better than a queue pair that stops.
    pub fn choose(&mut self, avoid: Option<EvIndex>, planes: PlaneMask) -> Option<Path> {
        if self.policy == Policy::SinglePath {
            return self.choose_single(planes);
        }
        let candidates = self.candidates(avoid)?;
        let open = planes.and(self.planes_up);
        let plane = [self.next_plane, self.next_plane ^ 1]
            .into_iter()
            .find(|&plane| open.contains(plane) && candidates[usize::from(plane)] != 0)?;
        let slot = self.take(plane, candidates[usize::from(plane)]);
        self.next_plane = plane ^ 1;
        self.path(plane, slot)
    }

    /// Takes feedback about a packet on `index`. Only [`Policy::EvState`] uses it; a denied value stays denied, and one that
    /// is assumed bad stays so until a probe is answered. An unknown index is ignored.
    pub fn on_feedback(&mut self, index: EvIndex, feedback: Feedback) {
        if self.policy != Policy::EvState {
            return;
        }
        let table = &mut self.tables[usize::from(index.plane())];
        let next = match (table.state(index), feedback) {
            (None | Some(EvState::Denied), _) | (_, Feedback::Good) => return,
            (Some(_), Feedback::Timeout | Feedback::AlwaysSkip) => EvState::AssumedBad,
            (Some(EvState::AssumedBad), Feedback::ProbeAnswered) => EvState::Good,
            (Some(EvState::Good | EvState::Skip), Feedback::Skip) => EvState::Skip,
            (Some(_), Feedback::Skip | Feedback::ProbeAnswered) => return,
        };
        table.set_state(index, next);
    }

    /// Takes `index` out of use until [`Self::allow`], whatever the policy. An unknown index is ignored.
    pub fn deny(&mut self, index: EvIndex) {
        let table = &mut self.tables[usize::from(index.plane())];
        if table.state(index).is_some() {
            table.set_state(index, EvState::Denied);
        }
    }

    /// Makes a denied `index` good again; other states stay.
    pub fn allow(&mut self, index: EvIndex) {
        let table = &mut self.tables[usize::from(index.plane())];
        if table.state(index) == Some(EvState::Denied) {
            table.set_state(index, EvState::Good);
        }
    }

    /// The value to probe now: the next one that is assumed bad in a plane that is up, going round, at most one per
    /// probe interval.
    pub fn probe_due(&mut self, now: Ticks) -> Option<EvIndex> {
        if self
            .last_probe
            .is_some_and(|last| !now.elapsed(last, self.probe_interval))
        {
            return None;
        }
        let from = self.probe_from;
        let due = self
            .tables
            .iter()
            .filter_map(|table| table.next_assumed_bad(from))
            .filter(|index| self.planes_up.contains(index.plane()))
            .min_by_key(|index| index.value().wrapping_sub(from.value()))?;
        self.last_probe = Some(now);
        self.probe_from = EvIndex::new(due.value() + 1).unwrap_or(EvIndex::active(0, 0));
        Some(due)
    }

    /// Records that the port of `plane` (0 or 1) came up or went down.
    pub fn set_plane(&mut self, plane: u8, up: bool) {
        self.planes_up = self.planes_up.with(plane, up);
    }

    /// Planes that are up.
    pub fn planes_up(&self) -> PlaneMask {
        self.planes_up
    }

    /// State of `index`; `None` if the queue pair has no such value.
    pub fn state(&self, index: EvIndex) -> Option<EvState> {
        self.tables[usize::from(index.plane())].state(index)
    }

    /// The entropy value of `index`, for a probe of it; `None` if the queue pair has no such value.
    pub fn entropy(&self, index: EvIndex) -> Option<Entropy> {
        self.state(index)?;
        self.profile.entropy(index, self.profile_rotation)
    }

    /// Returns the index of an entropy value that feedback names. Returns `None` if this queue pair does not have the value.
    pub fn index_of(&self, entropy: Entropy) -> Option<EvIndex> {
        let index = self.profile.index_of(entropy, self.profile_rotation)?;
        self.state(index).map(|_| index)
    }

    /// Returns the slots of each plane from which a path is chosen: the first of three sets that is not empty. The sets are the values in service
    /// except `avoid`, the values assumed bad except `avoid`, and `avoid` itself. Returns `None` if all three are empty.
    fn candidates(&self, avoid: Option<EvIndex>) -> Option<[u64; 2]> {
        let planes = |map: fn(&EvTable) -> u64, but: Option<EvIndex>| -> [u64; 2] {
            [0, 1].map(|plane: u8| {
                let table = &self.tables[usize::from(plane)];
                let but = but.filter(|index| index.plane() == plane);
                let but = but
                    .and_then(|index| table.slot_of(index))
                    .map_or(0, |slot| 1 << slot);
                if self.planes_up.contains(plane) {
                    map(table) & !but
                } else {
                    0
                }
            })
        };
        let any = |maps: &[u64; 2]| *maps != [0, 0];
        Some(planes(EvTable::in_service, avoid))
            .filter(any)
            .or_else(|| Some(planes(EvTable::last_resort, avoid)).filter(any))
            .or_else(|| {
                let usable = |table: &EvTable| table.in_service() | table.last_resort();
                Some(planes(usable, None)).filter(any)
            })
    }

    /// Advances the plane's rotation to the next of `candidates` that is not bypassed. If this rotation has none left, starts a new one.
    fn take(&mut self, plane: u8, candidates: u64) -> u8 {
        let table = &mut self.tables[usize::from(plane)];
        let rotation = &mut self.rotations[usize::from(plane)];
        loop {
            let visit = rotation.visit(candidates & !table.skip());
            if self.skip_scope == SkipScope::NextTurn {
                table.end_skip(visit.passed);
            }
            if let Some(slot) = visit.slot {
                return slot;
            }
            *rotation = match self.policy {
                Policy::RoundRobin => Rotation::ascending(0),
                _ => Rotation::permuted(self.lfsr.next_word()),
            };
            // With every candidate bypassed, the bypass does not favour any path: it is ignored.
            if self.skip_scope == SkipScope::RestOfRotation || candidates & !table.skip() == 0 {
                table.end_skip(u64::MAX);
            }
        }
    }

    /// The single path. It stays as long as it is usable; then the next usable slot in index order follows, wrapping around.
    fn choose_single(&mut self, planes: PlaneMask) -> Option<Path> {
        let candidates = self.candidates(None)?;
        let (plane, slot) = self.home;
        let home = EvIndex::active(plane, slot).value();
        let (plane, slot) = (home..EvIndex::ACTIVE as u8)
            .chain(0..home)
            .map(|index| (index & 1, index >> 1))
            .find(|&(plane, slot)| candidates[usize::from(plane)] >> slot & 1 == 1)?;
        self.home = (plane, slot);
        if planes.contains(plane) {
            self.path(plane, slot)
        } else {
            None
        }
    }

    fn path(&self, plane: u8, slot: u8) -> Option<Path> {
        let index = self.tables[usize::from(plane)].server(slot);
        let entropy = self.profile.entropy(index, self.profile_rotation)?;
        Some(Path {
            index,
            plane,
            entropy,
        })
    }
}

/// A number below `bound`: the high half of the next word times `bound`.
fn draw(lfsr: &mut Lfsr32, bound: u8) -> u8 {
    ((u64::from(lfsr.next_word()) * u64::from(bound)) >> 32) as u8
}
