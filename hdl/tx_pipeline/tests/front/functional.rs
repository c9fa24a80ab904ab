//! Single blocks, Verilated, compared with their specification: at one item per cycle and with stalls.

use std::collections::VecDeque;

use hdl_testkit::equivalence::TestRng;
use hdl_testkit::Dut;
use hdl_tx_pipeline::records::{FrameHeader, TxBeat, FRAME_HEADER_BYTES};
use hdl_tx_pipeline::{header_build, icrc_insert, HeaderBuild, IcrcInsert, PayloadBuffer};
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use stellar_wire::hw::pack::Record;

use crate::front::packets::{fill, opcodes, Shape, TestPacket};

/// The block after a cycle of reset.
fn reset<B: Block + Default + 'static>() -> Dut {
    let mut dut = Dut::new::<B>();
    dut.reset(1);
    dut
}

fn to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn packet(rng: &mut TestRng) -> TestPacket {
    let opcodes = opcodes();
    let shape = Shape {
        opcode: opcodes[rng.random_range(0..opcodes.len())],
        nesting: rng.random_range(0..8),
        timestamped: rng.random(),
        payload_length: rng.random_range(0..=600),
    };
    fill(shape, rng)
}

/// Headers, and the positions of everything behind them, computed from the frame's own length.
fn check_header(words: &[u32], packet: &TestPacket, beat: usize) {
    let frame = packet.frame();
    let payload = packet.payload.len();
    let icrc = frame.len() - 4;
    let headers = icrc - payload.next_multiple_of(4);
    let record = Record::<FrameHeader>::new(words);
    let mut expected = frame[..headers].to_vec();
    expected.resize(FRAME_HEADER_BYTES, 0);
    let found = to_bytes(&record.words("bytes"));
    assert_eq!(found[..FRAME_HEADER_BYTES], expected, "{:?}", packet.record);
    let end = headers + payload;
    for (field, value) in [
        ("payload_beat", headers / beat),
        ("payload_at", headers % beat),
        ("payload_beats", payload.div_ceil(beat)),
        ("has_payload", usize::from(payload > 0)),
        ("end_beat", end / beat),
        ("end_at", end % beat),
        ("icrc_beat", icrc / beat),
        ("icrc_at", icrc % beat),
        ("last_beat", (frame.len() - 1) / beat),
        ("last_bytes", (frame.len() - 1) % beat + 1),
    ] {
        let found = record.u64(&format!("layout.{field}"));
        assert_eq!(found, value as u64, "{field} of {} bytes", frame.len());
    }
}

fn header_build<const B: usize>() {
    let mut dut = reset::<HeaderBuild<B>>();
    let mut rng = TestRng::seed_from_u64(31);
    let mut due = VecDeque::from(vec![None; header_build::LATENCY]);
    for clock in 0..3000 {
        // One per cycle at first.
        let next = (clock < 1000 || rng.random()).then(|| packet(&mut rng));
        dut.set("in_valid", next.is_some().into());
        if let Some(packet) = &next {
            dut.set_record("in_packet", packet.record);
        }
        due.push_back(next);
        let now = due.pop_front().expect("as many as clocks of latency");
        assert_eq!(dut.is("out_valid"), now.is_some(), "clock {clock}");
        if let Some(packet) = now {
            check_header(&dut.words("out_header"), &packet, 1 << B);
        }
        dut.clock();
    }
}

#[test]
fn headers_and_places_are_those_of_the_frame() {
    header_build::<6>();
    header_build::<7>();
}

fn beat_record(packet: &TestPacket, total: usize, at: usize, beat: usize) -> TxBeat {
    let icrc = total - 4;
    let mut record = TxBeat {
        first: at == 0,
        second: at == beat,
        last: at + beat >= total,
        bytes: (beat.min(total - at) as u64).to_bits(),
        icrc: icrc / beat == at / beat,
        icrc_at: ((icrc % beat) as u64).to_bits(),
        icrc_rest: at > icrc,
        ..TxBeat::default()
    };
    record.nesting.tagged = packet.record.ethernet.tagged;
    record.nesting.encapsulated = packet.record.srv6.present;
    record.nesting.version6 = packet.record.ip.version6;
    record
}

