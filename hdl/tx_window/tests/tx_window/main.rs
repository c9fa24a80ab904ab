//! `tx_window` against the reference, operation by operation.

mod burst;
mod departing;
mod newly_acked;
mod pool;
mod server;
mod steps;

use burst::Pace;
use hdl_testkit::equivalence::{check, Random, TestRng};
use hdl_testkit::tools;
use hdl_tx_window::TxWindow;
use proptest::prelude::*;
use rand::Rng;
use rust_hdl::prelude::*;
use server::Server;
use stellar_transport::requester::{SackView, Sent, SlotState, SLOTS};
use stellar_transport::rx::Psn;
use stellar_transport::spray::EvIndex;
use stellar_transport::time::Ticks;
use stellar_wire::hw::window::{SentPacket, WindowOp, WindowRequest};

/// Four queue pairs, and the pool of the card.
type Small = TxWindow<2, 9, 12>;

fn sent(at: u32, length: u16, ev: u8) -> Sent {
    Sent {
        ev: EvIndex::new(ev).expect("below 144"),
        plane: ev & 1,
        at: Ticks(at),
        departed: Ticks(at.wrapping_add(77)),
        again: false,
        retries: 0,
        length,
        slot: at as u16,
    }
}

/// Returns the SACK of one packet that also acknowledges everything up to `cack`.
fn sack_of(acked: Psn, cack: Psn) -> SackView {
    SackView {
        cack,
        acked,
        base: Psn::new(acked.value() & !63),
        bitmap: 1 << (acked.value() % 64),
    }
}

fn random_packet(rng: &mut TestRng) -> SentPacket {
    SentPacket {
        ev: Bits::random(rng),
        at: Bits::random(rng),
        is_retransmit: rng.random(),
        retries: Bits::random(rng),
        length: Bits::random(rng),
        slot: Bits::random(rng),
    }
}

/// Generates any request, valid or not, with PSNs close together.
fn random_request(rng: &mut TestRng) -> WindowRequest {
    let ops = [
        WindowOp::Query,
        WindowOp::Allocate,
        WindowOp::Allocate,
        WindowOp::Allocate,
        WindowOp::MarkRetransmitted,
        WindowOp::Read,
        WindowOp::Sack,
        WindowOp::Sack,
        WindowOp::MarkLost,
        WindowOp::MarkLost,
        WindowOp::NextInFlight,
    ];
    let near = |rng: &mut TestRng| rng.random_range(0..12_u64).to_bits::<24>();
    WindowRequest {
        op: ops[rng.random_range(0..ops.len())],
        qp: rng.random_range(0..2_u64).to_bits(),
        psn: near(rng),
        sent: random_packet(rng),
        count: rng.random_range(0..33_u64).to_bits(),
        bytes: Bits::random(rng),
        cack: near(rng),
        acked: near(rng),
        base: near(rng),
        bitmap: rng.random_range(0..32_u64).to_bits(),
        stamp: Bits::random(rng),
    }
}

#[test]
fn verilog_agrees_with_rust_hdl() {
    // With few blocks, so that it does not sweep for most of the time.
    type Few = TxWindow<2, 3, 6>;
    let drive = |block: &mut Few, rng: &mut TestRng| {
        block.reset.next = rng.random_bool(0.01);
        block.request.valid.next = rng.random_bool(0.8);
        block.request.record.next = random_request(rng);
        block.sent_packet.valid.next = rng.random_bool(0.6);
        block.sent_packet.record.next = random_packet(rng);
    };
    check(Few::default, Some(|b| &mut b.clock), drive, 1_000, 1).unwrap();
}

