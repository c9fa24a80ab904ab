//! One path, and probes of others when it is slow (reference: `transport/src/spray/policy/hopper.rs`).

use hdl_macros::{hdl, hdl_fn};
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{SprayFeedback, SprayOp, SprayRequest};
use stellar_wire::rows::{
    BASE_RTT_BITS, HOP_BETTER, HOP_EPOCHS, HOP_MOST_DELAY, HOP_PROBES, HOP_PROBE_HALVES,
    HOP_SWITCH_HALVES,
};

use super::turns::Turns;

// The comparisons below are shifts and additions.
const _: () = assert!(HOP_PROBE_HALVES == 3 && HOP_SWITCH_HALVES == 5 && HOP_BETTER == 5);
const _: () = assert!(HOP_EPOCHS == 4 && HOP_MOST_DELAY == 2);

/// Bits of a delay, and cycles of the division.
pub const DELAY_BITS: usize = BASE_RTT_BITS + 1;
/// Bits of the number of probes that are due. HP3 has more of them.
pub const PROBES_BITS: usize = 4;
/// Bits of the number of packets that a line spans.
const ACKED_BITS: usize = 13;

/// State of a queue pair.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct HopRow {
    /// There is an epoch, which began at `epoch`.
    pub open: Bit,
    pub epoch: Bits<32>,
    /// No probe was sent and no decision was made in this epoch.
    pub may_probe: Bit,
    pub may_switch: Bit,
    /// Probes that are due.
    pub to_probe: Bits<PROBES_BITS>,
    /// There is a line through the round trips of the path: its first one, and the packets acknowledged since then.
    pub line: Bit,
    pub first: Bits<16>,
    pub acked: Bits<ACKED_BITS>,
    /// The fastest path of those whose probes were answered of late.
    pub best_known: Bit,
    pub best: Bits<7>,
    pub best_round_trip: Bits<16>,
    pub best_at: Bits<32>,
    /// No data is sent until `until`, from when on the path is `target`.
    pub held: Bit,
    pub target: Bits<7>,
    pub until: Bits<32>,
}

/// Returns the maps of slots that were probed in this epoch and the three before, at the start of another one. Map `i` has the slots of `i` epochs ago. 1 level.
#[hdl_fn]
pub fn aged(turns: Turns, forget: Bit) -> Turns {
    let none = bits::<64>(0);
    Turns {
        ones: none,
        twos: if forget { none } else { turns.ones },
        fours: if forget { none } else { turns.twos },
        eights: if forget { none } else { turns.fours },
    }
}

/// Returns the state after the delay is over: the path is another one.
#[hdl_fn]
pub fn arrived(row: HopRow) -> HopRow {
    HopRow {
        held: false,
        line: false,
        ..row
    }
}

/// Differences, one cycle after the row.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Distances {
    /// Since the epoch began, since the best path's probe was answered, and until the delay is over.
    since: Bits<32>,
    age: Bits<32>,
    left: Bits<32>,
    /// Packets on the line, with those of the acknowledgement.
    acked: Bits<14>,
    /// Growth of the round trip on the line, and its excess over that of the best path; the top bit is the sign.
    rise: Bits<17>,
    excess: Bits<17>,
    outstanding: Bits<ACKED_BITS>,
    /// Multiples of the base round trip and of that of the best path.
    three_base: Bits<17>,
    five_base: Bits<17>,
    five_best: Bits<19>,
}

/// Comparisons, two cycles after the row.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Comparisons {
    begins: Bit,
    forgets: Bit,
    /// The probe of the best path is too old to count.
    stale: Bit,
    /// The round trip is long enough to probe others, to leave the path; the best path is much faster, or at all.
    slow: Bit,
    congested: Bit,
    better: Bit,
    faster: Bit,
    rise: Bits<16>,
    acked: Bits<ACKED_BITS>,
}

/// What kind of news a request has, one cycle after the inputs.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Matches {
    acks: Bit,
    /// There is a round trip, if the path is the one in use.
    timed: Bit,
    /// A probe of this active path was answered.
    answers: Bit,
    is_home: Bit,
    /// It is the best path so far.
    is_best: Bit,
    draws: Bit,
}

/// What a request changes.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Heard {
    pub row: HopRow,
    /// An epoch begins; probes are forgotten.
    pub begins: Bit,
    pub forgets: Bit,
    /// Probes are due: the first one's path is drawn.
    pub asks: Bit,
    /// The path is drawn.
    pub draws: Bit,
    /// The path changes after a delay.
    pub hops: Bit,
}

