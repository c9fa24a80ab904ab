//! Tests `core_issue` for order, spacing and fairness, by rules that its output must satisfy.

mod bench;

use std::collections::VecDeque;

use bench::{packet, packet_of_psn, write, Bench, Clock, Pace, Token, MRC, PROBES};
use hdl_rx_pipeline::core_issue::{near, CoreIssue, LATENCY, PACKET_LATENCY, RC_SPACING, SPACING};
use hdl_rx_pipeline::token_queue::lost_frame;
use hdl_testkit::equivalence::{check, Random, TestRng};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{CoreToken, TokenKind};
use stellar_wire::hw::pack::to_words;
use stellar_wire::hw::tables::{TableSelect, TableWrite};

#[test]
fn verilog_agrees_with_rust_hdl() {
    let drive = |block: &mut CoreIssue, rng: &mut TestRng| {
        let mut likely = || rng.random_range(0..4) != 0;
        (block.packet[0].valid.next, block.packet[1].valid.next) = (likely(), likely());
        (block.room[0].next, block.room[1].next) = (likely(), likely());
        // A table write stays until it is accepted.
        let new_write = !block.table.valid.val() | block.table.ready.val();
        if new_write {
            block.table.valid.next = likely();
        }
        block.fence.valid.next = likely();
        block.error.valid.next = rng.random_range(0..4) == 0;
        block.error.qp.next = u64::from(rng.random_range(2..5_u32)).to_bits();
        block.reset.next = rng.random_range(0..30) == 0;
        block.packet[0].token.next = packet(rng.random_range(2..5), rng.random());
        block.packet[1].token.next = packet(rng.random_range(2..5), rng.random());
        let select = if bool::random(rng) {
            TableSelect::Qp
        } else {
            TableSelect::Mr
        };
        if new_write {
            block.table.write.next = write(select, rng.random_range(2..5), rng.random());
        }
    };
    check(CoreIssue::default, Some(|b| &mut b.clock), drive, 600, 1).unwrap();
}

/// Inputs that wait, as FIFOs before the block hold them.
#[derive(Default)]
struct Waiting {
    packets: [VecDeque<CoreToken>; 2],
    tables: VecDeque<TableWrite>,
    errors: VecDeque<u32>,
    fences: usize,
}

impl Waiting {
    fn counts(&self) -> [usize; 5] {
        let [lane0, lane1] = &self.packets;
        [
            lane0.len(),
            lane1.len(),
            self.tables.len(),
            self.errors.len(),
            self.fences,
        ]
    }
}

fn queue_pairs(most: usize) -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(prop_oneof![2..4_u32, 1022..1028_u32], 0..most)
}

fn packets(queue_pairs: &[u32]) -> VecDeque<CoreToken> {
    let numbered = queue_pairs.iter().zip(0..);
    let number = |n| if n % 3 == 0 { n } else { n | MRC };
    numbered.map(|(&qp, n)| packet(qp, number(n))).collect()
}

/// Cycles between two tokens of one queue pair.
fn spacing(first: Pace, second: Pace) -> usize {
    match (first, second) {
        (Pace::MrcPacket(a), Pace::MrcPacket(b)) if is_near(a, b) => 1,
        (Pace::RcPacket, Pace::RcPacket) => RC_SPACING,
        _ => SPACING,
    }
}

/// PSNs of the card are near each other within its window.
const NEAR: u32 = near(6);

