//! Completions through the requester completion stream, compared with the descriptor codec.

use hdl_pcie::requester::{CompletionStream1024, CompletionStream512};
use hdl_testkit::equivalence::{check, Random};
use hdl_testkit::{library, Dut};
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use sim_bfm::{CompletionBeat, CompletionWriter};
use stellar_wire::hw::pack::Record;
use stellar_wire::hw::read::CompletionHeader;
use stellar_wire::pcie::descriptor::RequesterCompletion;
use stellar_wire::pcie::{Attributes, CompletionStatus};

/// An input completion.
#[derive(Clone, Debug)]
struct Sent {
    descriptor: RequesterCompletion,
    payload: Vec<u8>,
    discontinue: bool,
}

/// An output completion.
#[derive(Debug)]
struct Received {
    header: Vec<u32>,
    payload: Vec<u8>,
    error: bool,
    beats: usize,
}

/// What left, the cycles with a beat at the input that was accepted, and those with a beat at the output.
struct Transfer {
    received: Vec<Received>,
    into: Vec<usize>,
    out: Vec<usize>,
}

/// Sends `completions`; `pause` says per cycle whether the stream pauses, and `most` how many completions begin in a beat.
fn transfer(
    wide: bool,
    completions: &[Sent],
    most: usize,
    mut pause: impl FnMut() -> bool,
) -> Transfer {
    let (library, bytes) = if wide {
        (library::<CompletionStream1024>(), 128)
    } else {
        (library::<CompletionStream512>(), 64)
    };
    let mut dut = Dut::of(library);
    dut.reset(2);
    let mut writer = CompletionWriter::new(8 * bytes);
    for sent in completions {
        writer.push(&sent.descriptor, sent.payload.clone(), sent.discontinue);
    }
    let mut all = Transfer {
        received: vec![],
        into: vec![],
        out: vec![],
    };
    let (mut taken, mut idle) = (vec![], 0);
    let mut offered: Option<CompletionBeat> = None;
    for now in 0.. {
        if idle > 20 {
            break;
        }
        if offered.is_none() && !pause() {
            offered = writer.next_beat(most);
        }
        dut.set("rc_tvalid", offered.is_some().into());
        if let Some(beat) = &offered {
            dut.set_words("rc_tdata", &beat.data);
            dut.set_words("rc_tuser", &beat.user);
        }
        dut.settle();
        idle = if writer.is_empty() { idle + 1 } else { 0 };
        if dut.moves("rc_tvalid", "rc_tready") {
            offered = None;
            idle = 0;
            all.into.push(now);
        }
        if dut.is("completion_valid") {
            idle = 0;
            all.out.push(now);
            taken.push(dut.bytes("completion_data"));
            if dut.is("completion_last") {
                all.received.push(Received {
                    header: dut.words("completion"),
                    beats: taken.len(),
                    payload: taken.concat(),
                    error: dut.is("completion_error"),
                });
                taken.clear();
            }
        }
        dut.clock();
    }
    assert!(taken.is_empty() && writer.is_empty() && offered.is_none());
    all
}

prop_compose! {
    fn completion()(
        tag: u8, lower_address in 0u16..4096, byte_count in 1u16..=4096, dwords in 0usize..=256, few: bool,
        error_code in prop_oneof![4 => Just(0u8), 1 => Just(1), 2 => 2u8..16],
        status in prop::sample::select(vec![
            CompletionStatus::Successful, CompletionStatus::UnsupportedRequest, CompletionStatus::CompleterAbort,
        ]),
        request_completed: bool, poisoned: bool, requester: u16, completer: u16, attributes in 0u8..8, discontinue: bool,
    ) -> Sent {
        let dword_count = if few { dwords % 40 } else { dwords };
        Sent {
            descriptor: RequesterCompletion {
                lower_address, error_code, byte_count, locked: false, request_completed, dword_count: dword_count as u16, status,
                poisoned, requester, tag, completer, traffic_class: 0, attributes: Attributes::from_bits(attributes),
            },
            payload: (0..4 * dword_count).map(|i| (i as u8) ^ (i >> 8) as u8 ^ tag).collect(),
            discontinue,
        }
    }
}

