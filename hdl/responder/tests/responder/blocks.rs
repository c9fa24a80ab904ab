//! Each block's rust-hdl simulation against its Verilated Verilog, cycle by cycle, and the Verilog against the tools.

use hdl_responder::count_records::{Arrival, CountedPacket, MissingQuery};
use hdl_responder::missing_count::MissingCount;
use hdl_responder::records::{RingWords, StashPart, StashRequest, StashWork};
use hdl_responder::{ImmCounter, ImmediateStash};
use hdl_testkit::equivalence::{check, Random, TestRng};
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::hw::ack::{AckKind, AckRequest};
use stellar_wire::hw::frame::Position;
use stellar_wire::hw::receive::RxOutcome;
use stellar_wire::hw::responder::ResponderConfig;

use crate::bench::SmallResponder;

/// Numbers that meet each other.
fn near<const N: usize>(rng: &mut TestRng) -> Bits<N> {
    rng.random_range(0..8_u64).to_bits()
}

/// Parts of the stash that overlap.
fn part(rng: &mut TestRng) -> StashPart {
    StashPart {
        first: near(rng),
        log2: rng.random_range(0..=8_u64).to_bits(),
    }
}

fn outcome(rng: &mut TestRng) -> RxOutcome {
    let kinds = [
        AckKind::Sack,
        AckKind::Sack,
        AckKind::Nack,
        AckKind::Ack,
        AckKind::Nak,
    ];
    let positions = [
        Position::First,
        Position::Middle,
        Position::Last,
        Position::Only,
    ];
    RxOutcome {
        qp: near(rng),
        port: Bit::random(rng),
        accepted: rng.random_ratio(3, 4),
        mrc: rng.random_ratio(3, 4),
        position: positions[rng.random_range(0..4)],
        psn: bit_cast(Bits::<10>::random(rng)),
        ack_req: rng.random_ratio(1, 8),
        lost: rng.random_ratio(1, 32),
        epsn: bit_cast(Bits::<9>::random(rng)),
        has_immediate: Bit::random(rng),
        immediate: Bits::random(rng),
        msn: Bits::random(rng),
        rqmsn: near(rng),
        dma_length: rng.random_range(0..3000_u64).to_bits(),
        payload_length: Bits::random(rng),
        ack_valid: rng.random_ratio(7, 8),
        ack: AckRequest {
            kind: kinds[rng.random_range(0..5)],
            psn: Bits::random(rng),
            msn: Bits::random(rng),
            // Seldom fatal.
            syndrome: if rng.random_ratio(1, 30) {
                25_u64
            } else {
                0x60
            }
            .to_bits(),
            cack_psn: Bits::random(rng),
            bitmap_base: Bits::random(rng),
            bitmap: Bits::random(rng),
            ecn_ce: rng.random_ratio(1, 8),
            entropy: Bits::random(rng),
            has_timestamp: Bit::random(rng),
            timestamp: Bits::random(rng),
            ..AckRequest::default()
        },
        probe: rng.random_ratio(1, 8),
        probe_id: Bits::random(rng),
    }
}

/// Tests the block with the card's parameters: memories for 1,024 queue pairs.
#[test]
fn the_tools_take_the_full_size() {
    let mut block = <hdl_responder::Responder>::default();
    block.connect_all();
    let design = hdl_verilog::emit(&block).unwrap();
    hdl_testkit::tools::check(&design).unwrap();
}

