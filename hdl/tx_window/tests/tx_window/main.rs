//! `tx_window` against the reference, operation by operation.

mod server;
mod steps;

use std::sync::OnceLock;

use hdl_tx_window::TxWindow;
use hdl_verilog::equivalence::{check, Random, TestRng};
use proptest::prelude::*;
use rand::Rng;
use rust_hdl::prelude::*;
use server::Server;
use sim_verilated::Library;
use stellar_transport::requester::{SackView, Sent, SlotState, SLOTS};
use stellar_transport::rx::Psn;
use stellar_transport::spray::EvIndex;
use stellar_transport::time::Ticks;
use stellar_wire::hw::window::{SentPacket, WindowOp, WindowRequest};

/// Four queue pairs.
type Small = TxWindow<2, 12>;

fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let mut block = Small::default();
        block.connect_all();
        let design = hdl_verilog::emit(&block).expect("tx_window elaborates");
        design.model().build().expect("tx_window verilates")
    })
}

fn sent(at: u32, length: u16, ev: u8) -> Sent {
    Sent {
        ev: EvIndex::new(ev).expect("below 144"),
        plane: ev & 1,
        at: Ticks(at),
        retries: 0,
        length,
        slot: at as u16,
    }
}

/// The SACK of one packet, and everything up to `cack`.
fn sack_of(acked: Psn, cack: Psn) -> SackView {
    SackView {
        cack,
        acked,
        base: Psn::new(acked.value() & !63),
        bitmap: 1 << (acked.value() % 64),
    }
}

/// Any request, good or senseless, whose PSNs lie close together.
fn random_request(rng: &mut TestRng) -> WindowRequest {
    let ops = [
        WindowOp::Query,
        WindowOp::Push,
        WindowOp::Push,
        WindowOp::Push,
        WindowOp::Resend,
        WindowOp::Read,
        WindowOp::Sack,
        WindowOp::Sack,
        WindowOp::Lose,
        WindowOp::Lose,
        WindowOp::NextInFlight,
    ];
    let near = |rng: &mut TestRng| rng.random_range(0..12_u64).to_bits::<24>();
    WindowRequest {
        op: ops[rng.random_range(0..ops.len())],
        qp: rng.random_range(0..2_u64).to_bits(),
        psn: near(rng),
        sent: SentPacket {
            ev: Bits::random(rng),
            at: Bits::random(rng),
            retries: Bits::random(rng),
            length: Bits::random(rng),
            slot: Bits::random(rng),
        },
        cack: near(rng),
        acked: near(rng),
        base: near(rng),
        bitmap: rng.random_range(0..32_u64).to_bits(),
        stamp: Bits::random(rng),
    }
}

#[test]
fn verilog_agrees_with_rust_hdl() {
    let drive = |block: &mut Small, rng: &mut TestRng| {
        block.reset.next = rng.random_bool(0.01);
        block.request_valid.next = rng.random_bool(0.8);
        block.request.next = random_request(rng);
    };
    check(Small::default, Some(|b| &mut b.clock), drive, 400, 1).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_operations_agree_with_the_reference(
        first in prop::array::uniform4(steps::psn()),
        steps in prop::collection::vec((0..4_usize, prop_oneof![6 => Just(0_usize), 1 => 1..4_usize], steps::step()), 1..200),
    ) {
        let mut server = Server::new(library(), &first);
        for (qp, gap, step) in &steps {
            server.rest(*gap);
            step.run(&mut server, *qp);
        }
    }
}

#[test]
fn a_full_window_is_acknowledged_from_its_end_and_moves_at_once() {
    for first in [0, 1, 63, 0x1_0007c0, 0xff_fc01, 0xff_ffff] {
        let first = Psn::new(first & 0xff_ffff);
        let mut server = Server::new(library(), &[first.value()]);
        for i in 0..SLOTS {
            server.push(0, sent(i, 4096, (i % 144) as u8));
        }
        for i in (1..SLOTS).rev() {
            server.sack(0, &sack_of(first.plus(i), first.previous()), i as u16);
            assert_eq!(server.windows[0].una(), first);
        }
        server.next_in_flight(0, first);
        server.sack(0, &sack_of(first, first), 0);
        assert_eq!(server.windows[0].una(), first.plus(SLOTS));
        // The slots are clean again.
        server.push(0, sent(7, 1, 3));
        server.next_in_flight(0, first.plus(SLOTS));
    }
}

#[test]
fn one_sack_acknowledges_a_full_window_half_of_it_lost() {
    for first in [0, 37, 64, 0xff_fe20] {
        let first = Psn::new(first);
        let mut server = Server::new(library(), &[first.value()]);
        for i in 0..SLOTS {
            server.push(0, sent(i, 1 + i as u16, (i % 144) as u8));
        }
        for i in (0..SLOTS).step_by(2) {
            server.lose(0, first.plus(i), 1);
        }
        let last = first.plus(SLOTS - 1);
        server.sack(0, &sack_of(last, last), 0);
        assert_eq!(server.windows[0].una(), server.windows[0].next());
        // One clock per packet, and a few for each of up to 17 words.
        assert!(server.took <= SLOTS + 17 * 2 + 20, "{}", server.took);
    }
}

#[test]
fn every_lost_packet_is_sent_again_in_order() {
    let first = Psn::new(0xff_fff0);
    let mut server = Server::new(library(), &[0, first.value()]);
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
fn the_operations_of_a_packet_take_few_clocks() {
    let mut server = Server::new(library(), &[100]);
    for i in 0..8 {
        server.push(0, sent(i, 4096, 0));
    }
    let psn = |i: u32| Psn::new(100 + i);
    let clocks = |server: &mut Server, view: SackView| {
        server.sack(0, &view, 0);
        server.took
    };
    // In order; out of order; again, in a word that others may be news of; two packets, of which one was not answered; nothing new at all.
    assert_eq!(clocks(&mut server, sack_of(psn(0), psn(0))), 8);
    assert_eq!(clocks(&mut server, sack_of(psn(4), psn(0))), 7);
    assert_eq!(clocks(&mut server, sack_of(psn(4), psn(0))), 7);
    assert_eq!(clocks(&mut server, sack_of(psn(2), psn(2))), 9);
    let nothing = SackView {
        bitmap: 0,
        ..sack_of(psn(0), psn(0))
    };
    assert_eq!(clocks(&mut server, nothing), 4);
    server.next_in_flight(0, psn(4));
    assert_eq!(server.took, 6);
    // The next packet in flight is in the next word.
    for i in 8..60 {
        server.push(0, sent(i, 4096, 0));
    }
    for i in 4..28 {
        server.sack(0, &sack_of(psn(i), psn(2)), 0);
    }
    server.next_in_flight(0, psn(4));
    assert_eq!(server.took, 8);
}

#[test]
fn reset_drops_the_operation_under_way() {
    let mut server = Server::new(library(), &[5, 6]);
    server.push(0, sent(1, 1000, 1));
    let request = WindowRequest {
        op: WindowOp::Sack,
        acked: 5_u64.to_bits(),
        cack: 5_u64.to_bits(),
        ..WindowRequest::default()
    };
    for clocks in 1..8 {
        server.start(request, clocks);
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
        || drop(TxWindow::<2, 11>::default()),
        || drop(TxWindow::<11, 21>::default()),
    ] {
        let panic = std::panic::catch_unwind(make).expect_err("refused");
        let message = panic.downcast_ref::<String>().expect("a message");
        assert!(message.contains("use Q = 1 (2 queue pairs) to 10 (1,024) and S = Q + 10"));
    }
}
