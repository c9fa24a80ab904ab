//! Paths of a queue pair: states of their values, order, and the path in use.

use stellar_wire::rows::MOST_TURNS;

use super::ev_table::EvTable;
use super::rotation::Rotation;
use super::{EvIndex, EvState, Lfsr32, PlaneMask, SkipScope, SprayConfig, SprayError};

/// The paths of a queue pair, with what every policy needs of them.
#[derive(Clone, Debug)]
pub struct Paths {
    count: u8,
    permuted: bool,
    skip_scope: SkipScope,
    tables: [EvTable; 2],
    rotations: [Rotation; 2],
    lfsr: Lfsr32,
    /// One path at a time: plane and slot in use.
    home: (u8, u8),
}

impl Paths {
    /// The paths at the start of their sequence, and the number drawn for the first one.
    pub(super) fn new(config: &SprayConfig) -> Result<(Self, u8), SprayError> {
        let mut lfsr = Lfsr32::new(config.seed).ok_or(SprayError::ZeroSeed)?;
        let slots = [config.paths.div_ceil(2), config.paths / 2];
        let backups = config.profile.backups() / 2;
        let start = draw(&mut lfsr, config.paths);
        let traits = config.policy.traits();
        let rotations = [(); 2].map(|()| {
            if config.policy == super::Policy::RoundRobin {
                Rotation::ascending(start >> 1)
            } else {
                Rotation::permuted(lfsr.next_word())
            }
        });
        let paths = Self {
            count: config.paths,
            permuted: traits.permuted,
            skip_scope: if traits.counts {
                SkipScope::NextTurn
            } else {
                config.skip
            },
            tables: [0, 1].map(|plane| EvTable::new(plane, slots[usize::from(plane)], backups)),
            rotations,
            lfsr,
            home: (start & 1, start >> 1),
        };
        Ok((paths, start))
    }

    /// State of `index`; `None` if the queue pair has no such value.
    pub fn state(&self, index: EvIndex) -> Option<EvState> {
        self.table(index).state(index)
    }

    /// The slot that `index` serves, if the queue pair has the value, and neither software nor feedback has withdrawn it.
    pub fn slot_in_service(&self, index: EvIndex) -> Option<u8> {
        let table = self.table(index);
        let good = matches!(table.state(index), Some(EvState::Good | EvState::Skip));
        table.slot_of(index).filter(|_| good)
    }

    /// The next of `candidates` (bit `s`: slot `s`, not 0) in the plane's order that loses no turn. A rotation that has none left is followed by a new one.
    pub fn next_in_order(&mut self, plane: u8, candidates: u64) -> u8 {
        let table = &mut self.tables[usize::from(plane)];
        let rotation = &mut self.rotations[usize::from(plane)];
        loop {
            let visit = rotation.visit(candidates & !table.skip());
            if self.skip_scope == SkipScope::NextTurn {
                table.pass(visit.passed);
            }
            if let Some(slot) = visit.slot {
                return slot;
            }
            *rotation = if self.permuted {
                Rotation::permuted(self.lfsr.next_word())
            } else {
                Rotation::ascending(0)
            };
            // With every candidate bypassed, the bypass does not favour any path: it is ignored.
            if self.skip_scope == SkipScope::RestOfRotation || candidates & !table.skip() == 0 {
                table.end_skip();
            }
        }
    }

    /// Takes `turns` more turns from `index`, 15 at most in all. It does nothing to a value that serves no slot, or that is withdrawn.
    pub fn lose_turns(&mut self, index: EvIndex, turns: u8) {
        if turns == 0 {
            return;
        }
        if let Some(slot) = self.slot_in_service(index) {
            let table = &mut self.tables[usize::from(index.plane())];
            table.lose_turns(slot, turns.min(MOST_TURNS));
        }
    }

    /// Draws the index of a path. The queue pair has it, whatever its state.
    pub fn draw(&mut self) -> EvIndex {
        let drawn = draw(&mut self.lfsr, self.count);
        EvIndex::active(drawn & 1, drawn >> 1)
    }

