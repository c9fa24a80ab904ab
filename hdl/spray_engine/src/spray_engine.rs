//! The server of path choice: one operation of one queue pair at a time.

use hdl_macros::hdl;
use hdl_primitives::ram::{BlockRam, LutRam};
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{
    EntropyProfileEntry, SprayConfig, SprayOp, SprayPolicy, SprayRequest, SprayResponse,
};

use crate::candidates::*;
use crate::entropy::*;
use crate::entropy_index::EntropyIndex;
use crate::ev_update::*;
use crate::first_place::*;
use crate::key_stream::*;
use crate::order::*;
use crate::row::*;
use crate::search::*;
use crate::slot_at::SlotAt;
use crate::slot_order::SlotOrder;
use crate::start_draw::StartDraw;
use crate::step::*;

/// Most clocks from taking a request to its response.
pub mod clocks {
    /// `Choose` in the rotation under way.
    pub const CHOOSE: usize = 10;
    /// `Choose` that begins a rotation.
    pub const CHOOSE_IN_NEW_ROTATION: usize = 14;
    /// Any other operation.
    pub const OTHER: usize = 10;
}

/// Chooses paths and keeps the states of entropy values of 2^`Q` queue pairs, with generated profiles
/// (`stellar_transport::spray::Spray`, called with the planes of `plane_up` and one plane per choice).
///
/// Profiles are written before a queue pair that names them is configured, and stay as long as it is in use. `plane_up` counts in the clock in
/// which a request is taken. A request to a queue pair that was never configured has an answer of no meaning.
///
/// Clocks from the request taken to the response: [`clocks`]; the next request is taken in the clock after the response.
///
/// | operation | clocks |
/// |---|---|
/// | `Choose`, permuted order | 10; 14 with a new rotation |
/// | `Choose`, round robin | 6; 8 with a new rotation |
/// | `Choose`, single path | 7; 9 past the last index; 2 less if the path is the other port's |
/// | `Choose` without a path | 3 |
/// | `Feedback`, `Deny`, `Allow` | 4 if no value is withdrawn or returns; else 6, or 7 with a slot that nothing serves |
/// | `Reflect` | 3 more than `Feedback` |
/// | `Probe` | 7; 9 past the last value; 2 less if none is due |
/// | `Query` | 3 |
/// | `Configure` | 6 |
///
/// LUT levels: 8 at most (`Serve`: slot 1, backup in it 3, number 2, value 2; `usable`: 8 from the profile's number).
#[derive(LogicBlock, Default)]
pub struct SprayEngine<const Q: usize = 10> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Bit `p`: port `p` is up.
    pub plane_up: Signal<In, Bits<2>>,

    pub request_valid: Signal<In, Bit>,
    pub request: Signal<In, SprayRequest>,
    pub request_ready: Signal<Out, Bit>,
    /// Registers of the queue pair, with a `Configure` request.
    pub settings: Signal<In, SprayConfig>,
    pub response_valid: Signal<Out, Bit>,
    pub response: Signal<Out, SprayResponse>,

    /// Writes an entropy profile.
    pub profile_valid: Signal<In, Bit>,
    pub profile_index: Signal<In, Bits<3>>,
    pub profile: Signal<In, EntropyProfileEntry>,

    rows: BlockRam<SprayRow, Q>,
    profiles: LutRam<EntropyProfileEntry, 3>,
    slot_order: SlotOrder,
    slot_at: SlotAt,
    entropy_index: EntropyIndex,
    start_draw: StartDraw,

    step: DFF<Step>,
    asked: DFF<SprayRequest>,
    up: DFF<Bits<2>>,

    // The queue pair; `exchanged`: the own plane is plane 1.
    pair: DFF<PairRow>,
    planes: DFF<Planes>,
    exchanged: DFF<Bit>,
    usable: DFF<Bits<2>>,

    avoid: DFF<Avoided>,
    key: DFF<OrderKey>,
    search: DFF<Search>,
    /// Searched from the start, too.
    again: DFF<Bit>,
    place: DFF<Bits<7>>,
    /// Ticks since the last probe.
    since_probe: DFF<Bits<32>>,
    judged: DFF<Judged>,
    reserve: DFF<Bits<8>>,

    found: DFF<Bit>,
    served: DFF<Served>,
    entropy: DFF<Bits<32>>,

    _queue_pairs: QueuePairs<Q>,
}

