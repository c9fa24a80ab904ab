//! Each block, and the queues together: the rust-hdl simulation against its Verilated Verilog, clock by clock, and the Verilog against the tools.

use hdl_host_if::*;
use hdl_testkit::equivalence::{check, Random, TestRng};
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::host::registers;
use stellar_wire::hw::completer::BarAccess;
use stellar_wire::hw::config::{ConfigSelect, ConfigWrite};
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::hw::host_queues::RingConfig;
use stellar_wire::hw::messages::{Completion, WqeFetched};
use stellar_wire::hw::read::FailedRead;

fn bits<const N: usize>(rng: &mut TestRng, below: u64) -> Bits<N> {
    rng.random_range(0..below).to_bits()
}

fn completion(rng: &mut TestRng) -> Completion {
    Completion {
        qp: bits(rng, 4),
        status: Bits::random(rng),
        opcode: Bits::random(rng),
        wr_id: Bits::random(rng),
        byte_len: Bits::random(rng),
        immediate: Bits::random(rng),
        msn: Bits::random(rng),
        sq_head: Bits::random(rng),
    }
}

fn ring(rng: &mut TestRng) -> RingConfig {
    RingConfig {
        valid: rng.random_ratio(7, 8),
        interrupts: rng.random_ratio(7, 8),
        vector: bits(rng, 4),
        log2_entries: bits(rng, 4),
        base: Bits::random(rng),
        event_queue: bits(rng, 4),
    }
}

/// An access to one of the first eight words of a BAR below `bars`, or to its pending bits.
fn bar_access(rng: &mut TestRng, bars: u64) -> BarAccess {
    let offset = rng.random_range(0..9u64);
    BarAccess {
        write: rng.random_ratio(3, 4),
        bar: bits(rng, bars),
        address: if offset == 8 { 0x800 } else { 8 * offset }.to_bits(),
        data: Bits::random(rng),
        enable: Bits::random(rng),
    }
}

fn header(rng: &mut TestRng) -> WriteTlpHeader {
    WriteTlpHeader {
        address_dw: Bits::random(rng),
        at: Bits::random(rng),
        length_dw: Bits::random(rng),
        first_be: Bits::random(rng),
        last_be: Bits::random(rng),
        ends: Bit::random(rng),
        flush: Bit::random(rng),
        device: Bits::random(rng),
        of_host_queue: Bit::random(rng),
        message: Bit::random(rng),
        vector: Bits::random(rng),
    }
}

#[test]
fn registers() {
    check(
        Registers::<10, 12, 19>::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            let address = |rng: &mut TestRng| {
                let which = &registers::ALL[rng.random_range(0..registers::ALL.len())];
                let at = which.offset + 8 * rng.random_range(0..which.count);
                let stray = u16::from(rng.random_ratio(1, 20));
                u64::from(at + stray).to_bits::<16>()
            };
            uut.reset.next = rng.random_ratio(1, 200);
            uut.write.valid.next = rng.random_ratio(3, 4);
            uut.write.address.next = address(rng);
            uut.write.data.next = if Bit::random(rng) {
                Bits::random(rng)
            } else {
                (rng.random_range(0..20u64) << 32).to_bits()
            };
            uut.write.enable.next = if rng.random_ratio(3, 4) {
                255u64.to_bits()
            } else {
                Bits::random(rng)
            };
            uut.read.valid.next = Bit::random(rng);
            uut.read.address.next = address(rng);
            uut.port_up.next = Bits::random(rng);
            uut.interrupt_pending.next = Bits::random(rng);
            uut.counter_value.next = Bits::random(rng);
            uut.settings.ready.next = rng.random_ratio(1, 4);
            uut.fence.ready.next = rng.random_ratio(1, 4);
            uut.fence_done.next = rng.random_ratio(1, 4);
            uut.arm.ready.next = rng.random_ratio(1, 4);
        },
        600,
        1,
    )
    .unwrap();
}

#[test]
fn admin_queue() {
    check(
        AdminQueue::<10, 12, 19>::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 200);
            uut.admin.ring.valid.next = rng.random_ratio(1, 300);
            let word = rng.random::<u64>() & !0xfff | 0x100 | rng.random_range(0..16u64);
            uut.admin.ring.record.next = word.to_bits();
            uut.admin.producer.valid.next = rng.random_ratio(1, 16);
            uut.admin.producer.record.next = Bits::random(rng);
            uut.direct.valid.next = rng.random_ratio(1, 8);
            uut.direct.record.next = ConfigWrite {
                select: ConfigSelect::Mr,
                index: Bits::random(rng),
                entry: Bits::random(rng),
            };
            uut.settings.ready.next = rng.random_ratio(1, 2);
            uut.pending.next = rng.random_ratio(1, 4);
            uut.fetch.ready.next = rng.random_ratio(1, 2);
            uut.fetched.valid.next = rng.random_ratio(1, 2);
            // Commands of a few translations, and lists.
            let opcode = rng.random_range(0..4u64) << 56 | rng.random_range(0..16u64) << 32;
            let command =
                opcode.to_bits::<512>() | (rng.random_range(0..40u64).to_bits::<512>() << 128);
            uut.fetched.record.next = WqeFetched {
                qp: bits(rng, 1),
                error: rng.random_ratio(1, 40),
                behind: bits(rng, 3),
                line: command,
            };
        },
        1000,
        1,
    )
    .unwrap();
}

