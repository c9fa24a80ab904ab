//! Verdict, headers and buffered bytes of any mix of frames equal the reference, whatever the gaps.

use std::collections::VecDeque;

use proptest::prelude::*;
use proptest::test_runner::Config;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stellar_transport::rx::DropReason;
use stellar_wire::hw::core::CoreToken;
use stellar_wire::hw::frame::PacketHeaders;
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::{Bth, Ip, Ipv4, Ipv6, Opcode, RoceFrame, Vlan};

use crate::front::bench::{BeatPair, Front, Stimulus, Token, RING, RUBBISH_KINDS, WIDTHS};
use crate::front::frames::{agree_on_length, any_frame, write, TestFrame, MAX_IP_BYTES};

/// Beats a frame takes in the buffer.
pub fn beats(frame: &TestFrame, beat_bytes: usize) -> usize {
    match frame.packet().len() {
        length if length > MAX_IP_BYTES => 1,
        length => length.div_ceil(beat_bytes).max(1),
    }
}

/// Checks a token that is not `BufferFull` against the reference; `start` is where the ring's next frame lies.
#[track_caller]
pub fn check_token(token: &Token, frame: &TestFrame, start: usize, beat_bytes: usize) {
    let record = Record::<CoreToken>::new(&token.words);
    let expected = frame.expected();
    assert_eq!(record.variant("kind"), "TokenKind::Packet");
    assert_eq!(
        record.variant("headers.reason"),
        format!("DropReason::{}", expected.reason),
        "{frame:02x?}"
    );
    assert_eq!(
        (record.u64("span.start"), record.u64("span.beats")),
        (start as u64, beats(frame, beat_bytes) as u64)
    );
    if let Some(headers) = expected.headers {
        let found = record.words("headers");
        let wanted = to_words(headers.to_hw());
        assert_eq!(found, wanted, "{headers:?}");
        let offset = Record::<PacketHeaders>::new(&found).u64("payload_offset") as usize;
        let length = usize::from(headers.payload_length);
        assert_eq!(
            &frame.packet()[offset..offset + length],
            headers.payload(&frame.bytes)
        );
    }
}

/// A frame whose token has come: it is read back beat by beat, then freed.
pub struct Buffered {
    packet: Vec<u8>,
    start: usize,
    beats: usize,
    asked: usize,
    seen: usize,
}

impl Buffered {
    pub fn new(frame: &TestFrame, start: usize, beat_bytes: usize) -> Self {
        let beats = beats(frame, beat_bytes);
        let mut packet = frame.packet().to_vec();
        packet.truncate(beats * beat_bytes);
        Self {
            packet,
            start,
            beats,
            asked: 0,
            seen: 0,
        }
    }

    #[track_caller]
    pub fn check(&mut self, pair: &BeatPair) {
        assert_eq!(pair.address, (self.start + self.seen) % RING);
        let width = pair.low.len();
        for (beat, found) in [(self.seen, &pair.low), (self.seen + 1, &pair.high)] {
            let wanted = self.packet.get(beat * width..).unwrap_or(&[]);
            let length = wanted.len().min(width);
            assert_eq!(found[..length], wanted[..length], "beat {beat}");
        }
        self.seen += 1;
    }
}

/// Sends `frames` and checks every token and every buffered byte. Chances are in percent per cycle.
fn run(width: usize, frames: &[TestFrame], idle: u32, stall: u32, seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut chance = move |percent: u32| rng.random_range(0..100) < percent;
    let mut front = Front::new(width);
    let mut next = frames.iter();
    let mut waiting_tokens: VecDeque<&TestFrame> = VecDeque::new();
    let mut buffered: VecDeque<Buffered> = VecDeque::new();
    let (mut start, mut held, mut tokens) = (0, 0, 0);
    let total: usize = frames.iter().map(|f| f.bytes.len() / 64 + 4).sum();
    let limit = 400 + 40 * total as u64;
    while tokens < frames.len() || !buffered.is_empty() {
        assert!(
            front.clock < limit,
            "{tokens} of {} tokens came",
            frames.len()
        );
        // Room for the next frame is kept, so that none is dropped here.
        if front.all_sent() && held + 2 * 68 < RING {
            if let Some(frame) = next.next() {
                held += beats(frame, front.beat_bytes);
                front.send(frame.clone());
                waiting_tokens.push_back(frame);
            }
        }
        let read = buffered
            .iter_mut()
            .find(|b| b.asked < b.beats)
            .filter(|_| !chance(stall))
            .map(|b| {
                b.asked += 1;
                (b.start + b.asked - 1) % RING
            });
        let free = buffered
            .front()
            .is_some_and(|b| b.seen == b.beats)
            .then(|| buffered.pop_front().expect("a frame").beats);
        held -= free.unwrap_or(0);
        let response = front.step(Stimulus {
            idle: chance(idle),
            ready: !chance(stall),
            read,
            free,
        });
        if let Some(token) = response.token {
            let frame = waiting_tokens.pop_front().expect("a token per frame");
            check_token(&token, frame, start, front.beat_bytes);
            buffered.push_back(Buffered::new(frame, start, front.beat_bytes));
            start = (start + beats(frame, front.beat_bytes)) % RING;
            tokens += 1;
        }
        if let Some(pair) = response.read {
            let frame = buffered.iter_mut().find(|b| b.seen < b.beats);
            frame.expect("a read was asked for").check(&pair);
        }
    }
}

