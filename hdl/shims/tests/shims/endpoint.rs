//! Endpoint 1 on a clock of its own: streams in order and whole, requests without a gap inside, resets at both ends.
use std::collections::VecDeque;
use std::sync::LazyLock;

use hdl_shims::{EndpointCrossing, RequestLaunch};
use hdl_testkit::Dut;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim_verilated::Library;

use crate::model::{checked, tick};

const CARD: usize = 0;
const USER: usize = 1;
const PERIOD: u64 = 4_000_000;

static LIBRARY: LazyLock<Library> = LazyLock::new(checked::<EndpointCrossing>);

/// A stream through the crossing: the names of both ends, the side of the sender, bits of `tuser`.
struct Stream {
    from: &'static str,
    to: &'static str,
    sender: usize,
    user: usize,
}

const RQ: usize = 0;
const STREAMS: [Stream; 3] = [
    Stream {
        from: "rq",
        to: "user_rq",
        sender: CARD,
        user: 373,
    },
    Stream {
        from: "user_rc",
        to: "rc",
        sender: USER,
        user: 337,
    },
    Stream {
        from: "user_cq",
        to: "cq",
        sender: USER,
        user: 465,
    },
];
const STARTS: usize = 40;
const ENDS: usize = 52;

/// Words of bits that follow from a number.
fn words(number: u64, salt: u64, bits: usize) -> Vec<u32> {
    let mut rng = ChaCha8Rng::seed_from_u64(number * 8 + salt);
    let mut words: Vec<u32> = (0..bits.div_ceil(32)).map(|_| rng.random()).collect();
    if !bits.is_multiple_of(32) {
        *words.last_mut().unwrap() &= (1 << (bits % 32)) - 1;
    }
    words
}

/// A beat: `tdata`, `tuser`, `tkeep` and `tlast`. Those of requests say how many TLPs begin and end.
#[derive(Clone, PartialEq, Debug)]
struct Beat {
    number: u64,
    data: Vec<u32>,
    user: Vec<u32>,
    keep: u64,
    last: bool,
    /// A TLP stays open behind it.
    open: bool,
}

impl Beat {
    fn new(stream: usize, number: u64) -> Self {
        let salt = stream as u64;
        let rest = words(number, salt + 4, 64);
        Self {
            number,
            data: words(number, salt, 1024),
            user: words(number, salt + 3, STREAMS[stream].user),
            keep: rest[0].into(),
            last: rest[1] & 1 == 1,
            open: false,
        }
    }

    /// Of a request behind a beat with or without an open TLP. `goes_on`: the chain does.
    fn request(number: u64, was_open: bool, goes_on: bool, rng: &mut impl Rng) -> Self {
        let mut beat = Self::new(RQ, number);
        let whole = rng.random_range(0..3) + u64::from(!was_open && !goes_on);
        let starts = (whole + u64::from(goes_on && !was_open)).min(4);
        let ends = starts + u64::from(was_open) - u64::from(goes_on);
        for (at, count) in [(STARTS, starts), (ENDS, ends)] {
            for n in 0..4 {
                let bit = 1 << ((at + n) % 32);
                beat.user[(at + n) / 32] &= !bit;
                beat.user[(at + n) / 32] |= if (n as u64) < count { bit } else { 0 };
            }
        }
        beat.open = goes_on;
        beat
    }
}

struct Bench {
    dut: Dut,
    rng: ChaCha8Rng,
    periods: [u64; 2],
    next: [u64; 2],
    cycles: [u64; 2],
    /// Of each stream: the beat on offer, the beats under way, the next number, beats that came.
    offers: [Option<Beat>; 3],
    under_way: [VecDeque<Beat>; 3],
    numbers: [u64; 3],
    came: [u64; 3],
    /// In how many of 8 cycles senders begin a chain or a beat, and receivers are ready.
    sends: u32,
    ready: u32,
    /// Beats of a chain of requests, at most and at least; and those that are left.
    longest: u64,
    shortest: u64,
    chain: u64,
    was_open: bool,
    inside: bool,
    /// The card has heard that the link is down for so many cycles.
    down: u64,
    /// Resets are under way, and beats may be lost.
    loses: bool,
    flr_done: u64,
}

