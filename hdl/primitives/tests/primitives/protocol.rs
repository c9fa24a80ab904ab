//! Rules of bundles: a Verilated model stops when a block breaks one, and only then.
use std::panic::{catch_unwind, AssertUnwindSafe};

use hdl_macros::hdl;
use hdl_primitives::{MacTxSrc, OfferSrc, Snk, Src};
use hdl_testkit::Dut;
use rust_hdl::prelude::*;

/// Drives its outputs from its inputs, and ignores the rules of the bundle.
#[derive(LogicBlock, Default)]
struct Puppet {
    clock: Signal<In, Clock>,
    reset: Signal<In, Bit>,
    offer: Signal<In, Bit>,
    word: Signal<In, Bits<8>>,
    accept: Signal<In, Bit>,
    bytes: Signal<In, Bits<8>>,
    last: Signal<In, Bit>,
    from: Snk<Bits<8>>,
    passed: Src<Bits<8>>,
    strict: Src<Bits<8>>,
    free: OfferSrc<Bits<8>>,
    frame: MacTxSrc<64>,
}

impl Logic for Puppet {
    #[hdl]
    fn update(&mut self) {
        self.passed.valid.next = self.from.valid.val();
        self.passed.record.next = self.from.record.val();
        self.from.ready.next = self.passed.ready.val();
        self.strict.valid.next = self.offer.val();
        self.strict.record.next = self.word.val();
        self.free.valid.next = self.accept.val();
        self.free.record.next = self.word.val();
        self.frame.valid.next = self.bytes.val().any();
        self.frame.data.next = bits(0);
        self.frame.bytes.next = self.bytes.val();
        self.frame.last.next = self.last.val();
    }
}

/// Runs a cycle with each of these inputs in turn. Returns whether a protocol check of the model stopped it.
fn stops(cycles: &[&[(&str, u64)]]) -> bool {
    let mut dut = Dut::new::<Puppet>();
    let run = || {
        for inputs in cycles {
            for (port, value) in *inputs {
                dut.set(port, *value);
            }
            dut.clock();
        }
    };
    catch_unwind(AssertUnwindSafe(run)).is_err()
}

#[test]
fn an_offer_that_stays_until_it_is_taken_breaks_no_rule() {
    assert!(!stops(&[
        &[("offer", 1), ("word", 7)],
        &[],
        &[("strict_ready", 1)],
        &[("word", 8)],
        &[("offer", 0)],
        &[("strict_ready", 0)],
    ]));
}

#[test]
fn a_withdrawn_offer_stops_the_model() {
    assert!(stops(&[&[("offer", 1)], &[("offer", 0)]]));
}

#[test]
fn an_offer_whose_payload_changes_stops_the_model() {
    assert!(stops(&[&[("offer", 1), ("word", 7)], &[("word", 8)]]));
}

#[test]
fn a_reset_ends_an_offer() {
    assert!(!stops(&[
        &[("offer", 1), ("reset", 1)],
        &[("offer", 0), ("reset", 0)],
        &[],
    ]));
}

#[test]
fn a_bundle_that_may_withdraw_says_so_by_its_type() {
    assert!(!stops(&[
        &[("accept", 1)],
        &[("word", 9)],
        &[("accept", 0)],
        &[]
    ]));
}

#[test]
fn a_beat_that_is_not_full_before_the_last_stops_the_model() {
    let taken: (&str, u64) = ("frame_ready", 1);
    assert!(!stops(&[
        &[taken, ("bytes", 8)],
        &[("bytes", 3), ("last", 1)],
        &[]
    ]));
    assert!(stops(&[&[taken, ("bytes", 3)], &[]]));
    assert!(stops(&[&[taken, ("bytes", 9), ("last", 1)], &[]]));
}

#[test]
fn a_block_is_not_blamed_for_an_offer_that_others_withdraw() {
    assert!(!stops(&[&[("from_valid", 1)], &[("from_valid", 0)], &[]]));
    // After that, the block's own offers are no longer checked.
    assert!(!stops(&[
        &[("from_valid", 1)],
        &[("from_valid", 0)],
        &[("offer", 1)],
        &[("offer", 0)],
    ]));
}

/// Two ports that would have one name.
#[derive(LogicBlock, Default)]
struct Collision {
    read: Src<Bits<8>>,
    read_valid: Signal<Out, Bit>,
}

impl Logic for Collision {
    #[hdl]
    fn update(&mut self) {
        self.read.valid.next = true;
        self.read.record.next = bits(1);
        self.read_valid.next = true;
    }
}

#[test]
fn two_ports_of_one_name_are_refused() {
    let mut uut = Collision::default();
    uut.connect_all();
    let error = hdl_verilog::emit(&uut).expect_err("one name for two ports");
    assert_eq!(
        error.to_string(),
        "top: read.valid and read_valid would both be the port read_valid; rename one of them"
    );
}
