//! The spray engine, a functional unit of the requester: path selection.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::ram::{DeepRowRam, LutRam};
use hdl_primitives::{Checked, FlowSnk, FlowSrc, Parameters, Snk};
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{
    EntropyProfileEntry, NamedBy, SprayConfig, SprayOp, SprayRequest, SprayResponse, WindowChange,
    PROFILE_BITS,
};
use stellar_wire::hw::QPN_BITS;
use stellar_wire::rows::DRAIN_PROBES;

use crate::candidates::{avoided, avoids_backup, candidates, slot_avoided_of_backup, Avoided};
use crate::entropy_index::EntropyIndex;
use crate::entropy_lookup::{EntropyLookup, Identity, Reflected};
use crate::ev_change::EvChange;
use crate::ev_update::{unserved, usable_planes};
use crate::key_stream::next_word;
use crate::place_search::PlaceSearch;
use crate::place_value::{self, PlaceValue};
use crate::policy::flow_bender::{counted, rounded};
use crate::policy::hopper::{aged, arrived, Hopper, DELAY_BITS, PROBES_BITS};
use crate::policy::hp3::{after_news, after_question, Hp3};
use crate::policy::recycled::{emptied, heard, may_have, recall, thawed, thaws, usable_entries};
use crate::policy::turns::passed;
use crate::policy::{bends, drains, has_one_path, is_permuted, probes_paths, recycles};
use crate::profile::{ExplicitSnk, ProfileSnk};
use crate::row::{
    backups_of, begun, configured, probed, probed_path, slots_of, swap_planes, PairRow, Planes,
    SprayRow,
};
use crate::search::{
    for_path, for_probe, from_start, index_found, renewed, unprobed_paths, Unprobed,
};
use crate::start_draw::StartDraw;
use crate::step::{begins_with_plane_1, step_after, Step, StepConditions};

/// Maximum number of cycles from a place found to its response.
const AHEAD: usize = place_value::LATENCY_IN_ORDER + 1;
/// Bits of `early` for a response that is due after the latency of a place in order, of a place, or of a value that was looked up.
const IN_ORDER: u64 = 1 << place_value::LATENCY_IN_ORDER;
const AT_ONCE: u64 = 1 << place_value::LATENCY;
const SERVED: u64 = AT_ONCE >> 1;