    /// Draws the path in use anew, with one path at a time. It may be the same.
    pub fn draw_home(&mut self) {
        let drawn = self.draw();
        self.take_home(drawn);
    }

    /// Makes `index`, an active value, the path in use, with one path at a time.
    pub fn take_home(&mut self, index: EvIndex) {
        self.home = (index.plane(), index.place());
    }

    /// Whether packets on the path in use have the value `index`, with one path at a time.
    pub fn is_home(&self, index: EvIndex) -> bool {
        self.slot_in_service(index)
            .is_some_and(|slot| (index.plane(), slot) == self.home)
    }

    /// The next path to probe on a plane of `up`, from `from` on in index order, going round: a slot that its own value serves, that is not the path in use, and
    /// that was not probed of late. It counts as probed from now on.
    pub fn next_unprobed(&mut self, from: EvIndex, up: PlaneMask) -> Option<EvIndex> {
        let open = [0, 1].map(|plane: u8| {
            let table = &self.tables[usize::from(plane)];
            let home = u64::from(self.home.0 == plane) << self.home.1;
            if up.contains(plane) {
                table.served_by_own() & !table.skip() & !home
            } else {
                0
            }
        });
        let index = (from.value()..EvIndex::ACTIVE as u8)
            .chain(0..from.value())
            .find(|&index| open[usize::from(index & 1)] >> (index >> 1) & 1 == 1)?;
        self.tables[usize::from(index & 1)].mark_probed(index >> 1);
        Some(EvIndex::active(index & 1, index >> 1))
    }

    /// The path in use, to be probed. It counts as probed from now on.
    pub fn probe_home(&mut self) -> EvIndex {
        let (plane, slot) = self.home;
        self.tables[usize::from(plane)].mark_probed(slot);
        EvIndex::active(plane, slot)
    }

    /// An epoch is over: paths that were probed in the fourth before it may be probed again, or all paths if `forget`.
    pub fn age_probed(&mut self, forget: bool) {
        for table in &mut self.tables {
            table.age_probed(forget);
        }
    }

    /// Plane and slot of the path in use, with one path at a time.
    pub fn home(&self) -> (u8, u8) {
        self.home
    }

    pub(super) fn set_home(&mut self, home: (u8, u8)) {
        self.home = home;
    }

    pub(super) fn set_state(&mut self, index: EvIndex, state: EvState) {
        self.tables[usize::from(index.plane())].set_state(index, state);
    }

    pub(super) fn table(&self, index: EvIndex) -> &EvTable {
        &self.tables[usize::from(index.plane())]
    }

    pub(super) fn tables(&self) -> &[EvTable; 2] {
        &self.tables
    }

    /// The slots of each plane from which a path is chosen: the first of three sets that is not empty. The sets are the values in service
    /// except `avoid`, the values assumed bad except `avoid`, and `avoid` itself. Returns `None` if all three are empty.
    pub(super) fn candidates(&self, avoid: Option<EvIndex>, up: PlaneMask) -> Option<[u64; 2]> {
        if avoid.is_none() && up == PlaneMask::BOTH {
            let slots = self.tables.each_ref().map(EvTable::in_service);
            if slots != [0, 0] {
                return Some(slots);
            }
        }
        let planes = |map: fn(&EvTable) -> u64, but: Option<EvIndex>| -> [u64; 2] {
            [0, 1].map(|plane: u8| {
                let table = &self.tables[usize::from(plane)];
                let but = but.filter(|index| index.plane() == plane);
                let but = but
                    .and_then(|index| table.slot_of(index))
                    .map_or(0, |slot| 1 << slot);
                if up.contains(plane) {
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
}

/// A number below `bound`: the high half of the next word times `bound`.
fn draw(lfsr: &mut Lfsr32, bound: u8) -> u8 {
    ((u64::from(lfsr.next_word()) * u64::from(bound)) >> 32) as u8
}
