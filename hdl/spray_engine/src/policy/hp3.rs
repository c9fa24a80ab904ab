//! One path that stays congested is left for the one that answers a probe first, when nothing is in flight (reference: `transport/src/spray/policy/hp3.rs`).
//!
//! A queue pair has one policy, so HP3 keeps its rounds in fields of FlowBender ([`BendRow`]: whether there is one, its end, packets with a mark), and its pauses in
//! fields of Hopper ([`super::hopper::HopRow`]: when it began in `epoch`, probes that are due, `target`, `until`).

use hdl_macros::{hdl, hdl_fn};
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{SprayFeedback, SprayOp, SprayRequest, WindowChange};
use stellar_wire::rows::{BASE_RTT_BITS, DRAIN_PATIENCE, DRAIN_PROBES, DRAIN_REST, DRAIN_ROUNDS};

use super::flow_bender::BendRow;
use super::hopper::{at_least, HopRow, PROBES_BITS};
use crate::row::PairRow;

// `rounds` counts to 3, and the patience is a shift.
const _: () = assert!(DRAIN_ROUNDS == 3 && DRAIN_PATIENCE == 2);
const _: () = assert!(DRAIN_REST < 16 && DRAIN_PROBES < 1 << PROBES_BITS);

/// What a queue pair does.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Phase {
    /// It sends, and counts rounds with marks.
    Watching,
    /// It sends no data, and waits for the first answer to a probe.
    Probing,
    /// It sends no data until all of it is acknowledged, and then moves.
    Draining,
}

/// State of a queue pair, besides what it shares with other policies.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct DrainRow {
    pub phase: Phase,
    /// Rounds in a row with a mark, 3 if more.
    pub rounds: Bits<2>,
    /// Rounds until data may pause again.
    pub rest: Bits<4>,
    /// What the requester has not been told yet.
    pub change: WindowChange,
}

/// Comparisons of the round, one cycle after the row.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Round {
    /// Everything is acknowledged that was sent before it began, or there was none.
    ends: Bit,
    open: Bit,
    marked: Bit,
}

/// What kind of news a request has, one cycle after the inputs.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Matches {
    acks: Bit,
    /// The path in use does not work.
    fails: Bit,
    /// A probe was answered: that of the path in use, or that of another active value.
    answers_home: Bit,
    answers_other: Bit,
    /// The probe of the path that answered first was marked.
    marks_target: Bit,
}

/// What an acknowledgement or feedback changes.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Told {
    pub row: DrainRow,
    /// Data pauses: the first probe's path is drawn.
    pub pauses: Bit,
    /// The path of the request is the next one.
    pub drains: Bit,
    /// The path in use is watched anew.
    pub watches: Bit,
    /// The path is drawn; it is the one that answered first.
    pub draws: Bit,
    pub moves: Bit,
}

/// What `Probe` or `Query` changes, and their response.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Asked {
    pub row: DrainRow,
    /// No data is sent until `until`.
    pub held: Bit,
    pub until: Bits<32>,
    pub window: WindowChange,
    /// The path in use is watched anew; it is the one that answered first.
    pub watches: Bit,
    pub moves: Bit,
}

/// Returns what becomes of a change of the window at the end of a pause. One that ends before the window was saved leaves it as it is.
#[hdl_fn]
fn at_end(before: WindowChange, change: WindowChange) -> WindowChange {
    if before == WindowChange::Save {
        WindowChange::Keep
    } else {
        change
    }
}

/// Returns the round after the path is watched anew: there is none.
#[hdl_fn]
fn closed(round: BendRow, watches: Bit) -> BendRow {
    BendRow {
        open: round.open & !watches,
        ..round
    }
}

/// Returns the state after an acknowledgement or feedback. 2 levels.
#[hdl_fn]
pub fn after_news(pair: PairRow, told: Told, request: SprayRequest) -> PairRow {
    let none = bits::<PROBES_BITS>(0);
    let left = if told.drains | told.watches {
        none
    } else {
        pair.hop.to_probe
    };
    PairRow {
        drain: told.row,
        home: if told.moves {
            pair.hop.target
        } else {
            pair.home
        },
        bend: closed(pair.bend, told.watches),
        hop: HopRow {
            epoch: if told.pauses {
                request.now
            } else {
                pair.hop.epoch
            },
            to_probe: if told.pauses {
                bits::<PROBES_BITS>(DRAIN_PROBES as u64)
            } else {
                left
            },
            target: if told.drains {
                request.index.get_bits::<7>(0)
            } else {
                pair.hop.target
            },
            ..pair.hop
        },
        ..pair
    }
}

/// Returns the state after the requester asked whether it may send. 1 level.
#[hdl_fn]
pub fn after_question(pair: PairRow, asked: Asked) -> PairRow {
    let none = bits::<PROBES_BITS>(0);
    PairRow {
        drain: asked.row,
        home: if asked.moves {
            pair.hop.target
        } else {
            pair.home
        },
        bend: closed(pair.bend, asked.watches),
        hop: HopRow {
            to_probe: if asked.watches {
                none
            } else {
                pair.hop.to_probe
            },
            until: asked.until,
            ..pair.hop
        },
        ..pair
    }
}