fn check_completion(got: &Received, sent: &Sent, wide: bool) {
    let record = Record::<CompletionHeader>::new(&got.header);
    let d = &sent.descriptor;
    assert_eq!(record.u64("tag"), u64::from(d.tag));
    assert_eq!(record.u64("byte_count"), u64::from(d.byte_count));
    assert_eq!(
        record.u64("lower_address"),
        u64::from(d.lower_address & 0x7f)
    );
    assert_eq!(record.bool("poisoned"), d.poisoned);
    let (length, status) = (record.u64("length_dw"), record.u64("status"));
    let (dwords, code) = (u64::from(d.dword_count), u64::from(d.status.code()));
    match (d.error_code, d.request_completed) {
        (0 | 1, _) => assert_eq!((length, status), (dwords, code)),
        (_, true) => assert!(status != 0),
        (_, false) => assert_eq!((length, status), (0, 0)),
    }
    let bytes = if wide { 128 } else { 64 };
    assert_eq!(got.beats, sent.payload.len().div_ceil(bytes).max(1));
    assert_eq!(&got.payload[..sent.payload.len()], &sent.payload[..]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn completions_are_what_the_descriptors_say(
        wide: bool, sent in prop::collection::vec(completion(), 1..40), most in 1..9usize, seed: u64, pauses in 0u32..8,
    ) {
        let mut sent = sent;
        // A mark is for everything that ends in a beat, so it is only tested where a beat has one completion.
        if most > 1 {
            sent.iter_mut().for_each(|sent| sent.discontinue = false);
        }
        let rng = &mut StdRng::seed_from_u64(seed);
        let Transfer { received, .. } = transfer(wide, &sent, most, || rng.random_range(0..8) < pauses);
        prop_assert_eq!(received.len(), sent.len());
        for (got, sent) in received.iter().zip(&sent) {
            check_completion(got, sent, wide);
            prop_assert!(got.error || !sent.discontinue);
        }
    }
}

fn of_bytes(count: usize) -> Sent {
    Sent {
        descriptor: RequesterCompletion {
            lower_address: 0,
            error_code: 0,
            byte_count: count as u16,
            locked: false,
            request_completed: true,
            dword_count: (count / 4) as u16,
            status: CompletionStatus::Successful,
            poisoned: false,
            requester: 0,
            tag: 1,
            completer: 0,
            traffic_class: 0,
            attributes: Attributes::from_bits(0),
        },
        payload: (0..count).map(|at| at as u8).collect(),
        discontinue: false,
    }
}

/// Completions of one beat of payload or more are taken as fast as they come.
#[test]
fn back_to_back_completions_never_stall() {
    for (wide, count) in [
        (true, 512),
        (true, 256),
        (true, 128),
        (false, 256),
        (false, 128),
        (false, 64),
    ] {
        let sent = vec![of_bytes(count); 40];
        let Transfer {
            received,
            into,
            out,
        } = transfer(wide, &sent, 8, || false);
        assert_eq!(received.len(), 40);
        assert_eq!(
            out[0],
            into[0]
                + if 12 + count > if wide { 128 } else { 64 } {
                    3
                } else {
                    2
                }
        );
        let beats = into.len();
        assert_eq!(
            into[beats - 1] - into[0] + 1,
            beats,
            "{count} bytes, 1,024 bits: {wide}"
        );
        let slots = (12 + count).div_ceil(16) * 40;
        assert_eq!(beats, slots.div_ceil(if wide { 8 } else { 4 }));
    }
}

/// Smaller ones leave one per cycle.
#[test]
fn small_completions_leave_in_every_cycle() {
    let sent = vec![of_bytes(16); 64];
    let Transfer { out, .. } = transfer(true, &sent, 8, || false);
    assert_eq!(out.len(), 64);
    assert_eq!(out[63] - out[0] + 1, 64);
}

#[test]
fn a_damaged_beat_marks_what_ends_in_it_and_nothing_else() {
    let mut sent = vec![of_bytes(256); 3];
    sent[1].discontinue = true;
    let Transfer { received, .. } = transfer(true, &sent, 8, || false);
    let errors: Vec<bool> = received.iter().map(|got| got.error).collect();
    assert_eq!(errors, [false, true, false]);
}

#[test]
fn its_simulations_agree() {
    check(
        CompletionStream512::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 60);
            uut.rc.tvalid.next = rng.random_ratio(3, 4);
            uut.rc.tdata.next = Bits::random(rng);
            uut.rc.tkeep.next = Bits::random(rng);
            uut.rc.tlast.next = Bit::random(rng);
            uut.rc.tuser.next = Bits::random(rng);
        },
        250,
        1,
    )
    .unwrap();
}
