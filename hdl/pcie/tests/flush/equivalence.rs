//! Each block's rust-hdl simulation against its Verilated Verilog, cycle by cycle.

use hdl_pcie::flush::flush_batches::FlushBatches;
use hdl_pcie::flush::records::{
    ArrivedBatch, BatchAddresses, ClosedBatch, CommandWrites, FailedFlush, FlushAnswer, FlushTag,
    ReadEnd,
};
use hdl_pcie::flush::{FlushFaults, FlushRetry, WriteFlush};
use hdl_testkit::equivalence::{check, Random, TestRng};
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::hw::read::{CompletionHeader, ReadTlpHeader};

/// A number below 2^`BITS`, so that few values occur and often meet.
fn small<const N: usize>(rng: &mut TestRng, below: u64) -> Bits<N> {
    rng.random_range(0..below).to_bits()
}

#[test]
fn flush_batches() {
    check(
        FlushBatches::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 200);
            uut.now.next = uut.now.val() + small::<32>(rng, 4);
            uut.timeout.next = bits(90);
            uut.closed.valid.next = Bit::random(rng);
            uut.closed.record.next = ClosedBatch {
                commands: small(rng, 3),
                fence: rng.random_ratio(1, 8),
                drain: rng.random_ratio(1, 8),
                reads_host: Bit::random(rng),
                reads_peer: Bit::random(rng),
            };
            uut.answer.valid.next = rng.random_ratio(3, 4);
            uut.answer.record.next = FlushAnswer {
                tag: FlushTag {
                    of_peer: Bit::random(rng),
                    batch: Bits::random(rng),
                    generation: small(rng, 2),
                },
                failed: rng.random_ratio(1, 4),
            };
            // A read is repeated while the batch is there, and is not taken.
            let repeats = uut.arrived.valid.val() && rng.random_ratio(1, 4);
            uut.again.valid.next = repeats;
            uut.again.record.next = Bit::random(rng);
            uut.arrived.ready.next = !repeats && Bit::random(rng);
        },
        1_000,
        1,
    )
    .unwrap();
}

#[test]
fn flush_faults() {
    check(
        FlushFaults::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 200);
            uut.asked.valid.next = Bit::random(rng);
            uut.asked.record.next = BatchAddresses {
                batch: Bits::random(rng),
                of_host: Bit::random(rng),
                of_peer: Bit::random(rng),
                host_dw: Bits::random(rng),
                peer_dw: Bits::random(rng),
            };
            uut.failed.valid.next = rng.random_ratio(1, 3);
            uut.failed.record.next = FailedFlush {
                batch: Bits::random(rng),
                of_peer: Bit::random(rng),
            };
            uut.fault.ready.next = rng.random_ratio(1, 4);
        },
        1_000,
        3,
    )
    .unwrap();
}

fn read_end(rng: &mut TestRng) -> ReadEnd {
    ReadEnd {
        failed: rng.random_ratio(1, 3),
        late: rng.random_ratio(1, 4),
        silent: rng.random_ratio(1, 8),
    }
}

#[test]
fn flush_retry() {
    check(
        FlushRetry::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 300);
            uut.left.valid.next = Bit::random(rng);
            uut.left.record.next = CommandWrites {
                address_dw: small::<62>(rng, 3) << 10,
                to_host: Bit::random(rng),
                to_peer: Bit::random(rng),
            };
            uut.batch.valid.next = Bit::random(rng);
            uut.batch.record.next = ArrivedBatch {
                commands: small::<10>(rng, 4) + 1,
                host: read_end(rng),
                peer: read_end(rng),
            };
            uut.again.ready.next = Bit::random(rng);
            uut.flushed.ready.next = rng.random_ratio(3, 4);
        },
        2_000,
        4,
    )
    .unwrap();
}

/// The test uses 128 bits, because wide lanes are slow in rust-hdl's simulation, and the width is a parameter of the same text.
#[test]
fn write_flush() {
    let mut cycle = 0;
    check(
        WriteFlush::<128>::default,
        Some(|u| &mut u.clock),
        move |uut, rng| {
            uut.reset.next = false;
            uut.timeout.next = bits(90);
            // A beat and a read that are offered stay.
            if !uut.write.valid.val() || uut.write.ready.val() {
                uut.write.valid.next = Bit::random(rng);
                uut.write.header.next = WriteTlpHeader {
                    address_dw: Bits::random(rng),
                    at: small::<2>(rng, 2) << 1,
                    ends: Bit::random(rng),
                    of_host_queue: Bit::random(rng),
                    message: rng.random_ratio(1, 8),
                    flush: Bit::random(rng),
                    device: small(rng, 2),
                    ..WriteTlpHeader::default()
                };
                uut.write.data.next = Bits::random(rng);
                uut.write.last.next = Bit::random(rng);
            }
            uut.read.valid.next = Bit::random(rng);
            uut.read.record.next = ReadTlpHeader {
                tag: Bits::random(rng),
                ..ReadTlpHeader::default()
            };
            uut.tlp.ready.next = rng.random_ratio(3, 4);
            uut.request.ready.next = Bit::random(rng);
            uut.completion.valid.next = Bit::random(rng);
            uut.completion.record.next = CompletionHeader {
                tag: Bits::random(rng) | small::<8>(rng, 2) << 7 | small::<8>(rng, 2) << 6,
                status: small(rng, 2),
                ..CompletionHeader::default()
            };
            uut.completion.last.next = Bit::random(rng);
            uut.completion.error.next = rng.random_ratio(1, 8);
            uut.placement.flushed_ready.next = Bit::random(rng);
            uut.fault.ready.next = Bit::random(rng);
            // A fence follows when the one before it is done.
            cycle += 1;
            uut.placement.fence.next = cycle % 900 == 20;
            uut.drain.next = cycle % 300 == 60;
            uut.placement.placed.next = Bit::random(rng);
            uut.queue_accepted.next = Bit::random(rng);
        },
        1_000,
        2,
    )
    .unwrap();
}
