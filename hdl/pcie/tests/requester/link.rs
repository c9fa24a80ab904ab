//! A link that goes down and comes up again, between random requests.

use std::collections::VecDeque;

use hdl_pcie::requester::LinkGuard;
use hdl_testkit::equivalence::{check, Random};
use hdl_testkit::{tools, Dut};
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::read::{CompletionHeader, ReadTlpHeader, STATUS_UNSUPPORTED};

/// Reads that are outstanding at the same time.
const TAGS: u64 = 16;

/// A beat of a write, by the address of the write: first, last.
type Beat = (u64, bool, bool);

struct Bench {
    dut: Dut,
    rng: StdRng,
    /// Beats of the write on offer; the front one stays until it is taken.
    write: VecDeque<Beat>,
    next_address: u64,
    /// The write that has begun at the stream since the link was up.
    begun: Option<u64>,
    /// A write was cut, so the rest of it may not follow.
    cut: Option<u64>,
    /// By tag: a read is with the link, or waits to be refused.
    asked: [bool; TAGS as usize],
    owed: Vec<u64>,
    /// Beats of the completion that arrives.
    arriving: u64,
    /// The last beat to the card was not the last of its completion.
    half: bool,
    was_down: bool,
    whole: u64,
    dropped: u64,
    counted: u64,
    refused: u64,
}

impl Bench {
    fn new(seed: u64) -> Self {
        let mut dut = Dut::new::<LinkGuard<128>>();
        dut.reset(2);
        Self {
            dut,
            rng: StdRng::seed_from_u64(seed),
            write: VecDeque::new(),
            next_address: 1,
            begun: None,
            cut: None,
            asked: [false; TAGS as usize],
            owed: vec![],
            arriving: 0,
            half: false,
            was_down: false,
            whole: 0,
            dropped: 0,
            counted: 0,
            refused: 0,
        }
    }

    /// One cycle. The pin says `pin_down`; the streams behind discard if the block says so.
    fn clock(&mut self, pin_down: bool, loads: bool) {
        let down = self.dut.is("discards");
        assert_eq!(down, self.was_down, "the pin of the cycle before");
        self.was_down = pin_down;
        self.dut.set("link_down", pin_down.into());
        self.drive(down, loads);
        self.dut.settle();
        self.take_write(down);
        self.take_read(down);
        self.take_completion();
        self.counted += self.dut.get("write_dropped");
        self.dut.clock();
    }

    fn drive(&mut self, down: bool, loads: bool) {
        if self.write.is_empty() && loads && self.rng.random_ratio(3, 4) {
            let beats = self.rng.random_range(1..5);
            let address = self.next_address;
            self.next_address += 1;
            self.write
                .extend((0..beats).map(|n| (address, n == 0, n + 1 == beats)));
        }
        self.dut.set("write_valid", (!self.write.is_empty()).into());
        if let Some(&(address, first, last)) = self.write.front() {
            let header = WriteTlpHeader {
                address_dw: address.to_bits(),
                ..WriteTlpHeader::default()
            };
            self.dut.set_record("write_header", header);
            self.dut.set("write_first", first.into());
            self.dut.set("write_last", last.into());
        }
        // The stream takes everything while it discards.
        let ready = down || self.rng.random_ratio(1, 2);
        self.dut.set("tlp_ready", ready.into());
        let free = (0..TAGS).find(|tag| !self.asked[*tag as usize] && !self.owed.contains(tag));
        let tag = free.filter(|_| loads && self.rng.random_ratio(1, 2));
        self.dut.set("read_valid", tag.is_some().into());
        let read = ReadTlpHeader {
            tag: tag.unwrap_or(0).to_bits(),
            ..ReadTlpHeader::default()
        };
        self.dut.set_record("read", read);
        let ready = self.rng.random_ratio(1, 2);
        self.dut.set("request_ready", ready.into());
        // Completions of reads at the link. With the link they are lost, in the middle too.
        if down {
            self.arriving = 0;
            self.asked = [false; TAGS as usize];
        } else if self.arriving == 0 && self.rng.random_ratio(1, 4) {
            if let Some(tag) = self.asked.iter().position(|asked| *asked) {
                self.asked[tag] = false;
                self.arriving = self.rng.random_range(1..4);
                let header = CompletionHeader {
                    tag: (tag as u64).to_bits(),
                    ..CompletionHeader::default()
                };
                self.dut.set_words("arrived", &to_words(header));
            }
        }
        self.dut.set("arrived_valid", (self.arriving > 0).into());
        self.dut.set("arrived_last", (self.arriving == 1).into());
        self.arriving = self.arriving.saturating_sub(1);
    }