fn config(cases: u32) -> Config {
    Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    }
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn any_mix_of_frames_equals_the_reference(
        frames in proptest::collection::vec(any_frame(), 1..60),
        idle in prop_oneof![Just(0u32), 0..80u32],
        stall in prop_oneof![Just(0u32), 0..80u32],
        seed: u64,
    ) {
        for width in WIDTHS {
            run(width, &frames, idle, stall, seed);
        }
    }

    #[test]
    fn good_writes_are_accepted_and_their_headers_read(
        frames in proptest::collection::vec(write(), 1..20),
        seed: u64,
    ) {
        let frames: Vec<TestFrame> = frames
            .iter()
            .map(|frame| TestFrame::good(frame.emit().expect("frame")))
            .collect();
        prop_assert!(frames.iter().all(|f| f.expected().reason == DropReason::None));
        for width in WIDTHS {
            run(width, &frames, 20, 20, seed);
        }
    }
}

fn shapes() -> Vec<Vec<u8>> {
    let mut shapes = vec![];
    for (ipv6, tagged, srv6) in [
        (false, false, false),
        (true, true, false),
        (false, true, true),
        (true, false, true),
    ] {
        let frame = RoceFrame {
            bth: stellar_wire::Bth {
                opcode: stellar_wire::Opcode::MrcWriteOnlyImm,
                ..Default::default()
            },
            ext: stellar_wire::ExtHeaders {
                meth: Some(Default::default()),
                tseth: Some(Default::default()),
                reth: Some(Default::default()),
                imm: Some(Default::default()),
                ..Default::default()
            },
            ip: if ipv6 {
                stellar_wire::Ip::V6(Default::default())
            } else {
                stellar_wire::Ip::V4(Default::default())
            },
            vlan: tagged.then(Default::default),
            srv6: srv6.then(Default::default),
            payload: vec![0x77; 150],
            ..RoceFrame::default()
        };
        shapes.push(frame.emit().expect("frame"));
    }
    shapes
}

#[test]
fn a_frame_cut_at_any_byte_gives_one_token() {
    for shape in shapes() {
        // Each length occurs once with each kind of random bytes beyond the end of the frame.
        let frames: Vec<TestFrame> = (1..=shape.len())
            .flat_map(|length| [length; RUBBISH_KINDS])
            .map(|length| TestFrame::good(shape[..length].to_vec()))
            .collect();
        for width in WIDTHS {
            run(width, &frames, 0, 0, 1);
        }
    }
}

#[test]
fn every_opcode_is_told_apart() {
    let shape = &shapes()[0];
    let frames: Vec<TestFrame> = (0..=255)
        .map(|code| {
            let mut bytes = shape.clone();
            bytes[14 + 20 + 8] = code;
            stellar_wire::frame::reseal(&mut bytes).expect("frame");
            TestFrame::good(bytes)
        })
        .collect();
    run(512, &frames, 0, 0, 2);
}

#[test]
fn every_flipped_header_bit_is_judged_as_the_reference_does() {
    for shape in shapes() {
        let mut frames = vec![];
        for bit in 8 * 12..8 * (shape.len() - 150) {
            let mut bytes = shape.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            frames.push(TestFrame::good(bytes.clone()));
            let _ = stellar_wire::frame::reseal(&mut bytes);
            frames.push(TestFrame::good(bytes));
        }
        for width in WIDTHS {
            run(width, &frames, 0, 0, 3);
        }
    }
}

#[test]
fn the_longest_packet_is_judged_and_longer_ones_keep_one_beat() {
    let mut frames = vec![];
    for length in [
        MAX_IP_BYTES - 1,
        MAX_IP_BYTES,
        MAX_IP_BYTES + 1,
        9000,
        20_000,
    ] {
        for mut bytes in shapes() {
            let packet = TestFrame::good(bytes.clone()).packet().len();
            let ip_at = bytes.len() - packet;
            let ip_bytes = if bytes[ip_at] >> 4 == 6 { 40 } else { 20 };
            bytes.resize(ip_at + length, 0);
            agree_on_length(&mut bytes, ip_at, ip_at + ip_bytes + 8);
            frames.push(TestFrame::good(bytes));
        }
    }
    let reasons: Vec<_> = frames.iter().map(|f| f.expected().reason).collect();
    assert_eq!(reasons[4], DropReason::BadPayloadLength);
    assert_eq!(reasons[8], DropReason::BadLength);
    for width in WIDTHS {
        run(width, &frames, 0, 0, 4);
    }
}

/// Every IP length that a frame of 60 bytes may claim, with and without a tag, and in IPv6.
#[test]
fn a_padded_frame_is_read_by_its_ip_length() {
    let send = RoceFrame {
        bth: Bth {
            opcode: Opcode::RcSendOnly,
            ..Bth::default()
        },
        ..RoceFrame::default()
    };
    let mut frames = vec![];
    for (vlan, ip) in [
        (None, Ip::V4(Ipv4::default())),
        (Some(Vlan::default()), Ip::V4(Ipv4::default())),
        (None, Ip::V6(Ipv6::default())),
    ] {
        let shape = RoceFrame {
            vlan,
            ip,
            ..send.clone()
        };
        let bytes = shape.emit().expect("frame");
        let ip_at = bytes.len() - TestFrame::good(bytes.clone()).packet().len();
        let bth_at = ip_at + ip.header_len() + 8;
        for more in 0..5 {
            frames.push(TestFrame::good([&bytes[..], &vec![0xa5; more]].concat()));
        }
        for length in bth_at - ip_at..50 {
            let mut claims = bytes[..bth_at].to_vec();
            claims.resize(ip_at + length, 0x5a);
            agree_on_length(&mut claims, ip_at, bth_at);
            claims.resize(ip_at + 46, 0);
            frames.push(TestFrame::good(claims));
        }
    }
    assert_eq!(frames[2].expected().reason, DropReason::None);
    assert_eq!(frames[3].expected().reason, DropReason::BadLength);
    for width in WIDTHS {
        run(width, &frames, 0, 0, 5);
    }
}
