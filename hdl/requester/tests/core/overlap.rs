//! SACKs and doorbells during a burst. The results must be the same as if they came after the burst.

use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stellar_transport::time::Ticks;
use stellar_wire::host::{Wqe, WqeOpcode};
use stellar_wire::hw::pack::Record;
use stellar_wire::hw::requester::TxRequest;
use stellar_wire::mrc::{CcState, Seth};

use crate::core::lockstep::Bench;
use crate::core::mrc::sack_record;
use crate::core::rig::{Observed, Totals};
use crate::core::setup::{LKEY, MTUS};

/// This queue pair always uses MRC.
pub const QP: usize = 0;

/// Registers for a path MTU of 256, a window of 1,024 packets and 400 Gb/s. `dice` decides the rest.
pub fn registers(dice: u64) -> u64 {
    let high = dice >> 30;
    (high - high % MTUS.len() as u64) << 30 | dice & 0x3bff_ffff | 1 << 17
}

/// Writes a WRITE of 16 to 272 packets to the send queue, if there is space. The buffers of one in eight may have a missing page.
fn place(bench: &mut Bench, dice: u64) -> bool {
    let far = 0x4_0000 + (dice >> 20) % 0x4_0000;
    let near = (dice >> 20) % 0x3_0000;
    let wqe = Wqe {
        opcode: WqeOpcode::Write,
        signaled: true,
        slot: bench.pairs[QP].producer,
        length: 0x1000 + (dice & 0xffff) as u32,
        local_va: 0x10_0000 + if dice >> 16 & 7 == 0 { near } else { far },
        lkey: LKEY,
        ..Wqe::default()
    };
    bench.place(QP, wqe.to_long_bytes())
}

fn post(bench: &mut Bench, dice: u64) {
    if place(bench, dice) {
        bench.ring(QP, dice);
    }
}

/// Counts of the cases that occurred.
#[derive(Default)]
struct Taken {
    /// SACKs that were processed before the last packet of the burst was sent, and after it.
    beside: u32,
    after: u32,
    /// Doorbells that were accepted before the last packet of the burst was sent.
    rung: u32,
    /// SACKs that were counted before the burst moved its queue pair to the error state.
    counted_before_failure: u32,
    /// Number of cases in which SACKs followed each other, and of those in which both ports sent.
    chained: u32,
    pairs: u32,
}

/// Sends one burst. A SACK of an older packet comes right after its start.
fn overlap(bench: &mut Bench, dice: u64, taken: &mut Taken) {
    // While a message is in progress, no entry that hardware prefetches can be missing.
    if !bench.pairs[QP].in_message {
        return;
    }
    let Some((seth, cc)) = bench.next_sack(QP, dice) else {
        return;
    };
    let was_failed = bench.pairs[QP].reference.error().is_some();
    let port = (dice & 1) as u8;
    let control = sack_record(QP, &seth, &cc);
    let (counted_alone, good_alone) = bench.counted_by_sack(QP, &seth, &cc);
    let before = (bench.rig.totals.clone(), bench.reference_totals());
    let observed = bench
        .rig
        .transmit_and_control(QP as u32, port, control, bench.now.0);
    if observed.before_other < observed.tx.len() {
        taken.beside += 1;
    } else {
        taken.after += 1;
    }
    bench.compare_sent(QP, port, &observed);
    let mut before_failure = None;
    if !was_failed && bench.pairs[QP].reference.error().is_some() {
        // Hardware processes the SACK before the failure, or after it; after it, the SACK is not counted.
        let counted = bench.rig.totals.since(&before.0);
        let by_sack = counted.since(&bench.reference_totals().since(&before.1));
        assert!(by_sack == counted_alone || by_sack == Totals::default());
        before_failure = good_alone.filter(|_| by_sack != Totals::default());
        taken.counted_before_failure += u32::from(by_sack != Totals::default());
        bench.counted_before_failure.add(&by_sack);
    }
    bench.compare_sack(QP, (&seth, &cc), observed, was_failed, before_failure);
}

/// Sends one burst. A doorbell comes right after its start. The messages of the burst start before the doorbell is accepted, so it cannot affect them.
fn ring_beside(bench: &mut Bench, dice: u64, taken: &mut Taken) {
    if !bench.pairs[QP].in_message || !place(bench, dice) {
        return;
    }
    let was_failed = bench.pairs[QP].reference.error().is_some();
    let port = (dice & 1) as u8;
    let producer = bench.producer(QP, dice);
    let mut observed = bench
        .rig
        .transmit_and_doorbell(QP as u32, port, producer, bench.now.0);
    taken.rung += u32::from(observed.before_other < observed.tx.len());
    bench.compare_sent(QP, port, &observed);
    bench.compare_rung(QP, producer, &observed);
    bench.compare(QP, &mut observed, was_failed);
}