/// The block compares words of PSNs, so PSNs that are barely near may count as distant.
fn is_near(a: u64, b: u64) -> bool {
    let distance = |from: u64, to: u64| (to.wrapping_sub(from) & 0xff_ffff) as u32;
    distance(a, b) < NEAR || distance(b, a) < NEAR
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn what_goes_in_comes_out_once_in_order_spaced_and_only_with_room(
        lanes in (queue_pairs(80), queue_pairs(80)),
        tables in prop::collection::vec((any::<bool>(), prop_oneof![2..4_u32, 1022..1028_u32]), 0..60),
        errors in prop::collection::vec(prop_oneof![2..4_u32, 1022..1024_u32], 0..20),
        fences in 0..20_usize,
        seed in any::<u64>(),
        busy in 1..=4_u32,
    ) {
        let mut rng = TestRng::seed_from_u64(seed);
        let mut bench = Bench::new();
        let mut waiting = Waiting {
            packets: [packets(&lanes.0), packets(&lanes.1)],
            tables: tables.iter().zip(0..).map(|(&(qp, index), n)| {
                write(if qp { TableSelect::Qp } else { TableSelect::Emtt }, index, n)
            }).collect(),
            errors: errors.into(),
            fences,
        };
        let mut named = [None; SPACING - 1];
        // Valid stays until ready, as with FIFOs; a new input may come late.
        let mut offered = [false; 5];
        // What the block has accepted and not issued.
        let mut inside = Waiting::default();
        let mut patience = 0;
        let mut after_probe = false;
        while [&waiting, &inside].iter().flat_map(|w| w.counts()).sum::<usize>() > 0 {
            for (offered, left) in offered.iter_mut().zip(waiting.counts()) {
                *offered |= left > 0 && rng.random_range(0..4) < busy;
            }
            let room = [rng.random_range(0..4) < busy, rng.random_range(0..4) < busy];
            let clock = Clock {
                packets: [0, 1].map(|lane| waiting.packets[lane].front().copied().filter(|_| offered[lane])),
                table: waiting.tables.front().copied().filter(|_| offered[2]),
                error: waiting.errors.front().copied().filter(|_| offered[3]),
                fence: offered[4],
                room,
                reset: false,
            };
            let seen = bench.clock(&clock);
            let taken = [seen.packets[0], seen.packets[1], seen.table, seen.error, seen.fence];
            prop_assert!(!after_probe || seen.out.is_none(), "a token behind a probe: {:?}", seen);
            after_probe = false;
            let held = inside.counts();
            let expected = match seen.out {
                Some(Token::Packet { lane, .. }) => {
                    let lane = usize::from(lane);
                    prop_assert!(room[lane], "issued without room");
                    let token = inside.packets[lane].pop_front();
                    after_probe = token.is_some_and(|token| token.headers.probe);
                    token.map(|token| Token::packet(lane, token))
                }
                Some(Token::Error { .. }) => inside.errors.pop_front().map(|qp| Token::Error { qp: qp.into() }),
                Some(Token::Fence) => {
                    prop_assert!(clock.table.is_none(), "a fence passed a table write");
                    prop_assert!(room == [true; 2], "a fence without room in both lanes");
                    seen.fence.then_some(Token::Fence)
                }
                // A table write is issued when it is accepted, and a fence too.
                _ => clock.table.filter(|_| seen.table).map(|table| {
                    Token::of(&to_words(CoreToken { kind: TokenKind::Table, table, ..CoreToken::default() }))
                }),
            };
            prop_assert!(!seen.fence || seen.out == Some(Token::Fence), "{:?}", seen);
            for lane in 0..2 {
                if seen.packets[lane] {
                    inside.packets[lane].extend(waiting.packets[lane].pop_front());
                }
            }
            if seen.table {
                waiting.tables.pop_front();
            }
            if seen.error {
                inside.errors.extend(waiting.errors.pop_front());
            }
            waiting.fences -= usize::from(seen.fence);
            for (offered, taken) in offered.iter_mut().zip(taken) {
                *offered &= !taken;
            }
            // A token appears the cycle after it was chosen, in the order of its source, and nothing else does.
            prop_assert_eq!(LATENCY, 1);
            prop_assert_eq!(seen.out, expected);
            let row = seen.out.and_then(Token::named);
            if let Some((row, pace)) = row {
                let spacing = |(other, other_pace)| if row == other { spacing(other_pace, pace) } else { 1 };
                let near = named.iter().zip(1..).any(|(other, before)| other.is_some_and(|other| before < spacing(other)));
                prop_assert!(!near, "{:?} after {:?}", seen.out, named);
            }
            named.rotate_right(1);
            named[0] = row;
            // No one waits long: with room, something that waits goes within the spacing, the cycle behind a probe, and that in which a write is new.
            let waits = held != [0; 5] || clock.table.is_some() || clock.fence;
            patience = if seen.out.is_some() || room != [true; 2] || !waits { 0 } else { patience + 1 };
            prop_assert!(patience <= SPACING + 1, "nothing goes");
        }
    }
}

/// A packet number that no probe has.
fn plain(number: u32) -> u32 {
    number * PROBES
}