/// Decides when data pauses, and what ends the pause. The outputs follow the inputs, which are stable during an operation: `asked` after two cycles, `told` two after
/// the row and one after `round` and `in_slot`.
///
/// LUT levels: a carry chain at most; 4 (`told`: decision 2, row 2).
#[derive(LogicBlock, Default)]
pub struct Hp3 {
    pub clock: Signal<In, Clock>,
    pub request: Signal<In, SprayRequest>,
    pub row: Signal<In, DrainRow>,
    /// The round, with the packets of the acknowledgement.
    pub round: Signal<In, BendRow>,
    pub pause: Signal<In, HopRow>,
    pub base_rtt: Signal<In, Bits<BASE_RTT_BITS>>,
    /// The path in use.
    pub home: Signal<In, Bits<7>>,
    /// The request names a value that serves this slot, of plane `plane`, and is neither denied nor assumed bad.
    pub in_slot: Signal<In, Bit>,
    pub slot: Signal<In, Bits<6>>,
    pub plane: Signal<In, Bit>,

    pub told: Signal<Out, Told>,
    pub asked: Signal<Out, Asked>,

    /// Since the pause began.
    passed: DFF<Bits<32>>,
    /// The pause is not over; the answer is to a probe that was sent before it.
    in_time: DFF<Bit>,
    early: DFF<Bit>,
    until: DFF<Bits<32>>,
    ended: DFF<Round>,
    matches: DFF<Matches>,
}

impl Logic for Hp3 {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, passed, in_time, early, until, ended, matches);
        let request = self.request.val();
        let row = self.row.val();
        let round = self.round.val();
        let pause = self.pause.val();
        let ack = request.ack;
        let base = bit_cast::<16, BASE_RTT_BITS>(self.base_rtt.val());
        let patience = base << 1;
        let watching = row.phase == Phase::Watching;
        let probing = row.phase == Phase::Probing;
        let draining = row.phase == Phase::Draining;

        // subtract
        let passed = self.passed.q.val();
        self.passed.d.next = request.now - pause.epoch;
        let from = if probing { pause.epoch } else { request.now };
        let wait = if probing { patience } else { base };
        self.until.d.next = from + bit_cast::<32, 16>(wait);
        let beyond = ack.una - round.end;
        self.ended.d.next = Round {
            ends: !round.open | !beyond.get_bit(23),
            open: round.open,
            marked: round.open & round.marked.any(),
        };

        // compare
        self.in_time.d.next = !at_least(passed, patience);
        self.early.d.next = !at_least(passed, ack.round_trip);
        let acks = request.op == SprayOp::Ack;
        let told = request.op == SprayOp::Feedback;
        let feedback = request.feedback;
        let late = told & (feedback == SprayFeedback::Timeout);
        let refused = (acks | told) & (feedback == SprayFeedback::AlwaysSkip);
        let answered = told & (feedback == SprayFeedback::ProbeAnswered) & self.in_slot.val();
        let home = self.home.val();
        let same_slot = self.slot.val() == home.get_bits::<6>(1);
        let is_home = same_slot & (self.plane.val() == home.get_bit(0));
        let is_target = request.index == bit_cast::<8, 7>(pause.target);
        self.matches.d.next = Matches {
            acks,
            fails: late | refused,
            answers_home: answered & is_home,
            answers_other: answered & !is_home & !request.index.get_bit(7),
            marks_target: told & (feedback == SprayFeedback::Skip) & is_target,
        };

        // decide after news
        let ended = self.ended.q.val();
        let matches = self.matches.q.val();
        let ends = matches.acks & !matches.fails & watching & ended.ends;
        let more = if row.rounds.all() {
            row.rounds
        } else {
            row.rounds + 1
        };
        let rounds = if ended.marked { more } else { bits::<2>(0) };
        let less = if ended.open & row.rest.any() {
            row.rest - 1
        } else {
            row.rest
        };
        let pauses = ends & rounds.all() & !less.any();
        let first = probing & !self.early.q.val();
        let recovers = (first & matches.answers_home) | (draining & matches.marks_target);
        let drains = first & matches.answers_other;
        let watches = recovers | matches.fails;
        let resumed = at_end(row.change, WindowChange::Restore);
        self.told.next = Told {
            row: DrainRow {
                phase: if watches {
                    Phase::Watching
                } else if pauses {
                    Phase::Probing
                } else if drains {
                    Phase::Draining
                } else {
                    row.phase
                },
                rounds: if watches {
                    bits::<2>(0)
                } else if ends {
                    rounds
                } else {
                    row.rounds
                },
                rest: if recovers {
                    bits::<4>(DRAIN_REST as u64)
                } else if ends {
                    less
                } else {
                    row.rest
                },
                change: if pauses {
                    WindowChange::Save
                } else if watches & !watching {
                    resumed
                } else {
                    row.change
                },
            },
            pauses,
            drains,
            watches,
            draws: matches.fails & !draining,
            moves: matches.fails & draining,
        };

        // decide when asked
        let in_time = self.in_time.q.val();
        let expires = probing & !in_time;
        let moves = draining & request.empty & (request.op == SprayOp::Query);
        let over = expires | moves;
        let end = if moves {
            WindowChange::Raise
        } else {
            WindowChange::Restore
        };
        self.asked.next = Asked {
            row: DrainRow {
                phase: if over { Phase::Watching } else { row.phase },
                rounds: if over { bits::<2>(0) } else { row.rounds },
                rest: if expires {
                    bits::<4>(DRAIN_REST as u64)
                } else {
                    row.rest
                },
                change: WindowChange::Keep,
            },
            held: !watching & !over,
            until: self.until.q.val(),
            window: if over {
                at_end(row.change, end)
            } else {
                row.change
            },
            watches: over,
            moves,
        };
    }
}