/// Returns up to three SACKs.
pub fn next_sacks(bench: &mut Bench, dice: u64) -> Vec<(Seth, CcState)> {
    (0..dice >> 4 & 3)
        .filter_map(|i| bench.next_sack(QP, dice.rotate_left(13 * i as u32 + 7)))
        .collect()
}

/// Lets the reference process SACKs. Returns the good paths that they report.
pub fn reference_sacks(bench: &mut Bench, sacks: &[(Seth, CcState)]) -> Vec<(u8, u32)> {
    let good = sacks
        .iter()
        .filter_map(|(seth, cc)| bench.reference_sack(QP, seth, cc));
    good.collect()
}

/// Compares the burst of each of these ports. Returns how many sent something, and the ports whose burst has to be tried again.
pub fn compare_bursts(bench: &mut Bench, ports: &[u8], observed: &Observed) -> (u32, Vec<u8>) {
    let mut sent = 0;
    let mut again = vec![];
    for &port in ports {
        let by_port = |words: &&Vec<u32>| Record::<TxRequest>::new(words).u64("port") as u8 == port;
        let tx: Vec<_> = observed.tx.iter().filter(by_port).cloned().collect();
        sent += u32::from(!tx.is_empty());
        if tx.is_empty() && !bench.foresee(QP, port).0.is_empty() {
            // An entry that hardware prefetches is missing.
            again.push(port);
        } else {
            let burst = Observed {
                tx,
                ..Observed::default()
            };
            bench.compare_sent(QP, port, &burst);
        }
    }
    (sent, again)
}

/// Compares the other results, and tries bursts again.
pub fn finish(
    bench: &mut Bench,
    mut observed: Observed,
    (good, again): (Vec<(u8, u32)>, Vec<u8>),
    was_failed: bool,
) {
    bench.compare(QP, &mut observed, was_failed);
    observed.good.append(&mut bench.rig.take_good());
    assert_eq!(observed.good, good, "good paths");
    for port in again {
        bench.transmit(QP, port);
    }
}

/// Several SACKs follow each other. A burst on each port comes right after them; the second burst is prepared before the first one has been sent.
fn chain(bench: &mut Bench, dice: u64, taken: &mut Taken) {
    if !bench.pairs[QP].in_message {
        return;
    }
    let sacks = next_sacks(bench, dice);
    let was_failed = bench.pairs[QP].reference.error().is_some();
    let controls = sacks.iter().map(|(seth, cc)| sack_record(QP, seth, cc));
    let observed = bench
        .rig
        .controls_and_transmits(QP as u32, controls.collect(), bench.now.0);
    let good = reference_sacks(bench, &sacks);
    taken.chained += u32::from(sacks.len() > 1);
    let ports = observed.ports.clone();
    let (sent, again) = compare_bursts(bench, &ports, &observed);
    taken.pairs += u32::from(sent == 2);
    finish(bench, observed, (good, again), was_failed);
}

/// Executes a history of bursts and SACKs.
fn history(dice: u64, events: &[(u8, u64)], taken: &mut Taken) {
    let mut bench = Bench::new(registers(dice));
    for &(kind, dice) in events {
        match kind {
            0..3 => post(&mut bench, dice),
            3..8 => {
                bench.transmit(QP, (dice & 1) as u8);
            }
            8..10 => bench.deliver_mrc(QP, dice),
            10..16 => overlap(&mut bench, dice, taken),
            20.. => ring_beside(&mut bench, dice, taken),
            _ => chain(&mut bench, dice, taken),
        }
        bench.now = bench.now.plus(Ticks((dice >> 50 & 0x3f) as u32));
    }
    bench.compare_counters();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn what_comes_beside_a_burst_does_what_it_does_alone(
        dice: u64, events in prop::collection::vec((0u8..24, any::<u64>()), 50..300),
    ) {
        history(dice, &events, &mut Taken::default());
    }
}

#[test]
fn sacks_and_doorbells_do_come_beside_bursts() {
    let mut taken = Taken::default();
    for seed in 0..24 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let events: Vec<(u8, u64)> = (0..300)
            .map(|_| (rng.random_range(0..24), rng.random()))
            .collect();
        history(rng.random(), &events, &mut taken);
    }
    println!(
        "SACKs: {} beside a burst, {} after",
        taken.beside, taken.after
    );
    println!("doorbells: {} beside a burst", taken.rung);
    println!(
        "{} behind another, {} pairs of bursts",
        taken.chained, taken.pairs
    );
    assert!(taken.beside >= 50 && taken.after >= 50);
    assert!(taken.rung >= 50);
    assert!(taken.chained >= 50 && taken.pairs >= 30);
}

#[test]
fn what_a_sack_counts_before_the_burst_beside_it_fails_is_told_apart() {
    let mut taken = Taken::default();
    for seed in [509, 553] {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let length = rng.random_range(50..300);
        let events: Vec<(u8, u64)> = (0..length)
            .map(|_| (rng.random_range(0..24), rng.random()))
            .collect();
        history(rng.random(), &events, &mut taken);
    }
    assert!(taken.counted_before_failure >= 2);
}