/// Packets that go in 90 cycles from a lane that always has one, once the first is there.
fn packets_in_90_clocks(lane: usize, mut token: impl FnMut(u32) -> CoreToken) -> usize {
    let mut bench = Bench::new();
    let (mut came, mut went) = (0, 0);
    for _ in 0..90 + PACKET_LATENCY - 1 {
        let mut clock = Clock {
            room: [lane == 0, lane == 1],
            ..Clock::default()
        };
        clock.packets[lane] = Some(token(came));
        let seen = bench.clock(&clock);
        came += u32::from(seen.packets[lane]);
        went += usize::from(seen.issued(lane));
    }
    went
}

#[test]
fn different_queue_pairs_go_every_clock_and_one_queue_pair_of_rc_every_third() {
    for lane in [0, 1] {
        for (queue_pairs, clocks_each) in [(3, 1), (1, RC_SPACING)] {
            let went = packets_in_90_clocks(lane, |n| packet(2 + n % queue_pairs, plain(n)));
            assert_eq!(went, 90 / clocks_each);
        }
    }
}

#[test]
fn mrc_packets_of_one_queue_pair_go_every_clock_unless_they_lie_far_apart() {
    // PSNs are in order, or go back and forth within the near distance, also where they wrap.
    let near: [fn(u32) -> u32; 3] = [
        |n| (0xff_ffd0 + n) & 0xff_ffff,
        |n| 5 + n % 2 * (NEAR - 64),
        |n| (0xff_ff00 + (n + 1) % 2 * (NEAR - 64)) & 0xff_ffff,
    ];
    // The end of the next window, half way round, and half way round but for a window.
    let far: [fn(u32) -> u32; 4] = [
        |n| n * (NEAR + 63),
        |n| n % 2 * NEAR * 2,
        |n| n % 2 * 0x80_0000,
        |n| n % 2 * (0x80_0000 - NEAR),
    ];
    for lane in [0, 1] {
        for psn in near {
            let went = packets_in_90_clocks(lane, |n| packet_of_psn(2, plain(n) | MRC, psn(n)));
            assert_eq!(went, 90);
        }
        for psn in far {
            let went = packets_in_90_clocks(lane, |n| packet_of_psn(2, plain(n) | MRC, psn(n)));
            assert_eq!(went, 90_usize.div_ceil(SPACING));
        }
    }
}

#[test]
fn reports_of_lost_frames_go_every_clock() {
    let lost = CoreToken {
        kind: TokenKind::Packet,
        headers: lost_frame(),
        ..CoreToken::default()
    };
    for lane in [0, 1] {
        assert_eq!(packets_in_90_clocks(lane, |_| lost), 90);
    }
}

#[test]
fn a_far_packet_waits_for_each_of_those_before_it() {
    // Each PSN is near the previous one, but not near the one before that.
    let psns = [0, 2800, 5600];
    let mut bench = Bench::new();
    let (mut came, mut went) = (0, vec![]);
    for now in 0..20 {
        let token = |&psn| packet_of_psn(2, plain(psn) | MRC, psn);
        let clock = Clock {
            packets: [psns.get(came).map(token), None],
            room: [true; 2],
            ..Clock::default()
        };
        let seen = bench.clock(&clock);
        came += usize::from(seen.packets[0]);
        if seen.issued(0) {
            went.push(now);
        }
    }
    let first = PACKET_LATENCY - 1;
    assert_eq!(went, [first, first + 1, first + SPACING]);
}

/// One lane always has a packet of the queue pair that may go at once.
#[test]
fn a_stream_of_a_queue_pair_holds_off_nothing_that_must_keep_its_distance() {
    let probe = packet(2, PROBES - 1);
    let far = packet_of_psn(2, plain(1) | MRC, 0x40_0000);
    for stream in [0, 1] {
        let on_other_lane = |packet| {
            let mut clock = Clock::default();
            clock.packets[1 - stream] = Some(packet);
            clock
        };
        let waiting = [
            on_other_lane(probe),
            on_other_lane(far),
            Clock {
                table: Some(write(TableSelect::Qp, 2, 0)),
                ..Clock::default()
            },
            Clock {
                error: Some(2),
                ..Clock::default()
            },
        ];
        for other in waiting {
            let mut bench = Bench::new();
            let (mut came, mut went, mut waited) = (0, 0, 0);
            // It comes in the middle of the stream.
            for now in 0..20 + 2 * SPACING as u32 {
                let mut clock = if now < 20 { Clock::default() } else { other };
                clock.room = [true; 2];
                clock.packets[stream] = Some(packet_of_psn(2, plain(came) | MRC, came));
                let seen = bench.clock(&clock);
                if seen.out.is_some() && !seen.issued(stream) {
                    break;
                }
                came += u32::from(seen.packets[stream]);
                went += u32::from(seen.issued(stream));
                waited += u32::from(now >= 20);
            }
            assert!(waited as usize <= SPACING + 1, "{waited} clocks");
            assert!((19..=20).contains(&went), "{went} packets before it");
        }
    }
}