impl Bench {
    fn new(periods: [u64; 2], seed: u64) -> Self {
        let mut dut = Dut::of(&LIBRARY);
        dut.model()
            .plus_argument(&format!("metastability={}", seed + 1));
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        dut.set("user_reset", 1);
        dut.eval();
        let mut bench = Self {
            dut,
            next: [0, rng.random_range(0..periods[1])],
            rng,
            periods,
            cycles: [0; 2],
            offers: [const { None }; 3],
            under_way: [const { VecDeque::new() }; 3],
            numbers: [0; 3],
            came: [0; 3],
            sends: 0,
            ready: 8,
            longest: 300,
            shortest: 1,
            chain: 0,
            was_open: false,
            inside: false,
            down: 0,
            loses: true,
            flr_done: 0,
        };
        bench.run(50);
        bench.dut.set("user_reset", 0);
        bench.run(100);
        assert!(!bench.dut.is("link_down"));
        bench.loses = false;
        bench
    }

    /// Runs to the next edge of either clock.
    fn edge(&mut self) {
        let now = self.next[0].min(self.next[1]);
        let rises = [self.next[0] == now, self.next[1] == now];
        for side in [CARD, USER] {
            if rises[side] {
                self.take(side);
            }
        }
        tick(&mut self.dut, ["clock", "user_clock"], rises);
        for side in [CARD, USER] {
            if rises[side] {
                self.next[side] += self.periods[side];
                self.cycles[side] += 1;
                self.drive(side);
            }
        }
        self.dut.eval();
    }

    fn run(&mut self, cycles: u64) {
        let end = self.cycles[CARD] + cycles;
        while self.cycles[CARD] < end {
            self.edge();
        }
    }

    /// At an edge: what moves.
    fn take(&mut self, side: usize) {
        if side == CARD {
            self.down = if self.dut.is("link_down") {
                self.down + 1
            } else {
                0
            };
        } else {
            self.flr_done += u64::from(self.dut.is("user_flr_done"));
        }
        for (index, stream) in STREAMS.iter().enumerate() {
            let (from, to) = (stream.from, stream.to);
            if stream.sender == side {
                if self.dut.is(&format!("{from}_tvalid")) && self.dut.is(&format!("{from}_tready"))
                {
                    self.under_way[index].extend(self.offers[index].take());
                }
                continue;
            }
            let valid = self.dut.is(&format!("{to}_tvalid"));
            if index == RQ {
                assert!(
                    valid || !self.inside || self.loses,
                    "a gap inside of a TLP, behind beat {} of {}, {} left, ready {}",
                    self.came[RQ],
                    self.numbers[RQ],
                    self.chain,
                    self.dut.is("rq_tready")
                );
                self.inside &= valid;
            }
            if !valid || !self.dut.is(&format!("{to}_tready")) {
                continue;
            }
            let number = loop {
                let beat = self.under_way[index].pop_front();
                let beat = beat.unwrap_or_else(|| panic!("{to}: nothing was sent"));
                let data = self.dut.words(&format!("{to}_tdata"));
                if data == beat.data {
                    let user = self.dut.words(&format!("{to}_tuser"));
                    assert_eq!(user, beat.user, "{to}: another user");
                    assert_eq!(self.dut.get(&format!("{to}_tkeep")), beat.keep);
                    assert_eq!(self.dut.is(&format!("{to}_tlast")), beat.last);
                    if index == RQ {
                        self.inside = beat.open;
                    }
                    break beat.number;
                }
                assert!(self.loses, "{to}: beat {} is lost", beat.number);
            };
            self.came[index] = number + 1;
        }
    }

    /// After an edge: what a side offers, and what it is ready for.
    fn drive(&mut self, side: usize) {
        for (index, stream) in STREAMS.iter().enumerate() {
            if stream.sender != side {
                let ready = self.rng.random_ratio(self.ready, 8);
                self.dut.set(&format!("{}_tready", stream.to), ready.into());
                continue;
            }
            // The card discards two cycles behind the pin, even what is on offer.
            if index == RQ && self.down > 1 {
                self.offers[RQ] = None;
                self.was_open = false;
                self.chain = 0;
            } else if self.offers[index].is_none() {
                let begins = self.rng.random_ratio(self.sends, 8);
                if index == RQ {
                    self.offer_request(begins);
                } else if begins {
                    self.offers[index] = Some(Beat::new(index, self.numbers[index]));
                    self.numbers[index] += 1;
                }
            }
            let from = stream.from;
            let offer = self.offers[index].as_ref();
            self.dut
                .set(&format!("{from}_tvalid"), offer.is_some().into());
            if let Some(beat) = offer {
                self.dut.set_words(&format!("{from}_tdata"), &beat.data);
                self.dut.set_words(&format!("{from}_tuser"), &beat.user);
                self.dut.set(&format!("{from}_tkeep"), beat.keep);
                self.dut.set(&format!("{from}_tlast"), beat.last.into());
            }
        }
    }