    fn take_write(&mut self, down: bool) {
        if self.dut.moves("tlp_valid", "tlp_ready") {
            let words = self.dut.words("tlp_header");
            let address = Record::<WriteTlpHeader>::new(&words).u64("address_dw");
            let (first, last) = (self.dut.is("tlp_first"), self.dut.is("tlp_last"));
            assert_ne!(self.cut, Some(address), "the rest of a write that was cut");
            if down {
                self.begun = None;
            } else {
                assert_eq!(self.begun.is_none(), first, "whole writes");
                assert!(first || self.begun == Some(address));
                self.begun = (!last).then_some(address);
                self.whole += u64::from(last);
            }
        }
        let moves = self.dut.moves("write_valid", "write_ready");
        assert!(moves || !down || self.write.is_empty(), "nothing waits");
        let Some(&(address, _, last)) = self.write.front() else {
            return;
        };
        let was_inside = self.dut.get("write_first") == 0;
        if down {
            self.begun = None;
            if (moves && !last) || (!moves && was_inside) {
                self.cut = Some(address);
            }
        }
        if moves {
            self.write.pop_front();
            let dropped = down || self.cut == Some(address);
            self.dropped += u64::from(dropped && last);
        }
    }

    fn take_read(&mut self, down: bool) {
        let words = self.dut.words("read");
        let tag = Record::<ReadTlpHeader>::new(&words).u64("tag");
        let passes = self.dut.moves("request_valid", "request_ready");
        let moves = self.dut.moves("read_valid", "read_ready");
        assert_eq!(passes, moves && !down);
        if passes {
            self.asked[tag as usize] = true;
        } else if moves {
            self.owed.push(tag);
        }
    }

    fn take_completion(&mut self) {
        let arrives = self.dut.is("arrived_valid");
        assert!(!arrives || self.dut.is("completion_valid"));
        if !self.dut.is("completion_valid") {
            return;
        }
        let last = self.dut.is("completion_last");
        if !arrives {
            let words = self.dut.words("completion");
            let header = Record::<CompletionHeader>::new(&words);
            assert!(last);
            if self.half {
                assert!(
                    self.dut.is("completion_error"),
                    "a completion without its end"
                );
            } else {
                assert_eq!(header.u64("status"), STATUS_UNSUPPORTED);
                let tag = header.u64("tag");
                let place = self.owed.iter().position(|owed| *owed == tag);
                self.owed
                    .remove(place.expect("a read that was refused before"));
                self.refused += 1;
            }
        }
        self.half = !last;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_of_a_link_that_was_down_is_left(seed: u64, flaps in 2u32..40) {
        let mut bench = Bench::new(seed);
        let mut down = false;
        for _ in 0..2_000 {
            down ^= bench.rng.random_ratio(1, flaps);
            bench.clock(down, true);
        }
        for _ in 0..100 {
            bench.clock(false, false);
        }
        prop_assert!(bench.write.is_empty() && bench.owed.is_empty(), "all ends");
        prop_assert!(bench.whole > 0 && bench.refused > 0);
        prop_assert_eq!(bench.counted, bench.dropped);
    }
}

#[test]
fn its_simulations_agree() {
    check(
        LinkGuard::<128>::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 100);
            uut.link_down.next = rng.random_ratio(1, 3);
            uut.write.valid.next = Bit::random(rng);
            uut.write.data.next = Bits::random(rng);
            uut.write.header.next.address_dw = Bits::random(rng);
            uut.write.first.next = Bit::random(rng);
            uut.write.last.next = Bit::random(rng);
            uut.read.valid.next = Bit::random(rng);
            uut.read.record.next.tag = Bits::random(rng);
            uut.tlp.ready.next = Bit::random(rng);
            uut.request.ready.next = Bit::random(rng);
            uut.arrived.valid.next = Bit::random(rng);
            uut.arrived.record.next.tag = Bits::random(rng);
            uut.arrived.data.next = Bits::random(rng);
            uut.arrived.last.next = Bit::random(rng);
            uut.arrived.error.next = Bit::random(rng);
        },
        500,
        11,
    )
    .unwrap();
}

#[test]
fn the_tools_take_it() {
    tools::assert_clean::<LinkGuard<1024>>();
}
