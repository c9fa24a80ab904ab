//! The path choice of one queue pair.

use std::sync::Arc;

use stellar_wire::mrc::{Entropy, PathHint, Peth};
use stellar_wire::rows::{PathAck, WindowChange};

use super::ev_table::EvTable;
use super::policy::built_in;
use super::{
    EntropyProfile, EvIndex, EvState, Feedback, Path, PathPolicy, Paths, PlaneMask, SprayConfig,
    SprayError,
};
use crate::rx::Psn;
use crate::time::Ticks;

/// Chooses the path of every packet of a queue pair and keeps the states of its entropy values.
#[derive(Clone, Debug)]
pub struct Spray {
    one_path: bool,
    policy: Box<dyn PathPolicy>,
    paths: Paths,
    profile: Arc<EntropyProfile>,
    profile_rotation: u8,
    planes_up: PlaneMask,
    /// Plane of the next packet, unless it is not allowed.
    next_plane: u8,
}

impl Spray {
    /// A path choice at the start of its sequence, with every value good.
    ///
    /// # Errors
    /// [`SprayError`] naming what cannot work.
    pub fn new(config: SprayConfig) -> Result<Self, SprayError> {
        let policy = built_in(&config);
        Self::with_policy(config, policy)
    }

    /// The same with a policy of one's own, in place of the one that the configuration names. The traits of that one still say whether there is one path at a time,
    /// and how rotations are ordered.
    ///
    /// # Errors
    /// [`SprayError`] naming what cannot work.
    pub fn with_policy(
        config: SprayConfig,
        policy: Box<dyn PathPolicy>,
    ) -> Result<Self, SprayError> {
        config.check()?;
        let (paths, start) = Paths::new(&config)?;
        Ok(Self {
            one_path: config.policy.traits().one_path,
            policy,
            paths,
            profile_rotation: config.rotation,
            planes_up: config.planes_up,
            next_plane: start & 1,
            profile: config.profile,
        })
    }

    /// Puts a policy of one's own in place of the present one, as [`Self::with_policy`], before the first packet.
    pub fn replace_policy(&mut self, policy: Box<dyn PathPolicy>) {
        self.policy = policy;
    }

    /// Chooses the path of the next packet from `planes`, the planes whose ports can send it now. The planes take turns.
    ///
    /// `avoid` is the value on which a retransmitted packet was lost. It is not chosen again as long as any plane that is up has another usable
    /// value. A queue pair with one path at a time has no alternative and ignores `avoid`.
    ///
    /// Returns `None` if the queue pair has no usable path in `planes`; it may have one in the other plane. Values that are assumed bad are used only
    /// when no plane that is up has a better one, because a packet on a doubtful path is better than a queue pair that stops.
    pub fn choose(&mut self, avoid: Option<EvIndex>, planes: PlaneMask) -> Option<Path> {
        if self.one_path {
            return self.choose_home(planes);
        }
        let mut candidates = self.paths.candidates(avoid, self.planes_up)?;
        if avoid.is_none() {
            for (plane, slots) in (0..).zip(&mut candidates) {
                *slots = self.policy.with_room(plane, *slots);
            }
        }
        let open = planes.and(self.planes_up);
        let may = |plane: u8| open.contains(plane) && candidates[usize::from(plane & 1)] != 0;
        let plane = if may(self.next_plane) {
            self.next_plane
        } else {
            let other = self.next_plane ^ 1;
            may(other).then_some(other)?
        };
        let candidates = candidates[usize::from(plane & 1)];
        let slot = self.policy.choose(&mut self.paths, plane, candidates);
        self.next_plane = plane ^ 1;
        self.path(plane, slot)
    }

    /// Takes feedback about a packet on `index`: it was late or trimmed, or a probe of it was marked.
    pub fn on_feedback(&mut self, index: EvIndex, feedback: Feedback, now: Ticks) {
        let paths = &mut self.paths;
        self.policy.on_feedback(paths, index, feedback, now);
    }

    /// Takes the answer to a probe of `index`, and its round trip in ticks.
    pub fn on_probe(&mut self, index: EvIndex, round_trip: u16, now: Ticks) {
        let paths = &mut self.paths;
        self.policy.on_probe(paths, index, round_trip, now);
    }

