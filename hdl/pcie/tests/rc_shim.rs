//! The requester completion shim compared with the descriptor codec.

use hdl_pcie::read::{RcShim1024, RcShim512};
use hdl_testkit::equivalence::{check, Random};
use hdl_testkit::library;
use proptest::prelude::*;
use rand::Rng;
use rust_hdl::prelude::*;
use sim_verilated::Model;
use stellar_wire::hw::pack::Record;
use stellar_wire::hw::read::CompletionHeader;
use stellar_wire::pcie::descriptor::RequesterCompletion;
use stellar_wire::pcie::{Attributes, CompletionStatus};
use stellar_wire::Header;

fn model(wide: bool) -> Model {
    let library = if wide {
        library::<RcShim1024>()
    } else {
        library::<RcShim512>()
    };
    library.instantiate()
}

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

/// Sends `completions`; `pause` says per cycle whether the stream pauses. Also returns the cycles with a beat at the output.
fn transfer(
    wide: bool,
    completions: &[Sent],
    mut pause: impl FnMut() -> bool,
) -> (Vec<Received>, Vec<u64>) {
    let mut shim = model(wide);
    let (bytes, discontinue) = if wide { (128, 208) } else { (64, 96) };
    let port = |name: &str| shim.port(name).expect("a port of rc_shim");
    let [clock, reset, tvalid, tready, tdata, tkeep, tlast, tuser] = [
        "clock",
        "reset",
        "rc_tvalid",
        "rc_tready",
        "rc_tdata",
        "rc_tkeep",
        "rc_tlast",
        "rc_tuser",
    ]
    .map(port);
    let [valid, header, data, last, error] = [
        "completion_valid",
        "completion",
        "completion_data",
        "completion_last",
        "completion_error",
    ]
    .map(port);
    shim.set_u64(reset, 1);
    shim.clock(clock);
    shim.set_u64(reset, 0);

    let mut beats = completions.iter().flat_map(|sent| {
        let mut stream = vec![];
        sent.descriptor.emit(&mut stream);
        stream.extend(&sent.payload);
        let count = stream.len().div_ceil(bytes);
        let beats: Vec<Vec<u8>> = stream.chunks(bytes).map(<[u8]>::to_vec).collect();
        beats
            .into_iter()
            .enumerate()
            .map(move |(i, b)| (b, i + 1 == count, sent.discontinue))
    });
    let (mut received, mut taken, mut out, mut idle) = (vec![], vec![], vec![], 0);
    for now in 0.. {
        if idle > 20 {
            break;
        }
        let beat = if pause() { None } else { beats.next() };
        shim.set_u64(tvalid, beat.is_some().into());
        if let Some((mut beat, ends, discontinued)) = beat {
            idle = 0;
            shim.set_u64(tkeep, u64::MAX >> (64 - beat.len() / 4));
            beat.resize(bytes, 0x5A);
            let words: Vec<u32> = beat
                .chunks(4)
                .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
                .collect();
            shim.set(tdata, &words);
            shim.set_u64(tlast, ends.into());
            let mut user = [0xFFFF_FFFFu32; 11];
            if !(ends && discontinued) {
                user[discontinue / 32] &= !(1 << (discontinue % 32));
            }
            shim.set(tuser, &user);
        }
        shim.eval();
        assert_eq!(shim.get_u64(tready), 1);
        if shim.get_u64(valid) == 1 {
            out.push(now);
            let words = shim.get_words(data).to_vec();
            taken.push(
                words
                    .iter()
                    .flat_map(|w| w.to_le_bytes())
                    .collect::<Vec<u8>>(),
            );
            if shim.get_u64(last) == 1 {
                received.push(Received {
                    header: shim.get_words(header).to_vec(),
                    beats: taken.len(),
                    payload: taken.concat(),
                    error: shim.get_u64(error) == 1,
                });
                taken.clear();
            }
        }
        shim.clock(clock);
        idle += 1;
    }
    assert!(taken.is_empty() && beats.next().is_none());
    (received, out)
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn completions_are_what_the_descriptors_say(
        wide: bool,
        sent in prop::collection::vec(completion(), 1..20),
        pauses in prop::collection::vec(any::<bool>(), 1..64),
    ) {
        let mut turn = 0;
        let (received, _) = transfer(wide, &sent, || {
            turn += 1;
            turn % 5 != 0 && pauses[turn % pauses.len()]
        });
        prop_assert_eq!(received.len(), sent.len());
        for (got, sent) in received.iter().zip(&sent) {
            let record = Record::<CompletionHeader>::new(&got.header);
            let d = &sent.descriptor;
            prop_assert_eq!(record.u64("tag"), u64::from(d.tag));
            prop_assert_eq!(record.u64("byte_count"), u64::from(d.byte_count));
            prop_assert_eq!(record.u64("lower_address"), u64::from(d.lower_address & 0x7f));
            prop_assert_eq!(record.bool("poisoned"), d.poisoned);
            let (length, status) = (record.u64("length_dw"), record.u64("status"));
            match (d.error_code, d.request_completed) {
                (0 | 1, _) => prop_assert_eq!((length, status), (u64::from(d.dword_count), u64::from(d.status.code()))),
                (_, true) => prop_assert!(status != 0),
                (_, false) => prop_assert_eq!((length, status), (0, 0)),
            }
            prop_assert_eq!(got.error, sent.discontinue);
            let bytes = if wide { 128 } else { 64 };
            prop_assert_eq!(got.beats, sent.payload.len().div_ceil(bytes).max(1));
            prop_assert_eq!(&got.payload[..sent.payload.len()], &sent.payload[..]);
        }
    }
}

/// Payloads consist of whole beats. With the descriptor, one more beat goes in than comes out, and no beat is late.
#[test]
fn back_to_back_completions_never_stall() {
    for wide in [true, false] {
        let bytes = if wide { 128 } else { 64 };
        let sent = Sent {
            descriptor: RequesterCompletion {
                lower_address: 0,
                error_code: 0,
                byte_count: 256,
                locked: false,
                request_completed: true,
                dword_count: 64,
                status: CompletionStatus::Successful,
                poisoned: false,
                requester: 0,
                tag: 1,
                completer: 0,
                traffic_class: 0,
                attributes: Attributes::from_bits(0),
            },
            payload: (0..=255).collect(),
            discontinue: false,
        };
        let (received, out) = transfer(wide, &vec![sent; 20], || false);
        let (beats, in_beats) = (256 / bytes as u64, 256 / bytes as u64 + 1);
        assert!(received.iter().all(|r| r.payload.len() == 256));
        assert_eq!(out.len() as u64, 20 * beats);
        assert_eq!(out[0], 2);
        assert_eq!(out.last().unwrap() - out[0] + 1, 20 * in_beats - 1);
    }
}

#[test]
fn its_simulations_agree() {
    check(
        RcShim512::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 60);
            uut.rc_tvalid.next = rng.random_ratio(3, 4);
            uut.rc_tdata.next = Bits::random(rng);
            uut.rc_tkeep.next = Bits::random(rng);
            uut.rc_tlast.next = Bit::random(rng);
            uut.rc_tuser.next = Bits::random(rng);
        },
        250,
        1,
    )
    .unwrap();
}
