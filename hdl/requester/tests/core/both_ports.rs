//! A queue pair that sends on both ports, and SACKs between its bursts.

use proptest::prelude::*;
use stellar_transport::time::Ticks;
use stellar_wire::host::{Wqe, WqeOpcode};

use crate::core::lockstep::Bench;
use crate::core::mrc::sack_record;
use crate::core::overlap::{compare_bursts, finish, next_sacks, reference_sacks, registers, QP};
use crate::core::peer::InFlight;
use crate::core::setup::LKEY;

/// One burst, SACKs right after its start, and a burst on the other port. The SACKs may name packets of the first burst, and then they have to wait for them.
fn sacks_between(bench: &mut Bench, dice: u64) {
    if !bench.pairs[QP].in_message {
        return;
    }
    let port = (dice & 1) as u8;
    let (burst, fails) = bench.foresee(QP, port);
    if fails {
        return;
    }
    if dice >> 44 & 1 == 0 {
        let flying = &mut bench.pairs[QP].flying;
        flying.extend(burst.iter().map(InFlight::of));
    }
    // These are lost. A later SACK of an older packet names the same packets.
    if dice >> 45 & 1 == 0 {
        next_sacks(bench, dice.rotate_left(29));
    }
    let sacks = next_sacks(bench, dice);
    let was_failed = bench.pairs[QP].reference.error().is_some();
    let controls = sacks.iter().map(|(seth, cc)| sack_record(QP, seth, cc));
    let observed =
        bench
            .rig
            .transmit_around_controls(QP as u32, port, controls.collect(), bench.now.0);
    let (_, mut again) = compare_bursts(bench, &[port], &observed);
    let good = reference_sacks(bench, &sacks);
    again.extend(compare_bursts(bench, &[1 - port], &observed).1);
    finish(bench, observed, (good, again), was_failed);
}

/// Posts a WRITE that ends in its second burst, or a NOP.
fn post(bench: &mut Bench, dice: u64) {
    let slot = bench.pairs[QP].producer;
    let wqe = Wqe {
        opcode: if dice & 3 == 0 {
            WqeOpcode::Nop
        } else {
            WqeOpcode::Write
        },
        signaled: true,
        slot,
        length: 0x2001 + (dice >> 8 & 0x1fff) as u32,
        local_va: 0x14_0000 + (dice >> 20) % 0x4_0000,
        lkey: LKEY,
        ..Wqe::default()
    };
    if bench.place(QP, wqe.to_long_bytes()) {
        bench.ring(QP, dice);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// The send queue is often empty when the second burst is prepared.
    #[test]
    fn bursts_and_sacks_do_what_they_do_one_after_the_other(
        dice: u64, posts in 2u8..12, events in prop::collection::vec((0u8..48, any::<u64>()), 50..300),
    ) {
        // Packets count as lost early.
        let mut bench = Bench::new(registers(dice | 1 << 23));
        for (kind, dice) in events {
            match kind {
                0..24 if kind < posts => post(&mut bench, dice),
                0..24 => sacks_between(&mut bench, dice),
                24..36 => bench.deliver_mrc(QP, dice),
                _ => {
                    bench.transmit(QP, (dice & 1) as u8);
                }
            }
            bench.now = bench.now.plus(Ticks((dice >> 50 & 0x3f) as u32));
        }
        bench.compare_counters();
    }
}

/// The message is longer than all of these bursts.
#[test]
fn a_queue_pair_that_is_the_head_at_both_ports_sends_on_them_in_turn() {
    let mut bench = Bench::new(registers(1 << 31));
    let wqe = Wqe {
        opcode: WqeOpcode::Write,
        length: 0x4_0000,
        local_va: 0x14_0000,
        lkey: LKEY,
        ..Wqe::default()
    };
    bench.place(QP, wqe.to_long_bytes());
    bench.ring(QP, 1 << 50);
    // One burst after the other, and several without a pause.
    let mut ports = vec![];
    for count in [1, 1, 1, 4] {
        let observed = bench.rig.transmit_on_both(QP as u32, count, bench.now.0);
        ports.extend(observed.ports);
    }
    assert!(ports.windows(2).all(|two| two[0] != two[1]), "{ports:?}");
}