#[test]
fn responder() {
    check(
        SmallResponder::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 200);
            uut.plane_up.next = Bits::random(rng);
            uut.outcome.valid.next = rng.random_ratio(3, 4);
            uut.outcome.record.next = outcome(rng);
            uut.settings.valid.next = rng.random_ratio(1, 20);
            uut.settings.qp.next = near(rng);
            uut.settings.record.next = ResponderConfig {
                mrc: Bit::random(rng),
                mtu_log2: rng.random_range(8..=13_u64).to_bits(),
                initial_psn: near(rng),
                max_wimm: near(rng),
                stash: near(rng),
                log2_stash: rng.random_range(0..=8_u64).to_bits(),
                sack_every: rng.random_range(1..=63_u64).to_bits(),
                completions: Bit::random(rng),
            };
            uut.arm.valid.next = rng.random_ratio(1, 10);
            uut.arm.qp.next = near(rng);
            uut.arm.threshold.next = near(rng);
            uut.visit.valid.next = rng.random_ratio(1, 10);
            uut.visit.qp.next = near(rng);
            uut.visit.port.next = Bit::random(rng);
            uut.visit.forgets.next = rng.random_ratio(1, 4);
            uut.now.next = Bits::random(rng);
            uut.good.valid.next = rng.random_ratio(1, 4);
            uut.good.qp.next = near(rng);
            uut.good.plane.next = Bit::random(rng);
            uut.good.entropy.next = Bits::random(rng);
            uut.answer.ready.next = rng.random_ratio(3, 4);
            uut.completion.ready.next = rng.random_ratio(3, 4);
            uut.threshold.ready.next = rng.random_ratio(3, 4);
            uut.failed.ready.next = rng.random_ratio(3, 4);
        },
        600,
        1,
    )
    .unwrap();
}

#[test]
fn immediate_stash() {
    check(
        ImmediateStash::<8, 9>::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 200);
            uut.request_valid.next = Bit::random(rng);
            uut.stores.next = rng.random_ratio(1, 4);
            uut.next_part.next = part(rng);
            uut.next_rqmsn.next = near(rng);
            let epsn: Bits<8> = Bits::random(rng);
            uut.request.next = StashRequest {
                work: StashWork {
                    passes: rng.random_ratio(1, 4),
                    delivers: Bit::random(rng),
                    seeks: rng.random_ratio(1, 4),
                },
                qp: near(rng),
                part: part(rng),
                psn: rng.random_range(0..1200_u64).to_bits(),
                epsn: bit_cast(epsn),
                completions: Bit::random(rng),
                front: near(rng),
                held: Bits::random(rng),
                immediate: Bits::random(rng),
                length: rng.random_range(0..300_000_u64).to_bits(),
                msn: Bits::random(rng),
                slot: near(rng),
            };
            uut.completion_ready.next = Bit::random(rng);
        },
        1500,
        2,
    )
    .unwrap();
}

#[test]
fn imm_counter() {
    check(
        ImmCounter::<2, 9, 9>::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 200);
            uut.arrival.valid.next = rng.random_ratio(3, 4);
            uut.arrival.data.next = Arrival {
                packet: CountedPacket {
                    qp: near(rng),
                    psn: bit_cast(Bits::<9>::random(rng)),
                    slot: near(rng),
                    span: bit_cast(Bits::<7>::random(rng)),
                    counts: rng.random_ratio(1, 4),
                    stores: rng.random_ratio(1, 8),
                    measures: rng.random_ratio(1, 8),
                    counts_down: rng.random_ratio(1, 2),
                    arms: rng.random_ratio(1, 4),
                    threshold: near(rng),
                    restarts: rng.random_ratio(1, 16),
                },
                notes: rng.random_ratio(3, 4),
                bitmap: Bits::random(rng),
                epsn: bit_cast(Bits::<8>::random(rng)),
                in_order: rng.random_ratio(1, 8),
                touched: RingWords {
                    bits: Bits::random(rng),
                },
            };
            uut.threshold.ready.next = rng.random_ratio(3, 4);
        },
        3000,
        4,
    )
    .unwrap();
}

#[test]
fn missing_count() {
    check(
        MissingCount::<2, 9>::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 100);
            uut.note_valid.next = Bit::random(rng);
            uut.note_qp.next = near(rng);
            uut.note_word.next = Bits::random(rng);
            uut.note_bits.next = Bits::random(rng);
            uut.start.next = rng.random_ratio(1, 10);
            uut.query.next = MissingQuery {
                qp: near(rng),
                touched: RingWords {
                    bits: Bits::random(rng),
                },
                from: Bits::random(rng),
                to: Bits::random(rng),
                count: Bits::random(rng),
            };
        },
        1500,
        3,
    )
    .unwrap();
}
