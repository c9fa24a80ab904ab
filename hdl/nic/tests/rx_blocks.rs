//! The small blocks behind two lanes: their rust-hdl simulation and their Verilog agree, and the Verilog is clean.

use hdl_nic::{AckOrderQueue, FenceBarrier, PortCounters, StreamMerge, TxEvents};
use hdl_pcie::read::records::ReadEvents;
use hdl_testkit::equivalence::{check, Random, TestRng};
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::FlushedBatch;
use stellar_wire::hw::receive::RxOutcome;

#[test]
fn stream_merge_is_its_verilog() {
    check(
        StreamMerge::<Bits<20>>::default,
        Some(|b| &mut b.clock),
        |b, rng: &mut TestRng| {
            b.reset.next = rng.random_bool(0.02);
            (b.in_[0].valid.next, b.in_[1].valid.next) =
                (rng.random_bool(0.7), rng.random_bool(0.7));
            (b.in_[0].data.next, b.in_[1].data.next) = (Bits::random(rng), Bits::random(rng));
            b.out.ready.next = rng.random_bool(0.7);
        },
        400,
        1,
    )
    .unwrap();
}

#[test]
fn fence_barrier_is_its_verilog() {
    check(
        FenceBarrier::default,
        Some(|b| &mut b.clock),
        |b, rng: &mut TestRng| {
            b.reset.next = rng.random_bool(0.05);
            (b.passed0.next, b.passed1.next) = (rng.random(), rng.random());
        },
        400,
        2,
    )
    .unwrap();
}

#[test]
fn ack_order_queue_is_its_verilog() {
    // Inputs keep to the contract: as many payloads leave as were placed, and no more outcomes come than the queue has space for.
    let mut since = 3;
    let mut inside = 0;
    let (mut sent_owed, mut flush_owed) = ([0, 0], [0, 0]);
    check(
        <AckOrderQueue>::default,
        Some(|b| &mut b.clock),
        |b, rng: &mut TestRng| {
            b.reset.next = false;
            b.in_valid.next = since >= 3 && inside < 50 && rng.random_bool(0.5);
            b.in_placed.next = rng.random();
            b.in_flush.next = rng.random();
            b.in_outcome.next = RxOutcome {
                qp: u64::from(rng.random_range(2..5_u32)).to_bits(),
                port: rng.random(),
                psn: Bits::random(rng),
                ..RxOutcome::default()
            };
            since += 1;
            if b.in_valid.next {
                (since, inside) = (1, inside + 1);
                let lane = usize::from(b.in_outcome.next.port);
                let owed = if b.in_flush.next {
                    &mut flush_owed
                } else {
                    &mut sent_owed
                };
                owed[lane] += i32::from(b.in_placed.next);
            }
            for lane in 0..2 {
                b.sent[lane].next = sent_owed[lane] > 0 && rng.random_bool(0.3);
                sent_owed[lane] -= i32::from(b.sent[lane].next);
                let taken = b.flushed[lane].valid.next && b.flushed[lane].ready.val();
                if taken {
                    let commands = b.flushed[lane].record.next.commands;
                    flush_owed[lane] -= commands.to_u64() as i32;
                }
                if taken || !b.flushed[lane].valid.next {
                    b.flushed[lane].valid.next = flush_owed[lane] > 0 && rng.random_bool(0.3);
                    b.flushed[lane].record.next = FlushedBatch {
                        commands: (rng.random_range(1..=flush_owed[lane].max(1)) as u64).to_bits(),
                        failed: rng.random_bool(0.2),
                    };
                }
            }
            b.out_ready.next = rng.random_bool(0.8);
        },
        500,
        3,
    )
    .unwrap();
}

#[test]
fn port_counters_are_their_verilog() {
    check(
        PortCounters::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            let mut read = || ReadEvents {
                unexpected: rng.random(),
                bad: rng.random(),
                damaged: rng.random(),
                timed_out: rng.random(),
            };
            u.payload.next = read();
            u.entries.next = read();
            u.transmit.next = TxEvents {
                answer_dropped: rng.random(),
                frame_dropped: rng.random(),
                left_out: rng.random(),
                fault_lost: rng.random(),
            };
            u.flush_failed.next = rng.random();
            u.flush_timed_out.next = rng.random();
            u.request_refused.next = rng.random();
            u.request_damaged.next = rng.random();
            u.receive_overrun.next = rng.random();
            u.reset.next = rng.random_ratio(1, 100);
            u.select.next = Bits::random(rng);
        },
        200,
        9,
    )
    .unwrap();
}