fn icrc_of_frames<const W: usize, const N: usize>() {
    let mut dut = reset::<IcrcInsert<W, N>>();
    let mut rng = TestRng::seed_from_u64(32);
    let mut beats = VecDeque::new();
    for _ in 0..400 {
        let packet = packet(&mut rng);
        let frame = packet.frame();
        let mut open = frame.clone();
        open[frame.len() - 4..].fill(0);
        for at in (0..frame.len()).step_by(N) {
            let end = frame.len().min(at + N);
            let record = beat_record(&packet, frame.len(), at, N);
            beats.push_back((open[at..end].to_vec(), record, frame[at..end].to_vec()));
        }
    }
    let mut due = VecDeque::from(vec![None; icrc_insert::LATENCY]);
    let mut clock = 0;
    while !beats.is_empty() || due.iter().any(Option::is_some) {
        let next = if clock < 500 || rng.random() {
            beats.pop_front()
        } else {
            None
        };
        dut.set("in_valid", next.is_some().into());
        if let Some((open, record, _)) = &next {
            dut.set_bytes("in_data", open);
            dut.set_record("in_beat", *record);
        }
        due.push_back(next.map(|(_, record, sealed)| (record.last, sealed)));
        let now = due.pop_front().expect("as many as clocks of latency");
        assert_eq!(dut.is("out_valid"), now.is_some(), "clock {clock}");
        if let Some((last, mut sealed)) = now {
            assert_eq!(dut.words("out_bytes")[0] as usize, sealed.len());
            assert_eq!(dut.is("out_last"), last);
            sealed.resize(N, 0);
            assert_eq!(dut.bytes("out_data"), sealed, "clock {clock}");
        }
        dut.clock();
        clock += 1;
    }
}

#[test]
fn the_icrc_is_that_of_the_frame_also_with_pauses_inside() {
    icrc_of_frames::<512, 64>();
    icrc_of_frames::<1024, 128>();
}

/// Random packets enter, and each is taken when it is complete: one beat per cycle, in order, and none too early.
#[test]
fn payload_shows_only_when_complete_and_then_flows() {
    let mut dut = reset::<PayloadBuffer<512, 8, 9>>();
    let mut rng = TestRng::seed_from_u64(33);
    let mut offered: VecDeque<(u32, bool)> = VecDeque::new();
    // Beats of packets in the buffer; complete packets that have not begun; beats left of the current one.
    let (mut held, mut complete, mut left) = (VecDeque::new(), VecDeque::new(), 0);
    let (mut beats, mut number, mut taken, mut full) = (0, 0, 0, false);
    for _ in 0..20_000 {
        if offered.is_empty() {
            let beats = rng.random_range(1..=128);
            offered.extend((0..beats).map(|i| (number + i, i + 1 == beats)));
            number += beats;
        }
        let (value, last) = offered[0];
        let offer = rng.random_bool(0.8);
        dut.set("in_valid", offer.into());
        dut.set("in_data", value.into());
        dut.set("in_last", last.into());
        assert_eq!(dut.is("waiting"), !complete.is_empty());
        let begin = left <= 1 && !complete.is_empty() && rng.random_bool(0.02);
        let take = left > 0;
        dut.set("start", begin.into());
        dut.set("take", take.into());
        if take {
            let (value, last) = held.pop_front().expect("a beat of a complete packet");
            assert_eq!(
                (dut.words("out_data")[0], dut.is("out_last")),
                (value, last)
            );
            taken += 1;
            left -= 1;
        }
        if begin {
            left = complete.pop_front().expect("a complete packet");
        }
        full |= offer && !dut.is("in_ready");
        if offer && dut.is("in_ready") {
            held.push_back((value, last));
            offered.pop_front();
            beats += 1;
            if last {
                complete.push_back(beats);
                beats = 0;
            }
        }
        dut.clock();
    }
    assert!(taken > 5_000 && full, "{taken} beats taken, full {full}");
}