    fn offer_request(&mut self, begins: bool) {
        if self.chain == 0 {
            if !begins {
                return;
            }
            let short = self.rng.random_ratio(1, 2);
            let most = if short && self.shortest == 1 {
                4
            } else {
                self.longest
            };
            self.chain = self.rng.random_range(self.shortest..=most);
        }
        self.chain -= 1;
        let goes_on = self.chain > 0;
        let number = self.numbers[RQ];
        self.offers[RQ] = Some(Beat::request(number, self.was_open, goes_on, &mut self.rng));
        self.numbers[RQ] += 1;
        self.was_open = goes_on;
    }

    /// Sends nothing new, and sees everything arrive.
    fn drain(&mut self) {
        (self.sends, self.ready) = (0, 8);
        self.run(2 * self.longest + 100);
        for index in 0..3 {
            assert_eq!(self.came[index], self.numbers[index], "stream {index}");
        }
    }
}

/// Equal clocks of any phase, and clocks of 600 ppm apart, in both directions.
const CLOCKS: [[u64; 2]; 3] = [
    [PERIOD, PERIOD],
    [PERIOD, PERIOD + PERIOD * 6 / 10_000],
    [PERIOD + PERIOD * 6 / 10_000, PERIOD],
];

#[test]
fn streams_cross_whole_and_requests_have_no_gap() {
    for (seed, periods) in CLOCKS.into_iter().enumerate() {
        let mut bench = Bench::new(periods, seed as u64);
        for (sends, ready) in [(1, 8), (8, 8), (8, 3), (3, 6), (2, 2)] {
            (bench.sends, bench.ready) = (sends, ready);
            bench.run(2_500);
        }
        bench.drain();
        assert!(bench.came.iter().all(|came| *came > 3_000));
    }
}

/// Chains that last until the lead is nearly used up, back to back: the next one has a lead again.
#[test]
fn chains_of_9_500_beats_have_no_gap_at_600_ppm() {
    let mut bench = Bench::new(CLOCKS[2], 400);
    (bench.sends, bench.shortest, bench.longest) = (8, 9_000, 9_500);
    bench.run(30_000);
    bench.drain();
}

/// A user clock that is 5 % too fast drains the lead: the bench sees the gap.
#[test]
#[should_panic(expected = "a gap inside of a TLP")]
fn a_clock_that_is_too_fast_makes_a_gap() {
    let mut bench = Bench::new([PERIOD, PERIOD - PERIOD / 20], 1);
    bench.sends = 8;
    bench.run(5_000);
}

#[test]
fn every_stream_has_the_rate_of_its_clock() {
    let mut bench = Bench::new([PERIOD; 2], 2);
    bench.sends = 8;
    bench.run(200);
    let before = bench.came;
    bench.run(2_000);
    for (index, from) in before.into_iter().enumerate() {
        let came = bench.came[index] - from;
        assert!(
            came >= 1_999,
            "stream {index}: {came} beats in 2,000 cycles"
        );
    }
}

/// The cycles from an idle writer to the reader.
#[test]
fn a_request_alone_crosses_in_12_cycles_at_most() {
    let mut slowest = 0;
    for seed in 0..40 {
        let mut bench = Bench::new([PERIOD; 2], 100 + seed);
        bench.longest = 1;
        bench.offer_request(true);
        let began = bench.cycles[CARD];
        while bench.came[RQ] == 0 {
            bench.edge();
            assert!(bench.cycles[CARD] < began + 40, "it never comes");
        }
        slowest = slowest.max(bench.cycles[CARD] - began);
    }
    assert!((8..=12).contains(&slowest), "{slowest} cycles");
}

/// Resets of the PCIe block and links that go down, at any time: beats are lost in order, none is mixed or doubled, and a chain begins with its first beat.
#[test]
fn resets_lose_beats_and_mix_none() {
    for (seed, periods) in CLOCKS.into_iter().enumerate() {
        let mut bench = Bench::new(periods, 200 + seed as u64);
        for _ in 0..40 {
            (bench.sends, bench.ready) = (8, 7);
            let time = bench.rng.random_range(20..400);
            bench.run(time);
            bench.loses = true;
            let name = ["user_reset", "user_link_down"][bench.rng.random_range(0..2)];
            bench.dut.set(name, 1);
            let time = bench.rng.random_range(2..140);
            bench.run(time);
            bench.dut.set(name, 0);
            for down in [true, false] {
                let end = bench.cycles[CARD] + 400;
                while (bench.down > 0) != down {
                    bench.edge();
                    assert!(bench.cycles[CARD] < end, "never down: {down}");
                }
            }
            // What was under way is lost, and the rest arrives whole.
            bench.under_way[RQ].clear();
            bench.inside = false;
            let time = bench.rng.random_range(100..200);
            bench.run(time);
            bench.loses = false;
        }
        bench.drain();
    }
}

