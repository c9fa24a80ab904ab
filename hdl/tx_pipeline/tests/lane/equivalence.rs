//! Each block, and the lane: the rust-hdl simulation and the Verilog agree, and the Verilog is clean.

use hdl_testkit::equivalence::{check, Random, TestRng};
use hdl_tx_pipeline::{AnswerQueue, PayloadMux, TxLane, TxPacketBuilder};
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use stellar_wire::hw::payload::PayloadSource;
use stellar_wire::hw::read::ReadBeat;
use stellar_wire::hw::requester::{TxAnswer, TxRequest};

use crate::lane::items::Packet;
use crate::lane::routes::{vector_of, Tables, QPS, QP_BITS};

fn answer(tables: &Tables, rng: &mut TestRng) -> TxAnswer {
    match tables.answer(rng).packet {
        Packet::Answer(answer) => *answer,
        Packet::Request { .. } => unreachable!("an answer"),
    }
}

fn request(tables: &Tables, rng: &mut TestRng) -> TxRequest {
    match tables.request(rng, 8192).packet {
        Packet::Request { request, .. } => *request,
        Packet::Answer(_) => unreachable!("a request"),
    }
}

fn read_beat(rng: &mut TestRng) -> ReadBeat {
    ReadBeat {
        bytes: Bits::random(rng),
        last: rng.random_bool(0.4),
        error: rng.random_bool(0.2),
        user: Bits::random(rng),
    }
}

#[test]
fn tx_packet_builder_is_its_verilog() {
    let tables = Tables::random(&mut TestRng::seed_from_u64(1));
    // Payload beats that were requested and not freed yet: at most that many may be freed. Headers likewise.
    let mut owed = 0;
    let mut headers = [0; 2];
    check(
        TxPacketBuilder::<QP_BITS, 6, 7>::default,
        Some(|u| &mut u.clock),
        move |u, rng| {
            if u.packet.valid.val() {
                owed += u.packet.record.val().payload_length.index().div_ceil(64);
                headers[usize::from(u.packet_answers.val())] += 1;
            }
            let mut frees = headers.map(|waiting| waiting > 0 && rng.random_bool(0.2));
            for (waiting, frees) in headers.iter_mut().zip(&mut frees) {
                *waiting -= usize::from(*frees);
            }
            [u.request_freed.next, u.answer_freed.next] = frees;
            u.reset.next = false;
            u.port_config.next = tables.config();
            u.address.valid.next = rng.random_bool(0.2);
            u.address.vector.next = u64::from(vector_of(rng.random_range(0..QPS))).to_bits();
            let way = rng.random_range(0..QPS);
            u.address.record.next = tables.routes[way].address(tables.port);
            u.peer.valid.next = rng.random_bool(0.2);
            u.peer.qp.next = Bits::random(rng);
            u.peer.record.next = tables.routes[way].peer(vector_of(rng.random_range(0..QPS)));
            u.peer.record.next.valid = rng.random_bool(0.8);
            u.answer.valid.next = rng.random_bool(0.2);
            u.answer.record.next = answer(&tables, rng);
            u.request.valid.next = rng.random_bool(0.7);
            u.request.record.next = request(&tables, rng);
            u.read.ready.next = rng.random_bool(0.8);
            let free = if rng.random_bool(0.3) {
                rng.random_range(0..=owed.min(64))
            } else {
                0
            };
            owed -= free;
            u.payload_freed.next = (free as u64).to_bits();
        },
        400,
        31,
    )
    .unwrap();
}

#[test]
fn payload_mux_is_its_verilog() {
    check(
        PayloadMux::<512>::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.reset.next = rng.random_ratio(1, 100);
            // Slower than payload, so that the sources find space.
            u.source.valid.next = rng.random_bool(0.2);
            u.source.record.next = PayloadSource {
                inline: rng.random_bool(0.3),
                inline_data: Bits::random(rng),
            };
            u.read.valid.next = rng.random_bool(0.8);
            u.read.data.next = Bits::random(rng);
            u.read.beat.next = read_beat(rng);
            u.payload_ready.next = rng.random_bool(0.8);
            u.fault.ready.next = rng.random_bool(0.1);
        },
        400,
        32,
    )
    .unwrap();
}

#[test]
fn answer_queue_is_its_verilog() {
    let tables = Tables::random(&mut TestRng::seed_from_u64(4));
    check(
        AnswerQueue::default,
        Some(|u| &mut u.clock),
        move |u, rng| {
            u.reset.next = rng.random_ratio(1, 300);
            u.port_up.next = rng.random_ratio(9, 10);
            u.in_.valid.next = rng.random_bool(0.7);
            u.in_.record.next = answer(&tables, rng);
            u.out.ready.next = rng.random_bool(0.5);
        },
        400,
        34,
    )
    .unwrap();
}

#[test]
fn tx_lane_is_its_verilog() {
    let tables = Tables::random(&mut TestRng::seed_from_u64(3));
    check(
        TxLane::<QP_BITS, 512, 64, 6, 8, 9>::default,
        Some(|u| &mut u.clock),
        move |u, rng| {
            u.reset.next = false;
            u.port_config.next = tables.config();
            u.address.valid.next = rng.random_bool(0.3);
            u.address.vector.next = u64::from(vector_of(rng.random_range(0..QPS))).to_bits();
            let way = rng.random_range(0..QPS);
            u.address.record.next = tables.routes[way].address(tables.port);
            u.peer.valid.next = rng.random_bool(0.2);
            u.peer.qp.next = Bits::random(rng);
            u.peer.record.next = tables.routes[way].peer(vector_of(rng.random_range(0..QPS)));
            u.peer.record.next.valid = rng.random_bool(0.8);
            u.answer.valid.next = rng.random_bool(0.4);
            u.answer.record.next = answer(&tables, rng);
            u.request.valid.next = rng.random_bool(0.7);
            u.request.record.next = request(&tables, rng);
            u.read.ready.next = rng.random_bool(0.8);
            // Failed reads are whole after one beat, so frames and payload stay together.
            u.payload.valid.next = rng.random_bool(0.5);
            u.payload.data.next = Bits::random(rng);
            u.payload.beat.next = ReadBeat {
                last: true,
                error: true,
                ..read_beat(rng)
            };
            u.fault.ready.next = rng.random_bool(0.3);
            u.mac.ready.next = rng.random_bool(0.8);
        },
        120,
        33,
    )
    .unwrap();
}
