//! Invalidations of ATS: each is completed once, and after the drain that began behind it.

use std::collections::BTreeSet;

use hdl_pcie::ats::{InvalidateResponder, ReadDrain};
use hdl_testkit::equivalence::{check, Random};
use hdl_testkit::{tools, Dut};
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::seq::IteratorRandom;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use stellar_wire::hw::ats::Invalidated;
use stellar_wire::hw::pack::Record;
use stellar_wire::pcie::descriptor::InvalidateRequest;
use stellar_wire::Header;

/// ID of the translation agent.
const AGENT: u16 = 0x9a05;
/// Bytes of a descriptor.
const DESCRIPTOR: usize = 16;
/// Bits of a descriptor in which it says what it is.
const TYPE_BYTE: usize = 9;
const CODE_BYTE: usize = 13;

/// A beat at the completer request stream: its first bytes, and the ITag if it is an Invalidate Request.
struct Beat {
    bytes: Vec<u8>,
    last: bool,
    damaged: bool,
    tag: Option<u8>,
}

fn request(rng: &mut StdRng, tag: u8) -> Vec<u8> {
    let len = 0x1000 << rng.random_range(0..20);
    let request = InvalidateRequest {
        requester: AGENT,
        device: rng.random(),
        tag,
        address: rng.random::<u64>() / len * len,
        len,
    };
    request.to_bytes()[..DESCRIPTOR].to_vec()
}