/// Chooses paths, and keeps the states of the entropy values of 2^`Q` queue pairs. Its reference is
/// `stellar_transport::spray::Spray`, called with the planes of `plane_up` and one plane per choice.
///
/// A profile, and its values if they are explicit, are written before a queue pair that names it is configured, and do not change while it is in use. `plane_up` is sampled in the cycle in which
/// a request is accepted. The response to a request of a queue pair that was never configured is undefined.
///
/// [`crate::cycles`] lists the cycles from the acceptance of a request to its response. `Choose` has a `count` of 1 to 32. It returns one response per path,
/// at most one per cycle, or a single one that found no path. Responses have no back-pressure.
///
/// LUT levels: 8 at most ([`PlaceSearch`], [`PlaceValue`]; and `usable`, from the number of the profile).
#[derive(LogicBlock, Default)]
pub struct SprayEngine<const Q: usize = 10> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Bit `p`: port `p` is up.
    pub plane_up: Signal<In, Bits<2>>,

    pub request: Snk<SprayRequest>,
    /// Registers of the queue pair, valid with a `Configure` request.
    pub settings: Signal<In, SprayConfig>,
    pub response: FlowSrc<SprayResponse>,

    /// Ports of [`EntropyLookup`], which works in parallel with operations.
    pub reflected: FlowSnk<Reflected>,
    pub known: Signal<Out, Bit>,
    pub known_value: Signal<Out, Reflected>,
    pub known_index: Signal<Out, Bits<8>>,

    /// Writes an entropy profile.
    pub profile: ProfileSnk,
    /// Writes explicit values.
    pub values: ExplicitSnk,

    rows: DeepRowRam<SprayRow, Q>,
    profiles: LutRam<EntropyProfileEntry, PROFILE_BITS>,
    finder: PlaceSearch,
    value: PlaceValue,
    ev_change: EvChange,
    entropy_index: EntropyIndex,
    start_draw: StartDraw,
    hopper: Hopper,
    hp3: Hp3,
    lookup: EntropyLookup<Q>,

    step: DFF<Step>,
    asked: DFF<SprayRequest>,
    up: DFF<Bits<2>>,

    // The queue pair. `planes_swapped`: the own plane is plane 1.
    pair: DFF<PairRow>,
    planes: DFF<Planes>,
    planes_swapped: DFF<Bit>,
    usable: DFF<Bits<2>>,
    denies: DFF<Bit>,

    /// Paths come in permuted order. It follows the row one cycle later.
    ordered: DFF<Bit>,
    avoid: DFF<Avoided>,
    /// The search has started again from the first position.
    wrapped: DFF<Bit>,
    /// Ticks since the last probe.
    since_probe: DFF<Bits<32>>,

    /// A place was searched in an order.
    searched: DFF<Bit>,
    /// Entries of the ring whose slots are candidates.
    usable_ring: DFF<Bits<8>>,
    /// A slot to take again.
    recycled: DFF<Bit>,
    recycled_slot: DFF<Bits<6>>,

    found: DFF<Bit>,
    /// What `Hear` decided: another path is drawn, or the path changes after a delay.
    draws: DFF<Bit>,
    hops: DFF<Bit>,
    /// Paths that Hopper and HP3 may probe.
    unprobed: DFF<Unprobed>,
    /// No data may be sent.
    held: DFF<Bit>,
    /// What happens to the congestion window.
    window: DFF<WindowChange>,
    /// Bits of the delay that were computed.
    computed: DFF<Bits<4>>,
    /// Responses of a burst before the last one. Bit n: a response is due in n cycles.
    early: DFF<Bits<AHEAD>>,
}

impl<const Q: usize> Parameters for SprayEngine<Q> {
    fn check() {
        assert!(
            (1..=QPN_BITS).contains(&Q),
            "SprayEngine<{Q}>: requests have queue pair numbers of {QPN_BITS} bits, so use 1 to {QPN_BITS}"
        );
    }
}

