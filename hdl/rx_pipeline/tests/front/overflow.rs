//! When the core does not keep up, whole frames are dropped, each is reported in its place, and nothing is lost for good.

use stellar_wire::hw::core::CoreToken;
use stellar_wire::hw::pack::Record;
use stellar_wire::{Bth, ExtHeaders, Opcode, Reth, RoceFrame};

use crate::front::bench::{Front, Stimulus, Token, RING, WIDTHS};
use crate::front::frames::TestFrame;
use crate::front::reference::{beats, check_token, Buffered};

/// A write whose PSN is its number.
fn numbered(number: usize, payload: usize) -> TestFrame {
    let frame = RoceFrame {
        bth: Bth {
            opcode: Opcode::RcWriteOnly,
            psn: number as u32,
            ..Bth::default()
        },
        ext: ExtHeaders {
            reth: Some(Reth::default()),
            ..ExtHeaders::default()
        },
        payload: vec![number as u8; payload],
        ..RoceFrame::default()
    };
    TestFrame::good(frame.emit().expect("frame"))
}

/// Whether the token has the reason `BufferFull`. If so, its span must be empty.
fn is_dropped(token: &Token) -> bool {
    let record = Record::<CoreToken>::new(&token.words);
    let dropped = record.variant("headers.reason") == "DropReason::BufferFull";
    assert!(!dropped || record.u64("span.beats") == 0);
    dropped
}

/// Sends `frames` while the core takes a token in one of `slowness` cycles, frees it `hold` tokens later, and stands still for the first
/// `asleep` cycles; returns which frames were dropped.
fn run(width: usize, frames: &[TestFrame], asleep: u64, slowness: u64, hold: usize) -> Vec<bool> {
    let mut front = Front::new(width);
    for frame in frames {
        front.send(frame.clone());
    }
    let (mut start, mut dropped, mut unfreed) = (0, vec![], std::collections::VecDeque::new());
    let mut quiet = 0;
    while quiet < 100 + slowness {
        let awake = front.clock >= asleep;
        let turn = front.clock % slowness;
        let drain = front.all_sent() || unfreed.len() > hold;
        let free = if awake && drain {
            unfreed.pop_front()
        } else {
            None
        };
        let response = front.step(Stimulus {
            ready: awake && turn == 0,
            free,
            ..Stimulus::default()
        });
        quiet = if awake && front.all_sent() {
            quiet + 1
        } else {
            0
        };
        if let Some(token) = response.token {
            quiet = 0;
            let frame = &frames[dropped.len()];
            dropped.push(is_dropped(&token));
            if !dropped[dropped.len() - 1] {
                check_token(&token, frame, start, front.beat_bytes);
                let taken = beats(frame, front.beat_bytes);
                start = (start + taken) % RING;
                unfreed.push_back(taken);
            }
        }
    }
    assert_eq!(dropped.len(), frames.len(), "one token per frame");
    // All is freed: as much as the ring holds fits again.
    while let Some(free) = unfreed.pop_front() {
        front.step(Stimulus {
            free: Some(free),
            ..Stimulus::default()
        });
    }
    let fill = numbered(1, 4096);
    let fits = RING / beats(&fill, front.beat_bytes);
    for _ in 0..fits {
        front.send(fill.clone());
    }
    let mut stored = 0;
    for _ in 0..RING + 100 {
        let response = front.step(Stimulus {
            ready: true,
            ..Stimulus::default()
        });
        stored += response
            .token
            .iter()
            .filter(|token| !is_dropped(token))
            .count();
    }
    assert_eq!(stored, fits, "nothing of the ring is lost");
    dropped
}

#[test]
fn frames_that_do_not_fit_are_dropped_whole_and_those_that_do_stay() {
    let frames: Vec<_> = (0..400).map(|i| numbered(i, (i * 611) % 4097)).collect();
    for width in WIDTHS {
        let dropped = run(width, &frames, 3000, 1, 0);
        let first = dropped.iter().position(|&d| d).expect("the ring overflows");
        let stored =
            |range: &[TestFrame]| -> usize { range.iter().map(|f| beats(f, width / 8)).sum() };
        let before = stored(&frames[..first]);
        assert!(before <= RING && before + beats(&frames[first], width / 8) > RING);
        assert!(
            !dropped[first..].iter().all(|&d| d),
            "short frames still fit after a long one did not"
        );
    }
}

#[test]
fn a_slow_core_costs_frames_but_no_tokens() {
    let frames: Vec<_> = (0..600).map(|i| numbered(i, (i * 389) % 1500)).collect();
    for width in WIDTHS {
        let dropped = run(width, &frames, 0, 40, 3);
        assert!(dropped.iter().any(|&d| d) && !dropped.iter().all(|&d| d));
    }
}

#[test]
fn frames_without_room_for_a_token_are_counted_in_order() {
    // More one-beat frames than tokens wait for; the core wakes up while more come.
    let frames: Vec<_> = (0..3000).map(|i| numbered(i, i % 20)).collect();
    let dropped = run(1024, &frames, 1500, 2, 0);
    let first = dropped.iter().position(|&d| d).expect("tokens run out");
    assert!(
        (RING - 32..=RING).contains(&first),
        "frame {first} was the first to be dropped"
    );
    assert!(
        !dropped[1800..].iter().all(|&d| d),
        "frames are taken again once the core runs"
    );
}

#[test]
fn oversize_frames_do_not_wedge_a_full_ring() {
    let frames: Vec<_> = (0..60)
        .map(|i| {
            let mut frame = numbered(i, 100);
            if i % 2 == 0 {
                frame.bytes.resize(6000 + 100 * i, 0);
            }
            frame
        })
        .collect();
    for width in WIDTHS {
        let dropped = run(width, &frames, 0, 1, 0);
        assert!(dropped.iter().all(|&d| !d));
    }
}

#[test]
fn the_ring_holds_to_the_last_beat_and_a_dropped_frame_overwrites_nothing() {
    for width in WIDTHS {
        for frame_beats in 1..=33 {
            let mut front = Front::new(width);
            let packet_bytes = frame_beats * front.beat_bytes - 5;
            // Two frames more than fit.
            let fits = RING / frame_beats;
            let frames: Vec<_> = (0..fits + 2)
                .map(|i| {
                    let mut frame = numbered(i, 0);
                    frame.bytes.resize(14 + packet_bytes, i as u8);
                    frame
                })
                .collect();
            for frame in &frames {
                front.send(frame.clone());
            }
            let mut dropped = vec![];
            while dropped.len() < frames.len() {
                assert!(front.clock < 4 * RING as u64, "a token per frame");
                let response = front.step(Stimulus {
                    ready: true,
                    ..Stimulus::default()
                });
                dropped.extend(response.token.as_ref().map(is_dropped));
            }
            let stored = dropped.iter().filter(|&&d| !d).count();
            assert_eq!(stored, fits, "frames of {frame_beats} beats");
            assert!(dropped[fits..].iter().all(|&d| d));

            let mut buffered: Vec<_> = (0..fits)
                .map(|i| Buffered::new(&frames[i], i * frame_beats, front.beat_bytes))
                .collect();
            for address in 0..fits * frame_beats + 1 {
                let response = front.step(Stimulus {
                    read: Some(address % RING),
                    ..Stimulus::default()
                });
                if let Some(pair) = response.read {
                    buffered[pair.address / frame_beats].check(&pair);
                }
            }
        }
    }
}