/// A reset of the card stops a chain, and ends it by a beat behind the reset. Nothing is lost, and the next chain is whole.
#[test]
fn a_chain_that_a_reset_of_the_card_cuts_is_ended() {
    let mut bench = Bench::new([PERIOD; 2], 500);
    for _ in 0..20 {
        (bench.sends, bench.shortest) = (8, 40);
        let time = bench.rng.random_range(300..600);
        bench.run(time);
        while bench.chain < 2 {
            bench.edge();
        }
        bench.loses = true;
        (bench.sends, bench.chain) = (0, 0);
        bench.run(160);
        assert!(bench.was_open && bench.offers[RQ].is_none());
        let number = bench.numbers[RQ];
        let cut = Beat::request(number, true, false, &mut bench.rng);
        bench.offers[RQ] = Some(cut);
        bench.numbers[RQ] += 1;
        bench.was_open = false;
        bench.run(30);
        assert!(bench.came[RQ] == bench.numbers[RQ] && !bench.inside);
        bench.loses = false;
    }
    bench.drain();
}

/// Without a user clock from the start, as without a link, the card hears that the link is down; it comes up when the clock does.
#[test]
fn a_clock_that_stands_is_a_link_that_is_down() {
    let mut dut = Dut::of(&LIBRARY);
    dut.eval();
    for _ in 0..200 {
        dut.clock();
    }
    dut.settle();
    assert!(dut.is("link_down"));
    for _ in 0..100 {
        dut.set("user_clock", 1);
        dut.clock();
        dut.set("user_clock", 0);
        dut.eval();
    }
    assert!(!dut.is("link_down"));
}

#[test]
fn a_function_level_reset_crosses() {
    let mut bench = Bench::new([PERIOD; 2], 300);
    for round in 1..20 {
        bench.dut.set("user_flr_in_process", 1);
        bench.run(12);
        assert!(bench.dut.is("flr_in_process"));
        bench.dut.set("flr_done", 1);
        bench.run(1);
        bench.dut.set("flr_done", 0);
        bench.run(20);
        assert_eq!(bench.flr_done, round);
        bench.dut.set("user_flr_in_process", 0);
        bench.run(12);
        assert!(!bench.dut.is("flr_in_process"));
    }
}

/// The numbers that cross may be behind the FIFO by some cycles: a chain begins only if it is complete there, or the FIFO has the lead.
#[test]
fn a_chain_begins_complete_or_with_its_lead() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut dut = Dut::new::<RequestLaunch<16, 6, 3>>();
    let gray = |number: u64| (number & 63) ^ (number & 63) >> 1;
    // Beats in the FIFO: whether a TLP stays open behind them. All beats and chains that ever came, at the last cycles.
    let mut fifo = VecDeque::<bool>::new();
    let mut history = [[0u64; 2]; 4];
    let mut lag = 0usize;
    let [mut left_of_chain, mut inside, mut begun] = [0u64, 0, 0];
    dut.set("reset", 1);
    dut.clock();
    dut.set("reset", 0);
    for cycle in 0..60_000u64 {
        history.rotate_right(1);
        history[0] = history[1];
        // Phases with pauses of either side.
        let [writes, reads] = [[8, 8], [8, 4], [4, 8], [7, 8]][(cycle / 2_000) as usize % 4];
        if fifo.len() < 32 && rng.random_ratio(writes, 8) {
            if left_of_chain == 0 {
                let longest = [3, 60][rng.random_range(0..2)];
                left_of_chain = rng.random_range(1..longest);
            }
            left_of_chain -= 1;
            fifo.push_back(left_of_chain > 0);
            history[0][0] += 1;
            history[0][1] += u64::from(left_of_chain == 0);
        }
        // What has been seen is not forgotten.
        lag = rng.random_range(0..=(lag + 1).min(3));
        dut.set("beats_seen", gray(history[lag][0]));
        dut.set("complete_seen", gray(history[lag][1]));
        dut.set("in_valid", (!fifo.is_empty()).into());
        let open = fifo.front().is_some_and(|open| *open);
        dut.set("in_data", u64::from(open) << 15);
        dut.set("out_ready", rng.random_ratio(reads, 8).into());
        dut.settle();
        if dut.moves("in_valid", "in_ready") {
            if inside == 0 {
                begun += 1;
                let complete = fifo.iter().any(|open| !open);
                assert!(
                    complete || fifo.len() >= 8,
                    "cycle {cycle}: {} beats",
                    fifo.len()
                );
            }
            inside = fifo.pop_front().unwrap().into();
        }
        dut.clock();
    }
    assert!(begun > 1_000, "{begun} chains");
}