impl<const Q: usize> Logic for SprayEngine<Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            asked,
            up,
            pair,
            planes,
            planes_swapped,
            usable,
            denies
        );
        dff_setup!(
            self,
            clock,
            ordered,
            avoid,
            wrapped,
            since_probe,
            found,
            early
        );
        dff_setup!(self, clock, searched, usable_ring, recycled, recycled_slot);
        dff_setup!(self, clock, held, window, computed, unprobed, draws, hops);
        clock_reset!(self, lookup);
        clock!(
            self,
            clock,
            rows,
            profiles,
            finder,
            value,
            ev_change,
            entropy_index,
            start_draw,
            hopper,
            hp3
        );

        let step = self.step.q.val();
        let asked = self.asked.q.val();
        let up = self.up.q.val();
        let pair = self.pair.q.val();
        let planes = self.planes.q.val();
        let own = planes.own;
        let exchange = self.planes_swapped.q.val();
        let search = self.finder.search.val();
        let place = self.finder.place.val();
        let chooses = asked.op == SprayOp::Choose;
        let single = has_one_path(pair.policy);
        let ordered = self.ordered.q.val();
        let more = chooses & (asked.count != 1);

        // Memories and blocks.
        let idle = step == Step::Idle;
        let responds = step == Step::Respond;
        let row = if idle {
            self.request.record.val().qp
        } else {
            asked.qp
        };
        self.rows.read_address.next = row.get_bits::<Q>(0);
        self.rows.write_enable.next = responds;
        self.rows.write_address.next = asked.qp.get_bits::<Q>(0);
        self.rows.write_data.next = SprayRow {
            pair,
            planes: swap_planes(planes, exchange),
        };
        self.profiles.write_enable.next = self.profile.valid.val();
        self.profiles.write_address.next = self.profile.index.val();
        self.profiles.write_data.next = self.profile.record.val();
        self.profiles.read_address.next = pair.profile;
        let profile = self.profiles.read_data.val();
        let backups = backups_of(profile.backups);
        self.value.place.next = place;
        self.value.ordered.next = ordered;
        self.value.served.next = chooses;
        self.value.recycled.next = self.recycled.q.val();
        self.value.recycled_slot.next = self.recycled_slot.q.val();
        join!(self, values => value.values);
        self.value.profile.next = profile;
        self.value.profile_number.next = pair.profile;
        self.value.rotation.next = pair.rotation;
        self.value.plane.next = exchange;
        self.value.row.next = own;
        join!(self, values => entropy_index.values);
        self.entropy_index.profile.next = profile;
        self.entropy_index.profile_number.next = pair.profile;
        self.entropy_index.rotation.next = pair.rotation;
        self.entropy_index.entropy.next = asked.ack.entropy;
        let word = next_word(pair.lfsr);
        self.start_draw.word.next = word;
        self.start_draw.paths.next = pair.paths;
        let new_key = word.get_bits::<28>(0);

        self.request.ready.next = idle;
        self.ordered.d.next = chooses & is_permuted(pair.policy);
        self.usable.d.next = usable_planes(pair.policy, planes, exchange, up, backups);
        self.denies.d.next = planes.own.denied.any() | planes.other.denied.any();
        let comes_early = self.early.q.val().get_bit(0);
        let early_next = self.early.q.val() >> 1;
        self.early.d.next = early_next;
        self.response.valid.next = responds | comes_early;
        self.response.record.next = SprayResponse {
            found: self.found.q.val() | comes_early,
            index: if asked.op == SprayOp::Ack {
                asked.index
            } else {
                self.value.index.val()
            },
            entropy: self.value.entropy.val(),
            usable: self.usable.q.val(),
            denies: self.denies.q.val(),
            held: self.held.q.val(),
            until: pair.hop.until,
            drains: self.held.q.val() & drains(pair.policy),
            window: self.window.q.val(),
        };

        // look up
        self.lookup.configure.next = step == Step::InitPlanes;
        self.lookup.configure_qp.next = asked.qp;
        self.lookup.identity.next = Identity {
            paths: pair.paths,
            profile: pair.profile,
            rotation: pair.rotation,
        };
        join!(self, profile => lookup.profile, values => lookup.values);
        self.lookup.asked_valid.next = self.reflected.valid.val();
        self.lookup.asked.next = self.reflected.record.val();
        self.known.next = self.lookup.found.val();
        self.known_value.next = self.lookup.value.val();
        self.known_index.next = self.lookup.number.val();

        // fetch
        let stored = self.rows.read_data.val();
        let by_home = asked.named_by == NamedBy::Home;
        let named_index = if by_home {
            bit_cast::<8, 7>(stored.pair.home)
        } else {
            asked.index
        };
        let plane_1 = begins_with_plane_1(asked);

        // select
        let offered = candidates(planes, exchange, up, self.avoid.q.val());

        // take slots again
        let may_recycle = recycles(pair.policy);
        let recalled = recall(own.ring, pair.recycled.frozen, self.usable_ring.q.val());
        self.usable_ring.d.next = usable_entries(own.ring, search.all.get_bits::<64>(0));
        self.recycled.d.next = (step == Step::Recycle) & recalled.goes_on & recalled.usable;
        self.recycled_slot.d.next = recalled.slot;

        // find
        let due = if ordered {
            bits::<AHEAD>(IN_ORDER)
        } else {
            bits::<AHEAD>(AT_ONCE)
        };
        self.finder.ordered.next = ordered;
        self.finder.find.next = step == Step::Find;
        self.finder.find_next.next = step == Step::FindMore;
        self.finder.commit.next = step == Step::SlotFirst;
        self.finder.load.next = false;
        self.finder.load_search.next = search;
        self.finder.key.next = own.key;

        // start a new rotation
        let located = self.finder.located.val();
        let renewal = renewed(search, own, ordered & pair.skip_next_turn, located);

        // select the plane
        let index = index_found(search, place);
        let interval = bit_cast::<32, 31>(pair.probe_interval);
        let not_due = !chooses & pair.probed & (self.since_probe.q.val() < interval);
        let other_port = chooses & (index.get_bit(0) != asked.plane);

        // take the index, classify the change
        let by_value = asked.named_by == NamedBy::Value;
        let indexed = self.entropy_index.indexed.val();
        let ack_index = if by_value { indexed.index } else { asked.index };
        self.ev_change.request.next = asked;
        self.ev_change.policy.next = pair.policy;
        self.ev_change.row.next = own;
        self.ev_change.slots.next = slots_of(pair.paths, exchange);
        self.ev_change.backups.next = backups;
        self.ev_change.unknown.next = (asked.op == SprayOp::Ack) & !self.found.q.val();
        self.ev_change.remembers.next = !pair.recycled.explore.any();
        self.ev_change.slot.next = place.get_bits::<6>(0);

        // hear
        let thaw = may_recycle & thaws(pair.recycled, asked);
        let round = rounded(pair.bend, asked, pair.bend_after);
        let may_bend = bends(pair.policy);

        // hear round trips
        let may_drain = drains(pair.policy);
        let probes_others = probes_paths(pair.policy);
        let known = (asked.op != SprayOp::Ack) | self.found.q.val();
        self.hopper.request.next = asked;
        self.hopper.row.next = pair.hop;
        self.hopper.base_rtt.next = pair.base_rtt;
        self.hopper.home.next = pair.home;
        self.hopper.in_slot.next = self.ev_change.in_slot.val() & known;
        self.hopper.slot.next = self.ev_change.served.val();
        self.hopper.plane.next = exchange;
        self.hopper.load.next = step == Step::Hear;
        self.hopper.divide.next = step == Step::Extrapolate;
        let home_up = if pair.home.get_bit(0) {
            up.get_bit(1)
        } else {
            up.get_bit(0)
        };
        let first_probe = pair.hop.to_probe == (DRAIN_PROBES as u64);
        let only_home = may_drain & first_probe & home_up;
        self.unprobed.d.next = unprobed_paths(planes, pair.home, only_home);
        let hop = self.hopper.heard.val();
        let in_hold = self.hopper.in_hold.val();
        let drawn = self.start_draw.start.val();

        // hear marks, and what ends a pause
        self.hp3.request.next = asked;
        self.hp3.row.next = pair.drain;
        self.hp3.round.next = pair.bend;
        self.hp3.pause.next = pair.hop;
        self.hp3.base_rtt.next = pair.base_rtt;
        self.hp3.home.next = pair.home;
        self.hp3.in_slot.next = self.ev_change.in_slot.val();
        self.hp3.slot.next = self.ev_change.served.val();
        self.hp3.plane.next = exchange;
        let told = self.hp3.told.val();
        let question = self.hp3.asked.val();
        let asks = if may_drain { told.pauses } else { hop.asks };
        let ages = if may_drain { told.pauses } else { hop.begins };
        let forgets = may_drain | hop.forgets;
        let may_probe = if may_drain { question.held } else { !in_hold };
        self.draws.d.next = if may_drain { told.draws } else { hop.draws };
        self.hops.d.next = !may_drain & hop.hops;

        let conditions = StepConditions {
            by_home,
            avoids_backup: avoids_backup(asked),
            can_choose: offered.own_any | (single & offered.any),
            recalls: may_recycle & may_have(own.ring, pair.recycled),
            goes_on: recalled.goes_on,
            recalled: recalled.usable,
            found: self.finder.found.val(),
            wrapped: self.wrapped.q.val(),
            more,
            is_discarded: not_due | other_port,
            moves: self.ev_change.moves.val(),
            bends: may_bend & round.bends,
            draws: self.draws.q.val(),
            hops: self.hops.q.val(),
            extrapolated: self.computed.q.val() == bits::<4>(DELAY_BITS as u64 - 1),
            has_probes: pair.hop.to_probe.any() & may_probe,
        };
        self.step.d.next = step_after(step, asked.op, pair.policy, conditions);

        match step {
            Step::Idle => {
                self.asked.d.next = self.request.record.val();
                self.up.d.next = self.plane_up.val();
                // Only a configuration uses it: all other requests fetch the row. So nothing wide waits for the request, which comes late in a cycle.
                self.pair.d.next = configured(self.settings.val());
                self.planes_swapped.d.next = false;
                self.found.d.next = false;
                self.held.d.next = false;
                self.window.d.next = WindowChange::Keep;
                self.computed.d.next = bits::<4>(0);
                self.wrapped.d.next = false;
                self.searched.d.next = false;
                if self.request.record.val().op == SprayOp::Ack {
                    self.asked.d.next.feedback = self.request.record.val().ack.hint;
                }
                if self.request.valid.val() {
                    self.step.d.next = if DeepRowRam::<SprayRow, Q>::LATENCY == 1 {
                        Step::Fetch
                    } else {
                        Step::AwaitRow
                    };
                    if self.request.record.val().op == SprayOp::Configure {
                        self.step.d.next = Step::DrawStart;
                    }
                }
            }
            Step::Fetch => {
                self.asked.d.next.index = named_index;
                self.pair.d.next = stored.pair;
                self.planes.d.next = swap_planes(stored.planes, plane_1);
                self.planes_swapped.d.next = plane_1;
                self.avoid.d.next = avoided(asked, stored, plane_1);
            }
            Step::AvoidBackup => {
                self.avoid.d.next.slot = slot_avoided_of_backup(asked, planes, self.avoid.q.val());
            }
            Step::Select => {
                self.finder.load.next = true;
                self.finder.load_search.next = for_path(offered, own, pair, exchange);
            }
            Step::CollectProbes => {
                self.finder.load.next = true;
                self.finder.load_search.next = for_probe(planes, up, pair, self.unprobed.q.val());
                self.since_probe.d.next = asked.now - pair.last_probe;
            }
            Step::Recycle => {
                if recalled.goes_on {
                    self.planes.d.next.own.ring = recalled.ring;
                    if recalled.usable & more {
                        self.asked.d.next.count = asked.count - 1;
                        self.early.d.next = early_next | bits::<AHEAD>(AT_ONCE);
                    }
                }
            }
            Step::Find | Step::FindMore => {
                self.searched.d.next = true;
                if self.finder.found.val() {
                    self.wrapped.d.next = false;
                    if more & !single {
                        self.asked.d.next.count = asked.count - 1;
                        self.early.d.next = early_next | due;
                    }
                } else if !chooses & self.wrapped.q.val() {
                    self.pair.d.next.hop.to_probe = bits::<PROBES_BITS>(0);
                }
            }
            Step::NewRotation => {
                self.wrapped.d.next = true;
                self.finder.load.next = true;
                self.finder.load_search.next = from_start(search, renewal.eligible);
                self.finder.key.next = new_key;
                if ordered {
                    self.planes.d.next.own.key = new_key;
                    self.planes.d.next.own.turns = renewal.turns;
                    self.pair.d.next.lfsr = word;
                }
            }
            Step::TakePlane => {
                if chooses {
                    self.pair.d.next.home = index.get_bits::<7>(0);
                } else if probes_others {
                    self.pair.d.next = probed_path(pair, drawn, word);
                } else if !not_due {
                    self.pair.d.next = probed(pair, index, asked.now);
                }
                self.planes.d.next = swap_planes(planes, index.get_bit(0) != exchange);
                self.planes_swapped.d.next = index.get_bit(0);
            }
            Step::LookupValue => {
                if chooses & !self.recycled.q.val() {
                    self.planes.d.next.own.position = place + 1;
                }
                if !chooses & probes_others {
                    let probed_slot = bits::<64>(1) << place.get_bits::<6>(0);
                    self.planes.d.next.own.turns.ones = own.turns.ones | probed_slot;
                }
                if more {
                    self.asked.d.next.count = asked.count - 1;
                    self.early.d.next = early_next | bits::<AHEAD>(SERVED);
                }
            }
            Step::ComputeEntropy => {
                self.found.d.next = true;
                if ordered & pair.skip_next_turn & self.searched.q.val() {
                    self.planes.d.next.own.turns = passed(own.turns, located);
                }
            }
            Step::TakeIndex => {
                self.found.d.next = (asked.op == SprayOp::Ack) & (indexed.known | !by_value);
                self.asked.d.next.index = ack_index;
                self.planes.d.next = swap_planes(planes, ack_index.get_bit(0));
                self.planes_swapped.d.next = ack_index.get_bit(0);
            }
            Step::ClassifyChange => {
                if !self.ev_change.exists.val() {
                    self.found.d.next = false;
                }
                self.pair.d.next.bend = counted(pair.bend, asked);
                if thaw {
                    self.pair.d.next.recycled = thawed(pair.recycled);
                    self.planes.d.next.own.ring = emptied(own.ring);
                    self.planes.d.next.other.ring = emptied(planes.other.ring);
                }
            }
            Step::ApplyChange => {
                self.planes.d.next.own = self.ev_change.changed.val();
                self.pair.d.next.bend = round.row;
                if may_recycle {
                    self.pair.d.next.recycled = heard(pair.recycled, asked);
                }
            }
            Step::Hear => {
                if may_drain {
                    self.pair.d.next = after_news(pair, told, asked);
                } else {
                    self.pair.d.next.hop = hop.row;
                }
                if asks {
                    self.pair.d.next.probe_from = bit_cast::<8, 7>(drawn);
                    self.pair.d.next.lfsr = word;
                }
                if ages {
                    self.planes.d.next.own.turns = aged(own.turns, forgets);
                    self.planes.d.next.other.turns = aged(planes.other.turns, forgets);
                }
            }
            Step::Extrapolate => self.computed.d.next = self.computed.q.val() + 1,
            Step::SetDelay => {
                let delay = self.hopper.delay.val();
                self.pair.d.next.hop.until = asked.now + bit_cast::<32, DELAY_BITS>(delay);
            }
            Step::EndHold => {
                if may_drain {
                    self.held.d.next = question.held;
                    self.window.d.next = question.window;
                    self.pair.d.next = after_question(pair, question);
                } else {
                    self.held.d.next = in_hold;
                }
                if !may_drain & pair.hop.held & !in_hold {
                    self.pair.d.next.home = pair.hop.target;
                    self.pair.d.next.hop = arrived(pair.hop);
                }
            }
            Step::Bend => {
                self.pair.d.next.home = self.start_draw.start.val();
                self.pair.d.next.lfsr = word;
            }
            Step::FindUnserved => {
                self.finder.load.next = true;
                self.finder.load_search.next =
                    from_start(search, bit_cast::<72, 64>(unserved(own)));
            }
            Step::AssignBackup => self.planes.d.next.own = self.ev_change.assigned.val(),
            Step::DrawStart => self.pair.d.next.lfsr = word,
            Step::DrawKey0 => {
                self.planes.d.next.own.key = new_key;
                self.pair.d.next.lfsr = word;
            }
            Step::DrawKey1 => {
                self.planes.d.next.other.key = new_key;
                self.pair.d.next.lfsr = word;
                self.pair.d.next.home = self.start_draw.start.val();
            }
            Step::InitPlanes => self.planes.d.next = begun(planes, pair, pair.home),
            _ => {}
        }

        if self.reset.val() {
            self.step.d.next = Step::Idle;
            self.early.d.next = bits::<AHEAD>(0);
        }
    }
}
