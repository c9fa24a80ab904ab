//! Cycles per packet of a saturated engine.

mod engine;
mod port;
mod receiver;
mod setup;

use engine::Bench;

/// Payload bytes of a packet.
const MTU: u32 = 256;
/// Packets of a message. Packets of all queue pairs until acknowledgements arrive at the rate of the packets.
const MESSAGE: u32 = 32;
const RAMP: u32 = 512;

/// Sends `messages` on each queue pair through ports that send a packet in `port_cycles` / 100 cycles. Returns the cycles per packet after the ramp.
fn cycles_per_packet(queue_pairs: u32, messages: u32, port_cycles: u32) -> f64 {
    let bench = Bench::new(queue_pairs, MTU, port_cycles);
    measure(bench, queue_pairs, messages)
}

fn measure(mut bench: Bench, queue_pairs: u32, messages: u32) -> f64 {
    // The last bursts are not measured: they may leave by one port.
    bench.post(messages + 1, MESSAGE * MTU);
    bench.run_until(RAMP);
    let (from, sacks) = (bench.cycles(), bench.sacks());
    let packets = queue_pairs * messages * MESSAGE - RAMP;
    bench.run_until(RAMP + packets);
    let per_packet = (bench.cycles() - from) as f64 / f64::from(packets);
    let sacks = bench.sacks() - sacks;
    println!("{queue_pairs} queue pairs: {per_packet:.2} cycles per packet of {MTU} bytes, {sacks} SACKs for {packets} packets");
    per_packet
}

/// Bytes of a packet on the wire. A port sends 100 bytes per cycle, so both ports together send a packet in 1.79 cycles.
const WIRE: u32 = 358;

#[test]
fn one_queue_pair_fills_the_wire() {
    let cycles = cycles_per_packet(1, 250, WIRE);
    assert!(cycles <= 1.8, "{cycles}");
}

/// The other engine of a card sends the other half of the packets, so both ports together send a packet of this engine in 3.58 cycles.
#[test]
fn eight_queue_pairs_fill_half_of_the_wire() {
    let cycles = cycles_per_packet(8, 32, 2 * WIRE);
    assert!(cycles <= 3.6, "{cycles}");
}

/// Messages of one packet, posted as lists. The ports accept more packets than the engine sends. Two engines send 100 million messages a second at 250 MHz if
/// each takes 5 cycles for one.
#[test]
fn messages_of_one_packet_take_less_than_four_cycles() {
    for queue_pairs in [1, 8] {
        let mut bench = Bench::new(queue_pairs, MTU, WIRE);
        bench.post_lists(2048 / queue_pairs, 2);
        bench.run_until(RAMP);
        let from = bench.cycles();
        bench.run_until(3 * RAMP);
        let cycles = (bench.cycles() - from) as f64 / f64::from(2 * RAMP);
        println!("{queue_pairs} queue pairs: {cycles:.2} cycles per message of one packet");
        assert!(cycles < 4.0, "{cycles}");
    }
}

/// A queue pair of another page rings in every cycle, and has nothing to send.
#[test]
fn a_queue_pair_that_rings_in_every_cycle_does_not_stop_the_others() {
    for (queue_pairs, messages) in [(1, 64), (8, 16)] {
        let alone = cycles_per_packet(queue_pairs, messages, 2 * WIRE);
        let mut bench = Bench::new(queue_pairs, MTU, 2 * WIRE);
        bench.flood(15, MTU);
        let beside = measure(bench, queue_pairs, messages);
        println!("{queue_pairs} queue pairs: {alone:.2} cycles per packet alone, {beside:.2} beside the doorbells");
        // A doorbell between two bursts costs up to ten cycles of about sixty, and most of them come beside a burst.
        assert!(beside <= 1.2 * alone, "{beside} instead of {alone}");
    }
}

/// Twelve queue pairs share four blocks, so most of them find none when their turn comes. Each is woken when one returns.
#[test]
fn queue_pairs_that_find_no_block_are_woken_and_nobody_waits_for_ever() {
    const PAIRS: u32 = 12;
    let mut bench = Bench::with_four_blocks(PAIRS, MTU, WIRE);
    bench.post(4, MESSAGE * MTU);
    bench.run_until(PAIRS * 4 * MESSAGE);
    assert_eq!(bench.packets(), [4 * MESSAGE; PAIRS as usize]);
    // At least one block is acknowledged in each round trip of about 1,300 cycles, and each holds 32 packets.
    let blocks = u64::from(PAIRS * 4);
    assert!(bench.cycles() < blocks * 1_500, "{} cycles", bench.cycles());
}