/// One TLP. `free` has the ITags that the host may use.
fn tlp(rng: &mut StdRng, free: &BTreeSet<u8>) -> Vec<Beat> {
    let tag = free.iter().copied().choose(rng).unwrap_or(0);
    let mut bytes = request(rng, tag);
    let kind = rng.random_range(0..8);
    match kind {
        // Another request, in whose later beats there is what looks like a message; another message of ATS.
        0..3 => bytes[TYPE_BYTE] ^= 0x08 << rng.random_range(0..4),
        3 => bytes[CODE_BYTE] ^= 1 << rng.random_range(0..8),
        _ => {}
    }
    let damaged = kind == 4;
    let is_request = kind > 4 && !free.is_empty();
    if kind > 4 && !is_request {
        return vec![];
    }
    let beats = if kind < 3 { rng.random_range(1..5) } else { 1 };
    (0..beats)
        .map(|beat| Beat {
            bytes: if beat == 0 {
                bytes.clone()
            } else {
                request(rng, tag)
            },
            last: beat + 1 == beats,
            damaged,
            tag: is_request.then_some(tag),
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_request_is_completed_once_and_after_its_drain(seed: u64, busy in 1u32..8, slow in 1u32..40) {
        let rng = &mut StdRng::seed_from_u64(seed);
        let mut dut = Dut::new::<InvalidateResponder>();
        dut.reset(2);
        let mut free: BTreeSet<u8> = (0..32).collect();
        // Requests that no drain has begun for, and those of the drain.
        let (mut arrived, mut draining) = (BTreeSet::new(), BTreeSet::new());
        let (mut reads, mut writes) = (false, false);
        let (mut beats, mut completed, mut asked) = (vec![], 0, 0);
        let mut quiet = 0;
        while quiet < 200 {
            if beats.is_empty() && completed < 300 && rng.random_ratio(busy, 8) {
                beats = tlp(rng, &free);
                beats.reverse();
            }
            let moves = rng.random_ratio(7, 8);
            let beat = beats.last().filter(|_| moves);
            dut.set("cq_moves", beat.is_some().into());
            if let Some(beat) = beat {
                dut.set("cq_last", beat.last.into());
                dut.set("cq_damaged", beat.damaged.into());
                dut.set_bytes("cq_message", &beat.bytes);
            }
            // The drain goes on.
            reads &= !rng.random_ratio(1, slow);
            let ends = writes && rng.random_ratio(1, slow);
            writes &= !ends;
            dut.set("reads_done", (!reads).into());
            dut.set("writes_done", ends.into());
            dut.set("completion_ready", rng.random_ratio(3, 4).into());
            dut.settle();
            let begins = dut.is("drain");
            if begins {
                prop_assert!(!reads && !writes && draining.is_empty(), "a drain begins in another");
            }
            if dut.is("completion_valid") {
                prop_assert!(!reads && !writes, "completed before the drain has ended");
                if dut.moves("completion_valid", "completion_ready") {
                    let words = dut.words("completion");
                    let record = Record::<Invalidated>::new(&words);
                    prop_assert_eq!(record.u64("target"), u64::from(AGENT));
                    let tags = record.u64("itags");
                    let tags: BTreeSet<u8> = (0..32).filter(|tag| tags >> tag & 1 == 1).collect();
                    prop_assert!(!tags.is_empty());
                    prop_assert_eq!(&tags, &draining);
                    completed += tags.len();
                    free.extend(&tags);
                    draining.clear();
                }
            }
            dut.clock();
            if begins {
                // A request that came in one of the two cycles before is not seen yet.
                let seen: BTreeSet<u8> = arrived.iter().filter(|(_, age)| *age > 1).map(|(tag, _)| *tag).collect();
                arrived.retain(|(tag, _)| !seen.contains(tag));
                draining = seen;
                (reads, writes) = (rng.random(), true);
            }
            arrived = arrived.into_iter().map(|(tag, age)| (tag, age + 1)).collect();
            let moved = if moves { beats.pop() } else { None };
            if let Some(tag) = moved.and_then(|beat| beat.tag) {
                asked += 1;
                free.remove(&tag);
                arrived.insert((tag, 0));
            }
            quiet = if arrived.is_empty() && draining.is_empty() && completed >= 300 { quiet + 1 } else { 0 };
        }
        prop_assert_eq!(completed, asked);
    }

    /// A drain is done exactly when the last of its reads has ended.
    #[test]
    fn a_drain_waits_for_earlier_reads_alone(seed: u64, asks in 1u32..8, ends in 1u32..8) {
        let rng = &mut StdRng::seed_from_u64(seed);
        let mut dut = Dut::new::<ReadDrain>();
        dut.reset(2);
        let (mut outstanding, mut before) = (BTreeSet::new(), BTreeSet::new());
        let (mut drains, mut immediate) = (0, 0);
        for _ in 0..5_000 {
            let asked = (0..24u8).filter(|tag| !outstanding.contains(tag)).choose(rng);
            let asked = asked.filter(|_| rng.random_ratio(asks, 8));
            let ended = outstanding.iter().copied().choose(rng).filter(|_| rng.random_ratio(ends, 8));
            let begins = before.is_empty() && rng.random_ratio(1, 16);
            for (port, tag) in [("asked", asked), ("ended", ended)] {
                dut.set(&format!("{port}_valid"), tag.is_some().into());
                dut.set(port, tag.unwrap_or(rng.random()).into());
            }
            dut.set("drain", begins.into());
            dut.settle();
            prop_assert_eq!(dut.is("done"), before.is_empty());
            outstanding.extend(asked);
            if let Some(tag) = ended {
                outstanding.remove(&tag);
                before.remove(&tag);
            }
            if begins {
                before.clone_from(&outstanding);
                drains += 1;
                immediate += u32::from(before.is_empty());
            }
            dut.clock();
        }
        prop_assert!(drains > 3 && (asks <= ends || immediate < drains));
    }
}

#[test]
fn invalidate_responder_is_its_verilog() {
    check(
        InvalidateResponder::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 100);
            uut.cq.moves.next = Bit::random(rng);
            uut.cq.last.next = rng.random_ratio(3, 4);
            uut.cq.damaged.next = rng.random_ratio(1, 8);
            uut.cq.message.next.request_type = (12 + rng.random_range(0..4u64)).to_bits();
            uut.cq.message.next.code = rng.random_range(0..3u64).to_bits();
            uut.cq.message.next.itag = Bits::random(rng);
            uut.cq.message.next.requester = Bits::random(rng);
            uut.reads_done.next = Bit::random(rng);
            uut.writes_done.next = Bit::random(rng);
            uut.completion.ready.next = Bit::random(rng);
        },
        1_000,
        1,
    )
    .unwrap();
}

#[test]
fn read_drain_is_its_verilog() {
    let mut outstanding = BTreeSet::new();
    check(
        ReadDrain::default,
        Some(|u: &mut ReadDrain| &mut u.clock),
        move |uut: &mut ReadDrain, rng| {
            uut.reset.next = rng.random_ratio(1, 300);
            let asked = Some(rng.random_range(0..40u64)).filter(|tag| !outstanding.contains(tag));
            let first = outstanding.first().copied();
            let ended = first.filter(|_| rng.random_ratio(1, 3));
            uut.asked.valid.next = asked.is_some();
            uut.asked.record.next = asked.unwrap_or(0).to_bits();
            uut.ended.valid.next = ended.is_some();
            uut.ended.record.next = ended.unwrap_or(0).to_bits();
            uut.drain.next = uut.done.val() && rng.random_ratio(1, 8);
            outstanding.extend(asked);
            if let Some(tag) = ended {
                outstanding.remove(&tag);
            }
            if uut.reset.next {
                outstanding.clear();
            }
        },
        1_000,
        2,
    )
    .unwrap();
}

#[test]
fn the_tools_take_the_blocks() {
    tools::assert_clean::<InvalidateResponder>();
    tools::assert_clean::<ReadDrain>();
}
