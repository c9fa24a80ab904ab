//! Full rate: nothing bubbles, nothing is dropped while the core keeps up.

use stellar_wire::hw::core::CoreToken;
use stellar_wire::hw::pack::Record;
use stellar_wire::{Bth, ExtHeaders, Opcode, Reth, RoceFrame, Srv6Encap};

use crate::front::bench::{Front, Stimulus, RING, WIDTHS};
use crate::front::frames::TestFrame;
use crate::front::reference::{beats, check_token};

fn write_only(payload: usize, encapsulated: bool) -> TestFrame {
    let frame = RoceFrame {
        bth: Bth {
            opcode: Opcode::RcWriteOnly,
            psn: payload as u32,
            ..Bth::default()
        },
        ext: ExtHeaders {
            reth: Some(Reth {
                va: 0x1234_5678,
                rkey: 7,
                dma_len: payload as u32,
            }),
            ..ExtHeaders::default()
        },
        srv6: encapsulated.then(Srv6Encap::default),
        payload: vec![0x3c; payload],
        ..RoceFrame::default()
    };
    TestFrame::good(frame.emit().expect("frame"))
}

/// Sends `frames` without a gap, and frees buffer space as soon as a token comes. Returns the cycles from each frame's last beat to its token.
fn stream(width: usize, frames: &[TestFrame]) -> Vec<u64> {
    let mut front = Front::new(width);
    for frame in frames {
        front.send(frame.clone());
    }
    let beats_in: usize = frames
        .iter()
        .map(|f| f.bytes.len().div_ceil(front.beat_bytes))
        .sum();
    let (mut start, mut free, mut latencies) = (0, None, vec![]);
    for _ in 0..beats_in + 40 {
        let response = front.step(Stimulus {
            ready: true,
            free: free.take(),
            ..Stimulus::default()
        });
        if let Some(token) = response.token {
            let frame = &frames[latencies.len()];
            check_token(&token, frame, start, front.beat_bytes);
            let taken = beats(frame, front.beat_bytes);
            start = (start + taken) % RING;
            free = Some(taken);
            latencies.push(token.clock - front.arrivals[latencies.len()]);
        }
    }
    assert_eq!(latencies.len(), frames.len());
    latencies
}

#[test]
fn one_beat_frames_pass_one_per_clock() {
    // 14 + 20 + 8 + 12 + 16 + 4 = 74 bytes: one beat of a wide lane, two of a narrow one.
    let frames: Vec<_> = (0..3000).map(|_| write_only(0, false)).collect();
    let latencies = stream(1024, &frames);
    assert!(
        latencies.iter().all(|&latency| latency == latencies[0]),
        "{latencies:?}"
    );
    // A 64-byte frame is one beat at either width; it ends inside its headers.
    let short: Vec<_> = frames
        .iter()
        .map(|f| TestFrame::good(f.bytes[..64].to_vec()))
        .collect();
    for width in WIDTHS {
        let latencies = stream(width, &short);
        assert!(
            latencies.iter().all(|&latency| latency == latencies[0]),
            "{latencies:?}"
        );
    }
}

#[test]
fn frames_of_all_lengths_back_to_back_are_never_dropped() {
    let frames: Vec<_> = (0..1200)
        .map(|i| write_only((i * 67) % 4097, i % 3 == 0))
        .collect();
    for width in WIDTHS {
        let latencies = stream(width, &frames);
        let (least, most) = (latencies.iter().min(), latencies.iter().max());
        println!("{width} bits: last beat to token {least:?} to {most:?} clocks");
        assert!(
            most <= Some(&20),
            "last beat to token takes {most:?} clocks"
        );
    }
}

#[test]
fn a_reset_in_the_middle_of_a_frame_leaves_nothing_behind() {
    for width in WIDTHS {
        let mut front = Front::new(width);
        for cut in 1..30 {
            front.send(write_only(1000, false));
            for _ in 0..cut {
                front.step(Stimulus::default());
            }
            front.reset();
            let frame = write_only(cut, cut % 2 == 0);
            front.send(frame.clone());
            let mut tokens = vec![];
            for _ in 0..40 {
                let response = front.step(Stimulus {
                    ready: true,
                    ..Stimulus::default()
                });
                tokens.extend(response.token);
            }
            assert_eq!(tokens.len(), 1, "reset after {cut} clocks");
            check_token(&tokens[0], &frame, 0, front.beat_bytes);
            let record = Record::<CoreToken>::new(&tokens[0].words);
            assert_eq!(record.variant("headers.reason"), "DropReason::None");
        }
    }
}