#[test]
fn doorbells() {
    let mut word = 0;
    check(
        Doorbells::<2, 1>::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 200);
            uut.write.valid.next = rng.random_ratio(3, 4);
            uut.write.page.next = bits(rng, 2);
            let offset: u64 = match rng.random_range(0..20) {
                0..3 => 0,
                3..5 => 8,
                5 => 40,
                6..8 => 128,
                _ => {
                    word = (word + 1) % 8;
                    64 + 8 * word
                }
            };
            uut.write.offset.next = offset.to_bits();
            let word = rng.random::<u64>() & !0xff_ffff | rng.random_range(0..5u64);
            uut.write.data.next = word.to_bits();
            uut.write.enable.next = if rng.random_ratio(7, 8) { 255u64 } else { 15 }.to_bits();
            uut.owner.valid.next = rng.random_ratio(1, 8);
            uut.owner.qp.next = Bits::random(rng);
            uut.owner.present.next = rng.random_ratio(3, 4);
            uut.owner.page.next = bits(rng, 2);
            uut.doorbell.ready.next = Bit::random(rng);
            uut.consumer.ready.next = Bit::random(rng);
            uut.refused.ready.next = Bit::random(rng);
        },
        1000,
        2,
    )
    .unwrap();
}

#[test]
fn completion_queues() {
    check(
        CompletionQueues::<2>::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 200);
            uut.send.valid.next = rng.random_ratio(1, 2);
            uut.send.record.next = completion(rng);
            uut.receive.valid.next = rng.random_ratio(1, 2);
            uut.receive.record.next = completion(rng);
            uut.settings.valid.next = rng.random_ratio(1, 30);
            uut.settings.qp.next = bits(rng, 4);
            uut.settings.record.next = ring(rng);
            uut.consumer.valid.next = rng.random_ratio(1, 2);
            uut.consumer.qp.next = bits(rng, 4);
            uut.consumer.index.next = bits(rng, 8);
            uut.consumer.arm.next = Bit::random(rng);
            uut.write.ready.next = rng.random_ratio(3, 4);
            uut.overrun.ready.next = rng.random_ratio(1, 2);
            uut.failed.ready.next = rng.random_ratio(1, 2);
        },
        800,
        3,
    )
    .unwrap();
}

#[test]
fn event_queues() {
    check(
        EventQueues::<2>::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 400);
            uut.qp_error.valid.next = rng.random_ratio(1, 4);
            uut.qp_error.qp.next = Bits::random(rng);
            uut.qp_error.status.next = Bits::random(rng);
            uut.overrun.valid.next = rng.random_ratio(1, 4);
            uut.overrun.qp.next = Bits::random(rng);
            uut.overrun.wr_id.next = Bits::random(rng);
            uut.imm_threshold.valid.next = rng.random_ratio(1, 4);
            uut.imm_threshold.qp.next = Bits::random(rng);
            uut.imm_threshold.count.next = Bits::random(rng);
            uut.doorbell_refused.valid.next = rng.random_ratio(1, 4);
            uut.doorbell_refused.page.next = Bits::random(rng);
            uut.doorbell_refused.qp.next = Bits::random(rng);
            uut.page_fault.valid.next = rng.random_ratio(1, 4);
            uut.page_fault.region.next = Bits::random(rng);
            uut.page_fault.va.next = Bits::random(rng);
            uut.failed_read.valid.next = rng.random_ratio(1, 4);
            uut.failed_read.record.next = FailedRead {
                kind: Bits::random(rng),
                source: Bits::random(rng),
                address: Bits::random(rng),
            };
            uut.settings.valid.next = rng.random_ratio(1, 20);
            uut.settings.queue.next = bits(rng, 4);
            uut.settings.record.next = ring(rng);
            uut.assigned.valid.next = rng.random_ratio(1, 8);
            uut.assigned.qp.next = Bits::random(rng);
            uut.assigned.record.next = bits(rng, 4);
            uut.consumer.valid.next = rng.random_ratio(1, 6);
            uut.consumer.queue.next = bits(rng, 4);
            uut.consumer.index.next = bits(rng, 20);
            uut.consumer.arm.next = Bit::random(rng);
            uut.write.ready.next = rng.random_ratio(3, 4);
        },
        800,
        4,
    )
    .unwrap();
}