    /// Takes the answer to the probe with this number (PETH) and its round trip. Returns the index of the path if it works. If the probe was marked, the path
    /// is congested too.
    pub fn on_probe_answer(
        &mut self,
        id: u16,
        hint: PathHint,
        round_trip: Ticks,
        now: Ticks,
    ) -> Option<EvIndex> {
        let index = EvIndex::new(u8::try_from(id & !Peth::TAIL_PROBE).ok()?)?;
        let works = hint != PathHint::AlwaysSkip;
        if works {
            self.on_probe(index, round_trip.stamp(), now);
        }
        if hint == PathHint::SkipOnce {
            self.on_feedback(index, Feedback::Skip, now);
        }
        works.then_some(index)
    }

    /// Takes an acknowledgement. Returns the index of the entropy value that it reflects, if the queue pair has it.
    pub fn on_ack(&mut self, ack: &PathAck, now: Ticks) -> Option<EvIndex> {
        let index = self.index_of(Entropy(ack.entropy));
        self.policy.on_ack(&mut self.paths, index, ack, now);
        index
    }

    /// Takes `index` out of use until [`Self::allow`], whatever the policy. An unknown index is ignored.
    pub fn deny(&mut self, index: EvIndex) {
        if self.paths.state(index).is_some() {
            self.paths.set_state(index, EvState::Denied);
        }
    }

    /// Makes a denied `index` good again; other states stay.
    pub fn allow(&mut self, index: EvIndex) {
        if self.paths.state(index) == Some(EvState::Denied) {
            self.paths.set_state(index, EvState::Good);
        }
    }

    /// Whether software denies one of the queue pair's values.
    pub fn denies(&self) -> bool {
        self.paths.tables().iter().any(EvTable::denies)
    }

    /// The value to probe now, if a probe is due.
    pub fn probe_due(&mut self, now: Ticks) -> Option<EvIndex> {
        self.policy.probe_due(&mut self.paths, self.planes_up, now)
    }

    /// The time before which the queue pair sends no data, because it changes its path; `None` if it may send now.
    pub fn held_until(&mut self, now: Ticks) -> Option<Ticks> {
        self.policy.held_until(&mut self.paths, now)
    }

    /// A data packet of `length` bytes leaves on `index`.
    pub fn on_sent(&mut self, psn: Psn, index: EvIndex, length: u16) {
        self.policy.on_sent(&self.paths, psn, index, length);
    }

    /// The policy's own congestion window in bytes, if it has one.
    pub fn window(&self) -> Option<u32> {
        self.policy.window()
    }

    /// Everything that was sent is acknowledged, to be told while [`Self::held_until`] keeps data back.
    pub fn on_empty(&mut self) {
        self.policy.on_empty(&mut self.paths);
    }

    /// While [`Self::held_until`] keeps data back, packets that are lost are sent again.
    pub fn resends_while_held(&self) -> bool {
        self.policy.resends_while_held()
    }

    /// What happens to the congestion window now, to be asked after [`Self::held_until`]. It is told once.
    pub fn window_change(&mut self) -> WindowChange {
        self.policy.window_change()
    }

    /// Records that the port of `plane` (0 or 1) came up or went down.
    pub fn set_plane(&mut self, plane: u8, up: bool) {
        self.planes_up = self.planes_up.with(plane, up);
    }

    /// Planes that are up.
    pub fn planes_up(&self) -> PlaneMask {
        self.planes_up
    }

    /// The active value of the slot in use, with one path at a time.
    pub fn home(&self) -> EvIndex {
        let (plane, slot) = self.paths.home();
        EvIndex::active(plane, slot)
    }

    /// State of `index`; `None` if the queue pair has no such value.
    pub fn state(&self, index: EvIndex) -> Option<EvState> {
        self.paths.state(index)
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

    /// The path in use. It stays as long as it is usable; then the next usable slot in index order follows, wrapping around.
    fn choose_home(&mut self, planes: PlaneMask) -> Option<Path> {
        let candidates = self.paths.candidates(None, self.planes_up)?;
        let (plane, slot) = self.paths.home();
        let home = EvIndex::active(plane, slot).value();
        let (plane, slot) = (home..EvIndex::ACTIVE as u8)
            .chain(0..home)
            .map(|index| (index & 1, index >> 1))
            .find(|&(plane, slot)| candidates[usize::from(plane)] >> slot & 1 == 1)?;
        self.paths.set_home((plane, slot));
        if planes.contains(plane) {
            self.path(plane, slot)
        } else {
            None
        }
    }

    fn path(&self, plane: u8, slot: u8) -> Option<Path> {
        let index = self.paths.tables()[usize::from(plane)].server(slot);
        let entropy = self.profile.entropy(index, self.profile_rotation)?;
        Some(Path {
            index,
            plane,
            entropy,
        })
    }
}