/// Decides when a queue pair probes, and when it changes its path. The outputs follow the inputs, which are stable during an operation: `in_hold` after two cycles,
/// `heard` after three (two for feedback), and one after `in_slot`. `delay` is valid [`DELAY_BITS`] + 2 cycles after `load`; meanwhile `divide` is high.
///
/// LUT levels: 2 carry chains at most; 4 (`heard`: decision 2, row 2); a multiplication of 16 by 13 bits.
#[derive(LogicBlock, Default)]
pub struct Hopper {
    pub clock: Signal<In, Clock>,
    pub request: Signal<In, SprayRequest>,
    pub row: Signal<In, HopRow>,
    pub base_rtt: Signal<In, Bits<BASE_RTT_BITS>>,
    /// The path in use.
    pub home: Signal<In, Bits<7>>,
    /// The request names a value that serves this slot, of plane `plane`, and is neither denied nor assumed bad.
    pub in_slot: Signal<In, Bit>,
    pub slot: Signal<In, Bits<6>>,
    pub plane: Signal<In, Bit>,

    pub heard: Signal<Out, Heard>,
    pub in_hold: Signal<Out, Bit>,

    /// Starts to compute the delay; computes one bit of it.
    pub load: Signal<In, Bit>,
    pub divide: Signal<In, Bit>,
    pub delay: Signal<Out, Bits<DELAY_BITS>>,

    distances: DFF<Distances>,
    comparisons: DFF<Comparisons>,
    matches: DFF<Matches>,
    holds: DFF<Bit>,
    /// Growth on the line, times the packets that are not acknowledged.
    product: DFF<Bits<32>>,
    divisor: DFF<Bits<ACKED_BITS>>,
    /// The divisor is not 0.
    divisible: DFF<Bit>,
    remainder: DFF<Bits<14>>,
    /// Bits of the dividend that are left, and of the quotient.
    quotient: DFF<Bits<DELAY_BITS>>,
    /// The quotient does not fit.
    overflows: DFF<Bit>,
    /// Excess and growth; the delay.
    total: DFF<Bits<18>>,
    sum: DFF<Bits<DELAY_BITS>>,
}

/// Returns whether `value` is at least `limit`, as numbers of 32 and 16 bits. A carry chain and 2 levels beside it.
#[hdl_fn]
pub fn at_least(value: Bits<32>, limit: Bits<16>) -> Bit {
    value.get_bits::<16>(16).any() | (value.get_bits::<16>(0) >= limit)
}

