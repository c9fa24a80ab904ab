//! Clocks per packet of an engine that always has something to send.

mod engine;
mod port;
mod receiver;
mod setup;

use engine::Bench;

/// Bytes of a packet.
const MTU: u32 = 256;
/// Packets of a message, and of all queue pairs until the acknowledgements come as fast as the packets.
const MESSAGE: u32 = 32;
const RAMP: u32 = 512;

/// Sends `messages` by each queue pair through ports that take a packet in `port_clocks` / 100 clocks; clocks per packet behind the ramp.
fn clocks_per_packet(queue_pairs: u32, messages: u32, port_clocks: u32) -> f64 {
    let mut bench = Bench::new(queue_pairs, MTU, port_clocks);
    bench.post(messages, MESSAGE * MTU);
    bench.run_until(RAMP);
    let (from, sacks) = (bench.clocks(), bench.sacks());
    let packets = queue_pairs * messages * MESSAGE - RAMP;
    bench.run_until(RAMP + packets);
    let per_packet = (bench.clocks() - from) as f64 / f64::from(packets);
    let sacks = bench.sacks() - sacks;
    println!("{queue_pairs} queue pairs: {per_packet:.2} clocks per packet of {MTU} bytes, {sacks} SACKs for {packets} packets");
    per_packet
}

/// Ports of 100 bytes per clock, packets of 358 bytes on the wire: both together take a packet in 1.79 clocks.
const WIRE: u32 = 358;

#[test]
fn one_queue_pair_fills_the_wire() {
    let clocks = clocks_per_packet(1, 250, WIRE);
    assert!(clocks <= 1.8, "{clocks}");
}

/// The other engine of a card sends the other half, so both ports together take a packet in 3.58 clocks.
#[test]
fn eight_queue_pairs_fill_half_of_the_wire() {
    let clocks = clocks_per_packet(8, 32, 2 * WIRE);
    assert!(clocks <= 3.6, "{clocks}");
}