#[test]
fn bar_decoder() {
    check(
        BarDecoder::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 100);
            uut.access.valid.next = rng.random_ratio(3, 4);
            uut.access.record.next = bar_access(rng, 8);
            uut.register_read.done.next = rng.random_ratio(1, 4);
            uut.register_read.data.next = Bits::random(rng);
            uut.doorbell_write.ready.next = Bit::random(rng);
            uut.vector_access.ready.next = Bit::random(rng);
            uut.vector_word.valid.next = rng.random_ratio(1, 4);
            uut.vector_word.data.next = Bits::random(rng);
            uut.vector_word.unsupported.next = rng.random();
        },
        500,
        9,
    )
    .unwrap();
}

#[test]
fn interrupts() {
    check(
        Interrupts::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 300);
            uut.completion_raise.valid.next = rng.random_ratio(1, 4);
            uut.completion_raise.vector.next = Bits::random(rng);
            uut.event_raise.valid.next = rng.random_ratio(1, 4);
            uut.event_raise.vector.next = Bits::random(rng);
            uut.access.valid.next = rng.random_ratio(1, 2);
            uut.access.record.next = bar_access(rng, 8);
            uut.enable.next = rng.random_ratio(7, 8);
            uut.function_mask.next = rng.random_ratio(1, 8);
            uut.returned.valid.next = rng.random_ratio(1, 8);
            uut.returned.record.next = Bits::random(rng);
            uut.write.ready.next = rng.random_ratio(3, 4);
        },
        800,
        5,
    )
    .unwrap();
}

fn host_writes_of<const W: usize>(seed: u64) {
    check(
        HostWrites::<W>::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 100);
            uut.completion.valid.next = Bit::random(rng);
            uut.completion.header.next = header(rng);
            uut.completion.data.next = Bits::random(rng);
            uut.event.valid.next = Bit::random(rng);
            uut.event.header.next = header(rng);
            uut.event.data.next = Bits::random(rng);
            uut.interrupt.valid.next = Bit::random(rng);
            uut.interrupt.header.next = header(rng);
            uut.interrupt.data.next = Bits::random(rng);
            uut.tlp.ready.next = rng.random_ratio(3, 4);
        },
        200,
        seed,
    )
    .unwrap();
}

#[test]
fn host_writes() {
    host_writes_of::<1024>(6);
    host_writes_of::<512>(7);
}

#[test]
fn host_queues() {
    check(
        HostQueues::<2, 512>::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 300);
            uut.send.valid.next = rng.random_ratio(1, 2);
            uut.send.record.next = completion(rng);
            uut.receive.valid.next = rng.random_ratio(1, 2);
            uut.receive.record.next = completion(rng);
            uut.qp_error.valid.next = rng.random_ratio(1, 4);
            uut.qp_error.qp.next = Bits::random(rng);
            uut.qp_error.status.next = Bits::random(rng);
            uut.imm_threshold.valid.next = rng.random_ratio(1, 4);
            uut.imm_threshold.qp.next = Bits::random(rng);
            uut.imm_threshold.count.next = Bits::random(rng);
            uut.doorbell_refused.valid.next = rng.random_ratio(1, 4);
            uut.doorbell_refused.page.next = Bits::random(rng);
            uut.doorbell_refused.qp.next = Bits::random(rng);
            uut.page_fault.valid.next = rng.random_ratio(1, 4);
            uut.page_fault.region.next = Bits::random(rng);
            uut.page_fault.va.next = Bits::random(rng);
            uut.failed_read.valid.next = rng.random_ratio(1, 4);
            uut.failed_read.record.next = FailedRead {
                kind: Bits::random(rng),
                source: Bits::random(rng),
                address: Bits::random(rng),
            };
            uut.completion_config.valid.next = rng.random_ratio(1, 30);
            uut.completion_config.qp.next = bits(rng, 4);
            uut.completion_config.record.next = ring(rng);
            uut.event_config.valid.next = rng.random_ratio(1, 20);
            uut.event_config.queue.next = bits(rng, 4);
            uut.event_config.record.next = ring(rng);
            uut.vector_access.valid.next = rng.random_ratio(1, 4);
            uut.vector_access.record.next = bar_access(rng, 8);
            uut.msix_enable.next = rng.random_ratio(7, 8);
            uut.msix_mask.next = rng.random_ratio(1, 8);
            uut.message_returned.valid.next = rng.random_ratio(1, 8);
            uut.message_returned.record.next = Bits::random(rng);
            uut.consumer.valid.next = rng.random_ratio(1, 2);
            uut.consumer.qp.next = bits(rng, 4);
            uut.consumer.index.next = bits(rng, 8);
            uut.consumer.arm.next = Bit::random(rng);
            uut.event_consumer.valid.next = rng.random_ratio(1, 6);
            uut.event_consumer.queue.next = bits(rng, 4);
            uut.event_consumer.index.next = bits(rng, 20);
            uut.event_consumer.arm.next = Bit::random(rng);
            uut.failed.ready.next = rng.random_ratio(1, 2);
            uut.tlp.ready.next = rng.random_ratio(3, 4);
        },
        500,
        8,
    )
    .unwrap();
}