impl Logic for Hopper {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, distances, comparisons, product, divisor);
        dff_setup!(self, clock, remainder, quotient, overflows, sum);
        dff_setup!(self, clock, matches, holds, divisible, total);
        let request = self.request.val();
        let row = self.row.val();
        let ack = request.ack;
        let round_trip = bit_cast::<17, 16>(ack.round_trip);
        let base = bit_cast::<17, BASE_RTT_BITS>(self.base_rtt.val());
        let best = bit_cast::<19, 16>(row.best_round_trip);
        let two_base = (base << 1).get_bits::<16>(0);
        let four_base = (base << 2).get_bits::<16>(0);

        // subtract
        let distances = self.distances.q.val();
        self.distances.d.next = Distances {
            since: request.now - row.epoch,
            age: request.now - row.best_at,
            left: row.until - request.now,
            acked: bit_cast::<14, ACKED_BITS>(row.acked) + bit_cast::<14, 13>(ack.packets),
            rise: round_trip - bit_cast::<17, 16>(row.first),
            excess: round_trip - bit_cast::<17, 16>(row.best_round_trip),
            outstanding: (ack.next_psn - ack.una).get_bits::<ACKED_BITS>(0),
            three_base: base + (base << 1),
            five_base: base + (base << 2),
            five_best: best + (best << 2),
        };

        // compare
        let news = self.comparisons.q.val();
        let twice = round_trip << 1;
        let four_times = bit_cast::<19, 16>(ack.round_trip) << 2;
        let grows = row.line & !distances.rise.get_bit(16);
        let too_old =
            distances.age.get_bits::<16>(16).any() | (distances.age.get_bits::<16>(0) > four_base);
        self.comparisons.d.next = Comparisons {
            begins: !row.open | at_least(distances.since, base.get_bits::<16>(0)),
            forgets: at_least(distances.since, four_base),
            stale: too_old,
            slow: twice > distances.three_base,
            congested: twice > distances.five_base,
            better: distances.five_best < four_times,
            faster: row.best_round_trip < ack.round_trip,
            rise: if grows {
                distances.rise.get_bits::<16>(0)
            } else {
                bits::<16>(0)
            },
            acked: if distances.acked.get_bit(13) {
                Bits::<ACKED_BITS>::mask()
            } else {
                distances.acked.get_bits::<ACKED_BITS>(0)
            },
        };
        let beyond =
            distances.left.get_bits::<16>(16).any() | (distances.left.get_bits::<16>(0) > two_base);
        self.holds.d.next = row.held & distances.left.any() & !beyond;
        self.in_hold.next = self.holds.q.val();

        // decide
        let acks = request.op == SprayOp::Ack;
        let told = request.op == SprayOp::Feedback;
        let late = told & (request.feedback == SprayFeedback::Timeout);
        let asked = (acks | told) & (request.feedback == SprayFeedback::AlwaysSkip);
        let draws_path = late | asked;
        let home = self.home.val();
        let same_slot = self.slot.val() == home.get_bits::<6>(1);
        let same_plane = self.plane.val() == home.get_bit(0);
        let in_slot = self.in_slot.val();
        let answered = told & (request.feedback == SprayFeedback::ProbeAnswered);
        self.matches.d.next = Matches {
            acks,
            timed: acks & ack.sampled & !asked,
            answers: answered & in_slot & !request.index.get_bit(7),
            is_home: in_slot & same_slot & same_plane,
            is_best: request.index == bit_cast::<8, 7>(row.best),
            draws: draws_path,
        };
        let matches = self.matches.q.val();
        let draws = matches.draws;
        let begins = matches.acks & news.begins;
        let sampled = matches.timed & matches.is_home;
        let free = sampled & !row.held;
        let may_probe = row.may_probe | begins;
        let may_switch = row.may_switch | begins;
        let asks = free & may_probe & news.slow;
        let decides = free & may_switch & news.congested;
        let hops = decides & row.best_known & !news.stale & news.better;
        let starts_line = sampled & (begins | !row.line);
        let replaces = !row.best_known | news.stale | !news.faster | matches.is_best;
        let learns = matches.answers & !matches.is_home & replaces;
        let none = bits::<PROBES_BITS>(0);
        let to_probe = if asks {
            bits::<PROBES_BITS>(HOP_PROBES as u64)
        } else {
            row.to_probe
        };
        self.heard.next = Heard {
            row: HopRow {
                open: row.open | begins,
                epoch: if begins { request.now } else { row.epoch },
                may_probe: may_probe & !asks,
                may_switch: may_switch & !decides,
                to_probe: if hops { none } else { to_probe },
                line: starts_line | (row.line & !begins & !draws),
                first: if starts_line {
                    ack.round_trip
                } else {
                    row.first
                },
                acked: if starts_line {
                    bits::<ACKED_BITS>(0)
                } else if matches.acks {
                    news.acked
                } else {
                    row.acked
                },
                best_known: learns | (row.best_known & !hops),
                best: if learns {
                    request.index.get_bits::<7>(0)
                } else {
                    row.best
                },
                best_round_trip: if learns {
                    ack.round_trip
                } else {
                    row.best_round_trip
                },
                best_at: if learns { request.now } else { row.best_at },
                held: hops | (row.held & !draws),
                target: if hops { row.best } else { row.target },
                until: row.until,
            },
            begins,
            forgets: news.forgets,
            asks,
            draws,
            hops,
        };

        // extrapolate
        self.product.d.next = news.rise * bit_cast::<16, ACKED_BITS>(distances.outstanding);
        let product = self.product.q.val();
        let divisor = self.divisor.q.val();
        let remainder = self.remainder.q.val();
        let quotient = self.quotient.q.val();
        let shifted = (remainder << 1) | bit_cast::<14, 1>(quotient.get_bits::<1>(14));
        let difference = bit_cast::<15, 14>(shifted) - bit_cast::<15, ACKED_BITS>(divisor);
        let fits = !difference.get_bit(14);
        let high = product.get_bits::<14>(DELAY_BITS);
        if self.load.val() {
            self.divisor.d.next = news.acked;
            self.divisible.d.next = news.acked.any();
            self.remainder.d.next = high;
            self.quotient.d.next = product.get_bits::<DELAY_BITS>(0);
            self.overflows.d.next = high >= bit_cast::<14, ACKED_BITS>(news.acked);
        } else if self.divide.val() {
            self.remainder.d.next = if fits {
                difference.get_bits::<14>(0)
            } else {
                shifted
            };
            self.quotient.d.next =
                (quotient << 1) | bit_cast::<DELAY_BITS, 1>(bit_cast::<1, 1>(fits.into()));
        }
        let divisible = self.divisible.q.val();
        let growth = if divisible {
            quotient
        } else {
            bits::<DELAY_BITS>(0)
        };
        self.total.d.next =
            bit_cast::<18, 17>(distances.excess) + bit_cast::<18, DELAY_BITS>(growth);
        let sum = self.total.q.val();
        let most = bit_cast::<18, 16>(two_base);
        let limited = (divisible & self.overflows.q.val()) | (sum > most);
        self.sum.d.next = if limited {
            most.get_bits::<DELAY_BITS>(0)
        } else {
            sum.get_bits::<DELAY_BITS>(0)
        };
        self.delay.next = self.sum.q.val();
    }
}