/// Number of queue pairs, as log2.
struct QueuePairs<const Q: usize>;

impl<const Q: usize> Default for QueuePairs<Q> {
    fn default() -> Self {
        assert!(
            (1..=10).contains(&Q),
            "SprayEngine<{Q}>: requests have queue pair numbers of 10 bits, so use 1 to 10"
        );
        Self
    }
}

impl<const Q: usize> Logic for SprayEngine<Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, asked, up, pair, planes, exchanged, usable);
        dff_setup!(self, clock, avoid, key, search, again, place, since_probe);
        dff_setup!(self, clock, judged, reserve, found, served, entropy);
        clock!(
            self,
            clock,
            rows,
            profiles,
            slot_order,
            slot_at,
            entropy_index,
            start_draw
        );

        let step = self.step.q.val();
        let asked = self.asked.q.val();
        let up = self.up.q.val();
        let pair = self.pair.q.val();
        let planes = self.planes.q.val();
        let own = planes.own;
        let exchange = self.exchanged.q.val();
        let search = self.search.q.val();
        let place = self.place.q.val();
        let chooses = asked.op == SprayOp::Choose;
        let single = pair.policy == SprayPolicy::SinglePath;
        let permuted = (pair.policy == SprayPolicy::Obs) | (pair.policy == SprayPolicy::EvState);
        let ordered = chooses & permuted;

        // Memories and servers.
        let idle = step == Step::Idle;
        let responds = step == Step::Respond;
        let row = if idle {
            self.request.val().qp
        } else {
            asked.qp
        };
        self.rows.read_address.next = row.get_bits::<Q>(0);
        self.rows.write_enable.next = responds;
        self.rows.write_address.next = asked.qp.get_bits::<Q>(0);
        self.rows.write_data.next = SprayRow {
            pair,
            planes: exchanged(planes, exchange),
        };
        self.profiles.write_enable.next = self.profile_valid.val();
        self.profiles.write_address.next = self.profile_index.val();
        self.profiles.write_data.next = self.profile.val();
        self.profiles.read_address.next = pair.profile;
        let profile = self.profiles.read_data.val();
        let backups = backups_of(profile.backups);
        self.slot_order.key.next = self.key.q.val();
        self.slot_order.slots.next = search.eligible.get_bits::<64>(0);
        self.slot_order.positions.next = search.reach.get_bits::<64>(0);
        self.slot_at.key.next = own.key;
        self.slot_at.position.next = place.get_bits::<6>(0);
        self.entropy_index.profile.next = profile;
        self.entropy_index.rotation.next = pair.rotation;
        self.entropy_index.entropy.next = asked.entropy;
        self.start_draw.word.next = pair.lfsr;
        self.start_draw.paths.next = pair.paths;
        let word = next_word(pair.lfsr);
        let new_key = word.get_bits::<28>(0);

        self.request_ready.next = idle;
        self.usable.d.next = usable_planes(pair.policy, planes, exchange, up, backups);
        self.response_valid.next = responds;
        self.response.next = SprayResponse {
            found: self.found.q.val(),
            index: self.served.q.val().index,
            entropy: self.entropy.q.val(),
            usable: self.usable.q.val(),
        };

        // fetch
        let stored = self.rows.read_data.val();
        let plane_1 = begins_with_plane_1(asked, stored.pair.policy);

        // select, collect
        let offered = candidates(planes, exchange, up, self.avoid.q.val());
        let can_choose = offered.own_any | (single & offered.any);
        let home_search = by_index(
            bit_cast::<72, 64>(offered.own),
            bit_cast::<72, 64>(offered.other),
            bit_cast::<8, 7>(pair.home),
        );
        let rotation_search = in_rotation(offered.own, own);
        let no_place = bits::<72>(0);
        let bad_0 = if up.get_bit(0) {
            own.assumed_bad
        } else {
            no_place
        };
        let bad_1 = if up.get_bit(1) {
            planes.other.assumed_bad
        } else {
            no_place
        };

        // find
        let searched = if ordered {
            bit_cast::<72, 64>(self.slot_order.ordered.val())
        } else {
            search.eligible
        };
        let reached = searched & search.reach;

        // restart
        let located = self.slot_order.located.val();
        let renewal = renewed(search, own, pair.skip_next_turn, located);
        let eligible = if ordered {
            renewal.eligible
        } else {
            search.all
        };

        // take_plane
        let index = index_found(search, place);
        let interval = bit_cast::<32, 31>(pair.probe_interval);
        let not_due = !chooses & pair.probed & (self.since_probe.q.val() < interval);
        let other_port = chooses & (index.get_bit(0) != asked.plane);

        // serve
        let slot = if ordered {
            self.slot_at.slot.val()
        } else {
            place.get_bits::<6>(0)
        };
        let in_slot = value_in_slot(profile, pair.rotation, exchange, slot, own);
        let at_place = value_of_place(profile, pair.rotation, exchange, place);

        // name, judge
        let indexed = self.entropy_index.indexed.val();
        let slots = slots_of(pair.paths, exchange);
        let judged = judge(asked, pair.policy, own, slots, backups);
        let unknown = (asked.op == SprayOp::Reflect) & !self.found.q.val();

        // begin
        let start = self.start_draw.start.val();
        let first_position = if pair.policy == SprayPolicy::RoundRobin {
            bit_cast::<7, 6>(start.get_bits::<6>(1))
        } else {
            bits::<7>(0)
        };

        match step {
            Step::Idle => {
                self.asked.d.next = self.request.val();
                self.up.d.next = self.plane_up.val();
                self.exchanged.d.next = false;
                self.found.d.next = false;
                self.again.d.next = false;
                if self.request_valid.val() {
                    self.step.d.next = Step::Fetch;
                    if self.request.val().op == SprayOp::Configure {
                        self.pair.d.next = configured(self.settings.val());
                        self.step.d.next = Step::DrawStart;
                    }
                }
            }
            Step::Fetch => {
                self.pair.d.next = stored.pair;
                self.planes.d.next = exchanged(stored.planes, plane_1);
                self.exchanged.d.next = plane_1;
                self.avoid.d.next = avoided(asked, stored);
                self.step.d.next = after_fetch(asked.op);
            }
            Step::Select => {
                self.key.d.next = order_key(own.key);
                self.search.d.next = if single { home_search } else { rotation_search };
                self.step.d.next = if !can_choose {
                    Step::Respond
                } else if permuted {
                    Step::OrderFirst
                } else {
                    Step::Find
                };
            }
            Step::Collect => {
                self.search.d.next = by_index(bad_0, bad_1, pair.probe_from);
                self.since_probe.d.next = asked.now - pair.last_probe;
                self.step.d.next = Step::Find;
            }
            Step::OrderFirst => self.step.d.next = Step::OrderSecond,
            Step::OrderSecond => self.step.d.next = Step::Find,
            Step::Find => {
                self.place.d.next = first_place(reached);
                self.step.d.next = if reached.any() {
                    after_found(asked.op, pair.policy)
                } else {
                    after_not_found(asked.op, self.again.q.val())
                };
            }
            Step::Restart => {
                self.again.d.next = true;
                self.search.d.next = from_start(search, eligible);
                self.step.d.next = Step::Find;
                if ordered {
                    self.key.d.next = order_key(new_key);
                    self.planes.d.next.own.key = new_key;
                    self.planes.d.next.own.skip = renewal.skip;
                    self.pair.d.next.lfsr = word;
                    self.step.d.next = Step::OrderFirst;
                }
            }
            Step::TakePlane => {
                if chooses {
                    self.pair.d.next.home = index.get_bits::<7>(0);
                } else if !not_due {
                    self.pair.d.next = probed(pair, index, asked.now);
                }
                self.planes.d.next = exchanged(planes, index.get_bit(0));
                self.exchanged.d.next = index.get_bit(0);
                self.step.d.next = if not_due | other_port {
                    Step::Respond
                } else {
                    Step::Serve
                };
            }
            Step::SlotFirst => {
                self.search.d.next.reach = search.reach & !(Bits::<72>::mask() << place);
                self.step.d.next = Step::SlotSecond;
            }
            Step::SlotSecond => self.step.d.next = Step::Serve,
            Step::Serve => {
                self.served.d.next = if chooses { in_slot } else { at_place };
                if chooses {
                    self.planes.d.next.own.position = place + 1;
                }
                self.step.d.next = Step::Evaluate;
            }
            Step::Evaluate => {
                self.found.d.next = true;
                self.entropy.d.next = value_of(profile, self.served.q.val().number);
                if ordered & pair.skip_next_turn {
                    self.planes.d.next.own.skip = own.skip & !located;
                }
                self.step.d.next = Step::Respond;
            }
            Step::Subtract => self.step.d.next = Step::Number,
            Step::Number => self.step.d.next = Step::Name,
            Step::Name => {
                self.found.d.next = indexed.known;
                self.served.d.next.index = indexed.index;
                self.asked.d.next.index = indexed.index;
                self.planes.d.next = exchanged(planes, indexed.index.get_bit(0));
                self.exchanged.d.next = indexed.index.get_bit(0);
                self.step.d.next = Step::Judge;
            }
            Step::Judge => {
                self.judged.d.next = judged;
                if unknown | !judged.exists {
                    self.judged.d.next.change = Change::Nothing;
                    self.found.d.next = false;
                }
                self.step.d.next = Step::Change;
            }
            Step::Change => {
                self.planes.d.next.own = changed(own, self.judged.q.val());
                self.step.d.next = if frees_or_needs(self.judged.q.val().change) {
                    Step::Unserved
                } else {
                    Step::Respond
                };
            }
            Step::Unserved => {
                self.search.d.next = from_start(search, bit_cast::<72, 64>(unserved(own)));
                self.reserve.d.next = lowest_of_eight(in_reserve(own, backups));
                self.step.d.next = Step::Find;
            }
            Step::Assign => {
                self.planes.d.next.own =
                    assigned(own, self.reserve.q.val(), place.get_bits::<6>(0));
                self.step.d.next = Step::Respond;
            }
            Step::DrawStart => {
                self.pair.d.next.lfsr = word;
                self.step.d.next = Step::DrawKey0;
            }
            Step::DrawKey0 => {
                self.planes.d.next.own.key = new_key;
                self.pair.d.next.lfsr = word;
                self.step.d.next = Step::DrawKey1;
            }
            Step::DrawKey1 => {
                self.planes.d.next.other.key = new_key;
                self.pair.d.next.lfsr = word;
                self.step.d.next = Step::Begin;
            }
            Step::Begin => {
                self.planes.d.next.own =
                    fresh(slots_of(pair.paths, false), own.key, first_position);
                self.planes.d.next.other =
                    fresh(slots_of(pair.paths, true), planes.other.key, first_position);
                self.pair.d.next.home = start;
                self.step.d.next = Step::Settle;
            }
            Step::Settle => self.step.d.next = Step::Respond,
            Step::Respond => self.step.d.next = Step::Idle,
        }

        if self.reset.val() {
            self.step.d.next = Step::Idle;
        }
    }
}
