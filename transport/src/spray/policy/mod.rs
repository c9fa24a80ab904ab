//! Path policies: one file each, one interface (`docs/policies.md`).

mod bitmap;
mod ev_state;
mod flow_bender;
mod hopper;
mod hp3;
mod in_order;
mod mixed;
mod recycled;
mod reps;

use std::fmt;

use stellar_wire::rows::{PathAck, WindowChange};

use super::{EvIndex, Feedback, Paths, PlaneMask, Policy, SprayConfig};
use crate::rx::Psn;
use crate::time::Ticks;

/// How a queue pair chooses among its paths, and what it learns from feedback. A policy has the state of one queue pair.
///
/// [`super::Spray`] finds the paths that are in use, alternates between the planes, and converts slots to entropy values. What software denies
/// and planes that are down are not the policy's concern.
pub trait PathPolicy: fmt::Debug + Send + Sync {
    /// Chooses the slot of the next packet in `plane`. Bit `s` of `candidates` is set if slot `s` may be chosen; at least one is.
    ///
    /// With a policy of one path at a time ([`stellar_wire::rows::PolicyTraits::one_path`]) it is not called: the path is [`Paths::home`].
    fn choose(&mut self, paths: &mut Paths, plane: u8, candidates: u64) -> u8 {
        paths.next_in_order(plane, candidates)
    }

    /// The slots of `candidates` in `plane` that have room for a new packet: those from which [`Self::choose`] is asked to choose. Without any, the port
    /// waits for the next acknowledgement. It is not asked for packets that are sent again, and not with one path at a time. A policy that has
    /// it needs a [`Self::window`] too: with that packets leave one by one, and each is asked for.
    fn with_room(&self, _plane: u8, candidates: u64) -> u64 {
        candidates
    }

    /// A data packet of `length` bytes, new or sent again, leaves on `index`. PSNs of new packets follow each other.
    fn on_sent(&mut self, _paths: &Paths, _psn: Psn, _index: EvIndex, _length: u16) {}

    /// The congestion window in bytes, if the policy has one of its own: then that of the queue pair does not count, and packets leave one by one.
    fn window(&self) -> Option<u32> {
        None
    }

    /// Takes feedback about a packet on `index`, which the queue pair may not have: a packet that was late or trimmed, or the answer to a probe.
    fn on_feedback(
        &mut self,
        _paths: &mut Paths,
        _index: EvIndex,
        _feedback: Feedback,
        _now: Ticks,
    ) {
    }

    /// Takes an acknowledgement. `index` is that of the entropy value it reflects, if the queue pair has it.
    fn on_ack(&mut self, paths: &mut Paths, index: Option<EvIndex>, ack: &PathAck, now: Ticks) {
        if let Some(index) = index {
            self.on_feedback(paths, index, ack.hint, now);
        }
    }

    /// Takes the answer to a probe of `index`, with its round trip in ticks. If the probe was marked, [`Self::on_feedback`] follows.
    fn on_probe(&mut self, paths: &mut Paths, index: EvIndex, _round_trip: u16, now: Ticks) {
        self.on_feedback(paths, index, Feedback::ProbeAnswered, now);
    }

    /// The path to probe now, on a plane of `up`, if a probe is due. It is called before every packet.
    fn probe_due(&mut self, _paths: &mut Paths, _up: PlaneMask, _now: Ticks) -> Option<EvIndex> {
        None
    }

    /// The time before which the queue pair sends no data, if that is later than `now`. It is called before every packet, and before [`Self::probe_due`].
    fn held_until(&mut self, _paths: &mut Paths, _now: Ticks) -> Option<Ticks> {
        None
    }

    /// Everything that was sent is acknowledged. It is called if [`Self::held_until`] keeps data back, and that is asked again then.
    fn on_empty(&mut self, _paths: &mut Paths) {}

    /// While [`Self::held_until`] keeps data back, packets that are lost are sent again.
    fn resends_while_held(&self) -> bool {
        false
    }

    /// What happens to the congestion window now. It is asked after [`Self::held_until`], and told once.
    fn window_change(&mut self) -> WindowChange {
        WindowChange::Keep
    }

    /// A copy, for copies of the queue pair.
    fn copy(&self) -> Box<dyn PathPolicy>;
}

impl Clone for Box<dyn PathPolicy> {
    fn clone(&self) -> Self {
        self.copy()
    }
}

/// The built-in policy that a configuration names, at its start. A policy of one's own may be around it.
pub fn built_in(config: &SprayConfig) -> Box<dyn PathPolicy> {
    match config.policy {
        Policy::SinglePath | Policy::RoundRobin | Policy::Obs => Box::new(in_order::InOrder),
        Policy::EvState => Box::new(ev_state::EvStates::new(config.probe_interval)),
        Policy::Bitmap => Box::new(bitmap::Bitmap),
        Policy::Reps => Box::new(reps::Reps::default()),
        Policy::Mixed => Box::new(mixed::Mixed::default()),
        Policy::FlowBender => Box::new(flow_bender::FlowBender::new(config.bend_after)),
        Policy::Hopper => Box::new(hopper::Hopper::new(config.base_rtt)),
        Policy::Hp3 => Box::new(hp3::Hp3::new(config.base_rtt)),
    }
}
