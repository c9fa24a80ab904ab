//! Bursts of many messages, of which one cannot be read: nothing behind it leaves, and its queue pair fails once the messages before it are complete.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stellar_transport::time::Ticks;
use stellar_wire::host::{WcStatus, Wqe, WqeOpcode};

use crate::core::lockstep::Bench;
use crate::core::overlap::{registers, QP};
use crate::core::setup::LKEY;

const HISTORIES: u64 = 24;
const ROUNDS: usize = 20;
/// More messages of one packet than the ring has entries.
const MESSAGES: u32 = 12;

/// Writes up to [`MESSAGES`] short messages, and rings once. One in 32 names a region that does not exist.
fn post(bench: &mut Bench, rng: &mut ChaCha8Rng) {
    for _ in 0..rng.random_range(1..=MESSAGES) {
        let exists = rng.random_range(0..32) != 0;
        let wqe = Wqe {
            opcode: WqeOpcode::Write,
            signaled: rng.random(),
            slot: bench.pairs[QP].producer,
            length: rng.random_range(1..600),
            local_va: 0x10_0000 + rng.random_range(0..0x1_0000),
            lkey: if exists { LKEY } else { LKEY + 1 },
            ..Wqe::default()
        };
        if !bench.place(QP, wqe.to_long_bytes()) {
            break;
        }
    }
    bench.ring(QP, 1 << 50);
}

#[test]
fn nothing_behind_a_message_that_cannot_be_read_leaves() {
    let (mut dropped, mut failed) = (0, 0);
    for seed in 0..HISTORIES {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut bench = Bench::new(registers(rng.random()));
        for _ in 0..ROUNDS {
            post(&mut bench, &mut rng);
            for _ in 0..rng.random_range(1..4) {
                bench.transmit(QP, rng.random_range(0..2));
            }
            for _ in 0..rng.random_range(0..8) {
                bench.deliver_mrc(QP, rng.random());
            }
            bench.now = bench.now.plus(Ticks(rng.random_range(0..64)));
        }
        bench.compare_counters();
        dropped += bench.rig.dropped;
        failed += u32::from(bench.pairs[QP].reference.error() == Some(WcStatus::LocProtErr));
    }
    println!("{dropped} packets did not leave, {failed} of {HISTORIES} queue pairs failed");
    assert!(dropped > 20 && failed > 0);
}