#[test]
fn lints_in_verilator_parses_in_icarus_and_elaborates_in_yosys_without_latches() {
    tools::assert_clean::<Small>();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_operations_agree_with_the_reference(
        first in prop::array::uniform4(steps::psn()),
        steps in prop::collection::vec((0..4_usize, prop_oneof![6 => Just(0_usize), 1 => 1..4_usize], steps::step()), 1..200),
    ) {
        let mut server = Server::new(&first);
        for (qp, gap, step) in &steps {
            server.rest(*gap);
            step.run(&mut server, *qp);
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_operations_of_windows_that_find_no_block_agree_with_the_reference(
        first in prop::array::uniform4(steps::psn()),
        steps in prop::collection::vec((0..4_usize, prop_oneof![6 => Just(0_usize), 1 => 1..4_usize], steps::step()), 1..200),
    ) {
        let mut server = Server::with_two_blocks(&first);
        for (qp, gap, step) in &steps {
            server.rest(*gap);
            step.run(&mut server, *qp);
        }
    }
}

/// Fills the window of queue pair 0 in bursts of 32.
fn fill(server: &mut Server, packet: impl Fn(u32) -> Sent) {
    let packets: Vec<Sent> = (0..SLOTS).map(packet).collect();
    for burst in packets.chunks(32) {
        server.burst(0, burst, &Pace::full(burst.len()));
    }
}

#[test]
fn a_full_window_is_acknowledged_from_its_end_and_moves_at_once() {
    for first in [0, 31, 0xff_f001] {
        let first = Psn::new(first);
        let mut server = Server::new(&[first.value()]);
        fill(&mut server, |i| sent(i, 4000, (i % 144) as u8));
        // Every packet but the first, from the last one on: 63 in each SACK, and one that it answers.
        for i in (1..SLOTS).rev().step_by(64) {
            let base = i.saturating_sub(63).max(1);
            let view = SackView {
                cack: first.previous(),
                acked: first.plus(i),
                base: first.plus(base),
                bitmap: (1 << (i - base)) - 1,
            };
            server.sack(0, &view, i as u16);
            assert_eq!(server.windows[0].una(), first);
        }
        server.next_in_flight(0, first);
        server.sack(0, &sack_of(first, first), 0);
        assert_eq!(server.windows[0].una(), first.plus(SLOTS));
        // The slots have been cleared.
        server.push(0, sent(7, 1, 3));
        server.next_in_flight(0, first.plus(SLOTS));
    }
}

#[test]
fn one_sack_acknowledges_a_full_window_half_of_it_lost() {
    for first in [37, 0xff_fe20] {
        let first = Psn::new(first);
        let mut server = Server::new(&[first.value()]);
        fill(&mut server, |i| sent(i, 1 + i as u16, (i % 144) as u8));
        for i in (0..SLOTS).step_by(2) {
            server.lose(0, first.plus(i), 1);
        }
        let last = first.plus(SLOTS - 1);
        server.sack(0, &sack_of(last, last), 0);
        assert_eq!(server.windows[0].una(), server.windows[0].next());
        // One cycle per four packets, and a few.
        assert!(server.took <= SLOTS / 4 + 10, "{}", server.took);
    }
}

#[test]
fn every_lost_packet_is_sent_again_in_order() {
    let first = Psn::new(0xff_fff0);
    let mut server = Server::new(&[0, first.value()]);
    for i in 0..600 {
        server.push(1, sent(i, 100, (i % 7) as u8));
    }
    for i in (0..600).rev().step_by(37) {
        server.lose(1, first.plus(i), 3);
    }
    for plane in [0, 1] {
        while let Some(psn) = server.windows[1].first_lost(plane) {
            server.resend(1, psn, sent(9, 100, 1 - plane));
            assert_eq!(server.windows[1].state(psn), SlotState::InFlight);
        }
    }
    server.query(1, first);
}

#[test]
fn the_operations_of_a_packet_take_few_cycles() {
    let mut server = Server::new(&[100]);
    for i in 0..8 {
        server.push(0, sent(i, 4096, 0));
    }
    let psn = |i: u32| Psn::new(100 + i);
    let cycles = |server: &mut Server, view: SackView| {
        server.sack(0, &view, 0);
        server.took
    };
    // SACKs in order; out of order; again; of two packets, of which one is not the answered one; without anything new.
    assert_eq!(cycles(&mut server, sack_of(psn(0), psn(0))), 4);
    assert_eq!(cycles(&mut server, sack_of(psn(4), psn(0))), 4);
    assert_eq!(cycles(&mut server, sack_of(psn(4), psn(0))), 4);
    assert_eq!(cycles(&mut server, sack_of(psn(2), psn(2))), 6);
    let nothing = SackView {
        bitmap: 0,
        ..sack_of(psn(0), psn(0))
    };
    assert_eq!(cycles(&mut server, nothing), 4);
    server.next_in_flight(0, psn(4));
    assert_eq!(server.took, 6);
    // The next packet in flight is in the next block.
    for i in 8..60 {
        server.push(0, sent(i, 4096, 0));
    }
    for i in 4..28 {
        server.sack(0, &sack_of(psn(i), psn(2)), 0);
    }
    server.next_in_flight(0, psn(4));
    assert_eq!(server.took, 7);
}

#[test]
fn operations_on_one_packet_after_the_other_pass_each_block_once() {
    let first = Psn::new(100);
    let mut server = Server::new(&[100]);
    for _ in 0..32 {
        let long = steps::packets(32, sent(1, 100, 2));
        server.burst(0, &long, &Pace::full(32));
    }
    server.let_leave();
    let mut total = 0;
    for i in 0..1024 {
        server.next_in_flight(0, first.plus(i));
        total += server.took;
        server.lose(0, first.plus(i), 1);
        total += server.took;
    }
    // 6 for the search, 4 for the loss, and 1 for each of 33 blocks.
    assert!(total <= 1024 * 10 + 33, "{total} cycles");
}

#[test]
fn a_sack_reads_four_packets_of_a_block_per_clock() {
    for (packets, cycles) in [(1, 4), (2, 6), (5, 6), (9, 7), (16, 9), (32, 13), (64, 22)] {
        let mut server = Server::new(&[128]);
        fill(&mut server, |i| sent(i, 4096, 0));
        let last = Psn::new(128 + packets - 1);
        server.sack(0, &sack_of(last, last), 0);
        // After 32 and 64 packets the window begins in the next block. Its visit ends before the reads do.
        assert_eq!(server.took, cycles, "{packets} packets");
    }
    // Sixteen of two blocks: each has two reads, and the second one more cycle, as the answered packet is there.
    let mut server = Server::new(&[120]);
    fill(&mut server, |i| sent(i, 4096, 0));
    let last = Psn::new(135);
    server.sack(0, &sack_of(last, last), 0);
    assert_eq!(server.took, 10);
    // One packet, after which the window begins in the next block.
    let mut server = Server::new(&[191]);
    fill(&mut server, |i| sent(i, 4096, 0));
    server.sack(0, &sack_of(Psn::new(191), Psn::new(191)), 0);
    assert_eq!(server.took, 5);
}

#[test]
fn a_burst_is_as_many_new_packets_and_what_follows_sees_them() {
    // Starts at ends of blocks, and of the PSN space.
    for first in [0, 40, 63, 0xff_ffe1, 0xff_ffff] {
        for count in [0, 1, 2, 31, 32] {
            let start = Psn::new(first);
            let last = start.plus(count).previous();
            let packets = steps::packets(count as usize, sent(7, 4000, 5));
            let burst = |server: &mut Server, qp: usize| {
                server.burst(qp, &packets, &Pace::full(packets.len()));
            };
            for other in [0, 1] {
                let mut server = Server::new(&[first, first]);
                burst(&mut server, 1);
                burst(&mut server, 0);
                server.query(other, start);
                burst(&mut server, 0);
                server.next_in_flight(other, start);
                burst(&mut server, 0);
                server.read(other, last);
                if count > 0 {
                    burst(&mut server, 0);
                    server.lose(other, last, 9);
                    burst(&mut server, 0);
                    server.resend(other, last, sent(3, 10, 1));
                    burst(&mut server, 0);
                    server.sack(other, &sack_of(last, last), 0);
                }
                // Many blocks.
                for _ in 0..20 {
                    let long = steps::packets(32, sent(1, 4096, 2));
                    server.burst(0, &long, &Pace((0..32).map(|i| i % 3).collect()));
                }
                let una = server.windows[0].una();
                server.next_in_flight(0, una);
                server.sack(0, &sack_of(last, last), 0);
            }
        }
    }
}

#[test]
fn reset_drops_the_operation_under_way() {
    let mut server = Server::new(&[5, 6]);
    server.push(0, sent(1, 1000, 1));
    let request = WindowRequest {
        op: WindowOp::Sack,
        acked: 5_u64.to_bits(),
        cack: 5_u64.to_bits(),
        ..WindowRequest::default()
    };
    let push = WindowRequest {
        op: WindowOp::Allocate,
        ..request
    };
    let cut = (1..=4).map(|cycles| (request, cycles));
    for (request, cycles) in cut.chain((1..=3).map(|cycles| (push, cycles))) {
        server.start(request, cycles);
        assert!(!server.is_ready());
        server.restart();
        assert!(server.is_ready() && !server.answers());
        server.rest(6);
        server.configure(0, Psn::new(5));
        server.push(0, sent(1, 1000, 1));
    }
}

#[test]
fn a_size_that_cannot_be_is_refused() {
    for make in [
        || drop(TxWindow::<2, 9, 11>::default()),
        || drop(TxWindow::<17, 9, 12>::default()),
        || drop(TxWindow::<2, 11, 14>::default()),
    ] {
        let panic = std::panic::catch_unwind(make).expect_err("refused");
        let message = panic.downcast_ref::<String>().expect("a message");
        assert!(message.contains("B = 1 (2 blocks of 32 packets) to 10 and S = B + 3"));
    }
}