#[test]
fn lanes_share_the_clocks_and_one_queue_pair_of_both() {
    for (queue_pairs, flag, each) in [(7, 0, 150), (1, 0, 50), (1, MRC, 150)] {
        let mut bench = Bench::new();
        let mut went = [0, 0];
        for n in 0..300 {
            let token = |lane: usize| Some(packet(2 + went[lane] % queue_pairs, plain(n) | flag));
            let clock = Clock {
                packets: [token(0), token(1)],
                room: [true; 2],
                ..Clock::default()
            };
            let seen = bench.clock(&clock);
            for (went, taken) in went.iter_mut().zip(seen.packets) {
                *went += u32::from(taken);
            }
        }
        assert!(went.iter().all(|w| w.abs_diff(each) <= 15), "{went:?}");
    }
}

#[test]
fn a_lane_without_room_holds_up_neither_the_other_nor_tables_nor_errors() {
    let mut bench = Bench::new();
    let mut went = [0, 0, 0, 0];
    for n in 0..300 {
        let clock = Clock {
            packets: [Some(packet(2 + n % 7, plain(n))), Some(packet(9, 0))],
            table: Some(write(TableSelect::Emtt, n, n)),
            error: (n % 10 < 2).then_some(100),
            fence: false,
            room: [true, false],
            reset: false,
        };
        let seen = bench.clock(&clock);
        let taken = [seen.issued(0), seen.issued(1), seen.table, seen.error];
        for (went, taken) in went.iter_mut().zip(taken) {
            *went += u32::from(taken);
        }
    }
    assert_eq!(went[1], 0);
    assert!(went[0] > 120 && went[2] > 100 && went[3] > 10, "{went:?}");
}

#[test]
fn packets_and_control_take_turns_when_both_always_wait() {
    let mut bench = Bench::new();
    let (mut came, mut went) = (0, [0, 0]);
    for n in 0..200 {
        let clock = Clock {
            packets: [Some(packet(2 + came % 7, plain(n))), None],
            table: Some(write(TableSelect::Emtt, n, n)),
            fence: true,
            room: [true; 2],
            ..Clock::default()
        };
        let seen = bench.clock(&clock);
        came += u32::from(seen.packets[0]);
        went[0] += u32::from(seen.issued(0));
        went[1] += u32::from(seen.table);
        assert!(!seen.fence);
    }
    assert_eq!(went, [100, 100]);
}

#[test]
fn fences_take_turns_with_packets() {
    let mut bench = Bench::new();
    let mut fences = 0;
    for n in 0..100 {
        let clock = Clock {
            packets: [Some(packet(2 + n, plain(n))), None],
            fence: true,
            room: [true; 2],
            ..Clock::default()
        };
        fences += u32::from(bench.clock(&clock).fence);
    }
    assert_eq!(fences, 50);
}

#[test]
fn reset_drops_what_waits_and_the_token_in_the_register() {
    let mut bench = Bench::new();
    let clock = Clock {
        packets: [Some(packet(2, plain(1))), None],
        room: [true; 2],
        ..Clock::default()
    };
    assert!(bench.clock(&clock).packets[0]);
    assert!(bench.clock(&clock).issued(0));
    let seen = bench.clock(&Clock {
        reset: true,
        ..clock
    });
    assert!(seen.out.is_none());
    // After the reset nothing is in flight, so the spacing does not apply; and no packet of before is left.
    let idle = Clock {
        packets: [None, None],
        ..clock
    };
    assert!(bench.clock(&idle).out.is_none());
    assert!(bench.clock(&clock).packets[0]);
    assert!(bench.clock(&clock).issued(0));
}
